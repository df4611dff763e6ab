// The idea for slices: the shadow program has the byte segments of each slice. Two dispatches with
// a hazard are joined by a sweep over their segments, which meets exactly the overlaps.
#include "simulator/schedules/trace_units.h"

#include <algorithm>
#include <utility>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/draft_text.h"
#include "simulator/schedules/shadow_program.h"

namespace interlock {
namespace {

// Touches met, those that turn out to have ended included.
constexpr uint64_t kSweepLimit = 1u << 22;

// The pairs of dispatches with a hazard that no dependency orders.
std::vector<UnitPair> pairs_to_order(std::span<const Hazard> hazards) {
  std::vector<UnitPair> pairs;
  for (const Hazard& hazard : hazards) {
    const UnitPair pair = {hazard.first.dispatch.index, hazard.second.dispatch.index};
    if (!hazard.is_ordered && (pairs.empty() || pairs.back() != pair)) pairs.push_back(pair);
  }
  return pairs;
}

// Segments that a slice reads or writes.
struct Touch {
  SegmentSpan span;
  uint32_t slice;
  bool is_write;
  AtomicOp operation = AtomicOp::kNone;  // Of an atomic write.
};

// The touches that the sweep is within.
struct Active {
  std::vector<Touch> reads;
  std::vector<Touch> writes;
};

class SliceConflicts {
 public:
  explicit SliceConflicts(const Program& program) : shadow_(compile_shadow_program(program)) {}

  uint32_t slice_count(uint32_t dispatch) const {
    return shadow_.first_unit[dispatch + 1] - shadow_.first_unit[dispatch];
  }
  // Slices are numbered through all dispatches, as units of the shadow program.
  uint32_t first_slice(uint32_t dispatch) const { return shadow_.first_unit[dispatch]; }

  // Appends the pairs of slices of the two, or of the one, that conflict. False if out of work.
  bool find(uint32_t first, uint32_t second, std::vector<UnitPair>& pairs);

 private:
  std::vector<Touch> touches_of(uint32_t dispatch) const;
  bool meet(std::vector<Touch>& active, const Touch& touch, std::vector<UnitPair>& pairs);

  ShadowProgram shadow_;
  uint64_t work_left_ = kSweepLimit;
};

std::vector<Touch> SliceConflicts::touches_of(uint32_t dispatch) const {
  std::vector<Touch> touches;
  for (uint32_t s = shadow_.first_unit[dispatch]; s < shadow_.first_unit[dispatch + 1]; ++s) {
    for (uint32_t r = shadow_.units[s].first_read; r < shadow_.units[s + 1].first_read; ++r) {
      touches.push_back({shadow_.reads[r], s, false});
    }
    for (uint32_t w = shadow_.units[s].first_write; w < shadow_.units[s + 1].first_write; ++w) {
      const ShadowWrite& write = shadow_.writes[w];
      touches.push_back({write.span, s, true, write.operation});
    }
  }
  std::ranges::sort(touches, {}, [](const Touch& t) { return std::pair(t.span.begin, t.slice); });
  return touches;
}

bool touches_commute(const Touch& a, const Touch& b) {
  return a.operation != AtomicOp::kNone && a.operation == b.operation;
}

bool SliceConflicts::meet(std::vector<Touch>& active, const Touch& touch,
                          std::vector<UnitPair>& pairs) {
  if (work_left_ <= active.size()) return false;
  work_left_ -= active.size() + 1;
  std::erase_if(active,
                [&touch](const Touch& other) { return other.span.end <= touch.span.begin; });
  for (const Touch& other : active) {
    if (other.slice == touch.slice || touches_commute(other, touch)) continue;
    pairs.push_back({std::min(other.slice, touch.slice), std::max(other.slice, touch.slice)});
  }
  return true;
}

bool SliceConflicts::find(uint32_t first, uint32_t second, std::vector<UnitPair>& pairs) {
  const std::vector<Touch> a = touches_of(first);
  const std::vector<Touch> b = first == second ? std::vector<Touch>() : touches_of(second);
  Active active_a;
  Active active_b;
  std::vector<UnitPair> found;
  for (size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    const bool is_a = j == b.size() || (i < a.size() && a[i].span.begin <= b[j].span.begin);
    const Touch& touch = is_a ? a[i++] : b[j++];
    Active& own = is_a ? active_a : active_b;
    Active& others = is_a && first != second ? active_b : active_a;
    if (!meet(others.writes, touch, found)) return false;
    if (touch.is_write && !meet(others.reads, touch, found)) return false;
    (touch.is_write ? own.writes : own.reads).push_back(touch);
  }
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  pairs.insert(pairs.end(), found.begin(), found.end());
  return true;
}

// Cuts each dispatch into its hazardous slices, and the runs between them.
class Cutter {
 public:
  Cutter(const Program& program, const SliceConflicts& conflicts,
         const std::vector<uint32_t>& hazardous)
      : hazardous_(hazardous), unit_of_(hazardous.size()) {
    for (uint32_t d = 0; d < program.dispatches.size(); ++d) cut(program, conflicts, d);
  }

