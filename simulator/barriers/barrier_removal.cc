// The basic idea is that a removal only ever takes order and visibility away, and only between what
// stands before the barrier and what stands after it. So the pairs that are hazardous without it
// are all that can differ, and each is asked on which bytes it was hazardous with it. One overlap
// for each pair would not do: a pair that has a hazard already can get another one elsewhere.
#include "simulator/barriers/barrier_removal.h"

#include <algorithm>
#include <vector>

#include "encoder/kernel/kernel_table.h"
#include "simulator/bytes/byte_segments.h"
#include "simulator/hazards/hazard_pairs.h"
#include "simulator/hazards/hazards.h"
#include "simulator/order/dispatch_spans.h"
#include "simulator/order/happens_before.h"

namespace interlock {
namespace {

// For one barrier. Only a stream with very many hazards asks for more.
constexpr uint64_t kWorkMax = 1'280'000;

class HazardComparison {
 public:
  // `work_limit` is what the comparison may cost; it counts down.
  HazardComparison(const BarrierRemoval& removal, uint64_t& work_limit)
      : removal_(removal),
        work_limit_(work_limit),
        with_(removal.with),
        without_(removal.without),
        segments_(removal.without) {}

  RemovalVerdict run() {
    HazardPairs pairs(removal_.without, without_, segments_);
    std::vector<DispatchId> firsts;
    for (size_t k = removal_.slot; k < removal_.without.dispatches.size(); ++k) {
      const DispatchId second(k);
      const bool is_complete = pairs.find_firsts(second, work_limit_, firsts);
      if (!firsts.empty()) set_second(second);
      for (const DispatchId first : firsts) {
        if (first.index >= removal_.slot) break;
        if (is_needed_between(first)) return RemovalVerdict::kNeeded;
      }
      if (!is_complete || work_limit_ == 0) return RemovalVerdict::kUnknown;
    }
    return RemovalVerdict::kRedundant;
  }

 private:
  void charge(uint64_t work) { work_limit_ -= std::min(work, work_limit_); }

  void set_second(DispatchId second) {
    second_ = second;
    DispatchSpans spans = spans_of(removal_.without, segments_, second);
    touched_ = std::move(spans.reads);
    touched_.insert(touched_.end(), spans.writes.begin(), spans.writes.end());
    touched_.insert(touched_.end(), spans.atomics.begin(), spans.atomics.end());
    merge_spans(touched_);
  }

  // Whether the removal takes something from `first` and the second dispatch, or the barrier fails
  // to order a hazard of theirs.
  bool is_needed_between(DispatchId first) {
    const Program& program = removal_.without;
    const bool was_ordered = with_.executes_before(first, second_);
    const bool stays_ordered = without_.executes_before(first, second_);
    const AtomicOp first_op = program.dispatch(first).atomic_op;
    const AtomicOp second_op = program.dispatch(second_).atomic_op;
    const Stage stage = stage_of(program.dispatch(second_));
    bool has_hazard = false;
    for (uint32_t i = 0; i < program.accesses_of(first).size(); ++i) {
      charge(1);
      const size_t index = program.dispatch(first).first_access + i;
      if (!overlaps(touched_, segments_.span_of(index))) continue;
      const Access& a = program.accesses[index];
      for (const Access& b : program.accesses_of(second_)) {
        charge(1);
        const ConflictKinds kinds = conflict_kinds(a, first_op, b, second_op);
        if (!kinds.any()) continue;
        if (kinds.war && was_ordered && !stays_ordered) return true;
        has_hazard |= kinds.war && !was_ordered;
        const ByteRange bytes = intersection(a.range, b.range);
        const bool loses_visibility =
            (kinds.raw && loses(first, *read_sort_of(stage, b), a.memory, bytes, has_hazard)) ||
            (kinds.waw && loses(first, *write_sort_of(stage, b), a.memory, bytes, has_hazard));
        if (loses_visibility) return true;
      }
    }
    return has_hazard && (was_ordered != stays_ordered || is_meant_for(first));
  }

  // Whether accesses of `sort` miss a byte without the barrier that they see with it. Sets
  // `has_hazard` if they miss one with it.
  bool loses(DispatchId first, StageAccess sort, MemoryId memory, ByteRange bytes,
             bool& has_hazard) {
    uint64_t steps = 0;
    bool is_same = true;
    while (is_same && !bytes.is_empty()) {
      const auto before = with_.find_invisible(first, second_, sort, memory, bytes, &steps);
      const auto after = without_.find_invisible(first, second_, sort, memory, bytes, &steps);
      is_same = before == after;
      has_hazard |= before.has_value();
      bytes.begin = after.has_value() ? after->end : bytes.end;
    }
    charge(steps);
    return !is_same;
  }

  bool is_meant_for(DispatchId first) const {
    const Barrier& barrier = removal_.with.barriers[removal_.barrier.index];
    if (barrier.kind != BarrierKind::kScoped) return true;
    const StageMask source = bit_of(stage_of(removal_.with.dispatch(first)));
    const StageMask destination = bit_of(stage_of(removal_.with.dispatch(second_)));
    return std::ranges::any_of(removal_.with.dependencies_of(barrier), [&](const Dependency& part) {
      return (part.source.stages & source) != 0 || (part.destination.stages & destination) != 0;
    });
  }

  const BarrierRemoval& removal_;
  uint64_t& work_limit_;
  const HappensBefore with_;
  const HappensBefore without_;
  const ByteSegments segments_;
  DispatchId second_;
  std::vector<SegmentSpan> touched_;  // By the second dispatch; merged.
};

bool is_hazard_free(const Program& program) {
  return find_hazards(program, HappensBefore(program), {.limit = 0}).is_complete();
}

}  // namespace

RemovalVerdict judge_removal(const BarrierRemoval& removal, uint64_t& work_left) {
  if (is_hazard_free(removal.with)) {
    return is_hazard_free(removal.without) ? RemovalVerdict::kRedundant : RemovalVerdict::kNeeded;
  }
  const uint64_t limit = std::min(work_left, kWorkMax);
  uint64_t limit_left = limit;
  const RemovalVerdict verdict = HazardComparison(removal, limit_left).run();
  work_left -= limit - limit_left;
  return verdict;
}

}  // namespace interlock
