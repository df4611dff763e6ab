// The CPU's fast path, with long blocks and vector loops, against each body one slice after another
// and one element after another: the same bits wherever operands lie, also where they overlap.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "backends/cpu/execute.h"
#include "backends/kernels/all_kernels.h"
#include "encoder/kernel/kernel_binding.h"
#include "simulator/schedules/choice.h"
#include "tests/backends/kernels/kernel_case.h"
#include "tests/program_count.h"

namespace interlock::cpu_vector_loops_test {
namespace {

std::vector<CpuBody> plain_bodies() {
  std::vector<CpuBody> bodies(kernel_table().size());
  for_each_kernel(
      [&]<class Kernel>(KernelId id) { bodies[id.index] = run_slice<Kernel, CpuMemory>; });
  return bodies;
}

void run_slice_by_slice(const DispatchPiece& piece, CpuBody body,
                        const std::vector<CpuOperand>& operands) {
  CpuMemory memory(operands);
  for (uint64_t i = 0; i < piece.slice_count; ++i) {
    body(memory, piece.params, piece.first_slice + i);
  }
}

// Any bytes; as floats one in eight is no number.
std::vector<uint8_t> random_bytes(size_t size_bytes, SeededChoice& choice) {
  std::vector<uint8_t> bytes(size_bytes);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(choice.below(256));
  for (size_t i = 3; i < bytes.size(); i += 32) bytes[i] = choice.below(2) == 0 ? 0x7f : 0xff;
  for (size_t i = 2; i < bytes.size(); i += 32) bytes[i] |= 0x80;
  return bytes;
}

// Operands at any byte, some at the same one, some a few bytes apart; some are known by the address
// of a later byte, as staged ones are.
std::vector<CpuOperand> place_operands(const Program& program, uint8_t* bytes, size_t size_bytes,
                                       SeededChoice& choice) {
  std::vector<CpuOperand> operands;
  for (const Access& access : program.accesses_of(DispatchId(0))) {
    const uint64_t operand_bytes = access.range.size_bytes();
    uint64_t offset = choice.below(size_bytes - operand_bytes + 1);
    if (!operands.empty() && choice.below(4) != 0) {
      const auto near = static_cast<uint64_t>(operands.front().data - bytes);
      offset = near + choice.below(3) * choice.below(20);
      if (choice.below(3) == 0 && near >= 24) offset = near - choice.below(24);
      offset = std::min(offset, size_bytes - operand_bytes);
    }
    const uint64_t first_byte = choice.below(4) == 0 ? choice.below(operand_bytes) : 0;
    operands.push_back({.data = bytes + offset + first_byte,
                        .first_byte = first_byte,
                        .size_bytes = operand_bytes,
                        .mode = access.mode});
  }
  return operands;
}

std::vector<CpuOperand> moved(std::vector<CpuOperand> operands, const uint8_t* from, uint8_t* to) {
  for (CpuOperand& operand : operands) operand.data = to + (operand.data - from);
  return operands;
}

void expect_same_bits(const KernelCase& c, uint64_t seed) {
  const Program program = program_of(c);
  SeededChoice choice(seed);
  uint64_t size_bytes = 64;
  for (const Access& access : program.accesses_of(DispatchId(0))) {
    size_bytes += access.range.size_bytes();
  }
  const std::vector<uint8_t> before = random_bytes(size_bytes, choice);
  std::vector<uint8_t> fast = before;
  std::vector<uint8_t> plain = before;
  const std::vector<CpuOperand> operands = place_operands(program, fast.data(), size_bytes, choice);
  DispatchPiece piece = whole_piece_of(program, DispatchId(0));
  if (choice.below(3) == 0) {
    const uint64_t begin = choice.below(piece.slice_count + 1);
    piece.slice_count = choice.below(piece.slice_count - begin + 1);
    piece.first_slice = begin;
  }
  execute_piece(program, piece, operands);
  static const std::vector<CpuBody> kPlain = plain_bodies();
  run_slice_by_slice(piece, kPlain[program.dispatches[0].kernel.index],
                     moved(operands, fast.data(), plain.data()));
  EXPECT_EQ(fast, plain) << c << " seed " << seed;
}

TEST(CpuVectorLoops, LeaveTheBitsOfTheBodyWhereverOperandsLie) {
  const uint64_t rounds = is_slow_build() ? 4 : 200;
  for (KernelCase c : one_case_per_kernel()) {
    for (uint64_t seed = 0; seed < rounds; ++seed) {
      SeededChoice choice(seed);
      c.rows = 1 + choice.below(9);
      c.cols = 1 + choice.below(200);
      c.inner = 1 + choice.below(9);
      expect_same_bits(c, seed);
    }
  }
}

TEST(CpuVectorLoops, LeaveTheBitsOfBlocksLongerThanARunBetweenPolls) {
  for (const char* kernel : {"fill", "copy", "add", "adamw"}) {
    expect_same_bits({kernel, 2, 70'001}, 1);
    expect_same_bits({kernel, 2, 70'001}, 2);
  }
}

}  // namespace
}  // namespace interlock::cpu_vector_loops_test
