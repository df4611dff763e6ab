// PassChain: the passes of a campaign, one behind the other, as `interlock encode` runs them.
#pragma once

#include <string>

#include "encoder/encoder.h"
#include "encoder/planner.h"
#include "encoder/program.h"
#include "encoder/result.h"

namespace interlock {

struct PassChain {
  const PlannerEntry* planner = nullptr;  // Null: `fresh`.
  const EncoderEntry* encoder = nullptr;  // Null: `interlock`.

  // Whether anything but an encoder is named: programs are then generated without places.
  bool has_pass() const { return planner != nullptr; }
};

// How a program is to be planned. Regions of an arena end where the program says so, nowhere else.
PlanOptions plan_options_of_campaign();

// Returns what the passes make of `program`: placed, with sync.
// Errors: those of the passes.
Result<Program> run_passes(const PassChain& chain, const Program& program,
                           const PlanOptions& options);

// The passes that are right: what `chain` is compared with.
PassChain reference_chain();

// " --planner=ggml --encoder=serial": what is named, as options of the command line.
std::string flags_of(const PassChain& chain);

// "planner ggml and encoder serial"
std::string names_of(const PassChain& chain);

}  // namespace interlock
