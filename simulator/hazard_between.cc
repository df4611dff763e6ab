// The basic idea is to ask for each access of the first dispatch whether it meets the other one at
// all, by binary search, and to look for the partner only behind a yes.
#include "simulator/hazard_between.h"

#include "encoder/check.h"
#include "simulator/access_history.h"

namespace interlock {

namespace {

// A write after a read needs no memory dependency: a read makes nothing available.
bool is_separated(const HappensBefore& order, DispatchId first, DispatchId second,
                  FindingKind kind) {
  return kind == FindingKind::kWriteAfterRead ? order.executes_before(first, second)
                                              : order.is_visible_to(first, second);
}

bool first_reads(FindingKind kind) { return kind == FindingKind::kWriteAfterRead; }
bool second_reads(FindingKind kind) { return kind == FindingKind::kReadAfterWrite; }

}  // namespace

void HazardBetween::set_second(DispatchId second) {
  second_ = second;
  spans_ = spans_of(program_, segments_, second);
}

std::optional<Hazard> HazardBetween::find(DispatchId first, FindingKind kind) const {
  if (is_separated(order_, first, second_, kind)) return std::nullopt;
  const AtomicOp first_op = program_.dispatch(first).atomic_op;
  const AtomicOp second_op = program_.dispatch(second_).atomic_op;
  const bool atomics_commute = first_op == second_op && first_op != AtomicOp::kNone;
  const std::vector<SegmentSpan>& plain = second_reads(kind) ? spans_.reads : spans_.writes;
  const std::span<const Access> first_accesses = program_.accesses_of(first);
  const std::span<const Access> second_accesses = program_.accesses_of(second_);
  for (uint32_t i = 0; i < first_accesses.size(); ++i) {
    const Access& a = first_accesses[i];
    if (!(first_reads(kind) ? has_read_side(a) : has_write_side(a))) continue;
    const SegmentSpan span = segments_.span_of(program_.dispatch(first).first_access + i);
    const bool meets_atomics =
        !(a.is_atomic() && atomics_commute) && overlaps(spans_.atomics, span);
    if (!meets_atomics && !overlaps(plain, span)) continue;
    for (uint32_t k = 0; k < second_accesses.size(); ++k) {
      const Access& b = second_accesses[k];
      if (!conflict_kinds(a, first_op, b, second_op).has(kind)) continue;
      const bool is_ordered = !first_reads(kind) && order_.executes_before(first, second_);
      return Hazard{kind, {first, i}, {second_, k}, intersection(a.range, b.range), is_ordered};
    }
    INTERLOCK_CHECK(false);
  }
  return std::nullopt;
}

std::vector<SegmentSpan> HazardBetween::shared_segments(DispatchId first, FindingKind kind) const {
  const DispatchSpans earlier = spans_of(program_, segments_, first);
  const std::vector<SegmentSpan>& a = first_reads(kind) ? earlier.reads : earlier.writes;
  const std::vector<SegmentSpan>& b = second_reads(kind) ? spans_.reads : spans_.writes;
  std::vector<SegmentSpan> shared;
  append_common(a, b, shared);
  append_common(a, spans_.atomics, shared);
  append_common(earlier.atomics, b, shared);
  const AtomicOp op = program_.dispatch(first).atomic_op;
  const bool commutes = op == program_.dispatch(second_).atomic_op && op != AtomicOp::kNone;
  if (!commutes) append_common(earlier.atomics, spans_.atomics, shared);
  merge_spans(shared);
  return shared;
}

}  // namespace interlock
