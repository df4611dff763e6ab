// The basic idea is that all that a wait comes after is, of each place, a prefix of its dispatches,
// and all that comes after it the rest of them from some dispatch on. So two pairs cannot have one
// wait if that would order more than is asked for, and pairs no two of which can have one each need
// their own.
#include "simulator/barriers/place_bounds.h"

#include <algorithm>
#include <bit>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/stop.h"
#include "simulator/barriers/bit_rows.h"
#include "simulator/barriers/direct_waits.h"
#include "simulator/barriers/place_class.h"
#include "simulator/order/happens_before.h"
#include "simulator/order/submissions.h"

namespace interlock {
namespace {

// Of looking whether two pairs can have one wait.
constexpr uint64_t kLooksMax = uint64_t{1} << 24;
// Of comparing an operand with another, for all pairs of dispatches.
constexpr uint64_t kComparisonsMax = uint64_t{1} << 26;
constexpr const char* kTooManySteps = "that takes too many steps";

bool is_signal_or_wait(const Program& program, const Statement& statement) {
  if (statement.kind != StatementKind::kSync) return false;
  const SyncKind kind = program.syncs[statement.index].kind;
  return kind == SyncKind::kSignal || kind == SyncKind::kWait;
}

// What is left orders what the queues do by themselves.
Program without_waits(const Program& program) {
  Program result = program;
  const auto aside = static_cast<QueueIndex>(result.queues.size());
  result.queues.push_back(result.queues[kDefaultQueue]);
  result.queues[aside].kind = QueueKind::kSerial;
  for (Statement& statement : result.statements) {
    if (!is_signal_or_wait(result, statement)) continue;
    statement.queue = aside;
    SyncStep& step = result.syncs[statement.index];
    if (step.kind == SyncKind::kWait) step.partner = SyncStep::kNoPartner;
  }
  return result;
}

class PlaceFinder {
 public:
  explicit PlaceFinder(const Program& program) : program_(program) { find_places(); }

  bool has_several_queues() const { return group_count_ > 1; }

  // False if the sync adds order, or to find out takes too many steps.
  bool find_order(NoWaitBounds& why_not) {
    const HappensBefore order(program_);
    const Program alone = without_waits(program_);
    const HappensBefore by_queues(alone);
    rows_ = BitRows(ids_.size());
    BitRows needed(ids_.size());
    uint64_t comparison_count = 0;
    for (size_t b = 0; b < ids_.size(); ++b) {
      if (is_stopped()) return false;
      for (size_t a = b; a-- > 0;) {
        if (!order.executes_before(ids_[a], ids_[b])) continue;
        rows_.set(b, a);
        if (needed.has(b, a)) continue;
        if (!by_queues.executes_before(ids_[a], ids_[b])) {
          comparison_count += uint64_t{program_.dispatch(ids_[a]).access_count} *
                              program_.dispatch(ids_[b]).access_count;
          if (comparison_count > kComparisonsMax) {
            why_not = {.reason = kTooManySteps};
            return false;
          }
          if (!share_conflicting_bytes(program_, ids_[a], ids_[b])) continue;
        }
        needed.set(b, a);
        needed.join(b, needed.words_of(a));
      }
      for (size_t a = b; a-- > 0;) {
        if (!rows_.has(b, a) || needed.has(b, a)) continue;
        why_not = {"its sync adds order", ids_[a], ids_[b]};
        return false;
      }
    }
    return true;
  }

  // False if it takes too many steps.
  bool find_pairs() {
    find_held();
    std::map<std::pair<uint32_t, uint32_t>, std::vector<Pair>> kept;
    for (uint32_t b = 0; b < ids_.size(); ++b) {
      if (is_stopped()) return false;
      for (const uint32_t a : right_before(b)) {
        const Pair pair{a, b};
        if (group_of_[a] == group_of_[b]) continue;
        std::vector<Pair>& others = kept[{group_of_[a], group_of_[b]}];
        if (!is_apart_from_all(pair, others)) continue;
        others.push_back(pair);
        pairs_.push_back(pair);
      }
    }
    return looks_ <= kLooksMax;
  }

  WaitCertificate certificate() {
    const std::vector<Pair> by_target = apart_by([&](Pair pair) { return group_of_[pair.second]; });
    const std::vector<Pair> by_source = apart_by([&](Pair pair) { return group_of_[pair.first]; });
    WaitCertificate result;
    result.is_by_places = true;
    result.is_by_source = by_source.size() > by_target.size();
    const std::vector<Pair>& own = result.is_by_source ? by_source : by_target;
    for (const Pair pair : pairs_) {
      const bool is_own = std::ranges::find(own, pair) != own.end();
      result.waits.push_back(
          {ids_[pair.first], ids_[pair.second], is_own ? WaitNeed::kOwn : WaitNeed::kApart});
    }
    return result;
  }

  bool is_cut_short() const { return looks_ > kLooksMax; }

 private:
  struct Pair {
    uint32_t first;
    uint32_t second;

    bool operator==(const Pair&) const = default;
  };

