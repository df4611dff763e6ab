#include "simulator/lifetimes/lifetimes.h"

#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "simulator/lifetimes/owner_walk.h"

namespace interlock {
namespace {

class FindingCollector final : public ReadObserver {
 public:
  FindingCollector(const Program& program, const LifetimeOptions& options)
      : options_(options), walk_(program, options.queues, options.work_limit, *this) {}

  LifetimeReport run() && {
    const bool is_over = !walk_.run(has_too_many_);
    if (walk_.holdings().is_over_limit()) {
      report_.truncation = {TruncationCause::kHolders, kHolderEntriesMax};
    } else if (is_over) {
      report_.truncation = {TruncationCause::kLifetimeRuns, options_.work_limit};
    } else if (has_too_many_) {
      report_.truncation = {TruncationCause::kLifetimeFindings, options_.finding_limit};
    }
    return std::move(report_);
  }

  void see_read(AccessRef reader, TensorId root, MemoryId memory, const ValueRun& run) override {
    const Holdings& holdings = walk_.holdings();
    const bool is_suspect = holdings.defect_of(run.value, root, true).has_value();
    const bool is_known = run.value.is_ended() &&
                          late_.contains({run.value.ended_by, run.value.ended_at, reader.dispatch});
    if (!is_suspect || is_known) return;
    LifetimeFinding finding{
        .reader = reader, .tensor = root, .found = run.value.owner, .memory = memory};
    if (run.value.is_ended() || run.value.kind == HeldKind::kNothing) {
      finding.bytes = run.bytes;
      finding.ended_by = run.value.ended_by;
      finding.ended_at = run.value.ended_at;
      add(*holdings.defect_of(run.value, root, true), finding);
      return;
    }
    walk_.writers().for_each(memory, run.bytes, [&](const IntervalMap<AccessRef>::Run& writer) {
      finding.bytes = writer.bytes;
      finding.overwriter = writer.value;
      add(*holdings.defect_of(run.value, root, writer.value.dispatch.is_some()), finding);
    });
  }

  void see_destroyed(const DestroyedAccess& destroyed) override {
    if (!destroyed.is_pending) return;
    const bool is_late = destroyed.access.dispatch.index >= destroyed.next_dispatch;
    if (is_late) late_.insert({destroyed.destroy, destroyed.done_at, destroyed.access.dispatch});
    add(FindingKind::kUseAfterFree, {.reader = destroyed.access,
                                     .ended_by = destroyed.destroy,
                                     .ended_at = destroyed.done_at,
                                     .is_pending = true,
                                     .memory = destroyed.memory,
                                     .bytes = destroyed.bytes});
  }

 private:
  // Runs of one operand come one after another, in the order of their bytes.
  void add(FindingKind kind, LifetimeFinding finding) {
    finding.kind = kind;
    const bool is_end = !finding.reader.dispatch.is_some();
    if (is_end && kind == FindingKind::kUninitialized) return;
    // A destroy finds the runs of several accesses in turn.
    const auto subject =
        std::pair(finding.is_pending ? AccessRef{} : finding.reader, finding.tensor);
    if (subject != subject_) seen_.clear();
    subject_ = subject;
    const auto [entry, is_new] =
        seen_.emplace(std::tuple(kind, finding.reader, finding.overwriter, finding.found,
                                 finding.ended_by, finding.ended_at),
                      report_.findings.size());
    if (!is_new) {
      LifetimeFinding& known = report_.findings[entry->second];
      if (known.bytes.end == finding.bytes.begin) known.bytes.end = finding.bytes.end;
      return;
    }
    if (report_.findings.size() >= options_.finding_limit) {
      has_too_many_ = true;
      return;
    }
    report_.findings.push_back(finding);
  }

  const LifetimeOptions options_;
  LifetimeReport report_;
  bool has_too_many_ = false;  // Findings: the walk stops.
  // What is pending at a destroy, and has yet to execute: that it finds no value goes without
  // saying.
  std::set<std::tuple<LifetimeId, LifetimeId, DispatchId>> late_;
  std::pair<AccessRef, TensorId> subject_;
  // Of the subject: positions among the findings.
  std::map<std::tuple<FindingKind, AccessRef, AccessRef, TensorId, LifetimeId, LifetimeId>, size_t>
      seen_;
  OwnerWalk walk_;
};

}  // namespace

LifetimeReport check_lifetimes(const Program& program, const LifetimeOptions& options) {
  if (program.tensors.empty() && !program.has_any(LifetimeKind::kReset)) return {};
  return FindingCollector(program, options).run();
}

}  // namespace interlock
