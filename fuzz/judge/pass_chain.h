// PassChain: the passes of a campaign, one after the other, as `interlock encode` runs them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "encoder/backward/backward.h"
#include "encoder/plan/planner.h"
#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "encoder/queues/queue_encoder.h"
#include "encoder/replay/replay.h"
#include "encoder/sync/encoder.h"
#include "encoder/sync/external_encoder.h"

namespace interlock {

struct PassChain {
  const BackwardEntry* backward = nullptr;  // Null: `one-shot`.
  const ReplayEntry* replay = nullptr;      // Null: every gradient is added to its sum.
  const PlannerEntry* planner = nullptr;    // Null: `fresh`.
  const EncoderEntry* encoder = nullptr;    // Null: `interlock`.
  // If some, instead of `encoder`, and before the planner, which keeps its sync.
  const QueueEncoderEntry* queue_encoder = nullptr;
  uint32_t queue_count = 0;  // Which that is given.
};

// What passes make of a program.
struct PassedProgram {
  Program meant;  // With its backward passes and gradients, not placed yet.
  // As `meant`, placed and with sync, statement by statement. But after a replay policy alone
  // captures and replays stay, and full barriers stand between all statements.
  Program placed;
  // Why a pass that is no part of this build made nothing of it. Then both above say nothing.
  std::optional<EncodeFailure> failure;
};

// `program` with every backward pass written by this one, and without evidence, which may name
// dispatches that only another pass has. Errors: those of the pass.
Result<Program> with_backward_mode(const Program& program, std::string_view mode);

// How a program is to be planned. Regions of an arena end where the program says so, nowhere else.
PlanOptions plan_options_of_campaign();

// Errors: those of the passes of this build. Requires: after an encoder for several queues a
// planner that takes them.
Result<PassedProgram> run_passes(const PassChain& chain, const Program& program,
                                 const PlanOptions& options);

// Whether any of them is no part of this build.
bool has_external_pass(const PassChain& chain);

// The passes that are right: what a chain is compared with.
PassChain reference_chain();

// "the planner fresh": the part of the reference that stands for what is tested.
std::string name_of_reference(const PassChain& chain);

// `text` as a shell takes it for one word: the name of an encoder may be a command.
std::string shell_word(std::string_view text);

// The path of a file likewise, "./-x.ilk" where it would be an option to whoever reads it.
std::string path_word(std::string_view path);

// " --planner=ggml --encoder=serial": what is named, as options of the command line in a shell.
std::string flags_of(const PassChain& chain);

// "planner ggml and encoder serial"
std::string names_of(const PassChain& chain);

}  // namespace interlock
