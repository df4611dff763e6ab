// Says what a dispatch touches and does not declare.
#pragma once

#include "encoder/program/program.h"
#include "simulator/hazards/undeclared.h"
#include "simulator/report/finding.h"

namespace interlock {

// Returns the finding with kind, access, bytes and sentences.
Finding explain_undeclared(const Program& program, const UndeclaredAccess& undeclared);

}  // namespace interlock
