// The basic idea is delta debugging (Zeller and Hildebrandt, TSE 2002) on the structure of the
// program instead of its bytes, in passes that repeat until none of them makes a step. Every step
// lowers the cost, so this ends, and a second minimization finds nothing to do.
#include "fuzz/minimize/minimizer.h"

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/program/check.h"
#include "encoder/program/error_of.h"
#include "fuzz/judge/evidence.h"
#include "fuzz/judge/findings.h"
#include "fuzz/judge/oracles.h"
#include "fuzz/minimize/minimize_queues.h"
#include "fuzz/minimize/reduction.h"
#include "fuzz/minimize/slice.h"
#include "simulator/facts/find_facts.h"
#include "simulator/order/queue_order.h"
#include "simulator/report/check.h"

namespace interlock {
namespace {

// What a reduction must keep of the finding. Kinds that the pair did not have would call for
// another repair, so none may come in: a write after a read, say, needs an execution dependency
// only.
struct Target {
  const EncoderEntry* encoder;
  std::string signature;
  SignatureDetail detail;
  PairKinds allowed;
};

// The level of the finding with the most evidence, as the encoder encodes the program.
EvidenceLevel level_of(const Program& program, const Target& target, EvidenceLevel sufficient) {
  const Program encoded = encode_with(program, target.encoder);
  return best_evidence(encoded, target.signature, target.detail, sufficient, target.allowed).level;
}

std::set<FindingKind> kinds_of(const Program& program) {
  std::set<FindingKind> kinds;
  for (const Fact& fact : find_everything(program)) kinds.insert(kind_of(fact));
  return kinds;
}

// Of a program to whose finding a schedule is attached in spite of a stop: that takes some
// milliseconds.
constexpr size_t kEvidenceAccessesMax = 4096;     // Operands of barriers count as well.
constexpr uint64_t kEvidenceBytesMax = 64 << 10;  // In all operands.

bool may_add_evidence(const Program& program) {
  if (!is_stopped()) return true;
  uint64_t size_bytes = 0;
  for (const Access& access : program.accesses) size_bytes += access.range.size_bytes();
  const size_t operand_count = program.accesses.size() + program.barrier_operands.size();
  return operand_count <= kEvidenceAccessesMax && size_bytes <= kEvidenceBytesMax;
}

Error early_stop() {
  return Error{"The work was stopped before it was known what goes wrong, so nothing is smaller."};
}

// What an `expect` line singles out, of any subject, that sync alone does not repair; null if none
// does.
const Expectation* singled_out(const Program& program) {
  using enum FindingKind;
  for (const FindingKind kind :
       {kGradient, kClobber, kUninitialized, kUseAfterFree, kAlias, kUndeclared, kReordered}) {
    for (const Expectation& expectation : program.expectations) {
      if (!expectation.is_clean && expectation.kind == kind) return &expectation;
    }
  }
  return nullptr;
}

// Whether the line is about this fact of accesses, as `check` would say.
bool is_about(const Program& program, const Expectation& expectation, const Fact& fact) {
  if (kind_of(fact) != expectation.kind) return false;
  const FactPlace place = place_of(program, fact);
  if (place.first.dispatch != expectation.first) return false;
  if (!std::holds_alternative<ReorderedRead>(fact)) return true;
  return place.second->dispatch ==
         (expectation.second.is_some() ? expectation.second : expectation.first);
}

// Whether reductions start at a slice: executing the whole program takes too long, or judging it.
bool is_large(const Program& program, const MinimizeOptions& options) {
  constexpr uint64_t kStepsPerStatement = 16'384;
  return execution_steps(program) + kStepsPerStatement * program.statements.size() >
         options.whole_steps_max;
}

// Where reductions start: at the whole program, or at a slice.
struct Start {
  std::optional<Program> slice;
  uint64_t evaluation_count = 0;  // To find the slice.

