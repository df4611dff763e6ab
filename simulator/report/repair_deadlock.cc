// The basic idea: a circle opens where one of its waits does not stand before what the others wait
// for. Each change is written as a text, read again and judged as that text would be, so that one
// which breaks a rule of the language is none. What ran before the deadlock keeps its findings: no
// change of what did not run parts what did. So what is new concerns a dispatch that had not run.
// And conflicts stay as they are written: without a wait of a circle the other side may come first.
// Where signals and waits say which side that is they do, and else the order of the text.
#include "simulator/report/repair_deadlock.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "encoder/program/stop.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "simulator/barriers/sync_pieces.h"
#include "simulator/bytes/byte_segments.h"
#include "simulator/hazards/hazard_between.h"
#include "simulator/order/reference_order.h"
#include "simulator/order/submissions.h"
#include "simulator/report/check.h"
#include "simulator/report/operand_text.h"
#include "simulator/report/read_every_queue.h"
#include "simulator/report/stated_order.h"
#include "simulator/report/sync_edit.h"

namespace interlock {
namespace {

constexpr size_t kStepsMax = 16;          // Of the circle.
constexpr size_t kSignalsMax = 8;         // That a wait could be for instead.
constexpr uint32_t kOtherPlacesMax = 24;  // Of a statement, on each side of where it stands.
constexpr size_t kTurnedMax = 2000;       // Dispatches that are compared by pairs.
constexpr uint64_t kWorkOfText = 20000;   // What a try costs beside visits.

bool is_of_order(FindingKind kind) {
  return is_hazard(kind) || kind == FindingKind::kReordered || kind == FindingKind::kClobber ||
         kind == FindingKind::kUninitialized || kind == FindingKind::kUseAfterFree;
}

class DeadlockRepairs {
 public:
  DeadlockRepairs(const Program& program, uint64_t& work_left, Finding& finding)
      : program_(program),
        work_left_(work_left),
        finding_(finding),
        has_run_(program.statements.size(), false) {
    for (const StatementId id : find_reference_order(program).statements) has_run_[id.index] = true;
    if (finding.cycle.size() > kStepsMax) has_tried_all_ = false;
    if (program.dispatches.size() <= kTurnedMax) {
      against_text_ = pairs_stated_against_text(program, work_left);
    }
  }

  void run() {
    if (!leave_out_some() && !move_some() && !wait_for_others() && !move_anywhere() && best_) {
      finding_.fix = fmt::format(
          "{} All runs then, with {} other finding{}: no other change of one statement that was "
          "tried, and turns no conflict around, has fewer.",
          best_->fix, best_->finding_count, best_->finding_count == 1 ? "" : "s");
      finding_.repair = best_->lines;
    }
    if (finding_.repair.empty() && has_tried_all_) {
      finding_.fix += " None of the changes of one statement that were tried is enough.";
    }
  }

 private:
  struct NamedRepair {
    std::string fix;
    std::vector<RepairLine> lines;
    size_t finding_count = 0;
  };
  // A wait that could go, if its queue, or the host, were after these of another one.
  struct OpenWait {
    BlockedStatement blocked;
    DispatchId last;  // In the text.
  };

  const Statement& statement_of(StatementId id) const { return program_.statements[id.index]; }
  const SyncStep* step_of(StatementId id) const {
    const Statement& statement = statement_of(id);
    return statement.kind == StatementKind::kSync ? &program_.syncs[statement.index] : nullptr;
  }
  std::string quoted_of(StatementId id) const { return quoted_text_of(program_, id); }

  size_t step_count() const { return std::min(finding_.cycle.size(), kStepsMax); }

  bool is_wait(const SyncStep& step) const {
    return step.kind == SyncKind::kWait || step.kind == SyncKind::kHostWaits;
  }

