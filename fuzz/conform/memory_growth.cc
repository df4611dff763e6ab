#include "fuzz/conform/memory_growth.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "encoder/program/stop.h"
#include "encoder/sync/external_encoder.h"
#include "encoder/text/parser.h"
#include "fuzz/conform/probe_programs.h"
#include "fuzz/external/resident_bytes.h"

namespace interlock {
namespace {

constexpr uint64_t kProgramCount = 1000;
constexpr uint64_t kDispatchesPerProgram = 16;

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kKeepsWhatIsFreed = true;
#elif defined(__has_feature)
constexpr bool kKeepsWhatIsFreed = __has_feature(address_sanitizer);
#else
constexpr bool kKeepsWhatIsFreed = false;
#endif

// Keeps nothing, and looks at the memory at one dispatch.
class WatchingSink final : public CommandSink {
 public:
  explicit WatchingSink(uint64_t watched) : watched_(watched) {}

  void issue_dispatch(DispatchId /*id*/) override {
    if (++count_ == watched_) bytes_ = resident_bytes_of("/proc/self/statm");
  }
  void issue_barrier(BarrierKind /*kind*/) override {}

  std::optional<uint64_t> bytes() const { return bytes_; }

 private:
  uint64_t watched_;
  uint64_t count_ = 0;
  std::optional<uint64_t> bytes_;
};

std::optional<uint64_t> growth_from(std::optional<uint64_t> before, std::optional<uint64_t> after) {
  if (!before || !after) return std::nullopt;
  return *after - std::min(*before, *after);
}

}  // namespace

MemoryGrowth memory_growth(const EncoderEntry& encoder, uint64_t dispatch_count) {
  if (encoder.external == nullptr) {
    if (kKeepsWhatIsFreed) return {};
    const Result<Program> program = parse(text_of_stream(dispatch_count));
    if (!program) return {};  // It was stopped.
    const std::unique_ptr<Encoder> created = encoder.create();
    WatchingSink sink(dispatch_count / 4);
    issue_all(*program, *created, sink);
    return {growth_from(sink.bytes(), resident_bytes_of("/proc/self/statm")),
            fmt::format("dispatch {} to {}", dispatch_count / 4, dispatch_count)};
  }
  const Result<Program> program = parse(text_of_stream(kDispatchesPerProgram));
  if (!program) return {};
  std::optional<uint64_t> before;
  for (uint64_t i = 0; i < kProgramCount && !is_stopped(); ++i) {
    if (i == kProgramCount / 4) before = encoder.external->resident_bytes();
    if (encoder.external->encode(*program).failure) return {};
  }
  return {growth_from(before, encoder.external->resident_bytes()),
          fmt::format("program {} to {}", kProgramCount / 4, kProgramCount)};
}

}  // namespace interlock
