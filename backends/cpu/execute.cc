// The only source that compiles all bodies for the CPU's fast path.
#include "backends/cpu/execute.h"

#include "backends/kernels/all_kernels.h"
#include "encoder/program/check.h"
#include "encoder/program/stop.h"

namespace interlock {

std::span<const CpuBody> cpu_bodies() {
  static const std::vector<CpuBody> kBodies = [] {
    std::vector<CpuBody> bodies(kernel_table().size());
    for_each_kernel(
        [&]<class Kernel>(KernelId id) { bodies[id.index] = run_slice<Kernel, CpuMemory>; });
    for (const CpuBody body : bodies) INTERLOCK_CHECK(body != nullptr);
    return bodies;
  }();
  return kBodies;
}

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

void execute_piece(const Program& program, const DispatchPiece& piece,
                   const std::vector<CpuOperand>& operands, std::span<const CpuBody> bodies) {
  const CpuBody body = bodies[program.dispatch(piece.dispatch).kernel.index];
  CpuMemory memory(operands.data());
  for (uint64_t i = 0; i < piece.slice_count; ++i) {
    if (is_stopped()) return;
    body(memory, piece.params, piece.first_slice + i);
  }
}

void execute_dispatch(const Program& program, DispatchId id, MemoryImage& image) {
  execute_piece(program, whole_piece_of(program, id), bind_operands(program, id, image));
}

}  // namespace interlock
