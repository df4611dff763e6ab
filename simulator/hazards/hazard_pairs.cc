// The basic idea is to keep, per sort of access, a window over exactly the dispatches that the
// current one is unordered with: reads since the execution epoch began, writes since the memory
// epoch began. What overlaps there in a conflicting sort is a hazard, so no clean pair is examined.
//
// With scoped barriers there is no such window, but where the latest access to a byte is separated,
// so are all earlier ones of its stage: only bytes on which the latest one is not are looked at.
#include "simulator/hazards/hazard_pairs.h"

#include <algorithm>

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
    for (const SegmentSpan span : spans.reads) entries[kReads].push_back({span, dispatch});
    for (const SegmentSpan span : spans.writes) entries[kWrites].push_back({span, dispatch});
    for (const SegmentSpan span : spans.atomics) entries[atomic].push_back({span, dispatch});
  }
  for (size_t sort = 0; sort < kSortCount; ++sort) {
    if (!entries[sort].empty()) windows_[sort] = std::make_unique<OverlapWindow>(entries[sort]);
  }
  if (order.has_scopes()) {
    scoped_ = std::make_unique<ScopedHazards>(program, order.scopes(), segments);
  }
}

// To what is not separated from `second` for sure.
void HazardPairs::slide_windows(DispatchId second) {
  uint32_t unfinished_begin = UINT32_MAX;
  uint32_t invisible_begin = UINT32_MAX;
  if (order_.has_scopes()) {
    order_.scopes().find_window(second, unfinished_begin, invisible_begin);
  } else {
    unfinished_begin = order_.execution_epoch_begin(second).index;
    invisible_begin = order_.memory_epoch_begin(second).index;
  }
  for (size_t sort = 0; sort < kSortCount; ++sort) {
    if (windows_[sort] == nullptr) continue;
    const bool is_war_only = sort == kReads;
    const uint32_t begin =
        is_war_only ? unfinished_begin : std::min(unfinished_begin, invisible_begin);
    windows_[sort]->slide(DispatchId(size_t{begin}), second);
  }
}

bool HazardPairs::find_firsts(DispatchId second, uint64_t& examination_limit,
                              std::vector<DispatchId>& firsts) {
  firsts.clear();
  if (scoped_ != nullptr) return find_scoped_firsts(second, examination_limit, firsts);
  slide_windows(second);
  const AtomicOp op = program_.dispatch(second).atomic_op;
  const DispatchSpans spans = spans_of(program_, segments_, second);
  const auto collect = [&](const std::vector<SegmentSpan>& of_second, size_t sort) {
    if (windows_[sort] == nullptr) return;
    for (const SegmentSpan span : of_second) {
      examination_limit -= windows_[sort]->append_overlapping(span, examination_limit, firsts);
    }
  };
  for (size_t sort = 0; sort < kSortCount; ++sort) {
    if (sort != kReads) collect(spans.reads, sort);
    collect(spans.writes, sort);
    const bool commutes = op != AtomicOp::kNone && sort == atomic_sort(op);
    if (!commutes) collect(spans.atomics, sort);
  }
  std::sort(firsts.begin(), firsts.end());
  firsts.erase(std::unique(firsts.begin(), firsts.end()), firsts.end());
  return examination_limit > 0;
}

bool HazardPairs::find_scoped_firsts(DispatchId second, uint64_t& examination_limit,
                                     std::vector<DispatchId>& firsts) {
  uint64_t step_count = 0;
  scoped_->find_runs(second, runs_, step_count);
  examination_limit -= std::min(examination_limit, step_count / kStepsPerExamination);
  if (!runs_.empty()) slide_windows(second);
  for (const HazardousRun& run : runs_) {
    for (size_t sort = 0; sort < kSortCount; ++sort) {
      const bool conflicts =
          run.kind == FindingKind::kWriteAfterRead ? sort != kWrites : sort != kReads;
      if (windows_[sort] == nullptr || !conflicts) continue;
      examination_limit -= windows_[sort]->append_overlapping(run.span, examination_limit, firsts);
    }
  }
  std::sort(firsts.begin(), firsts.end());
  firsts.erase(std::unique(firsts.begin(), firsts.end()), firsts.end());
  return examination_limit > 0;
}

}  // namespace interlock
