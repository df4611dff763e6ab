#include "fuzz/campaign/queue_find.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/program/check.h"
#include "encoder/program/stop.h"
#include "encoder/sync/external_encoder.h"
#include "encoder/text/printer.h"
#include "fuzz/campaign/failure_find.h"
#include "fuzz/campaign/remembered_passes.h"
#include "fuzz/judge/evidence.h"
#include "fuzz/judge/findings.h"
#include "fuzz/judge/queue_oracle.h"
#include "fuzz/minimize/minimize_queues.h"
#include "fuzz/minimize/without_items.h"
#include "simulator/order/in_reference_order.h"

namespace interlock {
namespace {

constexpr size_t kPairedDispatchesMax = 16;

const Fact* find_by_signature(const QueueReport& report, const std::string& signature) {
  const auto found = std::ranges::find_if(report.facts, [&](const Fact& fact) {
    return signature_on_queues(report.program, fact) == signature;
  });
  return found == report.facts.end() ? nullptr : &*found;
}

// The best evidence for this signature; of a deadlock, which no schedule shows, that it is there.
Evidence evidence_in(const QueueReport& report, const std::string& signature,
                     EvidenceLevel sufficient) {
  const Fact* const fact = find_by_signature(report, signature);
  if (fact != nullptr && std::holds_alternative<Deadlock>(*fact)) {
    return {EvidenceLevel::kExact, *fact, {}};
  }
  return best_evidence(report.program, signature, SignatureDetail::kKernels, sufficient);
}

// Encoders of others may deal dispatches out in turn: where one goes, all after it are on another
// queue, and where two go, they are not. Such pairs are more than minimize() tries.
// Requires: `keeps` holds of `draft`.
Program minimized_in_pairs(const ProgramDraft& draft, const ProgramPredicate& keeps,
                           const MinimizeOptions& options) {
  Program small = minimize(draft, keeps, options).program;
  const auto without_a_pair = [&]() -> std::optional<Program> {
    const ProgramDraft whole = draft_of(small);
    std::vector<size_t> places;
    for (size_t i = 0; i < whole.items.size(); ++i) {
      if (std::holds_alternative<DispatchDraft>(whole.items[i])) places.push_back(i);
    }
    if (places.size() > kPairedDispatchesMax) return std::nullopt;
    for (size_t j = 1; j < places.size() && !is_stopped(); ++j) {
      for (size_t i = 0; i < j; ++i) {
        auto candidate = build(without_items(whole, std::array{places[i], places[j]}));
        if (candidate && keeps(*candidate)) return std::move(*candidate);
      }
    }
    return std::nullopt;
  };
  while (const auto smaller = without_a_pair()) {
    small = minimize(draft_of(*smaller), keeps, options).program;
  }
  return small;
}

CampaignFind small_failure_on_queues(const Program& program, const QueueEncoderEntry& encoder,
                                     uint64_t number, EncodeFailureKind kind,
                                     const MinimizeOptions& options) {
  uint64_t hang_count = 0;
  const auto failure_of = [&](const Program& candidate) -> std::optional<EncodeFailure> {
    auto encoding = encode_in_run_order(candidate, encoder, number);
    return encoding ? std::move(encoding->failure) : std::nullopt;
  };
  const auto fails = [&](const Program& candidate) {
    if (hang_count >= kHangsWhileMinimizing) return false;
    const auto failure = failure_of(candidate);
    hang_count += failure && failure->kind == EncodeFailureKind::kHang;
    return failure && failure->kind == kind;
  };
  const std::string word(word_of(kind));
  const Program small = minimized_in_pairs(draft_of(program), fails, options);
  const auto failure = failure_of(small);
  std::string message = failure ? failure->message : word;
  const uint32_t queue_count = queue_count_of(encoder, number);
  if (queue_count > 0) message += fmt::format(" It was asked for {} queues at most.", queue_count);
  return find_of_failure(word, word, std::move(message), program, small);
}

// `program` with lines that expect its deadlock, and what goes wrong until there.
Program with_deadlock_expected(const Program& program) {
  const Program labelled = with_deadlock_line(program);
  ProgramDraft draft = draft_of(labelled);
  const Program run = reference_run(labelled);
  std::set<std::string> lines;
  for (const Fact& found : findings_of(run, false)) {
    ExpectDraft expect = expectation_of(run, found);
    if (lines.insert(print(ItemDraft(expect))).second) draft.items.emplace_back(std::move(expect));
  }
  return build(draft).value();
}

// `encoder` gives the same answer to the same program, and has the finding in `report`.
CampaignFind small_finding_on_queues(const ProgramDraft& given, const QueueReport& report,
                                     const QueueEncoderEntry& encoder, uint64_t number,
                                     const std::string& signature, const MinimizeOptions& options) {
  const EvidenceLevel level = evidence_in(report, signature, EvidenceLevel::kBackend).level;
  INTERLOCK_CHECK(level != EvidenceLevel::kNone);
  const auto is_found = [&](const Program& program) {
    const QueueReport candidate = judge_on_queues(program, encoder, number);
    return find_by_signature(candidate, signature) != nullptr &&
           evidence_in(candidate, signature, level).level >= level;
  };
  CampaignFind find;
  find.signature = signature;
  find.given = encoder.external != nullptr ? minimized_in_pairs(given, is_found, options)
                                           : minimize(given, is_found, options).program;
  const QueueReport small = judge_on_queues(find.given, encoder, number);
  const Evidence evidence = evidence_in(small, signature, EvidenceLevel::kBackend);
  INTERLOCK_CHECK(evidence.fact.has_value());
  find.fact = evidence.fact;
  const bool is_deadlock = std::holds_alternative<Deadlock>(*evidence.fact);
  find.program = is_deadlock ? with_deadlock_expected(small.program)
                             : with_evidence(small.program, evidence.fact);
  find.is_observable = evidence.level >= EvidenceLevel::kShadow;
  find.differs_on_cpu = evidence.level >= EvidenceLevel::kBackend;
  find.dispatch_count = find.program.dispatches.size();
  return find;
}

}  // namespace

std::string signature_on_queues(const Program& program, const Fact& fact, SignatureDetail detail) {
  if (std::holds_alternative<Deadlock>(fact)) return "deadlock";
  return signature_of(program, fact, detail);
}

CampaignFind find_on_queues(const ProgramDraft& given, const QueueEncoderEntry& encoder,
                            uint64_t number, const std::string& signature,
                            const MinimizeOptions& options) {
  QueueEncoderEntry entry = encoder;
  std::optional<RememberedQueueEncoder> remembered;
  if (encoder.external != nullptr) entry.external = &remembered.emplace(*encoder.external);
  const Program program = build(given).value();
  const QueueReport report = judge_on_queues(program, entry, number);
  if (report.failure && word_of(report.failure->kind) == signature) {
    return small_failure_on_queues(program, entry, number, report.failure->kind, options);
  }
  const bool has_finding = !report.failure && find_by_signature(report, signature) != nullptr;
  if (!has_finding && encoder.external != nullptr) {
    return find_that_does_not_repeat(program, signature, report.failure, "encoder");
  }
  CampaignFind find = small_finding_on_queues(given, report, entry, number, signature, options);
  find.original_dispatch_count = program.dispatches.size();
  return find;
}

}  // namespace interlock
