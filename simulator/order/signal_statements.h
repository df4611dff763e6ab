// Which statement has which part of a signal.
#pragma once

#include <vector>

#include "encoder/program/program.h"

namespace interlock {

// By Program::signal_parts; none where no statement has it. Cost: linear in the sync statements.
std::vector<StatementId> signal_statements_of(const Program& program);

}  // namespace interlock
