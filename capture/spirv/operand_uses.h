// What an instruction does to what its operands refer to. Terms: SPIR-V 1.6 specification.
#pragma once

#include <cstddef>

#include "capture/spirv/opcodes.h"

namespace interlock {

struct OperandUse {
  bool is_loaded = false;
  bool is_stored = false;
};

// Of the operand at `position` among those that are ids, without type and result. What is not known
// may do anything.
OperandUse operand_use_of(Opcode opcode, size_t position);

}  // namespace interlock
