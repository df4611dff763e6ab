#include "capture/convert/queue_sync.h"

#include <fmt/format.h>
#include <vulkan/vulkan_core.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "capture/convert/scopes.h"
#include "encoder/program/scope.h"
#include "encoder/program/sync_step.h"

namespace interlock {
namespace {

SyncDraft sync_of(SyncKind kind, const std::string& queue) {
  SyncDraft draft;
  draft.kind = kind;
  if (queue != kDefaultQueueName) draft.queue = queue;
  return draft;
}

SemaphoreUseDraft point_of(const std::string& semaphore, uint64_t value) {
  SemaphoreUseDraft use;
  use.semaphore = semaphore;
  use.value = value;
  return use;
}

std::string done_name(const std::string& queue) { return queue + ".done"; }

constexpr std::string_view kWaitForOthers =
    "a wait for a semaphore that was imported (who signals it is not seen)";
constexpr std::string_view kWaitForExported =
    "a wait for a value of an exported timeline that others may signal";

// Semaphores cover all stages of the device: so does one that names them all.
StageMask semaphore_stages(uint64_t stages, ScopeEnd end) {
  const StageMask known = stages_of(stages, end);
  return (known & kDeviceStages) == kDeviceStages ? kAllStages : known;
}

}  // namespace

std::string QueueSync::queue_name(uint64_t handle) {
  Queue& queue = queues_[handle];
  if (queue.name.empty()) {
    queue.name = fmt::format("q{}", summary_.queue_count++);
    handles_[queue.name] = handle;
  }
  const bool is_declared =
      std::exchange(queue.declared_window, writer_.window()) == writer_.window();
  if (!is_declared && queue.name != kDefaultQueueName) {
    writer_.declare(QueueDraft{queue.name, QueueKind::kConcurrent});
  }
  return queue.name;
}

QueueSync::Queue& QueueSync::queue_named(const std::string& name) {
  return queues_.at(handles_.at(name));
}

std::optional<uint32_t> QueueSync::family_of(uint64_t queue) const {
  const auto found = queues_.find(queue);
  return found == queues_.end() ? std::nullopt : found->second.family;
}

void QueueSync::apply(const QueueRecord& record) {
  Queue& queue = queues_[record.queue];
  queue.device = record.device;
  queue.family = record.family;
}

std::shared_ptr<QueueSync::Payload> QueueSync::new_timeline(uint64_t initial) {
  auto timeline = std::make_shared<Payload>();
  timeline->is_timeline = true;
  timeline->name = fmt::format("s{}", ++timeline_count_);
  timeline->initial = timeline->host_reached = initial;
  declare(*timeline);
  return timeline;
}

void QueueSync::apply(const CreateSemaphoreRecord& record) {
  // A log may create it twice.
  destroy_semaphore(record.semaphore);
  Holder semaphore;
  if (record.is_timeline != 0) semaphore.payload = new_timeline(record.initial);
  semaphores_[record.semaphore] = std::move(semaphore);
}

void QueueSync::unsignal(Holder& holder) {
  holder.payload->signalled.reset();
  if (holder.permanent != nullptr) holder.payload = std::move(holder.permanent);
}

void QueueSync::declare(Payload& timeline) {
  if (std::exchange(timeline.declared_window, writer_.window()) == writer_.window()) return;
  SemaphoreDraft draft;
  draft.name = timeline.name;
  draft.initial = timeline.initial;
  writer_.declare(draft);
}

void QueueSync::wait(const std::string& queue, const SemaphoreUseFields& use) {
  const StageMask stages = semaphore_stages(use.stages, ScopeEnd::kSecond);
  if (has_unknown_stages(use.stages)) summary_.note("a wait before stages that are not followed");
  if (has_parts_of_graphics(use.stages)) {
    summary_.remark("waits before parts of graphics (they count as before all of it)");
  }
  const auto found = semaphores_.find(use.semaphore);
  if (found == semaphores_.end()) return summary_.note("a wait for a semaphore that is not known");
  Holder& holder = found->second;
  Payload& semaphore = *holder.payload;
  if (semaphore.is_timeline) {
    if (semaphore.may_be_of_others(use.value)) {
      return summary_.note(semaphore.is_imported ? kWaitForOthers : kWaitForExported);
    }
    if (use.value <= semaphore.initial) return;  // It orders nothing.
    semaphore.wait_max = std::max(semaphore.wait_max, use.value);
    declare(semaphore);
    if (stages != 0) add_wait(queue, semaphore.name, use.value, stages);
  } else if (semaphore.signalled) {
    const std::vector<Point> points = *semaphore.signalled;
    unsignal(holder);
    for (const Point& point : points) {
      if (stages != 0) add_wait(queue, point, stages);
    }
  } else {
    summary_.note(semaphore.is_imported ? kWaitForOthers
                                        : "a wait for a semaphore that nothing in the log signals");
    unsignal(holder);
  }
}

void QueueSync::add_wait(const std::string& queue, const std::string& semaphore, uint64_t value,
                         StageMask before) {
  full_waits_.wait(queue, semaphore, value);
  SyncDraft draft = sync_of(SyncKind::kWait, queue);
  draft.semaphores = {point_of(semaphore, value)};
  draft.semaphores.front().stages = before;
  add_sync(std::move(draft));
}

void QueueSync::add_wait(const std::string& queue, const Point& point, StageMask before) {
  if (point.value <= queue_named(point.queue).earlier) return;
  add_wait(queue, done_name(point.queue), point.value, before);
}

void QueueSync::add_signal(const Point& point, StageMask after) {
  full_waits_.signal(point.queue, done_name(point.queue), point.value, after == kAllStages);
  SyncDraft draft = sync_of(SyncKind::kSignal, point.queue);
  draft.semaphores = {point_of(done_name(point.queue), point.value)};
  draft.semaphores.front().stages = after;
  add_sync(std::move(draft));
}

void QueueSync::add_submit(const std::string& queue) {
  add_sync(sync_of(SyncKind::kSubmit, queue));
}

void QueueSync::add_host_sync(SyncKind kind, const std::string& semaphore, uint64_t value) {
  SyncDraft draft;
  draft.kind = kind;
  draft.semaphores = {point_of(semaphore, value)};
  add_sync(std::move(draft));
}

QueueSync::Payload* QueueSync::find_timeline(uint64_t semaphore) {
  const auto found = semaphores_.find(semaphore);
  if (found == semaphores_.end() || !found->second.payload->is_timeline) return nullptr;
  return found->second.payload.get();
}

bool QueueSync::raise(Payload& timeline, uint64_t value) {
  // What is submitted first may be signalled last: it waits.
  declare(timeline);
  const bool rises = value > timeline.initial && timeline.signals.insert(value).second;
  if (!rises) summary_.note("a signal of a timeline that does not rise");
  return rises;
}

void QueueSync::signal_timelines(const std::string& queue,
                                 const std::vector<SemaphoreUseFields>& signals) {
  SyncDraft draft = sync_of(SyncKind::kSignal, queue);
  for (const SemaphoreUseFields& use : signals) {
    Payload* const semaphore = find_timeline(use.semaphore);
    if (semaphore == nullptr || !raise(*semaphore, use.value)) continue;
    // One signal names each semaphore once; a batch may raise one of them twice.
    if (std::ranges::count(draft.semaphores, semaphore->name, &SemaphoreUseDraft::semaphore) > 0) {
      add_sync(std::exchange(draft, sync_of(SyncKind::kSignal, queue)));
    }
    draft.semaphores.push_back(point_of(semaphore->name, use.value));
    const StageMask stages = semaphore_stages(use.stages, ScopeEnd::kFirst);
    draft.semaphores.back().stages = stages;
    full_waits_.signal(queue, semaphore->name, use.value, stages == kAllStages);
    if (stages != 0) continue;
    // It covers nothing, for which the format has no word: nothing executes on a queue in this one.
    summary_.note("a signal after no stage");
    draft.semaphores.back().stages = bit_of(Stage::kHost);
  }
  if (!draft.semaphores.empty()) add_sync(std::move(draft));
}

void QueueSync::end_batch(const std::string& queue_name,
                          const std::vector<SemaphoreUseFields>& signals, uint64_t fence) {
  Queue& queue = queue_named(queue_name);
  queue.has_work = true;
  full_waits_.submit(queue_name);
  signal_timelines(queue_name, signals);
  // After which stages those signal that do not after all: where they differ, after what they
  // share.
  StageMask stages = kAllStages;
  std::vector<Payload*> narrow;
  std::vector<Payload*> whole;
  for (const SemaphoreUseFields& use : signals) {
    Payload& semaphore = *semaphores_[use.semaphore].payload;
    if (semaphore.is_timeline) continue;
    const StageMask own = semaphore_stages(use.stages, ScopeEnd::kFirst);
    (own == kAllStages ? whole : narrow).push_back(&semaphore);
    const bool differs = own != kAllStages && stages != kAllStages && own != stages;
    if (differs || has_unknown_stages(use.stages)) {
      summary_.note("a signal of a binary semaphore after stages that are not told apart");
    }
    stages = static_cast<StageMask>(stages & own);
  }
  const auto raise = [&](const std::vector<Payload*>& signalled, StageMask after) {
    const Point point{queue_name, queue.done + 1};
    for (Payload* const semaphore : signalled) {
      semaphore->signalled = std::vector<Point>(after == 0 ? 0 : 1, point);
    }
    if (after == 0) return;
    ++queue.done;
    add_signal(point, after);
  };
  if (!narrow.empty()) raise(narrow, stages);
  if (fence != 0 || !whole.empty()) raise(whole, kAllStages);
  if (fence != 0) {
    Payload& payload = *fences_[fence].payload;
    payload.signalled = {{queue_name, queue.done}};
    payload.is_imported = false;
  }
  add_submit(queue_name);
}

void QueueSync::host_waits(Point point) {
  Queue& queue = queue_named(point.queue);
  if (point.value <= queue.host_reached) return;
  queue.host_reached = point.value;
  full_waits_.host_waits(done_name(point.queue), point.value);
  add_host_sync(SyncKind::kHostWaits, done_name(point.queue), point.value);
}

void QueueSync::apply(const FenceReachedRecord& record) {
  for (const uint64_t fence : record.fences) {
    const auto found = fences_.find(fence);
    if (found == fences_.end()) continue;
    const Payload& payload = *found->second.payload;
    if (payload.is_imported) {
      summary_.note("a fence that was imported (what it tells the host is not known)");
    }
    if (!payload.signalled) continue;
    for (const Point& point : *payload.signalled) host_waits(point);
  }
}

void QueueSync::apply(const SemaphoreReachedRecord& record) {
  Payload* const semaphore = find_timeline(record.semaphore);
  if (semaphore == nullptr || record.value <= semaphore->host_reached) return;
  if (semaphore->may_be_of_others(record.value)) {
    return summary_.note(
        semaphore->is_imported
            ? "a value of a timeline that was imported (who signals it is not seen)"
            : "a value of an exported timeline that others may have signalled");
  }
  if (record.value > semaphore->signal_max()) {
    return summary_.note("a value of a timeline that nothing in the log signals");
  }
  semaphore->host_reached = record.value;
  full_waits_.host_waits(semaphore->name, record.value);
  add_host_sync(SyncKind::kHostWaits, semaphore->name, record.value);
}

void QueueSync::apply(const HostSignalRecord& record) {
  Payload* const semaphore = find_timeline(record.semaphore);
  if (semaphore == nullptr || !raise(*semaphore, record.value)) return;
  full_waits_.signal(semaphore->name, record.value);
  add_host_sync(SyncKind::kHostSignals, semaphore->name, record.value);
}

void QueueSync::apply(const WaitIdleRecord& record) {
  // One statement for each queue: an application may have several devices.
  for (auto& [handle, queue] : queues_) {
    const bool is_meant =
        record.queue != 0 ? handle == record.queue : queue.device == record.device;
    if (!is_meant || queue.name.empty() || !std::exchange(queue.has_work, false)) continue;
    queue.host_reached = queue.done;
    full_waits_.host_idle(queue.name);
    SyncDraft draft;
    draft.kind = SyncKind::kHostIdle;
    draft.queue = queue.name;
    add_sync(std::move(draft));
  }
}

void QueueSync::note_unmet(const Payload& payload) {
  if (payload.is_timeline && payload.wait_max > payload.signal_max()) {
    unmet_[payload.name] = payload.wait_max;
  }
}

void QueueSync::release(std::shared_ptr<Payload> payload) {
  if (!payload->is_timeline || payload.use_count() > 1) return;
  note_unmet(*payload);
  full_waits_.forget(payload->name);
}

void QueueSync::each_payload(const std::function<void(Payload&)>& visit) {
  for (auto* const holders : {&semaphores_, &fences_}) {
    for (auto& [handle, holder] : *holders) {
      visit(*holder.payload);
      if (holder.permanent != nullptr) visit(*holder.permanent);
    }
  }
  for (auto& [file, shared] : files_) visit(*shared.payload);
}

void QueueSync::destroy_semaphore(uint64_t semaphore) {
  const auto found = semaphores_.find(semaphore);
  if (found == semaphores_.end()) return;
  std::shared_ptr<Payload> payload = std::move(found->second.payload);
  semaphores_.erase(found);
  release(std::move(payload));
}

void QueueSync::destroy_fence(uint64_t fence) { fences_.erase(fence); }

void QueueSync::begin_window() {
  for (auto& [handle, queue] : queues_) {
    queue.host_reached = queue.earlier = queue.done;
    queue.has_work = false;
  }
  each_payload([](Payload& payload) {
    payload.initial = payload.host_reached = payload.signal_max();
    payload.signals.clear();
    payload.wait_max = 0;
  });
  unmet_.clear();
  full_waits_.forget_signals();
  read_presented_again();
}

void QueueSync::finish() {
  each_payload([this](const Payload& payload) { note_unmet(payload); });
  for (const auto& [name, value] : unmet_) {
    summary_.note("a wait for a timeline that nothing in the log signals so far");
    add_host_sync(SyncKind::kHostSignals, name, value);
  }
}

}  // namespace interlock