  // Queues that join each other do so without a wait.
  uint32_t group_number(QueueIndex queue, bool are_joined) {
    const QueueKind kind = program_.kind_of(queue);
    const bool joins = kind == QueueKind::kSerialBlocking || kind == QueueKind::kLegacyDefault;
    const QueueIndex key = are_joined && joins ? kNoQueue : queue;
    return groups_.try_emplace(key, static_cast<uint32_t>(groups_.size())).first->second;
  }

  void find_places() {
    const auto has_kind = [&](QueueKind kind) {
      return std::ranges::any_of(program_.statements, [&](const Statement& statement) {
        return statement.kind != StatementKind::kLifetime && statement.queue != kNoQueue &&
               program_.kind_of(statement.queue) == kind;
      });
    };
    const bool are_joined =
        has_kind(QueueKind::kSerialBlocking) && has_kind(QueueKind::kLegacyDefault);
    std::map<std::pair<QueueIndex, Stage>, uint32_t> places;
    for (size_t i = 0; i < program_.dispatches.size(); ++i) {
      const Dispatch& dispatch = program_.dispatches[i];
      const QueueIndex queue = program_.queue_of(dispatch);
      if (queue == kNoQueue) continue;
      const bool is_one_place = is_serial(program_.kind_of(queue));
      const std::pair key(queue, is_one_place ? Stage::kCompute : stage_of(dispatch));
      const uint32_t place =
          places.try_emplace(key, static_cast<uint32_t>(places.size())).first->second;
      if (place == places_.size()) places_.emplace_back();
      place_of_.push_back(place);
      position_of_.push_back(static_cast<uint32_t>(places_[place].size()));
      group_of_.push_back(group_number(queue, are_joined));
      places_[place].push_back(static_cast<uint32_t>(ids_.size()));
      ids_.push_back(DispatchId(i));
    }
    group_count_ = groups_.size();
  }

  // How many at the beginning of each place come before the dispatch and all after it at its own.
  void find_held() {
    held_.assign(ids_.size() * places_.size(), 0);
    for (size_t b = ids_.size(); b-- > 0;) {
      const std::vector<uint32_t>& own = places_[place_of_[b]];
      const bool is_last = position_of_[b] + 1 == own.size();
      for (size_t p = 0; p < places_.size(); ++p) {
        const std::vector<uint32_t>& there = places_[p];
        uint32_t count = is_last ? static_cast<uint32_t>(there.size())
                                 : held_[own[position_of_[b] + 1] * places_.size() + p];
        uint32_t prefix = 0;
        while (prefix < count && rows_.has(b, there[prefix])) ++prefix;
        held_[b * places_.size() + p] = prefix;
      }
    }
  }

  // Those before it with nothing between, ascending.
  std::vector<uint32_t> right_before(uint32_t dispatch) const {
    const std::span<const uint64_t> before = rows_.words_of(dispatch);
    std::vector<uint64_t> left(before.begin(), before.end());
    for_each_in(before, [&](uint32_t earlier) {
      const std::span<const uint64_t> theirs = rows_.words_of(earlier);
      for (size_t k = 0; k < left.size(); ++k) left[k] &= ~theirs[k];
    });
    std::vector<uint32_t> result;
    for_each_in(left, [&](uint32_t earlier) { result.push_back(earlier); });
    return result;
  }

  template <typename Visit>
  static void for_each_in(std::span<const uint64_t> words, const Visit& visit) {
    for (size_t k = 0; k < words.size(); ++k) {
      for (uint64_t word = words[k]; word != 0; word &= word - 1) {
        visit(static_cast<uint32_t>(64 * k + static_cast<size_t>(std::countr_zero(word))));
      }
    }
  }

  bool holds(uint32_t first, uint32_t second) const {
    return held_[second * places_.size() + place_of_[first]] > position_of_[first];
  }
  bool is_apart_from_all(Pair pair, const std::vector<Pair>& others) {
    looks_ += others.size();
    if (looks_ > kLooksMax) return false;
    return std::ranges::none_of(others, [&](Pair other) {
      return holds(pair.first, other.second) && holds(other.first, pair.second);
    });
  }

  template <typename Key>
  std::vector<Pair> apart_by(const Key& key) {
    std::map<uint32_t, std::vector<Pair>> kept;
    std::vector<Pair> result;
    for (const Pair pair : pairs_) {
      std::vector<Pair>& others = kept[key(pair)];
      if (!is_apart_from_all(pair, others)) continue;
      others.push_back(pair);
      result.push_back(pair);
    }
    return result;
  }

  const Program& program_;
  std::vector<DispatchId> ids_;  // Of devices. What follows counts these.
  std::map<QueueIndex, uint32_t> groups_;
  size_t group_count_ = 0;
  std::vector<uint32_t> place_of_;
  std::vector<uint32_t> position_of_;  // In its place.
  std::vector<uint32_t> group_of_;
  std::vector<std::vector<uint32_t>> places_;  // Their dispatches.
  BitRows rows_{0};                            // By dispatch: those before it.
  std::vector<uint32_t> held_;                 // By dispatch, by place.
  std::vector<Pair> pairs_;
  uint64_t looks_ = 0;
};

// The waits that some dispatch may come after, and whether between one of these and a signal that
// somebody waits for there may be no dispatch.
class WaitUses {
 public:
  explicit WaitUses(const Program& program) : program_(program), uses_(program.queue_count()) {
    find_used();
    find_passed_on();
  }

