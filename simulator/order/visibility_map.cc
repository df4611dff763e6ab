// The basic idea: a command without operands treats all bytes with the same reach alike, and there
// are few reaches (a few bits), so it acts on classes of bytes and not on bytes. Two classes that
// it makes equal become one (Tarjan's union-find). Only operands need the bytes themselves; they
// split runs, a write makes one run of many, and neighbours that have become alike are joined when
// they are next looked at, so all this costs as much as was split before.
//
// For example, compute dispatches that read and write, with the segments [0:64), [64:128) and
// [128:192) of the memory m:
//
//   dispatch Left writes m[0:128]
//   barrier compute.write -> compute.read m[0:64]
//   dispatch Right writes m[128:192]
//   dispatch Early reads m[0:128]
//   barrier compute.write -> compute.read
//   dispatch Late reads m[0:192]
//
// In the map of the compute writes, class U is what nobody wrote, N what has reached nothing, and R
// what is available to compute and visible to compute.read:
//
//                      runs                                classes
//   at first           [0:192) U                           U
//   Left writes        [0:128) N  [128:192) U              U N
//   first barrier      [0:64) R  [64:128) N  [128:192) U   U N R
//   Right writes       [0:64) R  [64:192) N                U N R
//   second barrier     [0:64) R  [64:192) N                U N=R
//   Late reads         [0:192) N=R                         U N=R
//
// The first barrier has an operand: it splits the run that it covers in part. Early asks which of
// m[0:128] compute.read does not see, and gets the run [64:128), a hazard. The second barrier has
// none: it looks at three classes, however many runs there are, and finds that N now has the reach
// of R. One entry of parent_ makes the two one class, and no run is touched. Late walks over the
// two runs, finds one class, and erases the border between them.
//
// All dependencies of a command see the reach that was there before it (`before` of a class), since
// those of one barrier do not chain; what they add is in `after` until the command is finished. A
// class is found by both, so that an operand splits a class within a command.
#include "simulator/order/visibility_map.h"

#include <algorithm>

#include "encoder/program/stop.h"