  bool leave_out_some() {
    for (size_t i = 0; i < step_count() && can_try(); ++i) {
      const BlockedStatement& blocked = finding_.cycle[i];
      const SyncStep* const step = step_of(blocked.statement);
      if (!blocked.is_a_wait || step == nullptr) continue;
      // A binary semaphore is waited for as often as it is signaled.
      if (is_wait(*step) && program_.semaphores[step->semaphore.index].is_binary) continue;
      SyncEdit edit(program_);
      edit.remove(blocked.statement);
      const auto found = try_edit(edit, fmt::format("leave out {}.", quoted_of(blocked.statement)));
      if (found && found->empty()) return true;
      if (found && is_wait(*step)) add_open(blocked, *found);
    }
    return false;
  }

  // If all that goes wrong without the wait is between its queue and one other.
  void add_open(const BlockedStatement& blocked, const std::vector<Finding>& findings) {
    const QueueIndex own = statement_of(blocked.statement).queue;
    std::optional<QueueIndex> other;
    DispatchId last;
    for (const Finding& finding : findings) {
      if (!is_hazard(finding.kind) || !finding.second) return;
      const QueueIndex first = queue_of(finding.first.dispatch);
      const QueueIndex second = queue_of(finding.second->dispatch);
      if ((first == own) == (second == own)) return;
      const DispatchId foreign = first == own ? finding.second->dispatch : finding.first.dispatch;
      const QueueIndex queue = first == own ? second : first;
      if (program_.dispatch(foreign).is_transition() || other.value_or(queue) != queue) return;
      other = queue;
      last = last.is_some() ? std::max(last, foreign) : foreign;
    }
    if (other && *other != kNoQueue) open_.push_back({blocked, last});
  }

  QueueIndex queue_of(DispatchId id) const { return program_.queue_of(program_.dispatch(id)); }

  // What is waited for, and the first of its queue that has not run, change places.
  bool move_some() {
    for (const bool is_later : {false, true}) {
      for (size_t i = 0; i < step_count() && can_try(); ++i) {
        const StatementId awaited = finding_.cycle[i].waits_for;
        const StatementId held = finding_.cycle[(i + 1) % finding_.cycle.size()].statement;
        const StatementId moved = is_later ? held : awaited;
        const StatementId at = is_later ? awaited : held;
        if (awaited == held || step_of(moved) == nullptr) continue;
        SyncEdit edit(program_);
        edit.move(moved, {at, is_later}, statement_of(moved).queue);
        const auto found =
            try_edit(edit, fmt::format("let {} come {} {}.", quoted_of(moved),
                                       is_later ? "after" : "before", quoted_of(at)));
        if (found && found->empty()) return true;
      }
    }
    return false;
  }

  bool wait_for_others() {
    return std::ranges::any_of(open_, [this](const OpenWait& open) {
      return wait_for_another(open) || signal_elsewhere(open);
    });
  }

  // A signal of the other queue that is there, after what has to be over.
  bool wait_for_another(const OpenWait& open) {
    const StatementId wait = open.blocked.statement;
    const QueueIndex queue = queue_of(open.last);
    size_t tried_count = 0;
    const uint32_t begin = program_.dispatch(open.last).statement.index + 1;
    for (size_t i = begin; i < program_.statements.size() && tried_count < kSignalsMax; ++i) {
      const SyncStep* const step = step_of(StatementId(i));
      if (step == nullptr || step->kind != SyncKind::kSignal) continue;
      if (program_.statements[i].queue != queue) continue;
      for (uint32_t part = step->first; part < step->first + step->count; ++part) {
        const SignalPart& signal = program_.signal_parts[part];
        if (program_.semaphores[signal.semaphore.index].is_binary) continue;
        if (!can_try()) return false;
        ++tried_count;
        SyncEdit edit(program_);
        edit.wait_for(wait, part);
        const auto found =
            try_edit(edit, fmt::format("let {} be for `{}` instead.", quoted_of(wait),
                                       text_of_part(program_, signal)));
        if (found && found->empty()) return true;
      }
    }
    return false;
  }

  bool signal_elsewhere(const OpenWait& open) {
    const StatementId signal = open.blocked.waits_for;
    const SyncStep* const step = step_of(signal);
    if (step == nullptr || step->kind != SyncKind::kSignal || step->count != 1) return false;
    if (!can_try()) return false;
    const QueueIndex queue = queue_of(open.last);
    SyncEdit edit(program_);
    edit.move(signal, {program_.dispatch(open.last).statement, true}, queue);
    const auto found =
        try_edit(edit, fmt::format("let {} stand after {} on {}.", quoted_of(signal),
                                   program_.description_of(open.last), program_.name_of(queue)));
    return found && found->empty();
  }

