// Way table: what each step of a program of several queues does for chains (queue_ways.h), found
// once for all accesses that they may lie between.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/barriers/queue_steps.h"
#include "simulator/barriers/queue_ways.h"
#include "simulator/barriers/signal_marks.h"

namespace interlock {

class WayTable {
 public:
  // Requires: `steps` are of `program`, `marks` of both, and of the program. Cost: linear.
  WayTable(const Program& program, const QueueSteps& steps, const SignalMarks& marks);

  // Rows are the steps that are no moves, in their order. The first row from the step on.
  uint32_t row_from(uint32_t step) const { return row_from_[step]; }
  uint32_t step_of(uint32_t row) const { return rows_[row].step; }

  // The step is what a statement does, and the one before is what this implies.
  bool follows_implied(uint32_t row) const { return rows_[row].follows_implied; }

  // What the step does, each for way().
  std::span<const uint32_t> ways_of(uint32_t row) const {
    return std::span(ways_of_row_)
        .subspan(rows_[row].first, rows_[row + 1].first - rows_[row].first);
  }
  const QueueWay& way(uint32_t index) const { return ways_[index]; }

 private:
  struct Row {
    uint32_t step = 0;
    uint32_t first = 0;  // Into ways_of_row_.
    bool follows_implied = false;
  };

  std::vector<uint32_t> row_from_;  // By step, and for the end of all.
  std::vector<Row> rows_;           // And one more.
  std::vector<uint32_t> ways_of_row_;
  std::vector<QueueWay> ways_;  // Alike ones once, so that they stay in the cache.
};

}  // namespace interlock
