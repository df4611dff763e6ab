// Minimizing needs an encoder that gives the same answer to the same program. So answers are
// remembered while a program shrinks, and whether the first one comes again is part of the find.
#include "fuzz/campaign/encoder_find.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "encoder/program/draft.h"
#include "encoder/sync/external_encoder.h"
#include "fuzz/campaign/failure_find.h"
#include "fuzz/campaign/remembered_passes.h"
#include "fuzz/judge/evidence.h"
#include "fuzz/judge/findings.h"
#include "fuzz/judge/oracles.h"
#include "fuzz/judge/signature.h"
#include "simulator/facts/find_facts.h"

namespace interlock {
namespace {

// None if there is none: then it can be an excess, which is no fact of accesses.
std::optional<Fact> fact_of_signature(const Program& encoded, const std::string& signature) {
  const std::vector<Fact> facts = find_exactly(encoded);
  const auto found = std::ranges::find_if(
      facts, [&](const Fact& fact) { return signature_of(encoded, fact) == signature; });
  if (found != facts.end()) return *found;
  const auto excess = find_excess(encoded);
  const bool is_excess = excess && signature_of(encoded, Fact(*excess)) == signature;
  return is_excess ? std::optional<Fact>(*excess) : std::nullopt;
}

CampaignFind minimized_failure(const Program& program, EncodeFailureKind kind,
                               RememberedEncoder& encoder, const MinimizeOptions& options) {
  uint64_t hang_count = 0;
  const auto fails = [&](const Program& candidate) {
    if (hang_count >= kHangsWhileMinimizing) return false;
    const Encoding encoding = encoder.encode(candidate);
    hang_count += encoding.failure && encoding.failure->kind == EncodeFailureKind::kHang;
    return encoding.failure && encoding.failure->kind == kind;
  };
  const std::string word(word_of(kind));
  const Program small = minimize(draft_of(program), fails, options).program;
  const Encoding encoding = encoder.encode(small);
  return find_of_failure(word, word, encoding.failure ? encoding.failure->message : word, program,
                         small);
}

// `fact` is in what the encoder makes of `program`, and will be.
CampaignFind minimized_finding(const Program& program, const EncoderEntry* encoder,
                               const Program& encoded, const Fact& fact,
                               const std::string& signature, const MinimizeOptions& options) {
  const bool is_excess = std::holds_alternative<ExcessBarriers>(fact);
  const MinimizeReport minimized = minimize_fact(program, encoder, fact, options);
  const Program small = encode_with(minimized.program, encoder);
  const Evidence evidence =
      is_excess ? Evidence{EvidenceLevel::kExact, fact, {}}
                : best_evidence(small, signature, SignatureDetail::kKernels,
                                EvidenceLevel::kBackend, kinds_of_pair(encoded, fact));
  const Program shown = with_evidence(small, evidence.fact);
  return {.signature = signature,
          .program = shown,
          .given = minimized.program,
          .fact = evidence.fact,
          .is_observable = evidence.level >= EvidenceLevel::kShadow,
          .differs_on_cpu = evidence.level >= EvidenceLevel::kBackend,
          .original_dispatch_count = program.dispatches.size(),
          .dispatch_count = shown.dispatches.size()};
}

}  // namespace

CampaignFind find_in(const Program& program, const EncoderEntry* encoder,
                     const std::string& signature, const MinimizeOptions& options) {
  if (encoder == nullptr) {
    const Fact fact = fact_of_signature(program, signature).value();
    return minimized_finding(program, nullptr, program, fact, signature, options);
  }
  RememberedEncoder remembered(*encoder);
  const Encoding encoding = remembered.encode(program);
  if (encoding.failure && word_of(encoding.failure->kind) == signature) {
    return minimized_failure(program, encoding.failure->kind, remembered, options);
  }
  const auto fact = encoding.failure || is_failure_word(signature)
                        ? std::nullopt
                        : fact_of_signature(encoding.program, signature);
  if (!fact) return find_that_does_not_repeat(program, signature, encoding.failure, "encoder");
  EncoderEntry entry = *encoder;
  if (encoder->external != nullptr) entry.external = &remembered;
  return minimized_finding(program, &entry, encoding.program, *fact, signature, options);
}

}  // namespace interlock
