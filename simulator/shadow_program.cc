// The basic idea is to collect the byte ranges of all slices, to sort their endpoints per memory,
// and to replace every range by the interval of its endpoints' ranks: segments are numbered by
// memory and address, so a contiguous range stays one interval.
#include "simulator/shadow_program.h"

#include <algorithm>
#include <utility>

#include "encoder/check.h"
#include "encoder/kernel_table.h"

namespace interlock {
namespace {

constexpr uint64_t kPieceBudget = 1u << 20;

// A range of one unit, before segments are known.
struct UnitRange {
  uint32_t memory;
  uint64_t begin;
  uint64_t end;
};

struct UnitWrite {
  UnitRange range;
  ShadowEffect effect;
  AtomicOp operation;
};

// The ranges of all units, in the order in which they are hashed.
struct UnitRanges {
  std::vector<uint32_t> first_unit;
  std::vector<ShadowUnit> units;
  std::vector<UnitRange> reads;
  std::vector<UnitWrite> writes;

  explicit UnitRanges(const Program& program);

 private:
  void add_dispatch(const Program& program, const Dispatch& dispatch);
  void add_range(const Dispatch& dispatch, const Access& access, ByteRange range);
  void open_unit() {
    units.push_back({static_cast<uint32_t>(reads.size()), static_cast<uint32_t>(writes.size())});
  }

  uint64_t pieces_left_ = kPieceBudget;
};

UnitRanges::UnitRanges(const Program& program) {
  first_unit.reserve(program.dispatches.size() + 1);
  units.reserve(program.dispatches.size() + 1);
  reads.reserve(program.accesses.size());
  writes.reserve(program.accesses.size());
  for (const Dispatch& dispatch : program.dispatches) {
    first_unit.push_back(static_cast<uint32_t>(units.size()));
    add_dispatch(program, dispatch);
  }
  first_unit.push_back(static_cast<uint32_t>(units.size()));
  open_unit();
}

void UnitRanges::add_dispatch(const Program& program, const Dispatch& dispatch) {
  const auto accesses = program.accesses_of(dispatch);
  const uint64_t slice_count = slice_count_of(program, dispatch);
  if (slice_count > 1 && slice_count <= pieces_left_) {
    const KernelParams params = params_of(program, dispatch);
    uint64_t runs_per_slice = 1;
    for (size_t a = 0; a < accesses.size(); ++a) {
      runs_per_slice += slice_range_of(program, dispatch, params, 0, static_cast<int>(a)).run_count;
    }
    if (runs_per_slice <= pieces_left_ / slice_count) {
      pieces_left_ -= runs_per_slice * slice_count;
      for (uint64_t slice = 0; slice < slice_count; ++slice) {
        open_unit();
        for (size_t a = 0; a < accesses.size(); ++a) {
          const StridedRange runs =
              slice_range_of(program, dispatch, params, slice, static_cast<int>(a));
          for (uint64_t k = 0; k < runs.run_count; ++k) {
            add_range(dispatch, accesses[a], runs.run(k));
          }
        }
      }
      return;
    }
  }
  open_unit();
  for (const Access& access : accesses) add_range(dispatch, access, access.range);
}

void UnitRanges::add_range(const Dispatch& dispatch, const Access& access, ByteRange range) {
  if (range.is_empty()) return;
  const UnitRange unit_range = {access.memory.index, range.begin, range.end};
  if (access.reads()) reads.push_back(unit_range);
  if (access.is_atomic()) {
    writes.push_back({unit_range, ShadowEffect::kAtomic, dispatch.atomic_op});
  } else if (access.writes()) {
    const ShadowEffect effect =
        dispatch.is_partial ? ShadowEffect::kPartial : ShadowEffect::kOverwrite;
    writes.push_back({unit_range, effect, AtomicOp::kNone});
  }
}

// The segments of all memories: neighbouring endpoints, numbered by memory and offset.
class SegmentIndex {
 public:
  SegmentIndex(const Program& program, const UnitRanges& ranges);

  uint32_t segment_count() const { return segment_count_; }

  // Requires: both ends of `range` are endpoints.
  ShadowRead segments_of(const UnitRange& range) const {
    const uint32_t first = rank_of(range.memory, range.begin);
    return {first, rank_of(range.memory, range.end) - first};
  }

