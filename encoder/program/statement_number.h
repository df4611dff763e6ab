// Numbers of statements, as reports and JSON have them.
#pragma once

#include <cstdint>

#include "encoder/program/ids.h"
#include "encoder/program/program.h"

namespace interlock {

// The position of the statement among those of the text, from 0; of what a barrier does to its
// operands, that of the barrier. Cost: logarithmic; beside a text_order linear in such dispatches.
uint32_t text_number_of(const Program& program, StatementId statement);

}  // namespace interlock
