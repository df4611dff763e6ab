#include "backends/vulkan/program_lowering.h"

#include <algorithm>
#include <optional>
#include <span>

#include "backends/interface/dispatch_params.h"
#include "backends/interface/late_staging.h"
#include "backends/interface/poison.h"
#include "backends/vulkan/barrier_lowering.h"
#include "backends/vulkan/dispatch_lowering.h"
#include "encoder/program/check.h"

namespace interlock {
namespace {

constexpr uint32_t kPoisonWord = kPoisonByte * 0x01010101u;

// As ranges of the arena that share no byte: two operands may read the same ended value, and no
// barrier stands between the fills.
std::vector<ByteRange> arena_ranges_of(const DeviceLayout& layout,
                                       std::span<const EndedBytes> ended) {
  std::vector<ByteRange> ranges;
  for (const EndedBytes& bytes : ended) {
    const DeviceRange range = layout.range_of(bytes.memory, bytes.bytes);
    ranges.push_back({range.offset_bytes, range.offset_bytes + range.size_bytes});
  }
  std::ranges::sort(ranges, {}, &ByteRange::begin);
  size_t count = 0;
  for (const ByteRange& range : ranges) {
    if (count > 0 && range.begin <= ranges[count - 1].end) {
      ranges[count - 1].end = std::max(ranges[count - 1].end, range.end);
    } else {
      ranges[count++] = range;
    }
  }
  ranges.resize(count);
  return ranges;
}

// Fills the bytes of ended values before a dispatch that reads them, with a full barrier on both
// sides; nothing if nothing is ended. Fills of Vulkan take whole words; the few bytes around them
// are copied from a word of poison.
void lower_poison(const VulkanLowering& lowering, std::span<const EndedBytes> ended) {
  if (ended.empty()) return;
  CommandList& list = lowering.list;
  const DeviceRange word = lowering.layout.take(kWordBytes);
  list.add_full_barrier();
  list.add_fill({word, kPoisonWord});
  list.add_full_barrier();
  for (const ByteRange& range : arena_ranges_of(lowering.layout, ended)) {
    const uint64_t words_begin =
        std::min((range.begin + kWordBytes - 1) / kWordBytes * kWordBytes, range.end);
    const uint64_t words_end = std::max(range.end / kWordBytes * kWordBytes, words_begin);
    list.add_copy({word.offset_bytes, range.begin, words_begin - range.begin});
    list.add_fill({{words_begin, words_end - words_begin}, kPoisonWord});
    list.add_copy({word.offset_bytes, words_end, range.end - words_end});
  }
  list.add_full_barrier();
}

RunsElsewhere runs_elsewhere(const VulkanLowering& lowering) {
  RunsElsewhere elsewhere;
  const Program& program = lowering.program;
  for (size_t d = 0; d < program.dispatches.size(); ++d) {
    const DispatchId id(d);
    if (is_copy_in_compute(lowering, id)) elsewhere.copies_in_compute = true;
    if (elsewhere.uniforms_in_storage || program.dispatch(id).kernel != mix_kernel()) continue;
    elsewhere.uniforms_in_storage =
        has_uniform_in_storage(lowering, {id, dispatch_params_of(program, id), 0, 0},
                               lowering.layout.place_operands(lowering.program, id));
  }
  return elsewhere;
}

Result<Success> lower_late_piece(const VulkanLowering& lowering, const DispatchPiece& piece,
                                 LateStaging<DeviceRange>& late) {
  std::vector<PlacedOperand> operands =
      lowering.layout.place_operands(lowering.program, piece.dispatch);
  const std::span<const Access> accesses = lowering.program.accesses_of(piece.dispatch);
  bool has_copies = false;
  auto staged = late.stage(
      piece, written_operands(lowering.program, piece.dispatch),
      [&](size_t i, ByteRange /*range*/) {
        const DeviceRange memory = operands[i].range;
        const DeviceRange copy = lowering.layout.take(memory.size_bytes, memory.offset_bytes);
        operands[i].range = copy;
        // The operand of an atomic is stored, for the commit to apply.
        if (accesses[i].is_atomic()) operands[i].mode = AccessMode::kWrite;
        if (needs_old_bytes(accesses[i], piece.params)) {
          lowering.list.add_copy({memory.offset_bytes, copy.offset_bytes, copy.size_bytes});
          has_copies = true;
        }
        return copy;
      });
  if (!staged) return staged;
  if (has_copies) lowering.list.add_full_barrier();
  return lower_piece(lowering, piece, operands);
}

// An atomic replaces whole words, and a copy before or after it may write other bytes of them.
void lower_commit(const VulkanLowering& lowering, DispatchId id, LateStaging<DeviceRange>& late) {
  std::optional<bool> was_atomic;
  const auto lower = [&](const DispatchPiece& piece, const Access& access,
                         const LateStaging<DeviceRange>::Operand& staged) -> Result<Success> {
    if (was_atomic && *was_atomic != access.is_atomic()) lowering.list.add_full_barrier();
    was_atomic = access.is_atomic();
    if (access.is_atomic()) {
      lower_atomic_commit(lowering, lowering.program.dispatch(id).atomic_op,
                          lowering.layout.range_of(access), staged.copy);
      return Success{};
    }
    for_each_written_run(lowering.program, piece, staged.access, [&](ByteRange run) {
      lowering.list.add_copy({staged.copy.offset_bytes + (run.begin - staged.range.begin),
                              lowering.layout.range_of(access.memory, run).offset_bytes,
                              run.size_bytes()});
    });
    return Success{};
  };
  INTERLOCK_CHECK(late.for_each_copy(id, lower).has_value());
  late.forget(id);
}

}  // namespace

Result<Success> lower_schedule(const VulkanLowering& lowering, const Schedule& schedule,
                               uint64_t limit_bytes) {
  auto whole = expect_whole_steps(lowering.program, schedule, "vulkan");
  if (!whole) return whole;
  LateStaging<DeviceRange> late(lowering.program, limit_bytes, StagingSpace::kLastsForTheRun);
  Poison poison(lowering.program);
  for (const Step& step : schedule.steps) {
    INTERLOCK_CHECK(step.dispatch.index < lowering.program.dispatches.size());
    lowering.list.statement = lowering.program.dispatch(step.dispatch).statement.index;
    if (step.kind == StepKind::kCommit) {
      lower_commit(lowering, step.dispatch, late);
    } else {
      lower_poison(lowering, poison.take_before(step.dispatch));
      const DispatchPiece piece = piece_of(lowering.program, step);
      auto lowered =
          step.kind == StepKind::kRunLate
              ? lower_late_piece(lowering, piece, late)
              : lower_piece(lowering, piece,
                            lowering.layout.place_operands(lowering.program, step.dispatch));
      if (!lowered) return lowered;
    }
    lowering.list.add_full_barrier();
  }
  INTERLOCK_CHECK(late.is_empty());
  return Success{};
}

Result<Success> lower_statements(const VulkanLowering& lowering) {
  const Program& program = lowering.program;
  const RunsElsewhere elsewhere = runs_elsewhere(lowering);
  const Poison poison(program);
  for (size_t s = 0; s < program.statements.size(); ++s) {
    const Statement& statement = program.statements[s];
    lowering.list.statement = static_cast<uint32_t>(s);
    if (statement.kind == StatementKind::kBarrier) {
      lower_barrier(program, program.barriers[statement.index], lowering.layout, lowering.list,
                    elsewhere);
      continue;
    }
    if (statement.kind != StatementKind::kDispatch) continue;
    const DispatchId id(statement.index);
    const std::span<const EndedBytes> ended = poison.ended_before(id);
    lower_poison(lowering, ended);
    auto lowered = lower_dispatch(lowering, id);
    if (!lowered) return lowered;
    if (!ended.empty()) lowering.list.add_full_barrier();
  }
  return Success{};
}

Result<std::vector<DispatchGroup>> lower_groups(const VulkanLowering& lowering) {
  std::vector<DispatchGroup> groups(1);
  const Poison poison(lowering.program);
  for (const Statement& statement : lowering.program.statements) {
    if (statement.kind == StatementKind::kBarrier) {
      if (!groups.back().empty()) groups.emplace_back();
      continue;
    }
    if (statement.kind != StatementKind::kDispatch) continue;
    const DispatchId id(statement.index);
    const std::span<const EndedBytes> ended = poison.ended_before(id);
    if (!ended.empty() && !groups.back().empty()) groups.emplace_back();
    const size_t begin = lowering.list.commands.size();
    lowering.list.statement = lowering.program.dispatch(id).statement.index;
    lower_poison(lowering, ended);
    auto lowered = lower_dispatch(lowering, id);
    if (!lowered) return lowered.error();
    groups.back().push_back({begin, lowering.list.commands.size()});
    if (!ended.empty()) groups.emplace_back();
  }
  return groups;
}

}  // namespace interlock
