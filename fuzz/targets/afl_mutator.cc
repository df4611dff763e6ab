// The structural mutator for AFL++: a library that afl-fuzz loads by AFL_CUSTOM_MUTATOR_LIBRARY.
// Its mutants are those that libFuzzer gets from the target itself. Interface: AFL++ 4.04,
// docs/custom_mutators.md there.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "encoder/program/hash.h"
#include "fuzz/targets/spine_mutation.h"

namespace interlock {
namespace {

// The seed of afl-fuzz and the number of the mutant give each mutant a seed of its own.
class AflMutator {
 public:
  explicit AflMutator(uint32_t seed) : seed_(seed) {}

  // Returns a mutant, which is there until the next one; empty if it has no room.
  std::string& next(std::string_view text, std::string_view other, size_t bytes_max) {
    const uint64_t seed = scrambled(splitmix64(seed_) + ++count_ * kGolden64);
    // As often as libFuzzer crosses over, and where afl-fuzz offers another text.
    const bool crosses_over = !other.empty() && seed % 8 == 0;
    mutant_ = crosses_over ? cross_over_texts(text, other, seed, bytes_max)
                           : mutate_text(text, seed, bytes_max);
    return mutant_;
  }

 private:
  uint64_t seed_;
  uint64_t count_ = 0;
  std::string mutant_;
};

std::string_view view_of(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace
}  // namespace interlock

// Declared by AFL++, which looks these up by their names.
#pragma GCC visibility push(default)

extern "C" void* afl_custom_init(void* /*afl*/, unsigned int seed) {
  return new interlock::AflMutator(seed);
}

// What has no room stays as it was: afl-fuzz takes no mutant for an error.
extern "C" size_t afl_custom_fuzz(void* data, uint8_t* text, size_t size, uint8_t** mutant,
                                  uint8_t* other, size_t other_size, size_t bytes_max) {
  std::string& next = static_cast<interlock::AflMutator*>(data)->next(
      interlock::view_of(text, size), interlock::view_of(other, other == nullptr ? 0 : other_size),
      bytes_max);
  *mutant = next.empty() ? text : reinterpret_cast<uint8_t*>(next.data());
  return next.empty() ? size : next.size();
}

extern "C" void afl_custom_deinit(void* data) { delete static_cast<interlock::AflMutator*>(data); }

#pragma GCC visibility pop
