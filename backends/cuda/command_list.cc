#include "backends/cuda/command_list.h"

#include <cstring>

#include "encoder/program/check.h"

namespace interlock {

CudaCommand& CudaCommandList::add_launch(DeviceFunction function,
                                         std::span<const PlacedOperand> operands) {
  CudaCommand& command = commands_.emplace_back();
  command.launch.function = function;
  command.launch.thread_count = kBlockThreadCount;
  command.launch.arguments.operand_count = static_cast<uint32_t>(operands.size());
  command.first_operand = static_cast<uint32_t>(operands_.size());
  operands_.insert(operands_.end(), operands.begin(), operands.end());
  return command;
}

void CudaCommandList::add_copy(DeviceRange source, DeviceRange destination) {
  INTERLOCK_CHECK(source.size_bytes == destination.size_bytes);
  if (source.size_bytes == 0) return;
  CudaCommand& command = commands_.emplace_back();
  command.kind = CudaCommand::Kind::kCopy;
  command.source = source;
  command.destination = destination;
}

void CudaCommandList::add_commit(AtomicOp op, DeviceRange staged, DeviceRange memory) {
  INTERLOCK_CHECK(staged.size_bytes == memory.size_bytes);
  if (staged.size_bytes == 0) return;
  CudaCommand& command = add_launch(DeviceFunction::kCommitAtomics, {});
  command.launch.block_count = grid_block_count(memory.size_bytes);
  command.launch.commit.op = op;
  command.launch.commit.size_bytes = memory.size_bytes;
  command.source = staged;
  command.destination = memory;
}

void CudaCommandList::place_table(DeviceLayout& layout) {
  table_ = layout.take(operands_.size() * sizeof(LaunchOperand));
}

void CudaCommandList::store_table(uint8_t* base, uint8_t* bytes) const {
  uint8_t* at = bytes + table_.offset_bytes;
  for (const PlacedOperand& placed : operands_) {
    LaunchOperand operand;
    std::memset(static_cast<void*>(&operand), 0, sizeof operand);  // Its padding too.
    operand.data = base + placed.range.offset_bytes;
    operand.size_bytes = placed.range.size_bytes;
    operand.mode = placed.mode;
    operand.is_staged = placed.is_staged;
    std::memcpy(at, &operand, sizeof operand);
    at += sizeof operand;
  }
}

DeviceLaunch CudaCommandList::resolved(const CudaCommand& command, uint8_t* base) const {
  DeviceLaunch launch = command.launch;
  launch.arguments.operands =
      reinterpret_cast<const LaunchOperand*>(base + table_.offset_bytes) + command.first_operand;
  launch.arguments.mix_digest = reinterpret_cast<uint32_t*>(base + command.digest_offset_bytes);
  launch.commit.memory = base + command.destination.offset_bytes;
  launch.commit.staged = base + command.source.offset_bytes;
  return launch;
}

}  // namespace interlock
