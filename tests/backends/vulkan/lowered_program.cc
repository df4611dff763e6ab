#include "tests/backends/vulkan/lowered_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "encoder/assemble/build.h"
#include "encoder/kernel/kernel_table.h"
#include "encoder/program/check.h"
#include "encoder/program/draft.h"
#include "encoder/program/scope.h"

namespace interlock {
namespace {

constexpr uint64_t kWordBytes = 4;
constexpr uint64_t kUniformBytesMax = 16 << 10;
constexpr uint64_t kOneLaunchBytesMax = 1 << 20;
constexpr uint64_t kOneLaunchRoundsMax = 32'767;

std::string memory_name(MemoryId memory) { return fmt::format("m{}", memory.index); }

OperandDraft raw_operand(AccessMode mode, MemoryId memory, ByteRange range) {
  return {mode, memory_name(memory), range};
}

ByteRange in_whole_words(ByteRange range) {
  return {range.begin / kWordBytes * kWordBytes,
          (range.end + kWordBytes - 1) / kWordBytes * kWordBytes};
}

class Lowering {
 public:
  Lowering(const Program& program, const DeviceLimits& limits,
           const LoweringDifferences& differences)
      : program_(program), limits_(limits), differences_(differences) {}

  ForecastLowering lower() {
    for (size_t m = 0; m < program_.memories.size(); ++m) {
      // A binding of whole words may end past its memory, among the guards.
      draft_.items.emplace_back(MemoryDraft{memory_name(MemoryId(m)),
                                            program_.memories[m].size_bytes + kWordBytes, false});
    }
    for (size_t d = 0; d < program_.dispatches.size(); ++d) survey(DispatchId(d));
    for (const Statement& statement : program_.statements) {
      if (statement.kind == StatementKind::kDispatch) {
        append_dispatch(DispatchId(statement.index));
      } else {
        append_barrier(program_.barriers[statement.index]);
      }
    }
    Result<Program> program = build(draft_);
    INTERLOCK_CHECK(program.has_value());
    return {std::move(program).value(), std::move(origins_)};
  }

 private:
  // A scope covers what it names also where that runs elsewhere.
  Scope widened(Scope scope) const {
    const auto add = [&](StageAccess from, StageAccess to) {
      if ((scope.accesses & bit_of(from)) != 0) scope.accesses |= bit_of(to);
    };
    if (differences_.compute_copies && has_compute_copy_ &&
        (scope.stages & bit_of(Stage::kCopy)) != 0) {
      scope.stages |= bit_of(Stage::kCompute);
      add(StageAccess::kCopyRead, StageAccess::kComputeRead);
      add(StageAccess::kCopyWrite, StageAccess::kComputeWrite);
    }
    if (differences_.wide_bindings && has_storage_uniform_) {
      add(StageAccess::kComputeUniform, StageAccess::kComputeRead);
    }
    return scope;
  }

  // Looks for what runs elsewhere.
  void survey(DispatchId id) {
    const Dispatch& dispatch = program_.dispatch(id);
    if (stage_of(dispatch) == Stage::kCopy && !is_transfer(id)) has_compute_copy_ = true;
    if (dispatch.kernel != mix_kernel()) return;
    for (const Access& access : program_.accesses_of(id)) {
      if (access.mode != AccessMode::kUniform) continue;
      if (!is_bound_as_uniform(access) || !fits_one_launch(id)) has_storage_uniform_ = true;
    }
  }

  void append_barrier(const Barrier& barrier) {
    BarrierDraft draft{"", barrier.kind, {}};
    for (const Dependency& dependency : program_.dependencies_of(barrier)) {
      DependencyDraft& part = draft.dependencies.emplace_back();
      part.source = widened(dependency.source);
      part.destination = widened(dependency.destination);
      for (const Access& operand : program_.operands_of(dependency)) {
        part.operands.push_back(raw_operand(AccessMode::kRead, operand.memory, operand.range));
      }
    }
    draft_.items.emplace_back(std::move(draft));
  }

  void append_dispatch(DispatchId id) {
    const Dispatch& dispatch = program_.dispatch(id);
    const std::string_view kernel = kernel_entry(dispatch.kernel).name;
    if (kernel == "copy" || kernel == "fill") {
      append_copy(id, kernel);
    } else if (dispatch.kernel != mix_kernel()) {
      append_table_kernel(id);
    } else if (differences_.several_phases && !fits_one_launch(id)) {
      append_phases(id);
    } else {
      append_mix(id);
    }
  }

  // Requires: the dispatch is of the kernel copy or fill.
  bool is_transfer(DispatchId id) const {
    const auto accesses = program_.accesses_of(id);
    return kernel_entry(program_.dispatch(id).kernel).name == "copy"
               ? accesses[0].memory != accesses[1].memory ||
                     !share_a_byte(accesses[0].range, accesses[1].range)
               : accesses[0].range.begin % kWordBytes == 0 &&
                     accesses[0].range.size_bytes() % kWordBytes == 0;
  }

  // Transfer commands touch the ranges as they are.
  void append_copy(DispatchId id, std::string_view kernel) {
    const auto accesses = program_.accesses_of(id);
    if (!is_transfer(id) && differences_.compute_copies) return append_table_kernel(id);
    DispatchDraft draft;
    draft.kernel = kernel;
    if (kernel == "fill") draft.attributes.emplace_back("value", "0");
    for (const Access& access : accesses) {
      draft.operands.push_back(raw_operand(access.mode, access.memory, access.range));
    }
    append(id, std::move(draft));
  }

