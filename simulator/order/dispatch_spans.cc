// The basic idea is to sort once per dispatch: disjoint sorted spans answer by binary search, and
// two lists of them meet in one pass.
#include "simulator/order/dispatch_spans.h"

#include <algorithm>

namespace interlock {

DispatchSpans spans_of(const Program& program, const ByteSegments& segments, DispatchId dispatch) {
  DispatchSpans spans;
  const Dispatch& d = program.dispatch(dispatch);
  for (uint32_t k = 0; k < d.access_count; ++k) {
    const Access& access = program.accesses[d.first_access + k];
    const SegmentSpan span = segments.span_of(d.first_access + k);
    if (span.is_empty()) continue;
    if (access.is_atomic()) spans.atomics.push_back(span);
    if (access.reads_plainly()) spans.reads.push_back(span);
    if (access.writes_plainly()) spans.writes.push_back(span);
  }
  merge_spans(spans.reads);
  merge_spans(spans.writes);
  merge_spans(spans.atomics);
  return spans;
}

void merge_spans(std::vector<SegmentSpan>& spans) {
  std::ranges::sort(spans, {}, &SegmentSpan::begin);
  size_t count = 0;
  for (const SegmentSpan& span : spans) {
    if (count > 0 && span.begin <= spans[count - 1].end) {
      spans[count - 1].end = std::max(spans[count - 1].end, span.end);
    } else {
      spans[count++] = span;
    }
  }
  spans.resize(count);
}

bool overlaps(const std::vector<SegmentSpan>& merged, SegmentSpan span) {
  if (span.is_empty()) return false;
  const auto it = std::ranges::upper_bound(merged, span.begin, {}, &SegmentSpan::end);
  return it != merged.end() && it->begin < span.end;
}

void append_common(const std::vector<SegmentSpan>& a, const std::vector<SegmentSpan>& b,
                   std::vector<SegmentSpan>& common) {
  for (size_t i = 0, k = 0; i < a.size() && k < b.size();) {
    const SegmentSpan both{std::max(a[i].begin, b[k].begin), std::min(a[i].end, b[k].end)};
    if (!both.is_empty()) common.push_back(both);
    a[i].end < b[k].end ? ++i : ++k;
  }
}

}  // namespace interlock
