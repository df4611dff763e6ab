// PassSubject: campaigns against planners, backward passes and replay policies. Unplanned programs
// go through them, then through the encoder, and are compared with what the reference chain makes
// of them (pass_chain.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/campaign/subject.h"
#include "fuzz/judge/pass_chain.h"

namespace interlock {

class PassSubject final : public Subject {
 public:
  explicit PassSubject(const CampaignOptions& options)
      : Subject(options), chain_(chain_of(options)) {}

  ProgramDraft draft(uint64_t run_index) const override;
  RunOutcome judge(uint64_t run_index) const override;
  CampaignFind minimized_find(uint64_t run_index, const std::string& signature) const override;
  Cause cause_of(const CampaignFind& find) override;
  bool has_causes() const override { return true; }
  bool has_one_cause_per_signature() const override { return true; }
  bool can_show(FindingKind /*kind*/) const override { return true; }
  // The passes are compared on the CPU.
  bool runs_on_devices() const override { return false; }

 private:
  std::optional<Program> made_of(const Program& given, uint64_t run_index) const override;
  Judgement judgement_of(uint64_t run_index) const override;

  const PassChain chain_;
};

}  // namespace interlock
