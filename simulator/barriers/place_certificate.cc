// The basic idea is to go through the dispatches with what comes before each: those that conflict,
// those that its queue or barriers put before it, and what comes before these. Two pairs that one
// wait served would both be ordered by it, with all of their places that stands before the firsts
// and after the seconds; so a pair that this would not fit is shown.
#include "simulator/barriers/place_certificate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encoder/kernel/kernel_table.h"
#include "simulator/barriers/bit_rows.h"
#include "simulator/barriers/open_proof.h"
#include "simulator/barriers/place_class.h"

namespace interlock {
namespace {

// One for each dispatch.
using Bits = std::vector<uint64_t>;

bool is_in(const Bits& bits, size_t i) { return (bits[i / 64] >> (i % 64) & 1) != 0; }
void set(Bits& bits, size_t i) { bits[i / 64] |= uint64_t{1} << (i % 64); }
void unite(const Bits& from, Bits& to) {
  for (size_t k = 0; k < to.size(); ++k) to[k] |= from[k];
}

bool conflict(const Access& a, AtomicOp a_op, const Access& b, AtomicOp b_op) {
  if (a.memory != b.memory || a.range.end <= b.range.begin || b.range.end <= a.range.begin) {
    return false;
  }
  if (a.range.begin >= a.range.end || b.range.begin >= b.range.end) return false;
  if (a.mode <= AccessMode::kRead && b.mode <= AccessMode::kRead) return false;
  const bool are_equal_atomics = a.mode == AccessMode::kAtomic && b.mode == AccessMode::kAtomic &&
                                 a_op == b_op && a_op != AtomicOp::kNone;
  return !are_equal_atomics;
}

// What the statements of one queue have done so far.
struct QueueSoFar {
  std::array<Bits, kStageCount> executed;
  std::array<Bits, kStageCount> held_back;  // What comes before the next work of the stage.
};

StageMask as_source(StageMask stages) {
  const StageMask later = bit_of(Stage::kCompute) | bit_of(Stage::kGraphics);
  return (stages & later) != 0 ? stages | bit_of(Stage::kIndirect) : stages;
}
StageMask as_destination(StageMask stages) {
  const StageMask later = bit_of(Stage::kCompute) | bit_of(Stage::kGraphics);
  return (stages & bit_of(Stage::kIndirect)) != 0 ? stages | later : stages;
}

class PlaceReader : OpenProof {
 public:
  PlaceReader(const Program& program, const WaitCertificate& certificate, uint64_t step_limit)
      : OpenProof(step_limit),
        program_(program),
        certificate_(certificate),
        count_(program.dispatches.size()),
        none_((count_ + 63) / 64, 0),
        before_(count_),
        common_(count_),
        queues_(program.queue_count()) {}

  WaitProof run() {
    if (const std::string_view why = why_not_by_places(program_); !why.empty()) {
      fail(fmt::format("Nothing is proven by places, as {}.", why));
    } else if (follow()) {
      read_pairs();
    }
    return proof();
  }

 private:
  bool follow() {
    for (QueueSoFar& queue : queues_) {
      queue.executed.fill(none_);
      queue.held_back.fill(none_);
    }
    blocking_ = none_;
    joining_ = none_;
    for (const Statement& statement : program_.statements) {
      if (statement.queue == kNoQueue) continue;
      if (statement.kind == StatementKind::kLifetime) continue;
      const QueueKind kind = program_.kind_of(statement.queue);
      has_blocking_ |= kind == QueueKind::kSerialBlocking;
      has_joining_ |= kind == QueueKind::kLegacyDefault;
      if (statement.kind == StatementKind::kDispatch && !add_dispatch(statement)) return false;
      if (statement.kind != StatementKind::kBarrier || kind != QueueKind::kConcurrent) continue;
      const Barrier& barrier = program_.barriers[statement.index];
      if (!spend((barrier.dependency_count + 1) * 3 * kStageCount * none_.size())) return false;
      add_barrier(barrier, queues_[statement.queue]);
    }
    return true;
  }

