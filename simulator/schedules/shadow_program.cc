// The basic idea is to collect the byte ranges of all slices, to sort their endpoints per memory,
// and to replace every range by the interval of its endpoints' ranks: segments are numbered by
// memory and address, so a contiguous range stays one interval.
#include "simulator/schedules/shadow_program.h"

#include <algorithm>
#include <utility>

#include "encoder/kernel/kernel_binding.h"
#include "encoder/kernel/kernel_table.h"
#include "encoder/program/stop.h"
#include "simulator/bytes/segment_index.h"
#include "simulator/lifetimes/ended_bytes.h"

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
  std::vector<StageAccess> read_sorts;  // By read.
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
  read_sorts.reserve(program.accesses.size());
  writes.reserve(program.accesses.size());
  for (const Dispatch& dispatch : program.dispatches) {
    first_unit.push_back(static_cast<uint32_t>(units.size()));
    if (!is_stopped()) add_dispatch(program, dispatch);
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
  if (access.reads()) {
    reads.push_back(unit_range);
    read_sorts.push_back(*read_sort_of(stage_of(dispatch), access));
  }
  if (access.is_atomic()) {
    writes.push_back({unit_range, ShadowEffect::kAtomic, dispatch.atomic_op});
  } else if (access.writes()) {
    const ShadowEffect effect =
        dispatch.is_partial ? ShadowEffect::kPartial : ShadowEffect::kOverwrite;
    writes.push_back({unit_range, effect, AtomicOp::kNone});
  }
}

// Adds every range that must start and end at a segment's boundary: to count and to place them.
template <typename Visitor>
void visit_ranges(const Program& program, const UnitRanges& ranges,
                  const std::vector<EndedBytes>& ended, Visitor visit) {
  for (const UnitRange& r : ranges.reads) visit(r.memory, r.begin, r.end);
  for (const UnitWrite& w : ranges.writes) visit(w.range.memory, w.range.begin, w.range.end);
  for (const TensorId output : program.outputs) {
    const Tensor& tensor = program.tensor(output);
    visit(tensor.memory.index, tensor.range.begin, tensor.range.end);
  }
  for (const EndedBytes& bytes : ended)
    visit(bytes.memory.index, bytes.bytes.begin, bytes.bytes.end);
  // Steps of a schedule may then concern bytes between any two of these.
  if (program.dependencies.empty()) return;
  for (const std::vector<Access>* accesses : {&program.accesses, &program.barrier_operands}) {
    for (const Access& access : *accesses) {
      if (access.range.is_empty()) continue;
      visit(access.memory.index, access.range.begin, access.range.end);
    }
  }
}

SegmentIndex index_segments(const Program& program, const UnitRanges& ranges,
                            const std::vector<EndedBytes>& ended) {
  SegmentIndex index(program.memories.size());
  visit_ranges(program, ranges, ended,
               [&index](uint32_t memory, uint64_t, uint64_t) { index.announce_range(memory); });
  index.allocate([&program](uint32_t memory) { return program.memories[memory].size_bytes; });
  visit_ranges(program, ranges, ended, [&index](uint32_t memory, uint64_t begin, uint64_t end) {
    index.add_range(memory, begin, end);
  });
  index.finish();
  return index;
}

ShadowRead segments_of(const SegmentIndex& index, const UnitRange& range) {
  const uint32_t first = index.segment_at(range.memory, range.begin);
  return {first, index.segment_at(range.memory, range.end) - first};
}

std::vector<uint32_t> find_live_segments(const Program& program, const SegmentIndex& index) {
  std::vector<uint32_t> live;
  for (const TensorId output : program.outputs) {
    const Tensor& tensor = program.tensor(output);
    const ShadowRead segments =
        segments_of(index, {tensor.memory.index, tensor.range.begin, tensor.range.end});
    for (uint32_t i = 0; i < segments.segment_count; ++i)
      live.push_back(segments.first_segment + i);
  }
  std::sort(live.begin(), live.end());
  live.erase(std::unique(live.begin(), live.end()), live.end());
  return live;
}

// Where the values of each output lie in an observable result, which holds the live segments in
// order: those of one output are consecutive among them.
std::vector<LiveSpan> find_live_spans(const Program& program, const SegmentIndex& index,
                                      const std::vector<uint32_t>& live_segments) {
  std::vector<LiveSpan> spans;
  if (program.outputs.empty()) {
    for (uint32_t memory = 0; memory < program.memories.size(); ++memory) {
      const bool is_last = memory + 1 == program.memories.size();
      spans.push_back({index.first_segment_of(memory),
                       is_last ? index.segment_count() : index.first_segment_of(memory + 1)});
    }
    return spans;
  }
  for (const TensorId output : program.outputs) {
    const Tensor& tensor = program.tensor(output);
    const ShadowRead segments =
        segments_of(index, {tensor.memory.index, tensor.range.begin, tensor.range.end});
    const auto first =
        std::lower_bound(live_segments.begin(), live_segments.end(), segments.first_segment);
    const uint32_t begin = static_cast<uint32_t>(first - live_segments.begin());
    spans.push_back({begin, begin + segments.segment_count});
  }
  return spans;
}

}  // namespace

ShadowProgram compile_shadow_program(const Program& program) {
  UnitRanges ranges(program);
  std::vector<EndedBytes> ended = find_ended_bytes(program);
  ended.erase(std::remove_if(ended.begin(), ended.end(),
                             [](const EndedBytes& bytes) { return bytes.reader.is_some(); }),
              ended.end());
  ShadowProgram compiled;
  compiled.index = index_segments(program, ranges, ended);
  const SegmentIndex& index = compiled.index;
  compiled.read_sorts = std::move(ranges.read_sorts);
  compiled.first_unit = std::move(ranges.first_unit);
  compiled.units = std::move(ranges.units);
  compiled.reads.reserve(ranges.reads.size());
  for (const UnitRange& range : ranges.reads) compiled.reads.push_back(segments_of(index, range));
  compiled.writes.reserve(ranges.writes.size());
  for (const UnitWrite& write : ranges.writes) {
    const ShadowRead segments = segments_of(index, write.range);
    compiled.writes.push_back(
        {segments.first_segment, segments.segment_count, write.effect, write.operation});
  }
  for (const EndedBytes& bytes : ended) {
    compiled.ended.push_back(
        segments_of(index, {bytes.memory.index, bytes.bytes.begin, bytes.bytes.end}));
  }
  compiled.segment_count = index.segment_count();
  compiled.is_all_live = program.outputs.empty();
  if (!compiled.is_all_live) compiled.live_segments = find_live_segments(program, index);
  compiled.live_spans = find_live_spans(program, index, compiled.live_segments);
  return compiled;
}

}  // namespace interlock
