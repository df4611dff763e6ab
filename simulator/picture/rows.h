// Rows of a picture: statements that are shown, folds of those that are not, lines to be added.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/picture/focus.h"
#include "simulator/picture/picture.h"
#include "simulator/report/finding.h"

namespace interlock {

struct FoldedRows {
  std::vector<PictureRow> rows;  // Without lanes.
  // By statement: its row, in folds that open too; of a closed fold the fold's.
  std::vector<uint32_t> row_of;
};

// `shown`: places, rising. Two statements or fewer between those stand outside folds, too.
// Each dispatch has one row, or is counted in one closed fold. Cost: linear.
FoldedRows fold_rows(const Program& program, const RunOrder& order, std::span<const uint32_t> shown,
                     std::span<const RepairLine> repair, const PictureLimits& limits);

}  // namespace interlock
