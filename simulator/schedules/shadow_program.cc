// The basic idea is to collect the byte ranges of all slices, to sort their endpoints per memory,
// and to replace every range by the interval of its endpoints' ranks: segments are numbered by
// memory and address, so a contiguous range stays one interval.
#include "simulator/schedules/shadow_program.h"

#include <algorithm>
#include <utility>

#include "encoder/kernel/kernel_binding.h"
#include "encoder/kernel/kernel_table.h"
#include "encoder/program/stop.h"
#include "simulator/lifetimes/ended_bytes.h"
#include "simulator/order/queue_order.h"
#include "simulator/order/scoped_order.h"

namespace interlock {
namespace {

constexpr uint64_t kPieceBudget = 1u << 20;

struct UnitWrite {
  MemoryRange bytes;
  ShadowEffect effect;
  AtomicOp operation;
};

// The ranges of all units, in the order in which they are hashed.
struct UnitRanges {
  std::vector<uint32_t> first_unit;
  std::vector<ShadowUnit> units;
  std::vector<MemoryRange> reads;
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
  const MemoryRange bytes{access.memory, range};
  if (access.reads()) {
    reads.push_back(bytes);
    read_sorts.push_back(*read_sort_of(stage_of(dispatch), access));
  }
  if (access.is_atomic()) {
    writes.push_back({bytes, ShadowEffect::kAtomic, dispatch.atomic_op});
  } else if (access.writes()) {
    const ShadowEffect effect =
        dispatch.is_partial ? ShadowEffect::kPartial : ShadowEffect::kOverwrite;
    writes.push_back({bytes, effect, AtomicOp::kNone});
  }
}

// Every range that must start and end at a segment's boundary.
template <typename Visit>
void visit_ranges(const Program& program, const UnitRanges& ranges,
                  const std::vector<EndedBytes>& ended, Visit visit) {
  for (const MemoryRange& read : ranges.reads) visit(read.memory, read.range);
  for (const UnitWrite& write : ranges.writes) visit(write.bytes.memory, write.bytes.range);
  for (const TensorId output : program.outputs) {
    visit(program.tensor(output).memory, program.tensor(output).range);
  }
  for (const EndedBytes& bytes : ended) visit(bytes.memory, bytes.bytes);
  // Steps of a schedule may then concern bytes between any two of these.
  if (program.dependencies.empty() && !needs_queue_order(program)) return;
  for (const std::vector<Access>* accesses : {&program.accesses, &program.barrier_operands}) {
    for (const Access& access : *accesses) {
      if (!access.range.is_empty()) visit(access.memory, access.range);
    }
  }
}

// Where the values of each output lie in an observable result, which holds the live segments in
// order: those of one output are consecutive among them.
void find_live(const Program& program, ShadowProgram& compiled) {
  compiled.is_all_live = program.outputs.empty();
  for (size_t m = 0; compiled.is_all_live && m < program.memories.size(); ++m) {
    compiled.live_spans.push_back(compiled.index.segments_of(MemoryId(m)));
  }
  std::vector<uint32_t>& live = compiled.live_segments;
  for (const TensorId output : program.outputs) {
    const Tensor& tensor = program.tensor(output);
    compiled.live_spans.push_back(compiled.index.span_of(tensor.memory, tensor.range));
    const SegmentSpan span = compiled.live_spans.back();
    for (uint32_t segment = span.begin; segment < span.end; ++segment) live.push_back(segment);
  }
  std::ranges::sort(live);
  live.erase(std::unique(live.begin(), live.end()), live.end());
  for (SegmentSpan& span : compiled.live_spans) {
    if (compiled.is_all_live) break;
    const auto first = std::ranges::lower_bound(live, span.begin);
    const auto begin = static_cast<uint32_t>(first - live.begin());
    span = {begin, begin + span.end - span.begin};
  }
  uint32_t end = compiled.is_all_live ? compiled.segment_count : static_cast<uint32_t>(live.size());
  for (const DispatchId dispatch : program.host_dispatches) {
    if (program.dispatch(dispatch).host != HostAccess::kReads) continue;
    compiled.host_reads.push_back(dispatch.index);
    compiled.live_spans.push_back({end, end + 1});
    ++end;
  }
}

}  // namespace

ShadowProgram compile_shadow_program(const Program& program) {
  UnitRanges ranges(program);
  std::vector<EndedBytes> ended = find_ended_bytes(program);
  std::erase_if(ended, [](const EndedBytes& bytes) { return bytes.reader.is_some(); });
  ShadowProgram compiled;
  compiled.index = SegmentIndex(
      program.memories, [&](const auto& visit) { visit_ranges(program, ranges, ended, visit); });
  const SegmentIndex& index = compiled.index;
  compiled.read_sorts = std::move(ranges.read_sorts);
  compiled.first_unit = std::move(ranges.first_unit);
  compiled.units = std::move(ranges.units);
  compiled.reads.reserve(ranges.reads.size());
  for (const MemoryRange& read : ranges.reads) {
    compiled.reads.push_back(index.span_of(read.memory, read.range));
  }
  compiled.writes.reserve(ranges.writes.size());
  for (const UnitWrite& write : ranges.writes) {
    const SegmentSpan span = index.span_of(write.bytes.memory, write.bytes.range);
    compiled.writes.push_back({span, write.effect, write.operation});
  }
  for (const EndedBytes& bytes : ended) {
    compiled.ended.push_back(index.span_of(bytes.memory, bytes.bytes));
  }
  compiled.segment_count = index.segment_count();
  find_live(program, compiled);
  return compiled;
}

}  // namespace interlock
