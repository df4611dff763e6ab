// The replay policies by name.
#include "encoder/replay/replay.h"

#include <array>

#include "encoder/program/registry.h"
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
  return find_entry(replay_registry(), name);
}

}  // namespace interlock
