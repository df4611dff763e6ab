#include "tests/simulator/judges/chain_wrongs.h"

#include <algorithm>
#include <utility>

namespace interlock {

bool ChainWrongs::includes(const ChainWrongs& other) const {
  return std::ranges::includes(hazards, other.hazards) &&
         std::ranges::includes(destroys, other.destroys);
}

std::optional<ChainWrongs> chain_wrongs_of(const Program& program) {
  auto hazards = chain_hazards_of(program);
  if (!hazards) return std::nullopt;
  ChainWrongs wrongs{std::move(*hazards), chain_destroys_of(program)};
  std::ranges::sort(wrongs.destroys);
  return wrongs;
}

bool host_moves_memory(const Program& program) {
  return std::ranges::any_of(program.syncs, [](const SyncStep& step) {
    return step.kind == SyncKind::kHostFlushes || step.kind == SyncKind::kHostInvalidates;
  });
}

}  // namespace interlock
