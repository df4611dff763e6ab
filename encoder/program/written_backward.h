// What a backward pass adds to a program, and what it may cost: the words that those who write one
// (backward/backward.h) and those who add one (build/program_builder.h) have in common.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "encoder/program/draft.h"
#include "encoder/program/limits.h"

namespace interlock {

// What backward passes may still do; each takes its part.
struct BackwardRoom {
  explicit BackwardRoom(const Limits& all = {})
      : limits(all), expansion_count(all.expansion_count), rewalk_count(all.rewalk_count) {}

  Limits limits;  // Of all passes together.
  uint64_t expansion_count;
  uint64_t rewalk_count;
};

struct WrittenBackward {
  std::vector<ItemDraft> items;        // Unplaced tensors first, then dispatches.
  std::vector<std::string> gradients;  // By `wrt`: the names of their tensors.
};

}  // namespace interlock