  TraceUnits units(const std::vector<UnitPair>& slice_pairs) {
    for (const UnitPair& pair : slice_pairs) {
      result_.hazards.push_back({unit_of_[place_of(pair.first)], unit_of_[place_of(pair.second)]});
    }
    return std::move(result_);
  }

 private:
  size_t place_of(uint32_t slice) const {
    return static_cast<size_t>(std::ranges::lower_bound(hazardous_, slice) - hazardous_.begin());
  }
  void cut(const Program& program, const SliceConflicts& conflicts, uint32_t dispatch);

  const std::vector<uint32_t>& hazardous_;  // Slices, ascending.
  std::vector<uint32_t> unit_of_;           // By place among them.
  size_t next_ = 0;
  TraceUnits result_;
};

void Cutter::cut(const Program& program, const SliceConflicts& conflicts, uint32_t dispatch) {
  const uint32_t begin = conflicts.first_slice(dispatch);
  const uint32_t end = begin + conflicts.slice_count(dispatch);
  std::vector<Step>& units = result_.units;
  if (end - begin == 1 || next_ == hazardous_.size() || hazardous_[next_] >= end) {
    if (next_ < hazardous_.size() && hazardous_[next_] < end) {
      unit_of_[next_++] = static_cast<uint32_t>(units.size());
    }
    units.push_back(whole_step(program, DispatchId(size_t{dispatch}), StepKind::kRun));
    return;
  }
  result_.are_slices = true;
  const DispatchId id(size_t{dispatch});
  uint32_t done = begin;
  for (; next_ < hazardous_.size() && hazardous_[next_] < end; ++next_) {
    const uint32_t slice = hazardous_[next_];
    if (slice > done) units.push_back({StepKind::kRun, id, done - begin, slice - done});
    unit_of_[next_] = static_cast<uint32_t>(units.size());
    units.push_back({StepKind::kRun, id, slice - begin, 1});
    done = slice + 1;
  }
  if (done < end) units.push_back({StepKind::kRun, id, done - begin, end - done});
}

}  // namespace

TraceUnits dispatch_units(const Program& program, std::span<const Hazard> hazards) {
  TraceUnits result;
  result.units = reference_order_schedule(program).steps;
  std::vector<bool> is_hazardous(program.dispatches.size(), false);
  size_t hazardous_count = 0;
  for (const UnitPair& pair : pairs_to_order(hazards)) {
    const size_t new_count =
        (is_hazardous[pair.first] ? 0 : 1) + (is_hazardous[pair.second] ? 0 : 1);
    if (hazardous_count + new_count > kHazardousUnitsMax) {
      result.is_truncated = true;
      continue;
    }
    hazardous_count += new_count;
    is_hazardous[pair.first] = true;
    is_hazardous[pair.second] = true;
    result.hazards.push_back(pair);
  }
  return result;
}

std::optional<TraceUnits> slice_units(const Program& program, std::span<const Hazard> hazards) {
  SliceConflicts conflicts(program);
  std::vector<UnitPair> slice_pairs;
  for (const UnitPair& pair : pairs_to_order(hazards)) {
    if (!conflicts.find(pair.first, pair.second, slice_pairs)) return std::nullopt;
  }
  for (uint32_t d = 0; d < program.dispatches.size(); ++d) {
    if (conflicts.slice_count(d) == 1) continue;
    if (!conflicts.find(d, d, slice_pairs)) return std::nullopt;
  }
  std::vector<uint32_t> hazardous;
  for (const UnitPair& pair : slice_pairs) {
    hazardous.push_back(pair.first);
    hazardous.push_back(pair.second);
  }
  std::ranges::sort(hazardous);
  hazardous.erase(std::unique(hazardous.begin(), hazardous.end()), hazardous.end());
  if (hazardous.size() > kHazardousUnitsMax) return std::nullopt;
  return Cutter(program, conflicts, hazardous).units(slice_pairs);
}

std::string text_of(const Program& program, const Step& unit) {
  std::string text = program.reference_of(unit.dispatch);
  if (unit != whole_step(program, unit.dispatch, StepKind::kRun)) {
    append_range(text, unit.first_slice, uint64_t{unit.first_slice} + unit.slice_count);
  }
  return text;
}

}  // namespace interlock