  void append_table_kernel(DispatchId id) {
    DispatchDraft draft;
    for (const Access& access : program_.accesses_of(id)) {
      draft.operands.push_back(
          raw_operand(access.mode, access.memory, bound(access, limits_.storage_alignment)));
    }
    append(id, std::move(draft));
  }

  void append_mix(DispatchId id) {
    DispatchDraft draft;
    for (const Access& access : program_.accesses_of(id)) {
      draft.operands.push_back(one_launch_operand(access));
    }
    std::stable_sort(draft.operands.begin(), draft.operands.end(),
                     [](const OperandDraft& a, const OperandDraft& b) { return a.mode < b.mode; });
    append(id, std::move(draft));
  }

  OperandDraft one_launch_operand(const Access& access) const {
    ByteRange range = access.range;
    if (is_bound_as_uniform(access)) {
      if (differences_.wide_bindings) range = in_whole_words(range);
      return raw_operand(AccessMode::kUniform, access.memory,
                         bound(access, range, limits_.uniform_alignment));
    }
    if (access.is_atomic() && differences_.wide_bindings) range = in_whole_words(range);
    const bool is_large_uniform = access.mode == AccessMode::kUniform && differences_.wide_bindings;
    return raw_operand(is_large_uniform ? AccessMode::kRead : access.mode, access.memory,
                       bound(access, range, limits_.storage_alignment));
  }

  // Every operand is digested by a dispatch of its own, and after a barrier written by another.
  void append_phases(DispatchId id) {
    for (const Access& access : program_.accesses_of(id)) {
      if (access.mode == AccessMode::kWrite || access.is_atomic()) continue;
      append(id, one_operand(AccessMode::kRead, access));
    }
    const Scope compute{bit_of(Stage::kCompute), 0};
    draft_.items.emplace_back(BarrierDraft{"", BarrierKind::kScoped, {{compute, compute, {}}}});
    for (const Access& access : program_.accesses_of(id)) {
      if (access.only_reads()) continue;
      append(id,
             one_operand(access.is_atomic() ? AccessMode::kAtomic : AccessMode::kWrite, access));
    }
  }

  DispatchDraft one_operand(AccessMode mode, const Access& access) const {
    ByteRange range = access.range;
    if (mode == AccessMode::kAtomic && differences_.wide_bindings) range = in_whole_words(range);
    DispatchDraft draft;
    draft.operands.push_back(
        raw_operand(mode, access.memory, bound(access, range, limits_.storage_alignment)));
    return draft;
  }

  bool fits_one_launch(DispatchId id) const {
    std::map<AccessMode, int> counts;
    uint64_t size_bytes = 0;
    uint64_t rounds = 0;
    for (const Access& access : program_.accesses_of(id)) {
      const uint64_t lanes_bytes = limits_.lane_count * kWordBytes;
      const uint64_t word_bytes = in_whole_words(access.range).size_bytes();
      rounds += (word_bytes + lanes_bytes - 1) / lanes_bytes *
                (access.is_atomic()                   ? 8
                 : access.mode == AccessMode::kUpdate ? 2
                                                      : 1);
      AccessMode mode = access.mode;
      if (mode == AccessMode::kUniform && !is_bound_as_uniform(access)) mode = AccessMode::kRead;
      if (mode == AccessMode::kWrite && program_.dispatch(id).is_partial)
        mode = AccessMode::kUpdate;
      ++counts[mode];
      size_bytes += access.range.size_bytes();
    }
    return counts[AccessMode::kUniform] <= 2 && counts[AccessMode::kRead] <= 5 &&
           counts[AccessMode::kWrite] <= 3 && counts[AccessMode::kUpdate] <= 2 &&
           counts[AccessMode::kAtomic] <= 2 && size_bytes <= kOneLaunchBytesMax &&
           rounds <= kOneLaunchRoundsMax;
  }

  bool is_bound_as_uniform(const Access& access) const {
    return access.mode == AccessMode::kUniform &&
           access.range.begin % limits_.uniform_alignment + access.range.size_bytes() <=
               kUniformBytesMax;
  }

  ByteRange bound(const Access& access, uint64_t alignment) const {
    return bound(access, access.range, alignment);
  }
  ByteRange bound(const Access& access, ByteRange range, uint64_t alignment) const {
    if (!differences_.wide_bindings || access.range.is_empty()) return access.range;
    return {range.begin / alignment * alignment, range.end};
  }

  void append(DispatchId id, DispatchDraft draft) {
    if (draft.kernel.empty()) draft.kernel = "Work";
    if (!draft.operands.empty() && draft.operands.back().mode == AccessMode::kAtomic) {
      draft.attributes.emplace_back("atomic", word_of(program_.dispatch(id).atomic_op));
    }
    draft_.items.emplace_back(std::move(draft));
    origins_.push_back(id);
  }

  const Program& program_;
  const DeviceLimits& limits_;
  LoweringDifferences differences_;
  bool has_compute_copy_ = false;
  bool has_storage_uniform_ = false;
  ProgramDraft draft_;
  std::vector<DispatchId> origins_;
};

}  // namespace

ForecastLowering lowered_program(const Program& program, const DeviceLimits& limits,
                                 const LoweringDifferences& differences) {
  return Lowering(program, limits, differences).lower();
}

}  // namespace interlock
