// Encoders for telling faults apart: with two planted faults each, or with one that takes two
// things to show. What a campaign must call the cause of each is written down beside it.
#pragma once

#include <memory>
#include <ostream>
#include <span>
#include <string_view>
#include <vector>

#include "encoder/sync/encoder.h"

namespace interlock {

struct TwoFaultEncoder {
  std::string_view name;
  std::string_view fault;                // One line: what was planted.
  std::vector<std::string_view> causes;  // Sorted.
  std::unique_ptr<Encoder> (*create)();
};

// A failing test says which one.
inline void PrintTo(const TwoFaultEncoder& encoder, std::ostream* out) { *out << encoder.name; }

std::vector<TwoFaultEncoder> two_fault_encoders();

}  // namespace interlock
