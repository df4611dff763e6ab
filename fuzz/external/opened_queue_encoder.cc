#include "fuzz/external/opened_queue_encoder.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "encoder/program/check.h"
#include "encoder/program/error_of.h"
#include "fuzz/external/exec_queue_encoder.h"
#include "fuzz/external/external_queues.h"

namespace interlock {
namespace {

constexpr std::string_view kCommandPrefix = "exec:";

}  // namespace

Result<std::unique_ptr<OpenedQueueEncoder>> open_queue_encoder(const std::string& name,
                                                               const std::string& kind,
                                                               const ExternalOptions& options) {
  INTERLOCK_CHECK(is_external_name(name));
  if (!name.starts_with(kCommandPrefix)) {
    return error_of("the encoder '{}' is no process: of libraries there are those of one queue.",
                    name);
  }
  const auto kinds = asked_queue_kinds();
  const auto asked = std::ranges::find(kinds, kind, [](QueueKind k) { return word_of(k); });
  if (asked == kinds.end()) {
    return error_of("--queue-kind={} is none of serial, concurrent and graph.", kind);
  }
  auto encoder = ExecQueueEncoder::open(*asked, {.command = name.substr(kCommandPrefix.size()),
                                                 .timeout_seconds = options.exec_timeout_seconds,
                                                 .stop = options.stop});
  if (!encoder) return encoder.error();
  auto opened = std::make_unique<OpenedQueueEncoder>();
  opened->name = name;
  opened->encoder = std::move(*encoder);
  opened->entry = {.name = opened->name,
                   .summary = "an encoder that is not part of this build",
                   .is_broken = false,
                   // Of graphs one has all that several have.
                   .takes_queue_count = *asked != QueueKind::kGraph,
                   .encode = nullptr,
                   .takes_host_work = false,
                   .external = opened->encoder.get()};
  return opened;
}

}  // namespace interlock
