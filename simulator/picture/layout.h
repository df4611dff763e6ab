// Layout: where the parts of a picture lie, in pixels. Rows move when a fold opens; what spans
// several of them is a path with ordinates by row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/picture/picture.h"

namespace interlock {

// Left and right end.
struct Span {
  double left = 0;
  double right = 0;

  double width() const { return right - left; }
  double middle() const { return (left + right) / 2; }
};

// Characters of one line of a repair, of which a row has two at most.
inline constexpr size_t kRepairColumns = 38;

class PictureLayout {
 public:
  // Requires: `picture` outlives this.
  explicit PictureLayout(const Picture& picture);

  double width() const { return width_; }
  Span lanes() const { return lanes_; }
  Span lane(uint32_t lane) const;  // None: all of them.
  Span box(const PictureRow& row) const;
  Span witness() const { return witness_; }
  Span map() const { return map_; }
  Span segments(uint32_t memory, uint32_t first, uint32_t count) const;

  // Of rows, their top at 0; hidden ones have the place of their fold. With all folds shut.
  static double height_of(const PictureRow& row);
  double rows_height() const { return tops_.back(); }
  // The height of the column of the witness, and the row where it begins.
  double witness_height() const;
  uint32_t witness_row() const { return witness_row_; }
  double top_of_entry(size_t entry) const;  // Below the top of that row.

  // The ordinate `offset` below the top of `row`, as "{row+offset}"; kNone32 is below the last row.
  std::string at(uint32_t row, double offset) const;
  // A path with the ordinates of shut folds in place of these.
  std::string resolved(std::string_view path) const;
  double ordinate(uint32_t row, double offset) const;

 private:
  void place_rows();
  void place_columns();
  void place_segments(double left, double right);

  const Picture& picture_;
  std::vector<double> tops_;                    // By row; one more for the end.
  std::vector<std::vector<double>> abscissas_;  // By memory: of its boundaries.
  Span lanes_;
  Span witness_;
  Span map_;
  double width_ = 0;
  uint32_t witness_row_ = kNone32;
};

}  // namespace interlock
