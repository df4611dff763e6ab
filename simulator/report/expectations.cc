// The basic idea: group the lines by subject, in order of first appearance; within a subject cross
// off each finding that a line names, and complain about lines and findings that are left over.
#include "simulator/report/expectations.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "encoder/program/check.h"
#include "encoder/program/draft.h"
#include "encoder/sync/encoder.h"
#include "encoder/text/printer.h"

namespace interlock {
namespace {

// The expectation as its line says it.
std::string expectation_text(const Program& program, const Expectation& expectation) {
  return print(ItemDraft(draft_of(program, expectation)));
}

bool matches(const Expectation& expectation, const Finding& finding) {
  if (finding.kind == FindingKind::kDeadlock) {
    return !expectation.is_clean && expectation.kind == finding.kind &&
           expectation.waiting == finding.waiting;
  }
  if (finding.kind == FindingKind::kGradient) {
    return !expectation.is_clean && expectation.kind == finding.kind &&
           expectation.tensor == finding.tensor;
  }
  if (expectation.is_clean || is_advice(expectation.kind) || expectation.kind != finding.kind ||
      expectation.first != finding.first.dispatch || expectation.lifetime != finding.lifetime) {
    return false;
  }
  const DispatchId second =
      finding.second.has_value() ? finding.second->dispatch : finding.first.dispatch;
  return second == (expectation.second.is_some() ? expectation.second : expectation.first);
}

// What a line about `redundant` names loses all, or a part. Requires: `judged` has what it names.
bool takes_from(const Program& judged, const Expectation& expectation, const SyncPiece& piece) {
  if (expectation.second.is_some()) {
    if (piece.edge == SyncPiece::kNone) return false;
    const Edge& edge = judged.edges[piece.edge];
    return edge.from == expectation.first && edge.to == expectation.second;
  }
  return piece.takes_from(expectation.sync.is_some()
                              ? judged.syncs[expectation.sync.index].statement
                              : judged.barriers[expectation.barrier.index].statement);
}

// Advice that nobody expects is no failure, so it is looked up and not crossed off. `report` is of
// `judged`.
bool is_redundant(const Program& judged, const CheckReport& report,
                  const Expectation& expectation) {
  const BarrierId barrier = expectation.barrier;
  // What closes the text can go from it as well, so that a line may say so.
  for (const auto* const entries : {&report.redundant, &report.closing}) {
    if (std::ranges::binary_search(*entries, barrier, {}, &RedundantBarrier::barrier)) return true;
  }
  const bool names_barrier = !expectation.sync.is_some() && !expectation.second.is_some();
  if (names_barrier && barrier.index >= judged.barriers.size()) return false;
  const auto takes = [&](const SyncPiece& piece) { return takes_from(judged, expectation, piece); };
  return std::ranges::any_of(report.redundant_sync, takes) ||
         std::ranges::any_of(report.closing_sync, takes);
}

// Why a line that names nothing found may be true all the same; empty: it is false.
std::string reason_to_doubt(const CheckReport& report, const Expectation& expectation) {
  const bool is_advice_line = !expectation.is_clean && is_advice(expectation.kind);
  if (!is_advice_line) return report.is_truncated() ? text_of(report.truncations) : "";
  if (report.unjudged_sync_count > 0) {
    return fmt::format("whether {} pieces of sync can go takes more work than the limit",
                       report.unjudged_sync_count);
  }
  if (report.unjudged_barrier_count == 0) return "";
  return fmt::format("whether {} barriers can go takes more work than the limit",
                     report.unjudged_barrier_count);
}

bool is_held(const Program& judged, const Expectation& expectation, const CheckReport& report,
             std::vector<bool>& is_expected) {
  const std::vector<Finding>& findings = report.findings;
  if (expectation.is_clean) return findings.empty() && !report.is_truncated();
  if (is_advice(expectation.kind)) return is_redundant(judged, report, expectation);
  bool is_found = false;
  for (size_t i = 0; i < findings.size(); ++i) {
    if (!matches(expectation, findings[i])) continue;
    is_found = true;
    is_expected[i] = true;
  }
  // What need not be counted may be named.
  return is_found || std::ranges::any_of(report.noted, [&](const Finding& finding) {
           return matches(expectation, finding);
         });
}

// Unless it is there.
void add_line(const Program& judged, NameId encoder, const Finding& finding,
              std::set<std::string>& known, std::vector<std::string>& lines) {
  std::string line = expectation_line(judged, encoder, finding);
  if (known.insert(line).second) lines.push_back(std::move(line));
}

// `report` is of `judged`: the program as it stands, or as the encoder encodes it.
SubjectOutcome judge_subject(const Program& program, NameId encoder, const Program& judged,
                             const CheckReport& report) {
  const std::vector<Finding>& findings = report.findings;
  SubjectOutcome outcome;
  if (encoder.is_some()) outcome.encoder = program.name(encoder);
  std::vector<bool> is_expected(findings.size(), false);
  for (const Expectation& expectation : program.expectations) {
    if (expectation.encoder != encoder) continue;
    const std::string line = expectation_text(program, expectation);
    const std::string doubt = reason_to_doubt(report, expectation);
    if (is_held(judged, expectation, report, is_expected)) {
      outcome.held.push_back(line);
    } else if (expectation.is_clean && !findings.empty()) {
      outcome.failures.push_back(fmt::format("'{}' does not hold: there are findings.", line));
    } else if (!doubt.empty()) {
      outcome.unjudged.push_back(fmt::format("'{}' is not judged: {}.", line, doubt));
    } else {
      outcome.failures.push_back(fmt::format("'{}' does not hold: it is not found.", line));
    }
  }
  std::set<std::string> missing;
  for (size_t i = 0; i < findings.size(); ++i) {
    if (is_expected[i]) continue;
    outcome.failures.push_back(fmt::format("Not expected: {}", findings[i].headline));
    add_line(judged, encoder, findings[i], missing, outcome.missing);
  }
  if (report.is_truncated() && outcome.unjudged.empty()) {
    outcome.unjudged.push_back(fmt::format("There may be findings that no line expects: {}.",
                                           text_of(report.truncations)));
  }
  return outcome;
}

}  // namespace

std::string expectation_line(const Program& judged, NameId encoder, const Finding& finding) {
  Expectation expectation{.encoder = encoder, .kind = finding.kind};
  if (finding.kind == FindingKind::kDeadlock) {
    expectation.waiting = finding.waiting;
  } else if (finding.kind == FindingKind::kGradient) {
    expectation.tensor = finding.tensor;
  } else {
    expectation.first = finding.first.dispatch;
    expectation.lifetime = finding.lifetime;
    const bool has_other =
        finding.second.has_value() && finding.second->dispatch != finding.first.dispatch;
    if (has_other) expectation.second = finding.second->dispatch;
  }
  return expectation_text(judged, expectation);
}

Verdict verdict_of(const Program& program, const CheckReport& report,
                   const ExpectationOutcome& outcome) {
  const bool speaks_of_program =
      std::ranges::count(program.expectations, NameId(), &Expectation::encoder) > 0;
  const auto has_failed = [](const SubjectOutcome& subject) { return !subject.failures.empty(); };
  const auto is_open = [](const SubjectOutcome& subject) { return !subject.unjudged.empty(); };
  if (std::ranges::any_of(outcome.subjects, has_failed)) return Verdict::kUnexpected;
  if (!speaks_of_program && !report.findings.empty()) return Verdict::kUnexpected;
  if (report.is_truncated()) return Verdict::kNone;
  return std::ranges::any_of(outcome.subjects, is_open) ? Verdict::kNone : Verdict::kAsExpected;
}

std::vector<std::string> missing_lines(const Program& program, const CheckReport& report,
                                       const ExpectationOutcome& outcome) {
  const auto itself = std::ranges::find(outcome.subjects, "", &SubjectOutcome::encoder);
  if (itself != outcome.subjects.end()) return itself->missing;
  std::set<std::string> known;
  std::vector<std::string> lines;
  for (const Finding& finding : report.findings) {
    add_line(program, NameId(), finding, known, lines);
  }
  return lines;
}

std::vector<RedundantBarrier> unexpected_redundancy(const Program& program,
                                                    const CheckReport& report) {
  std::set<BarrierId> expected;
  for (const Expectation& expectation : program.expectations) {
    if (!expectation.encoder.is_some()) expected.insert(expectation.barrier);
  }
  std::vector<RedundantBarrier> unexpected = report.redundant;
  std::erase_if(unexpected,
                [&](const RedundantBarrier& entry) { return expected.contains(entry.barrier); });
  return unexpected;
}

std::vector<SyncPiece> unexpected_redundant_sync(const Program& program,
                                                 const CheckReport& report) {
  std::vector<SyncPiece> unexpected = report.redundant_sync;
  for (const Expectation& expectation : program.expectations) {
    const bool is_about_it =
        !expectation.encoder.is_some() && !expectation.is_clean && is_advice(expectation.kind);
    if (!is_about_it) continue;
    std::erase_if(unexpected,
                  [&](const SyncPiece& piece) { return takes_from(program, expectation, piece); });
  }
  return unexpected;
}

ExpectationOutcome judge_expectations(const Program& program, const CheckReport& report) {
  ExpectationOutcome outcome;
  std::vector<NameId> subjects;
  for (const Expectation& expectation : program.expectations) {
    if (std::ranges::find(subjects, expectation.encoder) == subjects.end()) {
      subjects.push_back(expectation.encoder);
    }
  }
  for (const NameId subject : subjects) {
    if (!subject.is_some()) {
      outcome.subjects.push_back(judge_subject(program, subject, program, report));
      continue;
    }
    const std::string_view name = program.name(subject);
    const EncoderEntry* const entry = find_encoder(name);
    INTERLOCK_CHECK(entry != nullptr);
    const std::unique_ptr<Encoder> encoder = entry->create();
    const Program encoded = encode(program, *encoder);
    CheckReport encoded_report = check(encoded);
    // What a backward pass computes is not the encoder's doing, and its program has no statement
    // that says where the pass stands.
    for (const Finding& finding : report.findings) {
      if (finding.kind == FindingKind::kGradient) encoded_report.findings.push_back(finding);
    }
    for (const Truncation& truncation : report.truncations) {
      const bool is_of_gradients = truncation.cause == TruncationCause::kGradients;
      if (is_of_gradients) encoded_report.truncations.push_back(truncation);
    }
    outcome.subjects.push_back(judge_subject(program, subject, encoded, encoded_report));
  }
  return outcome;
}

}  // namespace interlock
