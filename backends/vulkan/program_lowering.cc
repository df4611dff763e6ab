#include "backends/vulkan/program_lowering.h"

#include <span>

#include "backends/interface/dispatch_params.h"
#include "backends/interface/poison.h"
#include "backends/vulkan/barrier_lowering.h"
#include "backends/vulkan/dispatch_lowering.h"
#include "backends/vulkan/poison_lowering.h"

namespace interlock {

RunsElsewhere runs_elsewhere(const VulkanLowering& lowering) {
  RunsElsewhere elsewhere;
  const Program& program = lowering.program;
  for (size_t d = 0; d < program.dispatches.size(); ++d) {
    const DispatchId id(d);
    if (program.dispatch(id).stage == Stage::kGraphics) elsewhere.graphics_in_compute = true;
    if (is_copy_in_compute(lowering, id)) elsewhere.copies_in_compute = true;
    for (const Access& access : program.accesses_of(id)) {
      if (access.mode == AccessMode::kIndirect) elsewhere.indirect_in_compute = true;
    }
    if (elsewhere.uniforms_in_storage || program.dispatch(id).kernel != mix_kernel()) continue;
    elsewhere.uniforms_in_storage =
        has_uniform_in_storage(lowering, {id, dispatch_params_of(program, id), 0, 0},
                               lowering.layout.place_operands(lowering.program, id));
  }
  return elsewhere;
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