  // A place for a statement of the circle, anywhere in the text.
  struct OtherPlace {
    StatementId moved;
    SyncEdit::Place place;
    // Nearest first; last those among what stands beside its queue, where hardly anything changes.
    bool is_beside = false;
    uint32_t distance = 0;
  };

  bool move_anywhere() {
    std::vector<StatementId> moved;
    for (size_t i = 0; i < step_count(); ++i) {
      for (const StatementId id : {finding_.cycle[i].statement, finding_.cycle[i].waits_for}) {
        const SyncStep* const step = step_of(id);
        if (step == nullptr || step->is_of_launch || std::ranges::count(moved, id) > 0) continue;
        moved.push_back(id);
      }
    }
    std::vector<OtherPlace> places;
    for (const StatementId id : moved) {
      add_places(id, true, places);
      add_places(id, false, places);
    }
    std::ranges::stable_sort(places, {}, [](const OtherPlace& place) {
      return std::pair(place.is_beside, place.distance);
    });
    return std::ranges::any_of(places, [this](const OtherPlace& to) {
      if (!can_try()) return false;
      SyncEdit edit(program_);
      edit.move(to.moved, to.place, statement_of(to.moved).queue);
      const auto found =
          try_edit(edit, fmt::format("let {} come {} {}.", quoted_of(to.moved),
                                     to.place.is_after ? "after" : "before", name_of(to.place.at)));
      return found && found->empty();
    });
  }

  std::string name_of(StatementId id) const {
    const Statement& statement = statement_of(id);
    return statement.kind == StatementKind::kDispatch
               ? program_.description_of(DispatchId(size_t{statement.index}))
               : quoted_of(id);
  }

  // Not within a launch, nor between a barrier and its transitions.
  void add_places(StatementId moved, bool is_after, std::vector<OtherPlace>& places) const {
    const auto count = static_cast<uint32_t>(program_.statements.size());
    int launches = 0;
    uint32_t distance = 0;  // On the queue.
    uint32_t i = moved.index;
    for (uint32_t step = 1; is_after ? ++i < count : i-- > 0; ++step) {
      launches += launch_step_at(i);
      const bool is_beside = !has_place_in_common(moved, i);
      if (!is_beside) ++distance;
      if (distance > kOtherPlacesMax) return;
      if (launches != 0 || (is_beside && step > kOtherPlacesMax)) continue;
      if (is_transition(is_after ? i + 1 : i)) continue;
      places.push_back(
          {moved, {StatementId(size_t{i}), is_after}, is_beside, is_beside ? step : distance});
    }
  }

  bool is_transition(size_t statement) const {
    return statement < program_.statements.size() &&
           program_.statements[statement].kind == StatementKind::kDispatch &&
           program_.dispatches[program_.statements[statement].index].is_transition();
  }

  // Of the stream: 1 where a launch begins, -1 where it ends.
  int launch_step_at(uint32_t i) const {
    const SyncStep* const step = step_of(StatementId(size_t{i}));
    if (step == nullptr || !step->is_of_launch) return 0;
    if (program_.kind_of(program_.statements[i].queue) == QueueKind::kGraph) return 0;
    return step->kind == SyncKind::kSignal ? 1 : -1;
  }

  bool has_place_in_common(StatementId moved, uint32_t other) const {
    const Statement& one = statement_of(moved);
    const Statement& two = program_.statements[other];
    return one.queue == two.queue || is_of_host(program_, one) || is_of_host(program_, two);
  }

  // What a try costs.
  uint64_t work() const {
    return 40 * (program_.statements.size() + program_.accesses.size()) + kWorkOfText;
  }

  bool can_try() {
    if (work() <= work_left_ && !is_stopped()) return true;
    has_tried_all_ = false;
    return false;
  }

