// The basic idea is to collect the byte ranges of all slices, to sort their endpoints per memory,
// and to replace every range by the interval of its endpoints' ranks: segments are numbered by
// memory and address, so a contiguous range stays one interval.
#include "simulator/schedules/shadow_program.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <utility>

#include "encoder/kernel/kernel_binding.h"
#include "encoder/kernel/kernel_table.h"
#include "encoder/program/stop.h"
#include "simulator/lifetimes/ended_bytes.h"
#include "simulator/schedules/machine_lines.h"

namespace interlock {
namespace {

constexpr uint64_t kPieceBudget = 1u << 20;

struct PlacedRange {
  MemoryId memory;
  ByteRange range;
};

// What a dispatch does to the bytes of one access: the same in each of its slices.
struct UnitTouch {
  bool reads = false;
  bool writes = false;
  StageAccess read_sort = StageAccess::kComputeRead;  // If it is kept.
  ShadowEffect effect = ShadowEffect::kOverwrite;
  AtomicOp operation = AtomicOp::kNone;
};

UnitTouch touch_of(const Dispatch& dispatch, const Access& access, bool keeps_read_sort) {
  UnitTouch touch{.reads = access.reads_plainly(), .writes = access.has_write_side()};
  if (touch.reads && keeps_read_sort) touch.read_sort = *read_sort_of(stage_of(dispatch), access);
  if (access.is_atomic()) {
    touch.effect = ShadowEffect::kAtomic;
    touch.operation = dispatch.atomic_op;
  } else if (dispatch.is_transition() && access.reads_plainly()) {
    touch.effect = ShadowEffect::kKeep;
  } else if (dispatch.is_partial) {
    touch.effect = ShadowEffect::kPartial;
  }
  return touch;
}

// One access of a dispatch of many slices.
struct SlicedAccess {
  SliceRanges ranges;
  UnitTouch touch;
  uint64_t run_count = 1;  // Of each slice.
};

// Returns the first of the next `count`, which the caller sets.
template <typename Item>
Item* extended_by(std::vector<Item>& items, uint64_t count) {
  items.resize(items.size() + count);
  return items.data() + (items.size() - count);
}

// What all units touch, in the order in which it is hashed. Until segments are numbered, a span
// begins with the number of its range.
struct UnitRanges {
  std::vector<uint32_t> first_unit;
  std::vector<ShadowUnit> units;
  std::vector<PlacedRange> ranges;  // Of one access after the other: neighbours often meet.
  std::vector<SegmentSpan> reads;
  std::vector<StageAccess> read_sorts;  // By read, if they are kept.
  std::vector<ShadowWrite> writes;

  UnitRanges(const Program& program, bool keeps_read_sorts);

 private:
  void add_dispatch(const Program& program, const Dispatch& dispatch);
  bool add_slices(const Program& program, const Dispatch& dispatch);
  void add_range(const Access& access, const UnitTouch& touch);
  void add_ranges(MemoryId memory, const SlicedAccess& operand, uint64_t slice_count);
  void add_units(std::span<const Access> accesses, std::span<const SlicedAccess> operands,
                 uint64_t slice_count);
  void open_unit() {
    units.push_back({static_cast<uint32_t>(reads.size()), static_cast<uint32_t>(writes.size())});
  }