  const Program& in(const Program& whole) const { return slice ? *slice : whole; }
};

// The first slice of the finding that `keeps` holds for, if the program is large.
Start start_for(const Program& program, const Fact& fact, const ProgramPredicate& keeps,
                const MinimizeOptions& options) {
  Start start;
  if (!is_large(program, options)) return start;
  for_each_slice(program, fact, [&](std::span<const Program> forms) {
    for (const Program& form : forms) {
      ++start.evaluation_count;
      if (!keeps(form) || is_stopped()) continue;
      start.slice = form;
      return true;
    }
    return false;
  });
  return start;
}

// Keeps the finding, as `is_kept` has it, and lets nothing go wrong that did not before: no hazard,
// no finding of another sort. `with_lines` attaches the evidence.
MinimizeReport minimize_kind(const Program& program, const Fact& fact,
                             const ProgramPredicate& is_kept,
                             Program (*with_lines)(const Program& program),
                             const MinimizeOptions& options) {
  const std::set<FindingKind> allowed = kinds_of(program);
  const auto keeps = [&](const Program& p) {
    if (!is_kept(p)) return false;
    const std::set<FindingKind> kinds = kinds_of(p);
    return std::ranges::includes(allowed, kinds);
  };
  const Start start = start_for(program, fact, keeps, options);
  MinimizeReport report = minimize(draft_of(start.in(program)), keeps, options);
  report.evaluation_count += start.evaluation_count;
  if (!may_add_evidence(report.program)) return report;
  const StopScope to_the_end(nullptr);
  report.program = with_lines(report.program);
  return report;
}

MinimizeReport minimize_lifetimes(const Program& program,
                                  const std::vector<LifetimeFinding>& findings, FindingKind kind,
                                  const MinimizeOptions& options) {
  const auto chosen = std::ranges::find(findings, kind, &LifetimeFinding::kind);
  const std::string signature = signature_of(program, *chosen, options.detail);
  const auto is_kept = [&](const Program& p) {
    return std::ranges::any_of(check_lifetimes(p).findings, [&](const LifetimeFinding& found) {
      return signature_of(p, found, options.detail) == signature;
    });
  };
  const auto with_lines = [](const Program& p) { return with_evidence(p, std::nullopt); };
  return minimize_kind(program, *chosen, is_kept, with_lines, options);
}

MinimizeReport minimize_gradient(const Program& program, const GradientFinding& finding,
                                 const MinimizeOptions& options) {
  const std::string signature = signature_of(program, finding);
  const auto is_kept = [&](const Program& p) {
    return std::ranges::any_of(find_wrong_gradients(p), [&](const GradientFinding& found) {
      return options.detail == SignatureDetail::kShape || signature_of(p, found) == signature;
    });
  };
  return minimize_kind(program, finding, is_kept, with_gradient_expectations, options);
}

// Of the findings that no schedule has to show. Without a line that singles one out, hazards and
// aliases come first.
std::optional<MinimizeReport> minimize_other(const Program& program,
                                             const Expectation* const singled_out, bool has_exact,
                                             const MinimizeOptions& options) {
  const bool is_singled_out = singled_out != nullptr;
  if (has_exact && !is_singled_out) return std::nullopt;
  const std::vector<LifetimeFinding> lifetimes = check_lifetimes(program).findings;
  if (is_stopped()) return std::nullopt;
  const bool has_kind =
      is_singled_out &&
      std::ranges::find(lifetimes, singled_out->kind, &LifetimeFinding::kind) != lifetimes.end();
  if (has_kind) return minimize_lifetimes(program, lifetimes, singled_out->kind, options);
  const std::vector<GradientFinding> gradients = find_wrong_gradients(program);
  if (is_stopped()) return std::nullopt;
  for (const GradientFinding& finding : gradients) {
    const bool is_it = is_singled_out && singled_out->kind == FindingKind::kGradient &&
                       singled_out->tensor == finding.tensor;
    if (is_it) return minimize_gradient(program, finding, options);
  }
  if (has_exact) return std::nullopt;
  if (!lifetimes.empty()) {
    return minimize_lifetimes(program, lifetimes, lifetimes.front().kind, options);
  }
  if (!gradients.empty()) return minimize_gradient(program, gradients.front(), options);
  return std::nullopt;
}

// A finding, in the program where its reduction starts.
struct Chosen {
  Start start;
  Fact fact;
};

// The best evidence among slices of the finding that show it: of the narrowest ones that do.
struct SliceEvidence {
  std::optional<Program> slice;
  Evidence evidence;
};

SliceEvidence evidence_in_slice(const Program& program, const std::vector<Fact>& facts,
                                const Fact& fact, SignatureDetail detail,
                                uint64_t& evaluation_count) {
  const std::string signature = signature_of(program, fact, detail);
  const PairKinds allowed = kinds_of_pair(program, facts, fact);
  SliceEvidence best;
  for_each_slice(program, fact, [&](std::span<const Program> forms) {
    for (const Program& form : forms) {
      ++evaluation_count;
      Evidence evidence = best_evidence(form, signature, detail, EvidenceLevel::kBackend, allowed);
      if (is_stopped() || evidence.level <= best.evidence.level) continue;
      best = {form, std::move(evidence)};
      if (best.evidence.level == EvidenceLevel::kBackend) break;
    }
    return best.slice.has_value();
  });
  return best;
}

// What a large program is minimized for, as choose() has it of a small one, and a slice that shows
// it; none if no slice does. The CPU executes slices only, so that the first finding is taken that
// an output of the whole program shows in the shadow machine, and of a slice in numbers.
std::optional<Chosen> choose_slice(const Program& program, const std::vector<Fact>& facts,
                                   const MinimizeOptions& options) {
  constexpr uint64_t kShadowStepsMax = 1 << 28;  // A second.
  uint64_t shadow_steps_left = kShadowStepsMax;
  SliceEvidence best;
  bool is_best_shown = false;  // By an output of the whole program, as far as that is known.
  uint64_t evaluation_count = 0;
  for (size_t i = 0; i < std::min(facts.size(), kSlicedFactsMax); ++i) {
    if (is_stopped()) return std::nullopt;
    // No schedule shows a fact of another sort.
    if (best.slice && !std::holds_alternative<Hazard>(facts[i])) continue;
    const Evidence shown =
        find_evidence(program, facts[i], EvidenceLevel::kShadow, &shadow_steps_left);
    const bool is_shown = shown.level == EvidenceLevel::kShadow || shadow_steps_left == 0;
    if (best.slice && !is_shown) continue;
    SliceEvidence found =
        evidence_in_slice(program, facts, facts[i], options.detail, evaluation_count);
    const bool is_better =
        found.slice && (is_shown > is_best_shown || found.evidence.level > best.evidence.level);
    if (is_better) {
      best = std::move(found);
      is_best_shown = is_shown;
    }
    if (is_best_shown && best.evidence.level == EvidenceLevel::kBackend) break;
  }
  if (!best.slice || is_stopped()) return std::nullopt;
  return Chosen{{std::move(best.slice), evaluation_count}, *std::move(best.evidence.fact)};
}

// The first finding with the best evidence.
Chosen choose(const Program& program, const std::vector<Fact>& facts) {
  const Fact* chosen = &facts.front();
  uint64_t steps_left = kEvidenceStepsMax;
  Evidence best;
  for (const Fact& fact : facts) {
    if (is_stopped()) break;
    Evidence evidence = find_evidence(program, fact, EvidenceLevel::kBackend, &steps_left);
    if (evidence.level > best.level) {
      best = std::move(evidence);
      chosen = &fact;
    }
    if (best.level == EvidenceLevel::kBackend) break;
    if (steps_left == 0 && best.level != EvidenceLevel::kNone) break;
  }
  return {{}, *chosen};
}

}  // namespace

MinimizeReport minimize(const ProgramDraft& draft, const ProgramPredicate& keeps,
                        const MinimizeOptions& options) {
  const StopScope scope(options.stop != nullptr ? options.stop : installed_stop());
  Reduction reduction(without_evidence(draft), keeps, options);
  constexpr void (*kPasses[])(Reduction&) = {
      drop_statements,    drop_captures,     drop_outputs,    move_outputs,
      drop_declarations,  drop_operands,     drop_sources,    simplify_kernels,
      simplify_operands,  simplify_barriers, simplify_queues, merge_memories,
      shrink_shapes,      shrink_ranges,     close_gaps,      settle_initial_values,
      rename_by_first_use};
  uint64_t steps_before;
  do {
    steps_before = reduction.step_count();
    for (const auto pass : kPasses) {
      if (!reduction.is_over()) pass(reduction);
    }
  } while (reduction.step_count() > steps_before && !reduction.is_over());
  const bool is_fixpoint = !reduction.is_over();
  const StopScope to_the_end(nullptr);
  return {.program = build(reduction.current()).value(),
          .evaluation_count = reduction.evaluation_count(),
          .step_count = reduction.step_count(),
          .is_fixpoint = is_fixpoint};
}

MinimizeReport minimize_fact(const Program& program, const EncoderEntry* encoder, const Fact& fact,
                             const MinimizeOptions& options) {
  const Program encoded = encode_with(program, encoder);
  const Target target{encoder, signature_of(encoded, fact, options.detail), options.detail,
                      kinds_of_pair(encoded, fact)};
  if (std::holds_alternative<ExcessBarriers>(fact)) {
    return minimize(
        draft_of(program),
        [&](const Program& p) { return find_excess(encode_with(p, encoder)).has_value(); },
        options);
  }
  ProgramDraft start = draft_of(program);
  EvidenceLevel level = level_of(program, target, EvidenceLevel::kBackend);
  // With every memory live at the end, damage that no output shows comes to light.
  if (level != EvidenceLevel::kBackend && !program.outputs.empty()) {
    ProgramDraft all_live = start;
    std::erase_if(all_live.items,
                  [](const ItemDraft& item) { return std::holds_alternative<OutputDraft>(item); });
    const auto built = build(without_evidence(all_live));
    const EvidenceLevel better =
        built ? level_of(*built, target, EvidenceLevel::kBackend) : EvidenceLevel::kNone;
    if (better > level) {
      level = better;
      start = std::move(all_live);
    }
  }
  INTERLOCK_CHECK(level != EvidenceLevel::kNone || is_stopped());
  return minimize(
      start, [&](const Program& p) { return level_of(p, target, level) >= level; }, options);
}

Result<MinimizeReport> minimize_program(const Program& program, const MinimizeOptions& options) {
  const StopScope scope(options.stop != nullptr ? options.stop : installed_stop());
  const bool has_bounds = std::ranges::any_of(program.dispatches, &Dispatch::is_approximate);
  if (needs_queue_order(program) || (options.lists_possible && has_bounds)) {
    return minimize_queues(program, options);
  }
  std::vector<Fact> facts = find_exactly(program);
  if (is_stopped()) return early_stop();
  const Expectation* const wanted = singled_out(program);
  if (auto report = minimize_other(program, wanted, !facts.empty(), options)) {
    return std::move(*report);
  }
  if (is_stopped()) return early_stop();
  if (facts.empty()) {
    const std::vector<Truncation> truncations = find_value_truncations(program);
    if (!truncations.empty()) {
      return error_of("The program has no finding so far, and no verdict: {}.",
                      text_of(truncations));
    }
    return Error{"The program has no finding, so there is nothing to keep while it shrinks."};
  }
  if (wanted != nullptr) {
    std::stable_partition(facts.begin(), facts.end(),
                          [&](const Fact& fact) { return is_about(program, *wanted, fact); });
  }
  const bool is_singled_out = wanted != nullptr && kind_of(facts.front()) == wanted->kind;
  if (is_singled_out) facts.resize(1);
  std::optional<Chosen> chosen;
  if (is_large(program, options)) chosen = choose_slice(program, facts, options);
  if (!chosen && !is_stopped()) chosen = choose(program, facts);
  if (!chosen || is_stopped()) return early_stop();
  const Program& start = chosen->start.in(program);
  MinimizeReport report = minimize_fact(start, nullptr, chosen->fact, options);
  report.evaluation_count += chosen->start.evaluation_count;
  if (!may_add_evidence(report.program)) return report;
  const StopScope to_the_end(nullptr);
  const std::string signature = signature_of(start, chosen->fact, options.detail);
  const Evidence evidence =
      best_evidence(report.program, signature, options.detail, EvidenceLevel::kBackend,
                    kinds_of_pair(start, chosen->fact));
  report.program = with_evidence(report.program, evidence.fact);
  return report;
}

}  // namespace interlock
