#include "encoder/queues/streams_encoder.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "encoder/program/stop.h"
#include "encoder/queues/command_layout.h"
#include "encoder/queues/given_queues.h"
#include "encoder/queues/host_work.h"
#include "encoder/queues/queue_commands.h"
#include "encoder/sync/recording_sink.h"

namespace interlock {
namespace {

constexpr uint32_t kQueueCount = 4;

QueuesOfDispatches queues_in_turn(const Program& program, uint32_t queue_count) {
  const size_t count = program.dispatches.size() - program.host_dispatches.size();
  const auto used = std::min<size_t>(queue_count, std::max<size_t>(1, count));
  QueuesOfDispatches result{numbered_queues(QueueKind::kSerial, static_cast<uint32_t>(used)), {}};
  size_t next = 0;
  for (const Dispatch& dispatch : program.dispatches) {
    const bool is_of_host = dispatch.host != HostAccess::kNone;
    result.queue_of.push_back(is_of_host ? UINT32_MAX : static_cast<uint32_t>(next++ % used));
  }
  return result;
}

// Issues all of it. Returns false at a stop.
bool issue_on(const Program& program, const QueuesOfDispatches& queues, CommandSink& sink) {
  // A program without dispatches has no queues.
  StreamsEncoder encoder(std::max<uint32_t>(1, static_cast<uint32_t>(queues.queues.size())));
  for (size_t i = 0; i < program.dispatches.size(); ++i) {
    if (is_stopped()) return false;
    const DispatchId id(i);
    const Dispatch& dispatch = program.dispatch(id);
    encoder.encode({.id = id,
                    .accesses = program.declared_accesses_of(id),
                    .atomic_op = dispatch.atomic_op,
                    .queue = static_cast<QueueIndex>(queues.queue_of[i])},
                   sink);
  }
  return true;
}

}  // namespace

void StreamsEncoder::encode(const EncoderDispatch& dispatch, CommandSink& sink) {
  const std::span<const QueuePoint> waits =
      tracker_.add(dispatch.queue, dispatch.accesses, dispatch.atomic_op);
  sink.issue_submission(dispatch.queue, waits, dispatch.id,
                        tracker_.dispatch_count(dispatch.queue));
}

void StreamsEncoder::wait_for_all(CommandSink& sink) {
  for (uint32_t queue = 0; queue < queue_count_; ++queue) {
    sink.use_queue(static_cast<QueueIndex>(queue));
    for (uint32_t other = 0; other < queue_count_; ++other) {
      const uint64_t number = tracker_.dispatch_count(other);
      if (other != queue && number > 0) sink.issue_wait({.semaphore = other, .value = number});
    }
  }
  tracker_.join_all();
}

Result<Program> encode_streams(const Program& program, uint32_t queue_count) {
  const bool has_given = has_given_queues(program);
  if (auto checked = has_given ? check_host_work(program) : check_host_work_of_no_queue(program);
      !checked) {
    return checked.error();
  }
  const Result<QueuesOfDispatches> queues =
      has_given ? given_queues(program, queue_count)
                : queues_in_turn(program, queue_count == 0 ? kQueueCount : queue_count);
  if (!queues) return queues.error();
  if (has_host_work(program)) {
    return encode_beside_host(program, *queues, SignalPlaces::kEverywhere);
  }
  CommandLayout layout(program, queues->queues, 3 * program.dispatches.size(), 0);
  if (!issue_on(program, *queues, layout)) return Program{};
  if (auto result = layout.finish()) return *std::move(result);
  RecordingSink issued;
  if (!issue_on(program, *queues, issued)) return Program{};
  return program_by_rules(program, queues->queues, issued);
}

}  // namespace interlock
