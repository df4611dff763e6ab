// SvgParts: the pieces of one picture that svg.cc puts together.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "simulator/picture/layout.h"
#include "simulator/picture/picture.h"

namespace interlock {

inline constexpr double kHeadHeight = 64;   // Above the rows: titles of lanes and memories.
inline constexpr double kStartHeight = 22;  // Of that, what bytes hold at the start.

class SvgParts {
 public:
  // `unfolds`: rows in folds are drawn too, and paths say their ordinates by row.
  SvgParts(const Picture& picture, const PictureLayout& layout, bool unfolds);

  std::string titles() const;
  std::string grounds() const;  // Lifelines, epochs, owners: what lies below the rest.
  std::string links() const;
  std::string rows() const;  // Defined, as its parts, in svg_rows.cc.
  std::string arrows() const;

 private:
  // Ordinates in `path` are {row+offset}. Nothing where that has no height while folds are shut.
  std::string path(std::string_view css_class, const std::string& path,
                   std::string_view title = {}) const;
  std::string row_of(uint32_t index) const;
  std::string dispatch_row(const PictureRow& row) const;
  std::string pill_row(const PictureRow& row) const;
  std::string fold_row(const PictureRow& row) const;
  std::string repair_row(const PictureRow& row) const;
  std::string cell(const MapCell& cell) const;
  std::string endings_of(uint32_t row) const;
  std::string witness_column() const;
  std::string head_of_memory(uint32_t memory) const;
  std::string epochs() const;
  std::string owners() const;
  // Where in the map the row touches the bytes of the finding; their middle if it does not.
  Span finding_span(uint32_t row, bool& has_cell) const;
  bool is_drawn(uint32_t row) const { return unfolds_ || picture_.rows[row].fold == kNone32; }

  const Picture& picture_;
  const PictureLayout& layout_;
  const bool unfolds_;
  std::vector<size_t> first_cell_;  // By row, and one more: into Picture::cells.
};

// What an element shows where the pointer rests: of `text`, which may have the length of any line,
// a thousand columns. Nothing of an empty one.
std::string svg_title(std::string_view text);

// `text` in the middle of `y` by 12 pixels of a monospaced font, cut to `width` pixels; more
// of it is for the pointer to ask where it was cut.
std::string label_at(double x, double y, std::string_view css_class, std::string_view text,
                     double width);

}  // namespace interlock
