// All that is wrong with a program, by a search of chains of dependencies: the second method for
// what may be cut from its sync.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/chains/chain_destroys.h"
#include "simulator/chains/chain_hazards.h"

namespace interlock {

struct ChainWrongs {
  std::set<ChainHazard> hazards;
  std::vector<ChainDestroy> destroys;  // Sorted.

  bool includes(const ChainWrongs& other) const;
  bool operator==(const ChainWrongs&) const = default;
};

// Nothing where chain_hazards_of() says nothing of the program. Cost: that of the two searches.
std::optional<ChainWrongs> chain_wrongs_of(const Program& program);

// Whether the host flushes or invalidates: then less order need not be worse.
bool host_moves_memory(const Program& program);

}  // namespace interlock
