// The basic idea is delta debugging (Zeller and Hildebrandt, TSE 2002) on the structure of the
// program instead of its bytes, in passes that repeat until none of them makes a step. Every step
// lowers the cost, so this ends, and a second minimization finds nothing to do.
#include "fuzz/minimizer.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "encoder/check.h"
#include "encoder/program_builder.h"
#include "fuzz/evidence.h"
#include "fuzz/lifetime_evidence.h"
#include "fuzz/reduction.h"

namespace interlock {
namespace {

bool is_evidence(const ItemDraft& item) {
  return std::holds_alternative<WitnessDraft>(item) || std::holds_alternative<ExpectDraft>(item);
}

ProgramDraft without_evidence(const ProgramDraft& draft) {
  ProgramDraft rest;
  for (const ItemDraft& item : draft.items) {
    if (!is_evidence(item)) rest.items.push_back(item);
  }
  return rest;
}

ProgramDraft without_outputs(const ProgramDraft& draft) {
  ProgramDraft rest;
  for (const ItemDraft& item : draft.items) {
    if (!std::holds_alternative<OutputDraft>(item)) rest.items.push_back(item);
  }
  return rest;
}

// What a reduction must keep of the finding. Kinds that the pair did not have would call for
// another repair, so none may come in: a write after a read, say, needs an execution dependency
// only.
struct Target {
  const EncoderEntry* encoder;
  std::string signature;
  SignatureDetail detail;
  ConflictKinds allowed;
};

// The level of the finding with the most evidence, as the encoder encodes the program.
EvidenceLevel level_of(const Program& program, const Target& target, EvidenceLevel sufficient) {
  const Program encoded = encode_with(program, target.encoder);
  return best_evidence(encoded, target.signature, target.detail, sufficient, target.allowed).level;
}

}  // namespace

MinimizeReport minimize(const ProgramDraft& draft, const ProgramPredicate& keeps,
                        const MinimizeOptions& options) {
  Reduction reduction(without_evidence(draft), keeps, options);
  constexpr void (*kPasses[])(Reduction&) = {
      drop_statements,   drop_captures,     drop_outputs,          move_outputs,
      drop_declarations, drop_operands,     drop_sources,          simplify_kernels,
      simplify_operands, simplify_barriers, merge_memories,        shrink_shapes,
      shrink_ranges,     close_gaps,        settle_initial_values, rename_by_first_use};
  uint64_t steps_before;
  do {
    steps_before = reduction.step_count();
    for (const auto pass : kPasses) pass(reduction);
  } while (reduction.step_count() > steps_before && !reduction.is_over());
  MinimizeReport report;
  report.program = build(reduction.current()).value();
  report.evaluation_count = reduction.evaluation_count();
  report.step_count = reduction.step_count();
  report.is_fixpoint = !reduction.is_over();
  return report;
}

MinimizeReport minimize_finding(const Program& program, const EncoderEntry* encoder,
                                const OracleFinding& finding, const MinimizeOptions& options) {
  const Program encoded = encode_with(program, encoder);
  const Target target{encoder, signature_of(encoded, finding, options.detail), options.detail,
                      kinds_of_pair(encoded, finding)};
  if (finding.is_excess) {
    return minimize(
        draft_of(program),
        [&](const Program& p) { return find_excess(encode_with(p, encoder)).has_value(); },
        options);
  }
  ProgramDraft start = draft_of(program);
  EvidenceLevel level = level_of(program, target, EvidenceLevel::kBackend);
  // With every memory live at the end, damage that no output shows comes to light.
  if (level != EvidenceLevel::kBackend && !program.outputs.empty()) {
    ProgramDraft all_live = without_outputs(start);
    const auto built = build(without_evidence(all_live));
    if (built) {
      const EvidenceLevel better = level_of(*built, target, EvidenceLevel::kBackend);
      if (better > level) {
        level = better;
        start = std::move(all_live);
      }
    }
  }
  INTERLOCK_CHECK(level != EvidenceLevel::kNone);
  return minimize(
      start, [&](const Program& p) { return level_of(p, target, level) >= level; }, options);
}

namespace {

// Keeps a finding of this sort, and lets nothing else go wrong: no hazard, no finding of another
// sort.
Result<MinimizeReport> minimize_lifetimes(const Program& program, const MinimizeOptions& options) {
  const std::vector<LifetimeFinding> findings = check_lifetimes(program).findings;
  if (findings.empty()) {
    return Error{"The program has no finding, so there is nothing to keep while it shrinks."};
  }
  const std::string signature = signature_of(program, findings.front(), options.detail);
  const bool has_one_sort = std::all_of(
      findings.begin(), findings.end(),
      [&](const LifetimeFinding& finding) { return finding.kind == findings.front().kind; });
  const auto keeps = [&](const Program& p) {
    const std::vector<LifetimeFinding> left = check_lifetimes(p).findings;
    const bool is_there = std::any_of(left.begin(), left.end(), [&](const LifetimeFinding& found) {
      return signature_of(p, found, options.detail) == signature;
    });
    const bool is_pure =
        !has_one_sort || std::all_of(left.begin(), left.end(), [&](const LifetimeFinding& found) {
          return found.kind == findings.front().kind;
        });
    return is_there && is_pure && find_exactly(p).empty();
  };
  MinimizeReport report = minimize(draft_of(program), keeps, options);
  ProgramDraft draft = without_evidence(draft_of(report.program));
  for (ExpectDraft& expect : lifetime_expectations(report.program)) {
    draft.items.emplace_back(std::move(expect));
  }
  report.program = build(draft).value();
  return report;
}

}  // namespace

Result<MinimizeReport> minimize_program(const Program& program, const MinimizeOptions& options) {
  const std::vector<OracleFinding> findings = find_exactly(program);
  if (findings.empty()) {
    return minimize_lifetimes(program, options);
  }
  const OracleFinding* chosen = &findings.front();
  Evidence best;
  for (const OracleFinding& finding : findings) {
    Evidence evidence = find_evidence(program, finding, EvidenceLevel::kBackend);
    if (evidence.level > best.level) {
      best = std::move(evidence);
      chosen = &finding;
    }
    if (best.level == EvidenceLevel::kBackend) break;
  }
  MinimizeReport report = minimize_finding(program, nullptr, *chosen, options);
  const std::string signature = signature_of(program, *chosen, options.detail);
  const Evidence evidence = best_evidence(report.program, signature, options.detail,
                                          EvidenceLevel::kBackend, kinds_of_pair(program, *chosen));
  report.program = with_evidence(report.program, evidence.finding);
  return report;
}

}  // namespace interlock
