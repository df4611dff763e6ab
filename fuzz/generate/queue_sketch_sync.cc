// What orders the operations of a sketch, and what ends its values.
#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "fuzz/generate/queue_sketch.h"

namespace interlock {
namespace {

// Of words, dependencies and operands: fuzzers' bytes may ask for more and more.
constexpr uint64_t kPartsMax = 8;

constexpr std::string_view kScopeWords[] = {
    "compute.read", "compute.write", "compute.uniform", "copy.read", "copy.write", "indirect.read",
    "host.read",    "host.write",    "compute",         "copy",      "indirect",   "host"};
constexpr StageMask kStageLists[] = {
    bit_of(Stage::kCompute),
    bit_of(Stage::kCopy),
    bit_of(Stage::kIndirect),
    static_cast<StageMask>(bit_of(Stage::kCompute) | bit_of(Stage::kCopy)),
    kAllStages,
    static_cast<StageMask>(bit_of(Stage::kCompute) | bit_of(Stage::kIndirect)),
    static_cast<StageMask>(bit_of(Stage::kCopy) | bit_of(Stage::kHost)),
    bit_of(Stage::kHost),
    bit_of(Stage::kGraphics),
    kDeviceStages};

// Of images, and of what renders them.
constexpr std::string_view kImageScopeWords[] = {"graphics.read",    "graphics.write",
                                                 "graphics.uniform", "graphics",
                                                 "compute.write",    "copy.write"};
constexpr std::string_view kWideImageScopes[][3] = {{"none"},
                                                    {"device"},
                                                    {"device.read", "device.write"},
                                                    {"device.write"},
                                                    {"graphics.read", "graphics.write"},
                                                    {"all.read", "all.write"}};

void add_word(std::string_view word, Scope& scope) {
  const Scope part = *scope_of(word);
  scope.stages |= part.stages;
  scope.accesses |= part.accesses;
}

// Those that whole programs come out clean with often enough.
constexpr std::string_view kWideScopes[][3] = {{"all"},
                                               {"all.read", "all.write"},
                                               {"all.write"},
                                               {"all.read"},
                                               {"compute.read", "compute.write", "compute.uniform"},
                                               {"copy.read", "copy.write"},
                                               {"compute.write", "copy.write", "host.write"}};

}  // namespace

// Its features, and how often it has each sort of sync.
void QueueSketch::draw_features() {
  has_copies_ = chance(1, 2);
  has_uniforms_ = chance(1, 4);
  has_indirect_ = chance(1, 3);
  has_atomics_ = chance(1, 4);
  has_partial_ = chance(1, 6);
  has_host_ = chance(1, 2);
  has_operands_ = chance(1, 3);
  has_scopes_ = chance(1, 2);
  has_stages_ = chance(1, 2);
  has_rows_ = chance(1, 6);
  has_images_ = chance(1, 3);
  has_approximate_ = chance(1, 6);
  has_outside_ = chance(1, 6);
}

void QueueSketch::add_semaphores() {
  const size_t count = 1 + choice_.below(3);
  for (size_t k = 0; k < count; ++k) {
    SemaphoreState semaphore;
    semaphore.name = fmt::format("s{}", k);
    const uint64_t owner = choice_.below(queues_.size() + (has_host_ ? 1 : 0));
    semaphore.owner = owner == queues_.size() ? kHost : owner;
    // The host signals values.
    semaphore.is_binary = semaphore.owner != kHost && chance(1, 5);
    if (semaphore.is_binary) {
      note(QueueFeature::kBinary);
      draft_.items.emplace_back(SemaphoreDraft{semaphore.name, true, 0});
    } else if (chance(1, 5)) {
      note(QueueFeature::kInitial);
      semaphore.initial = 1;  // Waits for 1 are met at once.
      semaphore.signal_count = 1;
      draft_.items.emplace_back(SemaphoreDraft{semaphore.name, false, 1});
    }
    semaphores_.push_back(std::move(semaphore));
  }
  // Of each sort of sync in every second program, rarely or often; of none never.
  const auto draw = [&](bool is_possible) -> uint32_t {
    constexpr uint32_t kWeights[] = {0, 0, 1, 3, 6};
    return is_possible ? one_of(kWeights) : 0;
  };
  sync_weights_ = {
      2 + draw(true), draw(true),          draw(chance(1, 2)),     draw(chance(1, 4)),     3, 3,
      draw(true) / 2, draw(has_host_) / 2, draw(has_noncoherent_), draw(!tensors_.empty())};
}

void QueueSketch::add_sync() {
  constexpr AddSync kSorts[] = {&QueueSketch::add_barrier,   &QueueSketch::add_event,
                                &QueueSketch::add_submit,    &QueueSketch::add_split,
                                &QueueSketch::add_signal,    &QueueSketch::add_wait,
                                &QueueSketch::add_handoff,   &QueueSketch::add_idle,
                                &QueueSketch::add_host_move, &QueueSketch::add_end};
  uint64_t drawn =
      choice_.below(std::accumulate(sync_weights_.begin(), sync_weights_.end(), uint64_t{0}));
  size_t sort = 0;
  while (drawn >= sync_weights_[sort]) drawn -= sync_weights_[sort++];
  (this->*kSorts[sort])();
}

Scope QueueSketch::draw_scope() {
  Scope scope;
  const bool is_of_images = has_images_ && chance(1, 2);
  if (chance(1, 2)) {
    for (const std::string_view word :
         is_of_images ? one_of(kWideImageScopes) : one_of(kWideScopes)) {
      if (!word.empty()) add_word(word, scope);
    }
    return scope;
  }
  for (uint64_t left = kPartsMax; left > 0; --left) {
    add_word(is_of_images ? one_of(kImageScopeWords) : one_of(kScopeWords), scope);
    if (!chance(1, 2)) break;
  }
  return scope;
}

StageMask QueueSketch::draw_stages() {
  if (!has_stages_ || !chance(1, 2)) return kAllStages;
  note(QueueFeature::kSomeStages);
  return one_of(kStageLists);
}

// What stands after `barrier` or `set e`.
BarrierKind QueueSketch::draw_dependencies(std::vector<DependencyDraft>& dependencies,
                                           bool is_barrier) {
  if (!has_scopes_ || chance(1, 3)) {
    const bool is_full = chance(3, 4);
    note(is_full ? QueueFeature::kFullBarriers : QueueFeature::kExecutionBarriers);
    return is_full ? BarrierKind::kFull : BarrierKind::kExecution;
  }
  note(QueueFeature::kScopes);
  do {
    DependencyDraft dependency;
    dependency.source = draw_scope();
    dependency.destination = draw_scope();
    if (is_barrier && has_images_ && chance(1, 2)) {
      const bool keeps = chance(3, 4);
      note(keeps ? QueueFeature::kTransitions : QueueFeature::kDiscards);
      dependency.transition = keeps ? TransitionKind::kKeeps : TransitionKind::kDiscards;
      dependency.operands.push_back(operand_in(one_of(memories_), 6));
    }
    while (has_operands_ && dependency.operands.size() < kPartsMax && chance(1, 2)) {
      note(QueueFeature::kOperands);
      dependency.operands.push_back(operand_in(one_of(memories_), 6));
    }
    dependencies.push_back(std::move(dependency));
  } while (dependencies.size() < kPartsMax && chance(1, 4));
  return BarrierKind::kScoped;
}

// Edges order the operations of graph queues.
void QueueSketch::add_barrier() {
  const size_t queue = draw_queue();
  if (is_graph(queue)) return;
  BarrierDraft barrier;
  barrier.kind = draw_dependencies(barrier.dependencies, true);
  barrier.queue = name_of(queue);
  draft_.items.emplace_back(std::move(barrier));
}

void QueueSketch::add_event() {
  const size_t queue = draw_queue();
  if (is_graph(queue)) return;
  std::vector<std::string>& events = events_[queue];
  SyncDraft step;
  step.queue = name_of(queue);
  if (!events.empty() && chance(1, 2)) {
    note(QueueFeature::kEvents);
    step.kind = SyncKind::kAwait;
    step.event = one_of(events);
  } else {
    // Some names come again.
    const bool is_new = events.empty() || chance(1, 2);
    events.push_back(is_new ? fmt::format("e{}_{}", queue, events.size()) : events.back());
    step.kind = SyncKind::kSet;
    step.event = events.back();
    step.barrier_kind = draw_dependencies(step.dependencies, false);
  }
  draft_.items.emplace_back(std::move(step));
}

void QueueSketch::emit_sync(SyncKind kind, size_t queue) {
  SyncDraft step;
  step.kind = kind;
  if (queue != kHost) step.queue = name_of(queue);
  draft_.items.emplace_back(std::move(step));
}

void QueueSketch::add_submit() {
  note(QueueFeature::kSubmits);
  emit_sync(SyncKind::kSubmit, draw_queue());
}

void QueueSketch::add_split() {
  note(QueueFeature::kSplits);
  emit_sync(SyncKind::kSplit, draw_queue());
}

SemaphoreUseDraft QueueSketch::next_signal(SemaphoreState& semaphore) {
  ++semaphore.signal_count;
  SemaphoreUseDraft use;
  use.semaphore = semaphore.name;
  if (!semaphore.is_binary) use.value = semaphore.signal_count;
  semaphore.hand_on();
  return use;
}

void QueueSketch::emit_signal(std::vector<SemaphoreUseDraft> uses, size_t owner) {
  note(owner == kHost ? QueueFeature::kHostSignals : QueueFeature::kSignals);
  if (uses.size() > 1) note(QueueFeature::kBatches);
  SyncDraft step;
  step.kind = owner == kHost ? SyncKind::kHostSignals : SyncKind::kSignal;
  if (owner != kHost) step.queue = name_of(owner);
  step.semaphores = std::move(uses);
  draft_.items.emplace_back(std::move(step));
}

void QueueSketch::add_signal() {
  SemaphoreState& first = semaphores_[choice_.below(semaphores_.size())];
  if (!first.may_be_signaled()) return;
  const size_t owner = first.owner;
  std::vector<SemaphoreUseDraft> uses;
  const auto add = [&](SemaphoreState& semaphore) {
    uses.push_back(next_signal(semaphore));
    // It has to come after the wait for the one before, whatever that holds back.
    const bool is_again = semaphore.is_binary && semaphore.signal_count > 1;
    if (owner != kHost && !is_again) uses.back().stages = draw_stages();
  };
  add(first);
  for (SemaphoreState& other : semaphores_) {
    const bool joins = &other != &first && owner != kHost && other.owner == owner;
    if (joins && other.may_be_signaled() && chance(1, 2)) add(other);
  }
  emit_signal(std::move(uses), owner);
}

void QueueSketch::emit_wait(const SemaphoreState& semaphore, std::optional<uint64_t> value,
                            size_t queue, StageMask stages) {
  note(queue == kHost ? QueueFeature::kHostWaits : QueueFeature::kWaits);
  SyncDraft step;
  step.kind = queue == kHost ? SyncKind::kHostWaits : SyncKind::kWait;
  if (queue != kHost) step.queue = name_of(queue);
  step.semaphores = {{semaphore.name, value, stages}};
  draft_.items.emplace_back(std::move(step));
}

void QueueSketch::add_wait() {
  SemaphoreState& semaphore = semaphores_[choice_.below(semaphores_.size())];
  if (has_outside_ && chance(1, 3)) return add_wait_from_outside(semaphore);
  // Mostly what is signaled already.
  if (semaphore.signal_count == 0 && chance(2, 3)) return add_signal();
  if (!semaphore.may_be_waited_for()) return add_signal();
  std::optional<uint64_t> value;
  const bool is_again = semaphore.is_binary && semaphore.wait_value_max > 0;
  if (semaphore.is_binary) {
    ++semaphore.wait_value_max;
  } else {
    const bool may_be_later = chance(1, 6) || semaphore.signal_count == 0;
    value = 1 + choice_.below(semaphore.signal_count + (may_be_later ? 1 : 0));
    semaphore.wait_value_max = std::max(semaphore.wait_value_max, *value);
  }
  if (semaphore.wait_value_max > semaphore.signal_count) note(QueueFeature::kEarlyWaits);
  size_t place = has_host_ && chance(1, 3) ? kHost : draw_queue();
  if (is_again && semaphore.taker != kHost) place = semaphore.taker;
  semaphore.taker = place;
  semaphore.hand_on();
  emit_wait(semaphore, value, place, place == kHost ? kAllStages : draw_stages());
}

void QueueSketch::add_wait_from_outside(const SemaphoreState& semaphore) {
  note(QueueFeature::kFromOutside);
  const std::optional<uint64_t> value = semaphore.is_binary ? std::nullopt : std::optional(1);
  emit_wait(semaphore, value, has_host_ && chance(1, 3) ? kHost : draw_queue(), kAllStages);
  std::get<SyncDraft>(draft_.items.back()).semaphores[0].is_from_outside = true;
}

// The next signals come after the last one, which somebody else waits for.
void QueueSketch::add_handoff() {
  SemaphoreState& semaphore = semaphores_[choice_.below(semaphores_.size())];
  if (semaphore.is_binary || semaphore.signal_count == semaphore.initial) return add_signal();
  const uint64_t drawn = choice_.below(queues_.size() + (has_host_ ? 1 : 0));
  const size_t owner = drawn == queues_.size() ? kHost : drawn;
  note(QueueFeature::kHandoffs);
  emit_wait(semaphore, semaphore.signal_count, owner, kAllStages);
  semaphore.owner = owner;
  emit_signal({next_signal(semaphore)}, owner);
}

void QueueSketch::add_idle() {
  note(QueueFeature::kHostIdle);
  emit_sync(SyncKind::kHostIdle, chance(1, 2) ? kHost : draw_queue());
}

// Of what is not coherent.
void QueueSketch::add_host_move() {
  const bool flushes = chance(1, 2);
  note(flushes ? QueueFeature::kHostFlushes : QueueFeature::kHostInvalidates);
  SyncDraft step;
  step.kind = flushes ? SyncKind::kHostFlushes : SyncKind::kHostInvalidates;
  step.operands = {operand_in("n", 6)};
  draft_.items.emplace_back(std::move(step));
}

void QueueSketch::add_end() {
  const size_t which = choice_.below(tensors_.size());
  if (is_ended_[which]) return;
  is_ended_[which] = true;
  LifetimeDraft end;
  end.name = tensors_[which].name;
  end.kind = chance(1, 2) ? LifetimeKind::kFree : LifetimeKind::kDestroy;
  note(end.kind == LifetimeKind::kFree ? QueueFeature::kFree : QueueFeature::kDestroy);
  if (chance(2, 3)) {
    note(QueueFeature::kEndsOnQueues);
    end.queue = name_of(draw_queue());
  }
  draft_.items.emplace_back(std::move(end));
}

void QueueSketch::add_missing_signals() {
  for (SemaphoreState& semaphore : semaphores_) {
    while (semaphore.signal_count < semaphore.wait_value_max) {
      const size_t owner = semaphore.owner;
      emit_signal({next_signal(semaphore)}, owner);
    }
  }
}

}  // namespace interlock