 private:
  // The endpoints of one memory, sorted and unique, lie in [begin, end) of `endpoints_`.
  struct MemoryEndpoints {
    uint32_t begin = 0;
    uint32_t end = 0;
    uint32_t first_segment = 0;
  };

  void count(uint32_t memory) { memories_[memory].end += 2; }
  void add(uint32_t memory, uint64_t begin, uint64_t end) {
    uint32_t& at = memories_[memory].end;
    endpoints_[at++] = begin;
    endpoints_[at++] = end;
  }
  template <typename Visitor>
  void visit_ranges(const Program& program, const UnitRanges& ranges, Visitor visit) const;

  uint32_t rank_of(uint32_t memory, uint64_t endpoint) const {
    const MemoryEndpoints& m = memories_[memory];
    const auto begin = endpoints_.begin() + m.begin;
    const auto at = std::lower_bound(begin, endpoints_.begin() + m.end, endpoint);
    return m.first_segment + static_cast<uint32_t>(at - begin);
  }

  std::vector<MemoryEndpoints> memories_;
  std::vector<uint64_t> endpoints_;
  uint32_t segment_count_ = 0;
};

template <typename Visitor>
void SegmentIndex::visit_ranges(const Program& program, const UnitRanges& ranges,
                                Visitor visit) const {
  for (const UnitRange& r : ranges.reads) visit(r.memory, r.begin, r.end);
  for (const UnitWrite& w : ranges.writes) visit(w.range.memory, w.range.begin, w.range.end);
  for (const TensorId output : program.outputs) {
    const Tensor& tensor = program.tensor(output);
    visit(tensor.memory.index, tensor.range.begin, tensor.range.end);
  }
}

SegmentIndex::SegmentIndex(const Program& program, const UnitRanges& ranges)
    : memories_(program.memories.size()) {
  const size_t range_count = ranges.reads.size() + ranges.writes.size() + program.outputs.size();
  INTERLOCK_CHECK(range_count < (size_t{1} << 31));
  endpoints_.resize(2 * range_count);
  visit_ranges(program, ranges, [this](uint32_t m, uint64_t, uint64_t) { count(m); });
  uint32_t total = 0;
  for (MemoryEndpoints& m : memories_) {
    m.begin = total;
    total += m.end;  // A count until here.
    m.end = m.begin;
  }
  visit_ranges(program, ranges, [this](uint32_t m, uint64_t b, uint64_t e) { add(m, b, e); });
  for (MemoryEndpoints& m : memories_) {
    const auto begin = endpoints_.begin() + m.begin;
    std::sort(begin, endpoints_.begin() + m.end);
    const auto end = std::unique(begin, endpoints_.begin() + m.end);
    m.end = m.begin + static_cast<uint32_t>(end - begin);
    m.first_segment = segment_count_;
    if (m.end > m.begin) segment_count_ += m.end - m.begin - 1;
  }
}

std::vector<uint32_t> find_live_segments(const Program& program, const SegmentIndex& index) {
  std::vector<uint32_t> live;
  for (const TensorId output : program.outputs) {
    const Tensor& tensor = program.tensor(output);
    const ShadowRead segments =
        index.segments_of({tensor.memory.index, tensor.range.begin, tensor.range.end});
    for (uint32_t i = 0; i < segments.segment_count; ++i)
      live.push_back(segments.first_segment + i);
  }
  std::sort(live.begin(), live.end());
  live.erase(std::unique(live.begin(), live.end()), live.end());
  return live;
}

}  // namespace

ShadowProgram compile_shadow_program(const Program& program) {
  UnitRanges ranges(program);
  const SegmentIndex index(program, ranges);
  ShadowProgram compiled;
  compiled.first_unit = std::move(ranges.first_unit);
  compiled.units = std::move(ranges.units);
  compiled.reads.reserve(ranges.reads.size());
  for (const UnitRange& range : ranges.reads) compiled.reads.push_back(index.segments_of(range));
  compiled.writes.reserve(ranges.writes.size());
  for (const UnitWrite& write : ranges.writes) {
    const ShadowRead segments = index.segments_of(write.range);
    compiled.writes.push_back(
        {segments.first_segment, segments.segment_count, write.effect, write.operation});
  }
  compiled.segment_count = index.segment_count();
  compiled.is_all_live = program.outputs.empty();
  if (!compiled.is_all_live) compiled.live_segments = find_live_segments(program, index);
  return compiled;
}

}  // namespace interlock
