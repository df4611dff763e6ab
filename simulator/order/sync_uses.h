// SyncUses: what the statements of a program have to know of others before these come.
#pragma once

#include <cstdint>
#include <vector>

#include "encoder/program/program.h"

namespace interlock {

struct SyncUses {
  // Requires: `program` is in reference order. Cost: linear.
  explicit SyncUses(const Program& program);

  std::vector<uint32_t> host_counts;   // host_counts_at_submission().
  std::vector<uint32_t> hosts_before;  // By statement: the host statements before it.
  std::vector<uint32_t> waits;         // By signal part: who waits for it.
  std::vector<uint32_t> awaits;        // By sync step, a set: who awaits it.
  std::vector<uint32_t> edges;         // By dispatch: the edges from it; empty if there are none.
};

}  // namespace interlock