  bool add_dispatch(const Statement& statement) {
    const uint32_t id = statement.index;
    const QueueKind kind = program_.kind_of(statement.queue);
    const Stage stage = stage_in_queue(id);
    QueueSoFar& queue = queues_[statement.queue];
    Bits before = queue.held_back[static_cast<size_t>(stage)];
    if (is_serial(kind)) unite(queue.executed[static_cast<size_t>(stage)], before);
    if (kind == QueueKind::kSerialBlocking) unite(joining_, before);
    if (kind == QueueKind::kLegacyDefault) unite(blocking_, before);
    for (uint32_t earlier = id; earlier-- > 0;) {
      if (is_of_host(earlier) || before_.has(id, earlier)) continue;
      if (!is_in(before, earlier)) {
        const auto a = program_.accesses_of(DispatchId(size_t{earlier}));
        const auto b = program_.accesses_of(DispatchId(size_t{id}));
        if (!spend(a.size() * b.size() + 1)) return false;
        if (!conflicts(earlier, id)) continue;
      }
      before_.set(id, earlier);
      before_.join(id, before_.words_of(earlier));
    }
    set(queue.executed[static_cast<size_t>(stage)], id);
    if (kind == QueueKind::kSerialBlocking) set(blocking_, id);
    if (kind == QueueKind::kLegacyDefault) set(joining_, id);
    return true;
  }

  bool conflicts(uint32_t first, uint32_t second) const {
    const AtomicOp a_op = program_.dispatches[first].atomic_op;
    const AtomicOp b_op = program_.dispatches[second].atomic_op;
    for (const Access& a : program_.accesses_of(DispatchId(size_t{first}))) {
      for (const Access& b : program_.accesses_of(DispatchId(size_t{second}))) {
        if (conflict(a, a_op, b, b_op)) return true;
      }
    }
    return false;
  }

  // All of its dependencies at once.
  void add_barrier(const Barrier& barrier, QueueSoFar& queue) const {
    const QueueSoFar old = queue;
    const auto order = [&](StageMask source, StageMask destination) {
      Bits over = none_;
      for (size_t stage = 0; stage < kStageCount; ++stage) {
        if ((as_source(source) >> stage & 1) == 0) continue;
        unite(old.executed[stage], over);
        unite(old.held_back[stage], over);
      }
      for (size_t stage = 0; stage < kStageCount; ++stage) {
        if ((as_destination(destination) >> stage & 1) != 0) unite(over, queue.held_back[stage]);
      }
    };
    if (barrier.kind != BarrierKind::kScoped) return order(kAllStages, kAllStages);
    for (const Dependency& dependency : program_.dependencies_of(barrier)) {
      order(dependency.source.stages, dependency.destination.stages);
    }
  }

  void read_pairs() {
    find_places();
    std::map<std::pair<uint32_t, uint32_t>, std::vector<const NeededWait*>> of_groups;
    std::map<uint32_t, std::vector<const NeededWait*>> own;
    for (const NeededWait& wait : certificate_.waits) {
      if (!read_pair(wait)) return;
      const uint32_t from = group_of(wait.first.index);
      const uint32_t to = group_of(wait.second.index);
      if (!is_apart(wait, of_groups[{from, to}])) return;
      if (wait.need == WaitNeed::kApart) continue;
      if (!is_apart(wait, own[certificate_.is_by_source ? from : to])) return;
    }
  }

