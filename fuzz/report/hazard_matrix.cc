#include "fuzz/report/hazard_matrix.h"

#include <algorithm>
#include <set>

#include "encoder/assemble/build.h"
#include "encoder/kernel/kernel_table.h"
#include "encoder/program/stop.h"
#include "fuzz/judge/findings.h"
#include "fuzz/judge/signature_parts.h"

namespace interlock {

// Without sync every conflict of neighbours is a hazard.
PosedConflicts posed_conflicts(const CampaignOptions& options, uint64_t run_count) {
  PosedConflicts posed;
  uint64_t dispatch_count = 0;
  const uint64_t end = std::min(run_count, kPosedRunsMax);
  while (posed.run_count < end && dispatch_count < kPosedDispatchesMax && !is_stopped()) {
    const Result<Program> program =
        build(draft_of_run(options, options.first_run + posed.run_count));
    ++posed.run_count;
    if (!program) continue;
    dispatch_count += program->dispatches.size();
    std::set<std::string> signatures;
    for (const Fact& fact : find_exactly(*program)) signatures.insert(signature_of(*program, fact));
    for (const std::string& signature : signatures) ++posed.counts[signature];
  }
  return posed;
}

HazardMatrix::HazardMatrix(const std::vector<SignatureCount>& findings,
                           const std::optional<PosedConflicts>& posed) {
  for (const KernelEntry& entry : kernel_table()) {
    rows_.try_emplace(entry.is_variadic ? "Opaque" : std::string(entry.name));
  }
  rows_.try_emplace("Opaque");
  for (const SignatureCount& finding : findings) {
    add(finding.signature, finding.run_count, &Cell::finding_count);
  }
  if (!posed) return;
  for (const auto& [signature, count] : posed->counts) add(signature, count, &Cell::posed_count);
}

void HazardMatrix::add(const std::string& signature, uint64_t count, uint64_t Cell::*member) {
  const auto hazard = hazard_signature_of(signature);
  if (!hazard) return;
  const auto kind = std::ranges::find(kKinds, hazard->kind) - kKinds.begin();
  const auto shape = std::ranges::find(kAliasShapes, hazard->shape) - kAliasShapes.begin();
  const auto column = static_cast<size_t>(kind) * kAliasShapes.size() + static_cast<size_t>(shape);
  const std::set<std::string> kernels(hazard->kernels.begin(), hazard->kernels.end());
  for (const std::string& kernel : kernels) rows_[kernel][column].*member += count;
}

}  // namespace interlock
