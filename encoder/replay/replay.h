// Replay policies: what a framework does with the static buffers of a replayed capture when they
// hold a gradient. Program -> Program. The program that comes in adds each gradient to an
// accumulator that starts with zeros, which is right for any policy; the program that goes out does
// what the framework does with the first of them, when there is nothing to add to.
#pragma once

#include <span>
#include <string_view>

#include "encoder/program/program.h"
#include "encoder/program/result.h"

namespace interlock {

// Returns `program` with the policy applied to every first accumulation: a dispatch `accumulate`
// outside of captures that reads a whole tensor, no view, that a capture before it writes, and
// updates a whole unplaced tensor of zeros, of the same size, that nothing else touches before.
// The witness and the expectations spoke of the program as it was and are dropped.
// Errors: the result exceeds the limits, or a policy cannot be said in the format.
// Cost: linear, times log of the number of names.
using ReplayFunction = Result<Program> (*)(const Program& program);

class ExternalPass;

// A registered policy, or one that is not part of this build.
struct ReplayEntry {
  std::string_view name;
  std::string_view summary;  // One line for `interlock list replays`.
  bool is_broken;            // Known to let a replay overwrite a gradient.
  ReplayFunction apply;
  // If some, in the place of `apply`, which is null then. replay_by() asks either.
  ExternalPass* external = nullptr;
};

std::span<const ReplayEntry> replay_registry();

// Returns null if there is none of this name.
const ReplayEntry* find_replay(std::string_view name);

}  // namespace interlock
