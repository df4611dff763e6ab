// EncoderSubject: campaigns against an encoder, or on programs as they stand, with barriers of
// their own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/campaign/subject.h"
#include "fuzz/judge/cause.h"

namespace interlock {

class EncoderSubject final : public Subject {
 public:
  explicit EncoderSubject(const CampaignOptions& options);

  ProgramDraft draft(uint64_t run_index) const override;
  RunOutcome judge(uint64_t run_index) const override;
  CampaignFind minimized_find(uint64_t run_index, const std::string& signature) const override;
  Cause cause_of(const CampaignFind& find) override;
  // Barriers that a program came with nobody is to blame for.
  bool has_causes() const override { return options().encoder != nullptr; }
  bool has_one_cause_per_signature() const override { return false; }
  bool can_show(FindingKind kind) const override { return is_hazard(kind); }
  bool runs_on_devices() const override { return true; }

 private:
  std::optional<Program> made_of(const Program& given, uint64_t run_index) const override;
  Judgement judgement_of(uint64_t run_index) const override;

  std::optional<CauseFinder> causes_;  // Of the encoder, if there is one.
};

}  // namespace interlock
