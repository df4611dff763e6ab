// The rules of replays on serial queues, as `cudaGraphLaunch` has them: what was recorded with
// edges is one statement of the queue. The basic idea is that a graph queue executes it, between
// two pairs of a signal and a wait: one takes what the serial queue has so far to the graph queue,
// and one takes all of the launch back. Launches of one serial queue come one after another, so
// that one graph queue and one semaphore are enough for all of them. For example, `replay step on
// copies` is
//
//   signal copies.launches=1 on copies
//   wait copies.launches=1 on copies.launches
//   ...                                         what was recorded, on copies.launches
//   signal copies.launches=2 on copies.launches
//   wait copies.launches=2 on copies
#include <fmt/format.h>

#include <string>

#include "encoder/build/program_builder.h"
#include "encoder/program/names.h"

namespace interlock {

// Whether there is, or may be, a graph queue for what `stream` launches.
bool ProgramBuilder::check_launch(QueueIndex stream) {
  if (launches_.contains(stream)) return true;
  const std::string name = fmt::format("{}.launches", program_.name_of(stream));
  const SyncMeaning& meaning = sync_meaning_of(name);
  const bool is_queue = meaning.queue != kNoQueue;
  if (is_queue || meaning.semaphore.is_some()) {
    return fail(ItemPart::kQueue,
                "{0} {1} stands before this line; the replay gives this name to what {2} launches.",
                is_queue ? "queue" : "semaphore", in_quotes(name),
                in_quotes(program_.name_of(stream)));
  }
  return check_name(ItemPart::kQueue, "queue", name) &&
         check_count(program_.queues.size() + 1, "queues", limits_.queue_count) &&
         check_count(program_.semaphores.size() + 1, "semaphores", limits_.semaphore_count);
}

// Returns the name of the graph queue, which waits for all that `stream` has so far.
// Requires: check_launch().
const std::string& ProgramBuilder::begin_launch(QueueIndex stream) {
  is_in_launch_ = true;
  LaunchQueue& launch = launches_[stream];
  if (launch.queue == kNoQueue) {
    launch.name = fmt::format("{}.launches", program_.name_of(stream));
    launch.queue = static_cast<QueueIndex>(program_.queues.size());
    const NameId name = intern(launch.name);
    sync_meaning(name).queue = launch.queue;
    program_.queues.push_back({name, QueueKind::kGraph, stream});
  }
  const uint64_t value = 2 * launch.count + 1;
  append_launch_step(SyncKind::kSignal, stream, stream, value);
  append_launch_step(SyncKind::kWait, launch.queue, stream, value);
  return launch.name;
}

void ProgramBuilder::end_launch(QueueIndex stream) {
  LaunchQueue& launch = launches_[stream];
  const uint64_t value = 2 * ++launch.count;
  append_launch_step(SyncKind::kSignal, launch.queue, stream, value);
  append_launch_step(SyncKind::kWait, stream, stream, value);
  is_in_launch_ = false;
}

void ProgramBuilder::append_launch_step(SyncKind kind, QueueIndex queue, QueueIndex stream,
                                        uint64_t value) {
  SyncDraft step;
  step.kind = kind;
  step.semaphores = {{.semaphore = launches_[stream].name, .value = value}};
  step.queue = program_.name_of(queue);
  INTERLOCK_CHECK(append(step));
  program_.syncs.back().is_of_launch = true;
}

}  // namespace interlock
