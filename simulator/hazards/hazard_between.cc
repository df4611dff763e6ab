// The basic idea is to ask for each access of the first dispatch whether it meets the other one at
// all, by binary search, and to look for the partner only if it does.
#include "simulator/hazards/hazard_between.h"

#include <algorithm>

#include "encoder/kernel/kernel_table.h"
#include "simulator/bytes/access_history.h"

namespace interlock {

namespace {

bool first_reads(FindingKind kind) { return kind == FindingKind::kWriteAfterRead; }
bool second_reads(FindingKind kind) { return kind == FindingKind::kReadAfterWrite; }

// Up to so many pairs of operands are compared at once; more are sorted first.
constexpr size_t kEachWithEachMax = 64;

bool do_atomics_commute(const Program& program, DispatchId first, DispatchId second) {
  const AtomicOp op = program.dispatch(first).atomic_op;
  return op == program.dispatch(second).atomic_op && op != AtomicOp::kNone;
}

// The segments on which two dispatches conflict as `kind`, merged.
std::vector<SegmentSpan> common_segments(const DispatchSpans& first, const DispatchSpans& second,
                                         bool atomics_commute, FindingKind kind) {
  const std::vector<SegmentSpan>& a = first_reads(kind) ? first.reads : first.writes;
  const std::vector<SegmentSpan>& b = second_reads(kind) ? second.reads : second.writes;
  std::vector<SegmentSpan> common;
  append_common(a, b, common);
  append_common(a, second.atomics, common);
  append_common(first.atomics, b, common);
  if (!atomics_commute) append_common(first.atomics, second.atomics, common);
  merge_spans(common);
  return common;
}

}  // namespace

void HazardBetween::set_second(DispatchId second) {
  second_ = second;
  spans_ = spans_of(program_, segments_, second);
}

std::optional<Hazard> HazardBetween::find(DispatchId first, FindingKind kind) const {
  if (is_separated(first, kind)) return std::nullopt;
  const AtomicOp first_op = program_.dispatch(first).atomic_op;
  const AtomicOp second_op = program_.dispatch(second_).atomic_op;
  const bool atomics_commute = do_atomics_commute(program_, first, second_);
  // With queues each pair of accesses is asked for by itself.
  const bool has_queues = order_.has_queues();
  const bool is_each_ordered = !has_queues && order_.executes_before(first, second_);
  const std::vector<SegmentSpan>& plain = second_reads(kind) ? spans_.reads : spans_.writes;
  const std::span<const Access> first_accesses = program_.accesses_of(first);
  const std::span<const Access> second_accesses = program_.accesses_of(second_);
  for (uint32_t i = 0; i < first_accesses.size(); ++i) {
    const Access& a = first_accesses[i];
    if (!(first_reads(kind) ? a.has_read_side() : a.has_write_side())) continue;
    const SegmentSpan span = segments_.span_of(program_.dispatch(first).first_access + i);
    const bool meets_atomics =
        !(a.is_atomic() && atomics_commute) && overlaps(spans_.atomics, span);
    if (!meets_atomics && !overlaps(plain, span)) continue;
    for (uint32_t k = 0; k < second_accesses.size(); ++k) {
      const Access& b = second_accesses[k];
      if (!conflict_kinds(a, first_op, b, second_op).has(kind)) continue;
      const bool is_ordered =
          has_queues ? order_.executes_before(first, a, second_, b) : is_each_ordered;
      if (first_reads(kind) && is_ordered) continue;
      std::optional<ByteRange> bytes = intersection(a.range, b.range);
      if (!first_reads(kind)) bytes = find_invisible(first, b, kind, *bytes);
      if (!bytes.has_value()) continue;
      Hazard hazard{kind, {first, i}, {second_, k}, *bytes, is_ordered};
      const bool may_follow_read = kind == FindingKind::kWriteAfterWrite && is_ordered;
      hazard.is_after_own_read = may_follow_read && is_after_own_read(first);
      return hazard;
    }
  }
  return std::nullopt;
}

// Whether the second dispatch sees all that it overwrites of the first one, and reads it before. It
// has hazards with the first by way of writes that a barrier that names reads alone leaves open.
bool HazardBetween::is_after_own_read(DispatchId first) const {
  const AtomicOp first_op = program_.dispatch(first).atomic_op;
  const AtomicOp second_op = program_.dispatch(second_).atomic_op;
  for (const Access& a : program_.accesses_of(first)) {
    if (!a.has_write_side()) continue;
    for (const Access& b : program_.accesses_of(second_)) {
      ++step_count_;
      if (!conflict_kinds(a, first_op, b, second_op).waw) continue;
      ByteRange rest = intersection(a.range, b.range);
      while (!rest.is_empty()) {
        const auto bytes = find_invisible(first, b, FindingKind::kWriteAfterWrite, rest);
        if (!bytes) break;
        if (order_.has_queues() && !order_.executes_before(first, a, second_, b)) return false;
        if (!reads_all(first, b.memory, *bytes)) return false;
        rest.begin = bytes->end;
      }
    }
  }
  return true;
}

// Whether the second dispatch reads these bytes as the first one left them. No atomic does.
bool HazardBetween::reads_all(DispatchId first, MemoryId memory, ByteRange bytes) const {
  for (uint64_t begin = bytes.begin; begin < bytes.end;) {
    uint64_t end = begin;
    for (const Access& access : program_.accesses_of(second_)) {
      const bool is_there = access.memory == memory && access.range.begin <= begin;
      if (!access.reads_plainly() || access.mode == AccessMode::kIndirect || !is_there) continue;
      const ByteRange shared = intersection(access.range, {begin, bytes.end});
      if (shared.is_empty()) continue;
      const auto lost = find_invisible(first, access, FindingKind::kReadAfterWrite, shared);
      end = std::max(end, lost ? lost->begin : shared.end);
    }
    if (end == begin) return false;
    begin = end;
  }
  return true;
}

// Whatever their bytes are. With queues it depends on the accesses.
bool HazardBetween::is_separated(DispatchId first, FindingKind kind) const {
  if (order_.has_queues()) return false;
  // A write after a read needs no memory dependency: a read makes nothing available.
  return first_reads(kind) ? order_.executes_before(first, second_)
                           : is_visible_everywhere(first, kind);
}

bool HazardBetween::is_visible_everywhere(DispatchId first, FindingKind kind) const {
  const Stage stage = stage_of(program_.dispatch(second_));
  if (!second_reads(kind)) {
    return order_.is_visible_everywhere(first, second_, write_sort_of(stage));
  }
  if (stage == Stage::kCopy) {
    return order_.is_visible_everywhere(first, second_, StageAccess::kCopyRead);
  }
  return order_.is_visible_everywhere(first, second_, StageAccess::kComputeRead) &&
         order_.is_visible_everywhere(first, second_, StageAccess::kComputeUniform);
}

std::optional<ByteRange> HazardBetween::find_invisible(DispatchId first, const Access& access,
                                                       FindingKind kind, ByteRange bytes) const {
  const Stage stage = stage_of(program_.dispatch(second_));
  const std::optional<StageAccess> sort =
      second_reads(kind) ? read_sort_of(stage, access) : write_sort_of(stage, access);
  return order_.find_invisible(first, second_, *sort, access.memory, bytes, &step_count_);
}

std::vector<SegmentSpan> HazardBetween::shared_segments(DispatchId first, FindingKind kind) const {
  return common_segments(spans_of(program_, segments_, first), spans_,
                         do_atomics_commute(program_, first, second_), kind);
}

bool have_conflict(const Program& program, const ByteSegments& segments, DispatchId first,
                   DispatchId second) {
  const std::span<const Access> first_accesses = program.accesses_of(first);
  const std::span<const Access> second_accesses = program.accesses_of(second);
  if (first_accesses.size() * second_accesses.size() > kEachWithEachMax) {
    const DispatchSpans a = spans_of(program, segments, first);
    const DispatchSpans b = spans_of(program, segments, second);
    const bool commute = do_atomics_commute(program, first, second);
    return std::ranges::any_of(kHazardKinds, [&](FindingKind kind) {
      return !common_segments(a, b, commute, kind).empty();
    });
  }
  const AtomicOp first_op = program.dispatch(first).atomic_op;
  const AtomicOp second_op = program.dispatch(second).atomic_op;
  for (const Access& a : first_accesses) {
    for (const Access& b : second_accesses) {
      // Most do not even meet.
      if (a.range.end <= b.range.begin || b.range.end <= a.range.begin) continue;
      if (conflict_kinds(a, first_op, b, second_op).any()) return true;
    }
  }
  return false;
}

}  // namespace interlock
