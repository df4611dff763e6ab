#include "simulator/barriers/separated_firsts.h"

#include <algorithm>

#include "simulator/hazards/hazards.h"

namespace interlock {

void SeparatedFirsts::index() {
  if (hazards_.empty()) return;
  by_second_.assign(hazards_.begin(), hazards_.end());
  std::ranges::stable_sort(by_second_, {},
                           [](const ByteHazards& hazard) { return hazard.second.index; });
  first_hazard_.assign(program_.dispatches.size() + 1, 0);
  for (const ByteHazards& hazard : by_second_) ++first_hazard_[hazard.second.index + size_t{1}];
  for (size_t i = 1; i < first_hazard_.size(); ++i) first_hazard_[i] += first_hazard_[i - 1];
}

std::span<const ByteHazards> SeparatedFirsts::hazards_of(DispatchId second) const {
  if (!has(second)) return {};
  const uint32_t begin = first_hazard_[second.index];
  return std::span(by_second_).subspan(begin, first_hazard_[second.index + size_t{1}] - begin);
}

std::span<const ByteHazards> SeparatedFirsts::hazards_between(DispatchId first,
                                                              DispatchId second) const {
  const auto hazards = hazards_of(second);
  const auto first_of = [](const ByteHazards& hazard) { return hazard.first.index; };
  const auto begin = std::ranges::lower_bound(hazards, first.index, {}, first_of);
  const auto end = std::ranges::upper_bound(hazards, first.index, {}, first_of);
  return {begin, end};
}

void SeparatedFirsts::record(PlaceIndex place, DispatchId dispatch) {
  if (!first_hazard_.empty()) dispatches_[place].push_back(dispatch);
}

uint64_t SeparatedFirsts::find(const Question& question, std::vector<StampRun>& runs) {
  runs.clear();
  visit_count_ = 1;
  memory_ = program_.accesses[question.access].memory;
  open_ = {segments_.span_of(question.access)};
  const std::vector<DispatchId>& dispatches = dispatches_[question.first];
  for (size_t i = dispatches.size(); i-- > 0 && !open_.empty();) {
    if (dispatches[i].index + Stamp{1} < question.threshold) break;
    add_first(question, dispatches[i], runs);
  }
  std::ranges::sort(runs, {}, [](const StampRun& run) { return run.span.begin; });
  return visit_count_;
}

// Takes what it answers from open_.
void SeparatedFirsts::add_first(const Question& question, DispatchId first,
                                std::vector<StampRun>& runs) {
  const Access& second_access = program_.accesses[question.access];
  const AtomicOp second_op = program_.dispatch(question.second).atomic_op;
  const Dispatch& dispatch = program_.dispatch(first);
  ++visit_count_;
  for (uint32_t k = dispatch.first_access; k < dispatch.first_access + dispatch.access_count; ++k) {
    const Access& access = program_.accesses[k];
    ++visit_count_;
    if (access.memory != second_access.memory) continue;
    if (!share_a_byte(access.range, second_access.range)) continue;
    const ConflictKinds kinds =
        conflict_kinds(access, dispatch.atomic_op, second_access, second_op);
    const bool is_asked = question.kind == FindingKind::kReadAfterWrite    ? kinds.raw
                          : question.kind == FindingKind::kWriteAfterWrite ? kinds.waw
                                                                           : kinds.war;
    if (!is_asked) continue;
    const auto hazards = hazards_between(first, question.second);
    const SegmentSpan span = segments_.span_of(k);
    left_.clear();
    for (const SegmentSpan part : open_) {
      const SegmentSpan common{std::max(part.begin, span.begin), std::min(part.end, span.end)};
      ++visit_count_;
      if (common.is_empty()) {
        left_.push_back(part);
        continue;
      }
      if (part.begin < common.begin) left_.push_back({part.begin, common.begin});
      add_part(common, first.index + Stamp{1}, hazards, question.kind, runs);
      if (common.end < part.end) left_.push_back({common.end, part.end});
    }
    open_.swap(left_);
  }
}

// Where it has a hazard the part stays open.
void SeparatedFirsts::add_part(SegmentSpan part, Stamp stamp, std::span<const ByteHazards> hazards,
                               FindingKind kind, std::vector<StampRun>& runs) {
  if (hazards.empty()) {
    runs.push_back({part, stamp});
    return;
  }
  for (uint32_t segment = part.begin; segment < part.end;) {
    const bool is_open = is_hazard(segment, memory_, hazards, kind);
    const uint32_t begin = segment++;
    while (segment < part.end && is_hazard(segment, memory_, hazards, kind) == is_open) ++segment;
    if (is_open) {
      left_.push_back({begin, segment});
    } else {
      runs.push_back({{begin, segment}, stamp});
    }
  }
}

bool SeparatedFirsts::is_hazard(uint32_t segment, MemoryId memory,
                                std::span<const ByteHazards> hazards, FindingKind kind) {
  const ByteRange bytes = segments_.bytes_of({segment, segment + 1});
  return std::ranges::any_of(hazards, [&](const ByteHazards& hazard) {
    ++visit_count_;
    const ByteRange range{hazard.begin, hazard.end};
    const bool is_in = hazard.kind == kind && hazard.memory == memory && share_a_byte(range, bytes);
    if (is_in && intersection(range, bytes) != bytes) is_exact_ = false;
    return is_in;
  });
}

}  // namespace interlock
