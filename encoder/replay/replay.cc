// The replay policies by name.
#include "encoder/replay/replay.h"

#include <array>

#include "encoder/replay/pytorch_replay.h"

namespace interlock {
namespace {

constexpr std::array kReplays = {
    ReplayEntry{"pytorch", "PyTorch's graphed callables since #181723: a gradient is copied out",
                false, &replay_pytorch},
    ReplayEntry{"pytorch-181723",
                "before: the static buffer becomes the gradient, and is written again", true,
                &replay_pytorch_181723},
};

}  // namespace

std::span<const ReplayEntry> replay_registry() { return kReplays; }

const ReplayEntry* find_replay(std::string_view name) {
  for (const ReplayEntry& entry : kReplays) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

}  // namespace interlock