  const bool keeps_read_sorts_;
  uint64_t pieces_left_ = kPieceBudget;
};

UnitRanges::UnitRanges(const Program& program, bool keeps_read_sorts)
    : keeps_read_sorts_(keeps_read_sorts) {
  // What most programs need: of short ones slices are a few times the accesses.
  const size_t piece_count =
      program.accesses.size() + std::min<size_t>(program.accesses.size(), 64);
  first_unit.reserve(program.dispatches.size() + 1);
  units.reserve(program.dispatches.size() + std::min<size_t>(program.dispatches.size(), 64) + 1);
  ranges.reserve(piece_count);
  reads.reserve(piece_count);
  if (keeps_read_sorts_) read_sorts.reserve(piece_count);
  writes.reserve(piece_count);
  for (const Dispatch& dispatch : program.dispatches) {
    first_unit.push_back(static_cast<uint32_t>(units.size()));
    if (!is_stopped()) add_dispatch(program, dispatch);
  }
  first_unit.push_back(static_cast<uint32_t>(units.size()));
  open_unit();
}

void UnitRanges::add_dispatch(const Program& program, const Dispatch& dispatch) {
  if (add_slices(program, dispatch)) return;
  open_unit();
  for (const Access& access : program.accesses_of(dispatch)) {
    if (!access.range.is_empty()) {
      add_range(access, touch_of(dispatch, access, keeps_read_sorts_));
    }
  }
}

// Of one unit.
void UnitRanges::add_range(const Access& access, const UnitTouch& touch) {
  const auto range = static_cast<uint32_t>(ranges.size());
  ranges.push_back({access.memory, access.range});
  if (touch.reads) reads.push_back({range, 0});
  if (touch.reads && keeps_read_sorts_) read_sorts.push_back(touch.read_sort);
  if (touch.writes) writes.push_back({{range, 0}, touch.effect, touch.operation});
}

// Whether what it does to a byte depends on which of its own operands comes last, whatever the
// order of its slices.
bool do_outputs_share_a_byte(std::span<const Access> accesses) {
  for (size_t b = 1; b < accesses.size(); ++b) {
    for (size_t a = 0; a < b; ++a) {
      const bool are_outputs = accesses[a].has_write_side() && accesses[b].has_write_side();
      const bool commute = accesses[a].is_atomic() && accesses[b].is_atomic();
      if (are_outputs && !commute && accesses[a].memory == accesses[b].memory &&
          share_a_byte(accesses[a].range, accesses[b].range)) {
        return true;
      }
    }
  }
  return false;
}

// Returns false if it is one unit: it has one slice, or too many, or outputs that share a byte.
bool UnitRanges::add_slices(const Program& program, const Dispatch& dispatch) {
  const uint64_t slice_count = slice_count_of(program, dispatch);
  if (slice_count <= 1 || slice_count > pieces_left_) return false;
  const KernelParams params = params_of(program, dispatch);
  const auto accesses = program.accesses_of(dispatch);
  if (do_outputs_share_a_byte(accesses)) return false;
  std::array<SlicedAccess, kTableOperandsMax> operands;
  uint64_t runs_per_slice = 1;
  for (size_t a = 0; a < accesses.size(); ++a) {
    SlicedAccess& operand = operands[a];
    operand.ranges = SliceRanges(program, dispatch, params, a);
    operand.run_count = operand.ranges.of(0).run_count;
    runs_per_slice += operand.run_count;
  }
  if (runs_per_slice > pieces_left_ / slice_count) return false;
  pieces_left_ -= runs_per_slice * slice_count;
  for (size_t a = 0; a < accesses.size(); ++a) {
    operands[a].touch = touch_of(dispatch, accesses[a], keeps_read_sorts_);
  }
  add_units(accesses, std::span(operands).first(accesses.size()), slice_count);
  return true;
}

// Of each slice one. They are alike but for the numbers of their ranges, so that each operand goes
// to its place in all of them at once.
void UnitRanges::add_units(std::span<const Access> accesses, std::span<const SlicedAccess> operands,
                           uint64_t slice_count) {
  uint64_t read_count = 0;  // Of each unit.
  uint64_t write_count = 0;
  for (const SlicedAccess& operand : operands) {
    if (operand.touch.reads) read_count += operand.run_count;
    if (operand.touch.writes) write_count += operand.run_count;
  }
  ShadowUnit next = {static_cast<uint32_t>(reads.size()), static_cast<uint32_t>(writes.size())};
  for (uint64_t slice = 0; slice < slice_count; ++slice) {
    units.push_back(next);
    next.first_read += static_cast<uint32_t>(read_count);
    next.first_write += static_cast<uint32_t>(write_count);
  }
  SegmentSpan* read = extended_by(reads, read_count * slice_count);
  ShadowWrite* write = extended_by(writes, write_count * slice_count);
  StageAccess* sort =
      keeps_read_sorts_ ? extended_by(read_sorts, read_count * slice_count) : nullptr;
  for (size_t a = 0; a < operands.size(); ++a) {
    const SlicedAccess& operand = operands[a];
    const UnitTouch touch = operand.touch;
    const uint64_t run_count = operand.run_count;
    const auto first = static_cast<uint32_t>(ranges.size());
    add_ranges(accesses[a].memory, operand, slice_count);
    // Calls set(unit, run, range) for all of them.
    const auto for_each = [&](const auto& set) {
      const uint32_t ranges_per_unit =
          operand.ranges.is_whole() ? 0 : static_cast<uint32_t>(run_count);
      uint32_t range = first;
      for (uint64_t slice = 0; slice < slice_count; ++slice, range += ranges_per_unit) {
        for (uint32_t k = 0; k < run_count; ++k) set(slice, k, range + k);
      }
    };
    if (touch.reads) {
      for_each([&](uint64_t unit, uint64_t k, uint32_t range) {
        read[unit * read_count + k] = {range, 0};
      });
      read += run_count;
    }
    if (touch.reads && sort != nullptr) {
      for_each([&](uint64_t unit, uint64_t k, uint32_t) {
        sort[unit * read_count + k] = touch.read_sort;
      });
      sort += run_count;
    }
    if (touch.writes) {
      for_each([&](uint64_t unit, uint64_t k, uint32_t range) {
        write[unit * write_count + k] = {{range, 0}, touch.effect, touch.operation};
      });
      write += run_count;
    }
  }
}

// By slice and run; those of one slice alone if all touch the same.
void UnitRanges::add_ranges(MemoryId memory, const SlicedAccess& operand, uint64_t slice_count) {
  const uint64_t distinct_count = operand.ranges.is_whole() ? 1 : slice_count;
  PlacedRange* range = extended_by(ranges, operand.run_count * distinct_count);
  for (uint64_t slice = 0; slice < distinct_count; ++slice) {
    const StridedRange runs = operand.ranges.of(slice);
    uint64_t begin = runs.begin;
    for (uint64_t k = 0; k < operand.run_count; ++k, begin += runs.pitch_bytes) {
      *range++ = {memory, {begin, begin + runs.run_bytes}};
    }
  }
}

// Every range that must start and end at a segment's boundary.
template <typename Visit>
void visit_ranges(const Program& program, const UnitRanges& ranges,
                  const std::vector<EndedBytes>& ended, std::span<const LostContent> all_lost,
                  bool has_steps_of_bytes, Visit visit) {
  for (const PlacedRange& range : ranges.ranges) visit(range.memory, range.range);
  for (const TensorId output : program.outputs) {
    visit(program.tensor(output).memory, program.tensor(output).range);
  }
  for (const EndedBytes& bytes : ended) visit(bytes.memory, bytes.bytes);
  for (const LostContent& lost : all_lost) visit(lost.memory, lost.bytes);
  // Steps of a schedule may then concern bytes between any two of these.
  if (!has_steps_of_bytes) return;
  for (const std::vector<Access>* accesses : {&program.accesses, &program.barrier_operands}) {
    for (const Access& access : *accesses) {
      if (!access.range.is_empty()) visit(access.memory, access.range);
    }
  }
  // The host moves whole atoms.
  for (const DispatchId dispatch : program.host_dispatches) {
    for (const LineContent& beside : beside_in_lines(program, dispatch)) {
      visit(beside.memory, beside.bytes);
    }
  }
  for (const Access& operand : program.barrier_operands) {
    const Memory& memory = program.memory(operand.memory);
    if (memory.atom_bytes == 0 || operand.range.is_empty()) continue;
    visit(operand.memory, whole_lines(memory, operand.range));
  }
}

// By range.
std::vector<SegmentSpan> segment_spans_of(const std::vector<PlacedRange>& ranges,
                                          const SegmentIndex& index) {
  std::vector<SegmentSpan> spans;
  spans.reserve(ranges.size());
  PlacedRange before;
  for (const PlacedRange& range : ranges) {
    const bool meets_it = before.memory == range.memory && before.range.end == range.range.begin;
    const uint32_t begin =
        meets_it ? spans.back().end : index.begin_of(range.memory, range.range.begin);
    spans.push_back({begin, index.begin_of(range.memory, range.range.end)});
    before = range;
  }
  return spans;
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

void find_lost(std::span<const LostContent> all_lost, ShadowProgram& compiled) {
  for (const LostContent& lost : all_lost) {
    const SegmentSpan span = compiled.index.span_of(lost.memory, lost.bytes);
    if (lost.overwriter.is_some()) {
      compiled.over_lost.push_back({lost.overwriter.index, span});
    } else {
      compiled.lost.push_back(span);
    }
  }
  std::ranges::sort(compiled.over_lost, {},
                    [](const OverLost& at) { return std::pair(at.dispatch, at.span.begin); });
}

void find_beside(const Program& program, ShadowProgram& compiled) {
  for (const DispatchId dispatch : program.host_dispatches) {
    for (const LineContent& beside : beside_in_lines(program, dispatch)) {
      compiled.beside.push_back(
          {dispatch.index, compiled.index.span_of(beside.memory, beside.bytes)});
    }
  }
}

// Whether a schedule may fetch or commit some bytes of a dispatch by themselves. On one queue with
// global barriers none does.
bool may_have_steps_of_bytes(const Program& program) {
  const auto may_hold_back = [](const SyncStep& step) {
    return step.kind != SyncKind::kSplit && step.kind != SyncKind::kSubmit;
  };
  const auto has_stage_of_its_own = [](const Dispatch& dispatch) {
    return dispatch.stage == Stage::kGraphics || dispatch.stage == Stage::kTransition;
  };
  const auto is_indirect = [](const Access& access) {
    return access.mode == AccessMode::kIndirect;
  };
  return !program.dependencies.empty() || !program.queues.empty() ||
         !program.host_dispatches.empty() || std::ranges::any_of(program.syncs, may_hold_back) ||
         std::ranges::any_of(program.dispatches, has_stage_of_its_own) ||
         std::ranges::any_of(program.accesses, is_indirect);
}

}  // namespace

ShadowProgram compile_shadow_program(const Program& program) {
  const bool has_steps_of_bytes = may_have_steps_of_bytes(program);
  UnitRanges ranges(program, has_steps_of_bytes);
  const std::vector<LostContent> lost = lost_in_lines(program);
  std::vector<EndedBytes> ended = find_ended_values(program);
  std::erase_if(ended, [](const EndedBytes& bytes) { return bytes.reader.is_some(); });
  ShadowProgram compiled;
  compiled.index = SegmentIndex(program.memories, [&](const auto& visit) {
    visit_ranges(program, ranges, ended, lost, has_steps_of_bytes, visit);
  });
  const SegmentIndex& index = compiled.index;
  compiled.read_sorts = std::move(ranges.read_sorts);
  compiled.first_unit = std::move(ranges.first_unit);
  compiled.units = std::move(ranges.units);
  const std::vector<SegmentSpan> spans = segment_spans_of(ranges.ranges, index);
  compiled.reads = std::move(ranges.reads);
  for (SegmentSpan& read : compiled.reads) read = spans[read.begin];
  compiled.writes = std::move(ranges.writes);
  for (ShadowWrite& write : compiled.writes) write.span = spans[write.span.begin];
  for (const EndedBytes& bytes : ended) {
    compiled.ended.push_back(index.span_of(bytes.memory, bytes.bytes));
  }
  find_lost(lost, compiled);
  compiled.ended.insert(compiled.ended.end(), compiled.lost.begin(), compiled.lost.end());
  if (has_steps_of_bytes) find_beside(program, compiled);
  compiled.segment_count = index.segment_count();
  find_live(program, compiled);
  return compiled;
}

}  // namespace interlock
