// The basic idea is to keep, per sort of access, a window over exactly the dispatches that the
// current one is unordered with: reads since the execution epoch began, writes since the memory
// epoch began. What overlaps there in a conflicting sort is a hazard, so no clean pair is examined.
//
// With scoped barriers or queues there is no such window, but where the latest access to a byte is
// separated, so are all earlier ones of its stage or place: only bytes on which the latest one is
// not are looked at.
#include "simulator/hazards/hazard_pairs.h"

#include <algorithm>

#include "simulator/order/dispatch_spans.h"

namespace interlock {

namespace {

// Finding the runs is much cheaper than looking at what is in them.
constexpr uint64_t kStepsPerExamination = 16;

}  // namespace

HazardPairs::HazardPairs(const Program& program, const HappensBefore& order,
                         const ByteSegments& segments)
    : program_(program), order_(order), segments_(segments) {
  std::array<std::vector<OverlapWindow::Entry>, kSortCount> entries;
  for (size_t i = 0; i < program.dispatches.size(); ++i) {
    const DispatchId dispatch(i);
    const DispatchSpans spans = spans_of(program, segments, dispatch);
    const size_t atomic = atomic_sort(program.dispatch(dispatch).atomic_op);
    for (const SegmentSpan span : spans.reads) entries[kPlainReads].push_back({span, dispatch});
    for (const SegmentSpan span : spans.writes) entries[kPlainWrites].push_back({span, dispatch});
    for (const SegmentSpan span : spans.atomics) entries[atomic].push_back({span, dispatch});
  }
  for (size_t sort = 0; sort < kSortCount; ++sort) {
    if (!entries[sort].empty()) windows_[sort] = std::make_unique<OverlapWindow>(entries[sort]);
  }
  if (order.has_scopes()) {
    scoped_ = std::make_unique<ScopedHazards>(program, order.scopes(), segments);
  }
  if (order.has_queues()) {
    queues_ = std::make_unique<QueueHazards>(program, order.queues(), segments);
  }
}

// To what is not separated from `second` for sure.
void HazardPairs::slide_windows(DispatchId second) {
  const OrderWindow window = order_.window_of(second);
  for (size_t sort = 0; sort < kSortCount; ++sort) {
    if (windows_[sort] == nullptr) continue;
    const bool is_war_only = sort == kPlainReads;
    const uint32_t begin = is_war_only ? window.unfinished_begin
                                       : std::min(window.unfinished_begin, window.invisible_begin);
    windows_[sort]->slide(DispatchId(size_t{begin}), second);
  }
}

bool HazardPairs::find_firsts(DispatchId second, uint64_t& examination_limit,
                              std::vector<DispatchId>& firsts) {
  firsts.clear();
  if (scoped_ != nullptr || queues_ != nullptr) {
    collect_by_runs(second, examination_limit, firsts);
  } else {
    collect(second, examination_limit, firsts);
  }
  std::ranges::sort(firsts);
  firsts.erase(std::unique(firsts.begin(), firsts.end()), firsts.end());
  return examination_limit > 0;
}

void HazardPairs::collect(DispatchId second, uint64_t& examination_limit,
                          std::vector<DispatchId>& firsts) {
  slide_windows(second);
  const AtomicOp op = program_.dispatch(second).atomic_op;
  const DispatchSpans spans = spans_of(program_, segments_, second);
  const auto append = [&](const std::vector<SegmentSpan>& of_second, size_t sort) {
    if (windows_[sort] == nullptr) return;
    for (const SegmentSpan span : of_second) {
      examination_limit -= windows_[sort]->append_overlapping(span, examination_limit, firsts);
    }
  };
  for (size_t sort = 0; sort < kSortCount; ++sort) {
    if (sort != kPlainReads) append(spans.reads, sort);
    append(spans.writes, sort);
    const bool commutes = op != AtomicOp::kNone && sort == atomic_sort(op);
    if (!commutes) append(spans.atomics, sort);
  }
}

void HazardPairs::collect_by_runs(DispatchId second, uint64_t& examination_limit,
                                  std::vector<DispatchId>& firsts) {
  const uint64_t steps_max = examination_limit > UINT64_MAX / kStepsPerExamination
                                 ? UINT64_MAX
                                 : examination_limit * kStepsPerExamination;
  const uint64_t step_count = scoped_ != nullptr ? scoped_->find_runs(second, runs_)
                                                 : queues_->find_runs(second, runs_, steps_max);
  examination_limit -= std::min(examination_limit, step_count / kStepsPerExamination);
  if (!runs_.empty()) slide_windows(second);
  for (const HazardousRun& run : runs_) {
    const size_t other_side = run.kind == FindingKind::kWriteAfterRead ? kPlainWrites : kPlainReads;
    for (size_t sort = 0; sort < kSortCount; ++sort) {
      if (windows_[sort] == nullptr || sort == other_side) continue;
      examination_limit -= windows_[sort]->append_overlapping(run.span, examination_limit, firsts);
    }
  }
}

}  // namespace interlock