  bool read_pair(const NeededWait& wait) {
    const uint32_t a = wait.first.index;
    const uint32_t b = wait.second.index;
    if (b >= count_ || !(wait.first < wait.second)) {
      return fail(wait, "is no pair of dispatches in order");
    }
    if (is_of_host(a) || is_of_host(b)) return fail(wait, "is of what the host does");
    if (wait.need == WaitNeed::kJoin) return fail(wait, "joins, and is told by places");
    if (group_of(a) == group_of(b)) return fail(wait, "is of queues that need no wait");
    if (!before_.has(b, a)) return fail(wait, "may be in any order");
    if (!spend(b - a)) return false;
    for (uint32_t c = a + 1; c < b; ++c) {
      if (before_.has(b, c) && before_.has(c, a)) return fail(wait, "has another dispatch between");
    }
    return true;
  }

  // Of none of these pairs and this one a single wait can be; and adds it to them.
  bool is_apart(const NeededWait& wait, std::vector<const NeededWait*>& others) {
    for (const NeededWait* other : others) {
      if (!fits(wait.first.index, other->second.index)) continue;
      if (proof().is_cut_short) return false;
      if (!fits(other->first.index, wait.second.index)) continue;
      if (proof().is_cut_short) return false;
      return fail(wait, fmt::format("can have the wait of dispatches {} and {}", other->first.index,
                                    other->second.index));
    }
    others.push_back(&wait);
    return true;
  }

  // All up to `first` in its place comes before all from `second` on in its own.
  bool fits(uint32_t first, uint32_t second) {
    for (const uint32_t earlier : places_[place_of_[first]]) {
      if (earlier > first) break;
      if (!spend(1)) return true;
      if (!common_.has(second, earlier)) return false;
    }
    return true;
  }

  void find_places() {
    std::map<std::pair<QueueIndex, Stage>, uint32_t> places;
    for (uint32_t i = 0; i < count_; ++i) {
      place_of_.push_back(0);
      if (is_of_host(i)) continue;
      const std::pair key(program_.queue_of(program_.dispatches[i]), stage_in_queue(i));
      const auto place = places.try_emplace(key, static_cast<uint32_t>(places_.size())).first;
      if (place->second == places_.size()) places_.emplace_back();
      place_of_.back() = place->second;
      places_[place->second].push_back(i);
    }
    for (const std::vector<uint32_t>& place : places_) {
      for (size_t k = place.size(); k-- > 0;) {
        common_.join(place[k], before_.words_of(place[k]));
        if (k + 1 < place.size()) common_.keep(place[k], common_.words_of(place[k + 1]));
      }
    }
  }

  // Where all is in order no stage is told from another.
  Stage stage_in_queue(uint32_t dispatch) const {
    const Dispatch& d = program_.dispatches[dispatch];
    return is_serial(program_.kind_of(program_.queue_of(d))) ? Stage::kCompute : stage_of(d);
  }
  // Queues that join each other are one group.
  uint32_t group_of(uint32_t dispatch) const {
    const QueueIndex queue = program_.queue_of(program_.dispatches[dispatch]);
    const QueueKind kind = program_.kind_of(queue);
    const bool joins = kind == QueueKind::kSerialBlocking || kind == QueueKind::kLegacyDefault;
    return joins && has_blocking_ && has_joining_ ? kNoQueue : queue;
  }
  bool is_of_host(size_t dispatch) const {
    return program_.queue_of(program_.dispatches[dispatch]) == kNoQueue;
  }

  const Program& program_;
  const WaitCertificate& certificate_;
  const size_t count_;
  const Bits none_;
  BitRows before_;  // By dispatch: those before it.
  BitRows common_;  // Those before it and all after it at its place.
  std::vector<QueueSoFar> queues_;
  Bits blocking_;  // Dispatches of blocking queues so far.
  Bits joining_;   // Likewise of legacy-default ones.
  bool has_blocking_ = false;
  bool has_joining_ = false;
  std::vector<uint32_t> place_of_;             // By dispatch.
  std::vector<std::vector<uint32_t>> places_;  // Their dispatches, ascending.
};

}  // namespace

WaitProof prove_by_places(const Program& program, const WaitCertificate& certificate,
                          uint64_t step_limit) {
  return PlaceReader(program, certificate, step_limit).run();
}

}  // namespace interlock
