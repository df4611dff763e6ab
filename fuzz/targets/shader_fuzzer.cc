// Any words, read as a shader of an application, give what it touches and a module that notes it,
// or an error, never a crash, a hang or unbounded memory. A module that was changed once is not
// changed again.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "capture/spirv/instrument.h"
#include "capture/spirv/shader_accesses.h"
#include "encoder/program/check.h"

namespace interlock {
namespace {

constexpr uint32_t kOwnSet = 3;

void check_shader(const std::vector<uint32_t>& words) {
  const Result<ShaderAccesses> accesses = shader_accesses_of(words, "main");
  INTERLOCK_CHECK(accesses || !accesses.error().message.empty());
  const Result<InstrumentedModule> changed = instrument(words, kOwnSet);
  if (!changed) {
    INTERLOCK_CHECK(!changed.error().message.empty());
    return;
  }
  INTERLOCK_CHECK(changed->entry_count <= kEntriesMax);
  // What it measures it does through that set, which is then taken.
  if (!changed->measured.empty()) INTERLOCK_CHECK(!instrument(changed->words, kOwnSet));
}

}  // namespace
}  // namespace interlock

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::uint32_t> words(size / sizeof(std::uint32_t));
  if (!words.empty()) std::memcpy(words.data(), data, words.size() * sizeof(std::uint32_t));
  interlock::check_shader(words);
  return 0;
}
