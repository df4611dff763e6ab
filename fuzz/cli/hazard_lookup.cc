#include "fuzz/cli/hazard_lookup.h"

#include <string_view>
#include <utility>
#include <variant>

#include "encoder/assemble/build.h"
#include "encoder/program/draft.h"
#include "encoder/program/sync_step.h"
#include "simulator/report/check.h"

namespace interlock {
namespace {

// Pairs that are looked at; more are cut.
constexpr uint64_t kPairsMax = 100'000;

// What binary semaphores and fences are: values that a queue raises itself (queue_sync.cc).
constexpr std::string_view kDone = ".done";

bool is_timeline_wait(const ItemDraft& item) {
  const auto* const sync = std::get_if<SyncDraft>(&item);
  if (sync == nullptr) return false;
  if (sync->kind != SyncKind::kWait && sync->kind != SyncKind::kHostWaits) return false;
  return !sync->semaphores.empty() && !sync->semaphores.front().semaphore.ends_with(kDone);
}

// Commands keep their labels, by which they are found again.
Result<Program> without_timeline_waits(const Program& program) {
  ProgramDraft draft = draft_of(program);
  std::erase_if(draft.items, is_timeline_wait);
  return build(draft);
}

// Verdicts alone: no witness, no repair and no advice.
CheckOptions options_of_lookup() {
  CheckOptions options;
  options.lists_all_pairs = true;
  options.counts_possible = options.counts_own_reads = true;
  options.pair_limit = kPairsMax;
  options.observability_budget = options.redundancy_budget = options.repair_budget = 0;
  return options;
}

}  // namespace

bool HazardLookup::has(FindingKind kind, const std::optional<CapturedPlace>& first,
                       const CapturedPlace& second) {
  if (!std::exchange(has_all_, true)) find_all();
  if (first) return hazards_.contains({kind, second, first});
  const auto found = hazards_.lower_bound({kind, second, std::nullopt});
  return found != hazards_.end() && std::get<0>(*found) == kind && std::get<1>(*found) == second;
}

void HazardLookup::find_all() {
  const auto add_hazards_of = [this](const Program& judged) {
    const CheckReport report = check(judged, options_of_lookup());
    is_cut_ = report.is_truncated();
    for (const Finding& finding : report.findings) {
      if (!is_hazard(finding.kind) || !finding.second) continue;
      const auto second = place_of_label(judged.reference_of(finding.second->dispatch));
      if (!second) continue;
      const auto first = place_of_label(judged.reference_of(finding.first.dispatch));
      hazards_.insert({finding.kind, *second, first});
    }
  };
  if (waits_ == TimelineWaits::kKept) return add_hazards_of(program_);
  const Result<Program> changed = without_timeline_waits(program_);
  is_cut_ = !changed;
  if (changed) add_hazards_of(*changed);
}

}  // namespace interlock
