// RepairedLines: a text, line by line, with what changes of its sync add to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/report/finding.h"

namespace interlock {

class RepairedLines {
 public:
  // Lines that were changed, by their places.
  using Change = std::vector<size_t>;

  explicit RepairedLines(std::string_view text);

  // `statement_lines`: of each statement of the program, its line in text(), from 1. A new line is
  // indented as the one that it stands beside; comments stay. Requires: each line of `repair` is of
  // a statement that has a line of its own. Cost: linear.
  void apply(std::span<const RepairLine> repair, std::span<const uint64_t> statement_lines);

  // What was changed and can be taken back: what was applied at once together, the latest first,
  // and then, where that is more than a line, each line of it.
  std::vector<Change> changes() const;
  void take_back(const Change& change);

  std::string text() const;
  uint64_t added_count() const;
  uint64_t changed_count() const;
  uint64_t change_count() const { return added_count() + changed_count(); }

 private:
  struct Line {
    std::string text;      // With its end.
    std::string original;  // Before the changes; empty: it was not there.
    uint32_t round = 0;    // Of the last change; 0: none.
  };

  bool is_changed(const Line& line) const { return line.text != line.original; }

  std::vector<Line> lines_;  // Those that went are there, and empty, so that places stay.
  uint32_t round_count_ = 0;
  std::string end_;  // Of lines, as the first one ends.
};

}  // namespace interlock
