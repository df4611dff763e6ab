// interlock encode: the passes over a program. Appends a backward pass, takes gradients out of the
// buffers of replays, gives the values their bytes and places the sync: all of that, or some of it.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "encoder/backward.h"
#include "encoder/encoder.h"
#include "encoder/planner.h"
#include "encoder/replay.h"
#include "encoder/text.h"
#include "encoder/unplan.h"
#include "fuzz/cli/commands.h"
#include "fuzz/cli/console.h"
#include "fuzz/cli/input.h"
#include "fuzz/cli/plan_options.h"

namespace interlock {
namespace {

struct EncodeOptions {
  InputOptions input;
  std::string unplanned_memory;
  BackwardRequest backward;
  bool has_backward = false;
  std::string replay;
  std::string planner;
  std::string encoder;
  std::string output = "-";
  PlanOptions plan;
};

// Runs the passes that were asked for. An encoder runs, ours unless one is named, if nothing else
// was asked for.
Result<Program> run_passes(const EncodeOptions& options, Program program) {
  const PlannerEntry* planner = nullptr;
  const EncoderEntry* encoder = nullptr;
  const ReplayEntry* replay = nullptr;
  if (!options.replay.empty()) {
    replay = find_replay(options.replay);
    if (replay == nullptr) {
      return Error{fmt::format(
          "there is no replay policy '{}'. `interlock list replays` names them.", options.replay)};
    }
  }
  if (!options.planner.empty()) {
    planner = find_planner(options.planner);
    if (planner == nullptr) {
      return Error{fmt::format("there is no planner '{}'. `interlock list planners` names them.",
                               options.planner)};
    }
  }
  const bool is_encoder_alone = planner == nullptr && replay == nullptr && !options.has_backward;
  if (is_encoder_alone || !options.encoder.empty()) {
    const std::string name = options.encoder.empty() ? "interlock" : options.encoder;
    encoder = find_encoder(name);
    if (encoder == nullptr) {
      return Error{
          fmt::format("there is no encoder '{}'. `interlock list encoders` names them.", name)};
    }
  }
  if (!options.unplanned_memory.empty()) {
    Result<Program> graph = unplan(program, options.unplanned_memory);
    if (!graph) return graph;
    program = std::move(*graph);
  }
  if (options.has_backward) {
    Result<Program> trained = apply_backward(program, options.backward, options.input.parse.limits);
    if (!trained) return trained;
    program = std::move(*trained);
  }
  if (replay != nullptr) {
    Result<Program> replayed = replay->apply(program);
    if (!replayed) return replayed;
    program = std::move(*replayed);
  }
  const auto encode_with = [&] { program = encode(program, *encoder->create()); };
  // Some planners are about what the sync lets overlap: it comes first.
  const bool encodes_first = planner != nullptr && planner->plans_encoded;
  if (encoder != nullptr && encodes_first) encode_with();
  if (planner != nullptr) {
    Result<Program> planned = planner->plan(program, options.plan);
    if (!planned) return planned;
    program = std::move(*planned);
  }
  if (encoder != nullptr && !encodes_first) encode_with();
  return program;
}

ExitStatus run_encode(const EncodeOptions& options) {
  Result<Program> program = parse_file(options.input.path, options.input.parse);
  if (!program) return report_error(program.error());
  const Result<Program> result = run_passes(options, std::move(*program));
  if (!result) return report_error(result.error());
  const std::string text = print(*result);
  if (options.output == "-") {
    print_out(text);
    return ExitStatus::kNothingFound;
  }
  const Result<Success> written = write_file(options.output, text);
  return written ? ExitStatus::kNothingFound : report_error(written.error());
}

}  // namespace

void add_encode_command(CLI::App& app, ExitStatus& status) {
  CLI::App* const command = app.add_subcommand("encode",
                                               "appends a backward pass to a program, takes "
                                               "gradients out of replays, places tensors and sync");
  auto options = std::make_shared<EncodeOptions>();
  add_input_options(*command, options->input);
  auto* const backward = command->add_option("--backward", options->backward.mode,
                                             "a backward pass to append, from --loss to --wrt");
  command->add_option("--loss", options->backward.loss, "the tensor whose elements add up")
      ->needs(backward);
  command
      ->add_option("--wrt", options->backward.wrt,
                   "tensors to differentiate by; the gradient of w is d_w")
      ->delimiter(',')
      ->needs(backward);
  command->add_option("--replay", options->replay,
                      "who takes gradients out of the static buffers of replays");
  command->add_option("--encoder", options->encoder,
                      "who places the sync; interlock, if nothing else is asked for");
  command->add_option("--planner", options->planner,
                      "who places the unplaced tensors; the sync stays unless --encoder is given");
  command->add_option("--unplan", options->unplanned_memory,
                      "first make unplaced tensors of the raw ranges of this memory");
  command->add_option("-o,--output", options->output, "where to write; - is standard output")
      ->capture_default_str();
  add_plan_options(*command, options->plan);
  command->callback([options, backward, &status] {
    options->has_backward = backward->count() > 0;
    status = run_encode(*options);
  });
}

}  // namespace interlock
