// The basic idea: reductions change the text, and each candidate is judged in its own reference
// run.
#include "fuzz/minimize/minimize_queues.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/program/statement_number.h"
#include "encoder/program/stop.h"
#include "fuzz/generate/draft_positions.h"
#include "fuzz/judge/evidence.h"
#include "fuzz/judge/findings.h"
#include "fuzz/judge/signature.h"
#include "simulator/order/in_reference_order.h"
#include "simulator/order/queue_order.h"
#include "simulator/order/reference_order.h"
#include "simulator/order/signal_order.h"

namespace interlock {
namespace {

// A candidate that no parser would take is none.
bool is_sound(const Program& program) { return !find_unordered_signals(program).has_value(); }

std::vector<BlockedStatement> deadlock_of(const Program& program) {
  return needs_queue_order(program) ? find_reference_order(program).cycle
                                    : std::vector<BlockedStatement>();
}

// Edges name operations by label, so that one can go without renaming the others.
ProgramDraft with_labels(ProgramDraft draft) {
  std::set<std::string> taken;
  std::vector<DispatchDraft*> dispatches;
  for (ItemDraft& item : draft.items) {
    auto* dispatch = std::get_if<DispatchDraft>(&item);
    if (dispatch == nullptr) continue;
    dispatches.push_back(dispatch);
    taken.insert(dispatch->label);
  }
  for (size_t i = 0; i < dispatches.size(); ++i) {
    const std::string number = std::to_string(i);
    if (!dispatches[i]->label.empty() || taken.contains("d" + number)) continue;
    dispatches[i]->label = "d" + number;
    for (DispatchDraft* other : dispatches) {
      std::ranges::replace(other->after, number, "d" + number);
    }
  }
  return draft;
}

// Which the text says with the barrier.
bool is_said_by_barrier(const Program& program, const Statement& statement) {
  return statement.kind == StatementKind::kDispatch &&
         program.dispatches[statement.index].is_transition();
}

// A name that no statement has.
std::string fresh_label(const Program& program, uint32_t statement) {
  std::string label = "w" + std::to_string(statement);
  const auto is_taken = [&] {
    return std::ranges::any_of(program.statements, [&](const Statement& other) {
      return other.label.is_some() && program.name(other.label) == label;
    });
  };
  while (is_taken()) label += "_";
  return label;
}

constexpr size_t kNoItem = SIZE_MAX;

// By statement of the text, as it is executed: its item of the draft; none of what a line stands
// for that executes others, as a replay does. Requires: `draft` is that of `program`, in short.
std::vector<size_t> items_of_statements(const Program& program, const ProgramDraft& draft) {
  std::vector<size_t> items;
  const auto skip = [&](StatementId first, uint32_t count) {
    const auto begin = program.statements.begin() + first.index;
    items.insert(items.end(),
                 static_cast<size_t>(std::count_if(begin, begin + count,
                                                   [&](const Statement& statement) {
                                                     return !is_said_by_barrier(program, statement);
                                                   })),
                 kNoItem);
  };
  size_t replay = 0;
  size_t backward = 0;
  bool is_recording = false;
  for (size_t i = 0; i < draft.items.size(); ++i) {
    const ItemDraft& item = draft.items[i];
    is_recording |= std::holds_alternative<CaptureDraft>(item);
    is_recording &= !std::holds_alternative<EndDraft>(item);
    if (is_recording) continue;
    if (std::holds_alternative<ReplayDraft>(item)) {
      skip(program.replays[replay].first, program.replays[replay].statement_count);
      ++replay;
    } else if (std::holds_alternative<BackwardDraft>(item)) {
      skip(program.backwards[backward].first, program.backwards[backward].statement_count);
      ++backward;
    } else if (holds_any<DispatchDraft, BarrierDraft, LifetimeDraft, SyncDraft, HostAccessDraft>(
                   item)) {
      items.push_back(i);
    }
  }
  return items;
}

MinimizeReport minimize_deadlock(const Program& program, const MinimizeOptions& options) {
  const auto keeps = [](const Program& p) { return !deadlock_of(p).empty() && is_sound(p); };
  MinimizeReport report = minimize(with_labels(draft_of(program)), keeps, options);
  const StopScope to_the_end(nullptr);
  report.program = with_deadlock_line(report.program);
  return report;
}

struct BestFact {
  Fact fact;
  EvidenceLevel level;
};

// Of hazards the first with the best evidence; what no schedule shows comes after them.
std::optional<BestFact> best_fact(const Program& run, const std::vector<Fact>& facts) {
  uint64_t steps_left = kEvidenceStepsMax;
  std::optional<BestFact> best;
  for (const Fact& fact : facts) {
    if (is_stopped()) break;
    const Evidence evidence = find_evidence(run, fact, EvidenceLevel::kBackend, &steps_left);
    if (!best || evidence.level > best->level) best = {fact, evidence.level};
    if (best->level == EvidenceLevel::kBackend) break;
  }
  return best;
}

// The level that a finding of this signature has in the run; kNone if there is none, or one of a
// kind that is not `allowed`.
std::optional<BestFact> kept_fact(const Program& run, const std::string& signature,
                                  const std::set<FindingKind>& allowed, EvidenceLevel sufficient,
                                  SignatureDetail detail, bool lists_possible) {
  std::optional<BestFact> best;
  uint64_t steps_left = kEvidenceStepsMax;
  for (const Fact& fact : findings_of(run, lists_possible)) {
    if (!allowed.contains(kind_of(fact))) return std::nullopt;
    if (best && best->level >= sufficient) continue;
    if (signature_of(run, fact, detail) != signature) continue;
    const Evidence evidence = find_evidence(run, fact, sufficient, &steps_left);
    if (!best || evidence.level > best->level) best = {fact, evidence.level};
  }
  return best;
}

// `facts` are those of the reference run.
MinimizeReport minimize_finding(const Program& program, const std::vector<Fact>& facts,
                                const std::string& signature, EvidenceLevel level,
                                const MinimizeOptions& options) {
  std::set<FindingKind> allowed;
  for (const Fact& fact : facts) allowed.insert(kind_of(fact));
  const auto kept_in = [&](const Program& p) {
    return kept_fact(reference_run(p), signature, allowed, level, options.detail,
                     options.lists_possible);
  };
  const auto keeps = [&](const Program& p) {
    if (!is_sound(p) || !deadlock_of(p).empty()) return false;
    const std::optional<BestFact> kept = kept_in(p);
    return kept && kept->level >= level;
  };
  MinimizeReport report = minimize(with_labels(draft_of(program)), keeps, options);
  const StopScope to_the_end(nullptr);
  const std::optional<BestFact> kept = kept_in(report.program);
  if (kept) report.program = with_evidence(report.program, kept->fact);
  return report;
}

}  // namespace

Program with_deadlock_line(const Program& program) {
  ProgramDraft draft = without_evidence(draft_of(program));
  const std::vector<size_t> items = items_of_statements(program, draft);
  ExpectDraft expect;
  expect.kind = FindingKind::kDeadlock;
  const FactPlace place = place_of(program, Deadlock{deadlock_of(program)});
  for (const StatementId waiting : place.waiting) {
    const Statement& statement = program.statements[waiting.index];
    const bool has_name = statement.label.is_some() || statement.kind == StatementKind::kDispatch;
    const size_t item = items[text_number_of(program, waiting)];
    auto* const step = item == kNoItem ? nullptr : std::get_if<SyncDraft>(&draft.items[item]);
    if (!has_name && step == nullptr) return build(draft).value();
    if (!has_name) step->label = fresh_label(program, waiting.index);
    expect.waiting.push_back(has_name ? program.reference_of(waiting) : step->label);
  }
  draft.items.emplace_back(std::move(expect));
  return build(draft).value();
}

Result<MinimizeReport> minimize_queues(const Program& program, const MinimizeOptions& options) {
  const Error stopped{
      "The work was stopped before it was known what goes wrong, so nothing is smaller."};
  if (!deadlock_of(program).empty()) return minimize_deadlock(program, options);
  const Program run = reference_run(program);
  const std::vector<Fact> facts = findings_of(run, options.lists_possible);
  const std::optional<BestFact> chosen = best_fact(run, facts);
  if (is_stopped()) return stopped;
  if (!chosen) {
    return Error{"The program has no finding, so there is nothing to keep while it shrinks."};
  }
  const std::string signature = signature_of(run, chosen->fact, options.detail);
  return minimize_finding(program, facts, signature, chosen->level, options);
}

MinimizeReport minimize_queues_for(const Program& program, const std::string& signature,
                                   const MinimizeOptions& options) {
  if (!deadlock_of(program).empty()) return minimize_deadlock(program, options);
  const Program run = reference_run(program);
  const std::vector<Fact> facts = findings_of(run, options.lists_possible);
  EvidenceLevel level = EvidenceLevel::kNone;
  uint64_t steps_left = kEvidenceStepsMax;
  for (const Fact& fact : facts) {
    if (level == EvidenceLevel::kBackend) break;
    if (signature_of(run, fact, options.detail) != signature) continue;
    level = std::max(level, find_evidence(run, fact, EvidenceLevel::kBackend, &steps_left).level);
  }
  return minimize_finding(program, facts, signature, level, options);
}

}  // namespace interlock
