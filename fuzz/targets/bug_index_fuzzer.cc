// Any bytes, read as an index of bugs, give entries or an error that names a line, never a crash, a
// hang or unbounded memory.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "encoder/program/check.h"
#include "fuzz/campaign/bug_table.h"

namespace interlock {
namespace {

constexpr std::string_view kFileName = "index.tsv";

void check_index(std::string_view text) {
  const Result<std::vector<BugEntry>> entries = parse_bug_index(text, kFileName);
  if (!entries) {
    INTERLOCK_CHECK(entries.error().message.starts_with(std::string(kFileName) + ":"));
    return;
  }
  for (const BugEntry& entry : *entries) {
    INTERLOCK_CHECK(!entry.bug.empty());
    INTERLOCK_CHECK(entry.has_file() == entry.needs.empty());
  }
}

}  // namespace
}  // namespace interlock

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  interlock::check_index({reinterpret_cast<const char*>(data), size});
  return 0;
}
