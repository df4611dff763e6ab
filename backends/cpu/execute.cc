#include "backends/cpu/execute.h"

#include "backends/interface/dispatch_params.h"
#include "encoder/program/check.h"
#include "encoder/program/stop.h"

namespace interlock {

std::vector<CpuOperand> bind_operands(const Program& program, DispatchId id,
                                      std::span<uint8_t* const> memories) {
  std::vector<CpuOperand> operands;
  for (const Access& access : program.accesses_of(id)) {
    operands.push_back({.data = memories[access.memory.index] + access.range.begin,
                        .size_bytes = access.range.size_bytes(),
                        .mode = access.mode});
  }
  return operands;
}

std::vector<CpuOperand> bind_operands(const Program& program, DispatchId id, MemoryImage& image) {
  std::vector<uint8_t*> memories;
  for (std::vector<uint8_t>& memory : image.memories) memories.push_back(memory.data());
  return bind_operands(program, id, memories);
}

void execute_slices(const Program& program, DispatchId id, const KernelParams& params,
                    uint64_t first_slice, uint64_t slice_count,
                    const std::vector<CpuOperand>& operands, std::span<const CpuBody> bodies) {
  const KernelId kernel = program.dispatch(id).kernel;
  const KernelEntry& entry = kernel_entry(kernel);
  INTERLOCK_CHECK(first_slice + slice_count <= (entry.is_variadic ? 1 : entry.slice_count(params)));
  const CpuBody body = bodies[kernel.index];
  CpuMemory memory(operands.data());
  for (uint64_t i = 0; i < slice_count; ++i) {
    if (is_stopped()) return;
    body(memory, params, first_slice + i);
  }
}

void execute_dispatch(const Program& program, DispatchId id, MemoryImage& image) {
  execute_slices(program, id, dispatch_params_of(program, id), 0,
                 slice_count_of(program, program.dispatch(id)), bind_operands(program, id, image));
}

}  // namespace interlock
