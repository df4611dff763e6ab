// What an instruction does to what its operands refer to. Terms: SPIR-V 1.6 specification.
#pragma once

#include <cstddef>

#include "capture/spirv/opcodes.h"
#include "encoder/program/program.h"

namespace interlock {

struct OperandUse {
  bool is_loaded = false;
  bool is_stored = false;
};

// Of the operand at `position` among those that are ids, without type and result. What is not known
// may do anything.
OperandUse operand_use_of(Opcode opcode, size_t position);

// Whether it is an atomic, of any kind: to load and to store atomically, too.
bool is_atomic(Opcode opcode);

// Which operation an atomic does, of those in which the order of two does not show in what they
// leave; kNone for all others. Signed, unsigned and of floating point are not told apart.
AtomicOp atomic_op_of(Opcode opcode);

}  // namespace interlock
