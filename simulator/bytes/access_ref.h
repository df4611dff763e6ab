// AccessRef: one operand of one dispatch.
#pragma once

#include <compare>
#include <cstdint>

#include "encoder/program/program.h"

namespace interlock {

struct AccessRef {
  DispatchId dispatch;
  uint32_t access = 0;  // Position among the operands of the dispatch.

  auto operator<=>(const AccessRef&) const = default;
};

inline const Access& access_of(const Program& program, AccessRef ref) {
  return program.accesses_of(ref.dispatch)[ref.access];
}

}  // namespace interlock
