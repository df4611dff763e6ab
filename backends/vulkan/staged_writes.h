// Late writes of witness mode: a piece that runs late reads memory as it is and writes to a staging
// copy, and its commit moves the staged bytes.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "backends/vulkan/dispatch_lowering.h"
#include "simulator/schedules/schedule.h"

namespace interlock {

class StagedWrites {
 public:
  // `limit_bytes` bounds the staging copies of one run.
  explicit StagedWrites(uint64_t limit_bytes) : limit_bytes_(limit_bytes) {}

  // Appends the piece, with staging copies for what it writes. Errors: as lower_piece(); the
  // staging copies exceed the limit.
  Result<Success> run_late(const VulkanLowering& lowering, const DispatchPiece& piece);

  // Appends the commit of all pieces of the dispatch that wait, in piece order.
  // Requires: one does.
  void commit(const VulkanLowering& lowering, DispatchId dispatch);

  bool is_empty() const { return waiting_.empty(); }

 private:
  struct StagedPiece {
    DispatchPiece piece;
    std::vector<PlacedOperand> staged;  // By operand; those that only read have no bytes.
  };

  uint64_t limit_bytes_;
  uint64_t staged_bytes_ = 0;
  std::map<DispatchId, std::vector<StagedPiece>> waiting_;
};

}  // namespace interlock