  uint64_t count() const { return static_cast<uint64_t>(std::ranges::count(is_used_, true)); }
  bool passes_on() const { return passes_on_; }

 private:
  struct Open {
    StageMask holds_back;
    StageMask has_between;  // The stages of dispatches that it holds back so far.

    bool operator==(const Open&) const = default;
  };
  struct OfQueue {
    bool has_use = false;
    std::vector<Open> open;
  };

  bool joins(QueueIndex queue) const {
    const QueueKind kind = program_.kind_of(queue);
    return kind == QueueKind::kSerialBlocking || kind == QueueKind::kLegacyDefault;
  }
  // With all that it might join.
  void use(QueueIndex queue) {
    uses_[queue].has_use = true;
    for (size_t other = 0; other < uses_.size() && joins(queue); ++other) {
      uses_[other].has_use |= joins(static_cast<QueueIndex>(other));
    }
  }

  void find_used() {
    is_used_.assign(program_.syncs.size(), false);
    is_awaited_.assign(program_.signal_parts.size(), false);
    is_of_host_.assign(program_.signal_parts.size(), false);
    for (const SyncStep& step : program_.syncs) {
      if (step.kind != SyncKind::kHostSignals) continue;
      for (uint32_t k = step.first; k < step.first + step.count; ++k) is_of_host_[k] = true;
    }
    for (size_t i = program_.statements.size(); i-- > 0;) {
      const Statement& statement = program_.statements[i];
      if (is_of_host(program_, statement)) continue;
      if (statement.kind == StatementKind::kDispatch) use(statement.queue);
      if (statement.kind != StatementKind::kSync) continue;
      const SyncStep& step = program_.syncs[statement.index];
      if (step.kind == SyncKind::kSignal) {
        for (uint32_t k = step.first; k < step.first + step.count; ++k) {
          if (is_awaited_[k]) use(statement.queue);
        }
      } else if (step.kind == SyncKind::kWait && uses_[statement.queue].has_use &&
                 step.partner != SyncStep::kNoPartner) {
        if (is_of_host_[step.partner]) continue;
        is_used_[statement.index] = true;
        is_awaited_[step.partner] = true;
      }
    }
  }

  void find_passed_on() {
    for (const Statement& statement : program_.statements) {
      if (is_of_host(program_, statement)) continue;
      std::vector<Open>& open = uses_[statement.queue].open;
      const bool is_in_order = is_serial(program_.kind_of(statement.queue));
      if (statement.kind == StatementKind::kDispatch) {
        const StageMask stage =
            is_in_order ? kAllStages : bit_of(stage_of(program_.dispatches[statement.index]));
        for (Open& wait : open) {
          wait.has_between |= is_in_order ? kAllStages : (wait.holds_back & stage);
        }
        std::ranges::sort(open, {},
                          [](Open wait) { return wait.holds_back << 8 | wait.has_between; });
        open.erase(std::unique(open.begin(), open.end()), open.end());
      } else if (statement.kind == StatementKind::kSync) {
        see(program_.syncs[statement.index], statement, open);
      }
    }
  }

  void see(const SyncStep& step, const Statement& statement, std::vector<Open>& open) {
    if (step.kind == SyncKind::kWait && is_used_[statement.index]) {
      open.push_back({step.stages, 0});
      passes_on_ |= joins(statement.queue);  // What joins it may signal.
    }
    if (step.kind != SyncKind::kSignal) return;
    for (uint32_t k = step.first; k < step.first + step.count; ++k) {
      const StageMask stages = program_.signal_parts[k].stages;
      passes_on_ |= is_awaited_[k] && std::ranges::any_of(open, [&](Open wait) {
                      return (wait.has_between & stages) == 0;
                    });
    }
  }

  const Program& program_;
  std::vector<OfQueue> uses_;
  std::vector<bool> is_used_;     // By sync step.
  std::vector<bool> is_awaited_;  // By part of a signal. So the next.
  std::vector<bool> is_of_host_;
  bool passes_on_ = false;
};

}  // namespace

std::optional<WaitBounds> find_place_bounds(const Program& program, NoWaitBounds& why_not) {
  why_not = {.reason = why_not_by_places(program)};
  if (!why_not.reason.empty()) return {};
  PlaceFinder finder(program);
  if (!finder.has_several_queues() || !finder.find_order(why_not)) return {};
  if (!finder.find_pairs()) return {};
  WaitBounds bounds;
  bounds.certificate = finder.certificate();
  if (finder.is_cut_short()) {
    why_not = {.reason = kTooManySteps};
    return {};
  }
  const WaitUses uses(program);
  bounds.wait_count = uses.count();
  bounds.passes_on = uses.passes_on();
  return bounds;
}

}  // namespace interlock
