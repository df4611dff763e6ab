// The only source that compiles all bodies for the CPU's fast path. Bodies see local copies of
// where operands lie and of their params, and blocks of elements as long as can be, so that loops
// over elements become vector loops; compilers check before those whether operands overlap, and
// keep the order of loads and stores where they do.
#include "backends/cpu/execute.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "backends/interface/host_statements.h"
#include "backends/interface/transitions.h"
#include "backends/kernels/all_kernels.h"
#include "encoder/kernel/row_parts.h"
#include "encoder/program/check.h"
#include "encoder/program/stop.h"

namespace interlock {
namespace {

template <class Kernel>
void run_slice_locally(CpuMemory& memory, const KernelParams& params, uint64_t slice) {
  LocalCpuMemory local(memory);
  const KernelParams local_params = params;
  run_slice<Kernel>(local, local_params, slice);
}

// A copy without a loop of ours, where later bytes are not copies of earlier ones.
void copy_slice(CpuMemory& memory, const KernelParams& params, uint64_t slice) {
  const ElementRange block = block_of_slice(slice, params.block, params.element_count);
  if (block.begin >= block.end) return;
  const uint8_t* const from = memory.address(0, block.begin);
  uint8_t* const to = memory.address(1, block.begin);
  const uint64_t size_bytes = block.end - block.begin;
  // Unsigned: a destination before the source is far behind it.
  const uint64_t distance = reinterpret_cast<uintptr_t>(to) - reinterpret_cast<uintptr_t>(from);
  if (distance == 0 || distance >= size_bytes) {
    std::memmove(to, from, size_bytes);
  } else {
    run_slice_locally<CopyKernel>(memory, params, slice);
  }
}

// Elements between two polls: less than a millisecond.
constexpr uint64_t kJoinedElementsMax = 1 << 16;

// How many slices the body runs at once, from the first slice on: of blocks of elements, since what
// a lane does alone for one block after another it does for one long block.
uint64_t joined_slice_count(const KernelEntry& kernel, const DispatchPiece& piece) {
  if (kernel.is_variadic || kernel.sliced != Extent::kElements || piece.first_slice != 0) return 1;
  if (piece.params.element_count <= kJoinedElementsMax) return piece.slice_count;
  return std::max<uint64_t>(1, kJoinedElementsMax / piece.params.block);
}

// Part by part, each as operands of its own.
void execute_rows(const Program& program, const DispatchPiece& piece,
                  const std::vector<CpuOperand>& operands, CpuBody body) {
  for_each_row_part(program, program.dispatch(piece.dispatch), [&](const RowPart& part) {
    if (is_stopped()) return;
    std::array<CpuOperand, 2> of_part;
    for (size_t i = 0; i < part.operand_count; ++i) {
      const RowPart::Operand& place = part.operands[i];
      of_part[i] = operands[place.access];
      of_part[i].data += static_cast<int64_t>(place.offset_bytes - of_part[i].first_byte);
      of_part[i].first_byte = 0;
      of_part[i].size_bytes = part.size_bytes;
    }
    CpuMemory memory{std::span<const CpuOperand>(of_part).first(part.operand_count)};
    body(memory, params_of(part, piece.params), 0);
  });
}

}  // namespace

std::span<const CpuBody> cpu_bodies() {
  static const std::vector<CpuBody> kBodies = [] {
    std::vector<CpuBody> bodies(kernel_table().size());
    for_each_kernel([&]<class Kernel>(KernelId id) {
      if constexpr (std::is_same_v<Kernel, MixKernel>) {
        bodies[id.index] = run_slice<Kernel, CpuMemory>;
      } else if constexpr (std::is_same_v<Kernel, CopyKernel>) {
        bodies[id.index] = copy_slice;
      } else {
        INTERLOCK_CHECK(kernel_entry(id).operands.size() <= LocalCpuMemory::kOperandsMax);
        bodies[id.index] = run_slice_locally<Kernel>;
      }
    });
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
  const Dispatch& dispatch = program.dispatch(piece.dispatch);
  if (dispatch.is_transition()) {
    // What stays need not be moved: a commit that comes late puts back what was there.
    for (const CpuOperand& operand : operands) {
      if (operand.mode != AccessMode::kUpdate)
        std::memset(operand.data, kDiscardedByte, operand.size_bytes);
    }
    return;
  }
  if (has_rows(program, dispatch)) {
    execute_rows(program, piece, operands, bodies[dispatch.kernel.index]);
    return;
  }
  const KernelId kernel = dispatch.kernel;
  const CpuBody body = bodies[kernel.index];
  CpuMemory memory(operands);
  const uint64_t joined_count = joined_slice_count(kernel_entry(kernel), piece);
  if (joined_count <= 1) {
    for (uint64_t i = 0; i < piece.slice_count; ++i) {
      if (is_stopped()) return;
      body(memory, piece.params, piece.first_slice + i);
    }
    return;
  }
  KernelParams joined = piece.params;
  joined.block *= joined_count;
  joined.element_count =
      std::min(piece.params.element_count, piece.slice_count * piece.params.block);
  for (uint64_t i = 0; i * joined.block < joined.element_count; ++i) {
    if (is_stopped()) return;
    body(memory, joined, i);
  }
}

void execute_dispatch(const Program& program, DispatchId id, MemoryImage& image) {
  execute_piece(program, whole_piece_of(program, id), bind_operands(program, id, image));
}

void execute_host_statement(const Program& program, DispatchId id,
                            std::span<uint8_t* const> memories,
                            std::vector<std::vector<uint8_t>>& host_reads) {
  if (is_host_transfer(program, id)) {
    run_host_transfer(program, id, memories, host_reads);
  } else {
    execute_piece(program, whole_piece_of(program, id), bind_operands(program, id, memories));
  }
}

}  // namespace interlock