namespace interlock {

namespace {

// Of bytes that nobody wrote: as if all stages and accesses had seen it, since none has to.
constexpr Reach kUnwritten = {kAllStages, kAllAccesses};

}  // namespace

VisibilityMap::VisibilityMap(uint32_t segment_count, StageAccess written_as, AccessMask sorts)
    : segment_count_(segment_count),
      written_as_(written_as),
      sorts_(sorts),
      starts_(std::max(segment_count, 1u)),
      class_at_(std::max(segment_count, 1u)) {
  const ClassId unwritten = add_class(kUnwritten, kUnwritten);
  starts_.insert(0);
  class_at_[0] = unwritten;
  classes_[unwritten].run_count = 1;
}

// What nobody asks for counts as reached, and so does all availability of what everybody sees.
Reach VisibilityMap::simplified(Reach reach) const {
  reach.visible |= static_cast<AccessMask>(~sorts_);
  return reach.visible == kAllAccesses ? kUnwritten : reach;
}

VisibilityMap::ClassId VisibilityMap::root_of(ClassId id) {
  while (parent_[id] != id) {
    parent_[id] = parent_[parent_[id]];
    id = parent_[id];
  }
  return id;
}

VisibilityMap::ClassId VisibilityMap::class_of_run(uint32_t begin) {
  class_at_[begin] = root_of(class_at_[begin]);
  return class_at_[begin];
}

VisibilityMap::ClassId VisibilityMap::add_class(Reach before, Reach after) {
  const auto id = static_cast<ClassId>(parent_.size());
  parent_.push_back(id);
  classes_.push_back({before, after, 0});
  live_.push_back(id);
  return id;
}

VisibilityMap::ClassId VisibilityMap::class_with(Reach before, Reach after) {
  for (const ClassId id : live_) {
    if (classes_[id].before == before && classes_[id].after == after) return id;
  }
  return add_class(before, after);
}

void VisibilityMap::split_at(uint32_t segment) {
  if (segment >= segment_count_ || starts_.contains(segment)) return;
  const ClassId id = class_of_run(starts_.at_or_before(segment));
  starts_.insert(segment);
  class_at_[segment] = id;
  ++classes_[id].run_count;
}

void VisibilityMap::join_with_previous(uint32_t begin) {
  if (begin == 0 || begin >= segment_count_ || !starts_.contains(begin)) return;
  const ClassId id = class_of_run(begin);
  if (class_of_run(starts_.at_or_before(begin - 1)) != id) return;
  starts_.erase(begin);
  --classes_[id].run_count;
}

void VisibilityMap::assign(SegmentSpan span, ClassId id) {
  split_at(span.begin);
  split_at(span.end);
  ++classes_[id].run_count;
  for (uint32_t at = span.begin; at < span.end; at = starts_.after(at)) {
    --classes_[class_of_run(at)].run_count;
    if (at != span.begin) starts_.erase(at);
  }
  class_at_[span.begin] = id;
  join_with_previous(span.end);
  join_with_previous(span.begin);
}

void VisibilityMap::write(SegmentSpan span) {
  if (span.is_empty()) return;
  const Reach fresh = simplified({});
  assign(span, class_with(fresh, fresh));
}

uint64_t VisibilityMap::apply(std::span<const ScopedDependency> dependencies,
                              std::span<const SegmentSpan> operand_spans) {
  uint64_t work = 0;
  for (const ScopedDependency& dependency : dependencies) {
    const bool covers = dependency.operand_count == 0;
    for (const ClassId id : live_) {
      classes_[id].after |= dependency.added_to(classes_[id].before, written_as_, covers);
    }
    work += live_.size();
  }
  for (const ScopedDependency& dependency : dependencies) {
    if (is_stopped()) break;
    for (const SegmentSpan span :
         operand_spans.subspan(dependency.first_operand, dependency.operand_count)) {
      work += 1 + apply_to_operand(dependency, span);
    }
  }
  work += live_.size();
  finish_command();
  return work;
}

uint64_t VisibilityMap::apply_to_operand(const ScopedDependency& dependency, SegmentSpan span) {
  uint64_t work = 0;
  if (span.is_empty()) return work;
  for (uint32_t at = span.begin; at < span.end;) {
    // The last assignment may have joined the run at `at` with the one before.
    const uint32_t begin = starts_.at_or_before(at);
    const uint32_t end = std::min(starts_.after(begin), segment_count_);
    const ClassId id = class_of_run(begin);
    const Reach before = classes_[id].before;
    Reach after = classes_[id].after;
    after |= dependency.added_to(before, written_as_, true);
    if (!(after == classes_[id].after)) {
      assign({at, std::min(end, span.end)}, class_with(before, after));
    }
    work += 1 + live_.size() / 8;
    at = end;
  }
  return work;
}

void VisibilityMap::finish_command() {
  size_t count = 0;
  for (const ClassId id : live_) {
    Class& current = classes_[id];
    if (current.run_count == 0) continue;
    current.after = simplified(current.after);
    current.before = current.after;
    const auto same =
        std::find_if(live_.begin(), live_.begin() + static_cast<std::ptrdiff_t>(count),
                     [&](ClassId other) { return classes_[other].before == current.before; });
    if (same != live_.begin() + static_cast<std::ptrdiff_t>(count)) {
      parent_[id] = *same;
      classes_[*same].run_count += current.run_count;
      continue;
    }
    live_[count++] = id;
  }
  live_.resize(count);
}

uint64_t VisibilityMap::append_invisible(SegmentSpan span, StageAccess sort,
                                         std::vector<SegmentSpan>& runs) {
  uint64_t work = 0;
  if (span.is_empty()) return work;
  const size_t first_run = runs.size();
  for (uint32_t at = starts_.at_or_before(span.begin); at < span.end; ++work) {
    uint32_t end = starts_.after(at);
    for (; end < segment_count_ && class_of_run(end) == class_of_run(at); ++work) {
      join_with_previous(end);
      end = starts_.after(at);
    }
    end = std::min(end, segment_count_);
    if ((classes_[class_of_run(at)].before.visible & bit_of(sort)) == 0) {
      const SegmentSpan run{std::max(at, span.begin), std::min(end, span.end)};
      if (runs.size() > first_run && runs.back().end == run.begin) {
        runs.back().end = run.end;
      } else {
        runs.push_back(run);
      }
    }
    at = end;
  }
  return work;
}

}  // namespace interlock
