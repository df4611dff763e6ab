// The operands of a part of a dispatch whose operands are rows (encoder/kernel/row_parts.h).
#pragma once

#include <span>
#include <vector>

#include "backends/interface/device_layout.h"
#include "encoder/kernel/row_parts.h"

namespace interlock {

// `operands`: by access of the dispatch. Cost: constant.
inline std::vector<PlacedOperand> operands_of(const RowPart& part,
                                              std::span<const PlacedOperand> operands) {
  std::vector<PlacedOperand> of_part;
  for (const RowPart::Operand& place : std::span(part.operands).first(part.operand_count)) {
    PlacedOperand& operand = of_part.emplace_back(operands[place.access]);
    operand.range = {operand.range.offset_bytes + place.offset_bytes, part.size_bytes};
  }
  return of_part;
}

}  // namespace interlock
