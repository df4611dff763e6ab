// Any bytes, read as a baseline of findings and as a budget of barriers, give it or an error that
// names the file, never a crash, a hang or unbounded memory. What is read is written as text that
// reads as the same.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "encoder/program/check.h"
#include "encoder/program/result.h"
#include "simulator/report/baseline.h"

namespace interlock {
namespace {

constexpr std::string_view kFileName = "known.json";

template <typename Known>
void check_known(std::string_view text, Result<Known> (*read)(std::string_view, std::string_view)) {
  const Result<Known> known = read(text, kFileName);
  if (!known) {
    INTERLOCK_CHECK(known.error().message.starts_with(std::string(kFileName) + ":"));
    INTERLOCK_CHECK(known.error().message.size() < 4096);
    return;
  }
  const std::string written = text_of(*known);
  const Result<Known> again = read(written, kFileName);
  INTERLOCK_CHECK(again.has_value());
  INTERLOCK_CHECK(text_of(*again) == written);
}

}  // namespace
}  // namespace interlock

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  interlock::check_known(text, interlock::baseline_of);
  interlock::check_known(text, interlock::barrier_budget_of);
  return 0;
}
