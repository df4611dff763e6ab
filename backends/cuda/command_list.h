// CudaCommandList: what a run asks of the device, as plain numbers: offsets in its allocation
// instead of addresses. Lowering makes it without any device.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backends/cuda/cuda_runtime.h"
#include "backends/cuda/kernels/launch_arguments.h"
#include "backends/interface/device_layout.h"

namespace interlock {

struct CudaCommand {
  enum class Kind : uint8_t { kLaunch, kCopy };

  Kind kind = Kind::kLaunch;
  // Of kLaunch. The addresses in `launch` are null, and the rest says where they lead.
  DeviceLaunch launch;
  uint32_t first_operand = 0;  // Into CudaCommandList::operands.
  uint64_t digest_offset_bytes = 0;
  // Of kCopy, and of launches of kCommitAtomics.
  DeviceRange source;
  DeviceRange destination;
};

class CudaCommandList {
 public:
  // Appends a launch on these operands. Returns it, to be completed.
  CudaCommand& add_launch(DeviceFunction function, std::span<const PlacedOperand> operands);
  void add_copy(DeviceRange source, DeviceRange destination);  // Nothing if they are empty.
  void add_commit(AtomicOp op, DeviceRange staged, DeviceRange memory);

  std::span<const CudaCommand> commands() const { return commands_; }

  // Of a launch.
  std::span<const PlacedOperand> operands_of(const CudaCommand& command) const {
    return std::span(operands_).subspan(command.first_operand,
                                        command.launch.arguments.operand_count);
  }

  // Takes room for the table of operands. Requires: the list is complete.
  void place_table(DeviceLayout& layout);

  // Writes the table into the bytes that the allocation gets, which will be at `base`.
  void store_table(uint8_t* base, uint8_t* bytes) const;

  // The launch on the allocation at `base`. Requires: place_table().
  DeviceLaunch resolved(const CudaCommand& command, uint8_t* base) const;

 private:
  std::vector<CudaCommand> commands_;
  std::vector<PlacedOperand> operands_;
  DeviceRange table_;
};

}  // namespace interlock
