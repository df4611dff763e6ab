// Encoders with one planted fault each. Fuzzers are measured by how many of them they find, which
// should be all, and so are the checks.
#pragma once

#include <memory>
#include <ostream>
#include <span>
#include <string_view>

#include "encoder/sync/encoder.h"

namespace interlock {

enum class MutantKind : uint8_t {
  kUnsafe,  // Misses barriers: some program has a hazard.
  kExcess,  // Never misses one, and places more than the fewest for some program.
};

struct MutantEncoder {
  std::string_view name;
  std::string_view fault;  // One line: what was planted.
  MutantKind kind;
  std::unique_ptr<Encoder> (*create)();
};

// A failing test says which one.
inline void PrintTo(const MutantEncoder& mutant, std::ostream* out) { *out << mutant.name; }

std::span<const MutantEncoder> mutant_encoders();

// The linear scan that the mutants are made from, without any fault. The tests hold it against the
// exact bounds, so that a mutant differs from a right encoder by its fault alone.
std::unique_ptr<Encoder> make_faultless_encoder();

}  // namespace interlock