  // Returns what is new, of the hazards those that a report lists; none if not all runs then, or
  // that is no program. Takes note of the best.
  std::optional<std::vector<Finding>> try_edit(const SyncEdit& edit, const std::string& fix) {
    if (!can_try()) return std::nullopt;
    work_left_ -= work();
    ParseOptions options;
    read_every_queue(options);
    const Result<Program> changed = parse(print(edit.program()), "", options);
    if (!changed) return std::nullopt;
    const ReferenceOrder order = find_reference_order(*changed);
    if (!order.cycle.empty()) return std::nullopt;
    std::vector<size_t> position(changed->dispatches.size());
    for (size_t i = 0; i < order.statements.size(); ++i) {
      const Statement& statement = changed->statements[order.statements[i].index];
      if (statement.kind == StatementKind::kDispatch) position[statement.index] = i;
    }
    if (!order.is_text_order && turns_conflict(*changed, position)) return std::nullopt;
    CheckReport report =
        check(*changed, {.observability_budget = 0, .redundancy_budget = 0, .repair_budget = 0});
    if (is_stopped() || report.is_truncated()) {
      has_tried_all_ = false;
      return std::nullopt;
    }
    std::erase_if(report.findings, [this](const Finding& finding) { return !is_new(finding); });
    const bool is_clean = report.findings.empty();
    if (goes_against_waits(position)) {
      if (is_clean) return std::nullopt;
    } else if (is_clean) {
      finding_.fix = fix;
      finding_.repair = edit.lines();
    } else if (!best_ || report.findings.size() < best_->finding_count) {
      best_ = {fix, edit.lines(), report.findings.size()};
    }
    return std::move(report.findings);
  }

  // What comes first by the text comes after what it is in conflict with, and no wait says so.
  bool turns_conflict(const Program& changed, const std::vector<size_t>& position) {
    const size_t count = changed.dispatches.size();
    if (count > kTurnedMax) {
      has_tried_all_ = false;
      return true;
    }
    const ByteSegments segments(changed);
    for (size_t second = 0; second < count; ++second) {
      for (size_t first = 0; first < second; ++first) {
        const DispatchId one(first);
        const DispatchId other(second);
        if (position[first] < position[second] || (has_run(one) && has_run(other))) continue;
        if (std::ranges::binary_search(against_text_, std::pair(one, other))) continue;
        const uint64_t cost =
            changed.dispatch(one).access_count + changed.dispatch(other).access_count + 1;
        if (cost > work_left_ || is_stopped()) {
          has_tried_all_ = false;
          return true;
        }
        work_left_ -= cost;
        if (have_conflict(changed, segments, one, other)) return true;
      }
    }
    return false;
  }

  // To order these two as they run then would say the opposite of what is written.
  bool goes_against_waits(const std::vector<size_t>& position) const {
    return std::ranges::any_of(against_text_, [&](const auto& pair) {
      return position[pair.first.index] < position[pair.second.index] &&
             !(has_run(pair.first) && has_run(pair.second));
    });
  }

  bool is_new(const Finding& finding) const {
    const bool is_old = has_run(finding.first.dispatch) &&
                        (!finding.second || has_run(finding.second->dispatch)) &&
                        (!finding.lifetime.is_some() || has_run(finding.lifetime));
    return is_of_order(finding.kind) && !is_old;
  }

  bool has_run(DispatchId id) const {
    return id.is_some() && has_run_[program_.dispatch(id).statement.index];
  }

  bool has_run(LifetimeId id) const {
    return has_run_[program_.lifetimes[id.index].statement.index];
  }

  const Program& program_;
  uint64_t& work_left_;
  Finding& finding_;
  std::vector<bool> has_run_;  // By statement, before the deadlock.
  std::vector<std::pair<DispatchId, DispatchId>> against_text_;
  std::vector<OpenWait> open_;
  std::optional<NamedRepair> best_;
  bool has_tried_all_ = true;
};

}  // namespace

void find_deadlock_repair(const Program& program, uint64_t& work_left, Finding& finding) {
  DeadlockRepairs(program, work_left, finding).run();
}

}  // namespace interlock
