// Repair runs: schedules that the sync of a repaired program allows, executed on the CPU.
//
// The third witness for a repair, beside check() and the shadow machine, which both know values as
// names: here kernels compute numbers, and outputs are compared bit for bit.
#pragma once

#include <cstdint>
#include <string>

#include "backends/interface/backend.h"
#include "encoder/program/program.h"

namespace interlock {

inline constexpr uint64_t kRepairRunsMax = 20;
// Bytes of memories and of accesses, of all runs together: seconds, whatever the kernels are.
inline constexpr uint64_t kRepairRunsLimitBytes = 64ull << 20;

struct RepairRuns {
  uint64_t schedule_count = 0;   // That ran, each to its end.
  uint64_t differing_count = 0;  // Of those: in some bit of an output, or of what the host reads.
  std::string refusal;           // A clause that says why none ran; empty if some did.
};

// Executes up to kRepairRunsMax different schedules of `run` in witness mode, and compares each
// with the reference (reference.h): on one queue without scopes those that show whatever any
// schedule can ("three"), then random ones, of seeds that are the same everywhere. A stop (stop.h)
// ends it early. Requires: `run` is in reference order (in_reference_order.h), and has no deadlock.
// Cost: as many runs, and the reference; at most `limit_bytes` of memories and accesses in all.
RepairRuns run_repaired(const Program& run, Backend& backend,
                        uint64_t limit_bytes = kRepairRunsLimitBytes);

}  // namespace interlock
