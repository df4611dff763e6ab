// interlock generate: writes a training step as real systems issue it, with no tensor placed.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>

#include "encoder/assemble/build.h"
#include "encoder/text/printer.h"
#include "fuzz/cli/commands.h"
#include "fuzz/cli/console.h"
#include "fuzz/cli/gradient_verdict.h"
#include "fuzz/cli/input.h"
#include "fuzz/cli/interrupt.h"
#include "fuzz/workloads/workload.h"

namespace interlock {
namespace {

constexpr std::string_view kNoBackward = "none";

struct GenerateOptions {
  WorkloadOptions workload;
  std::string output = "-";
};

// Builds what the workload makes of the options.
Result<Program> program_of(const WorkloadEntry& entry, const WorkloadOptions& options,
                           const Limits& limits = {}) {
  const Result<ProgramDraft> draft = entry.make(options);
  if (!draft) return draft.error();
  return build(*draft, limits);
}

// One micro-batch stands for the run: the others have the same dispatches.
ExitStatus judge_micro_batch(const WorkloadEntry& entry, WorkloadOptions options) {
  options.is_batch_alone = true;
  Limits limits;  // This is never printed: all weights may stand in one line.
  limits.access_count_per_dispatch = UINT32_MAX;
  limits.line_bytes = UINT32_MAX;
  const Result<Program> program = program_of(entry, options, limits);
  if (!program) return report_error(program.error());
  return judge_gradients(*program, program->backwards);
}

ExitStatus run_generate(const WorkloadEntry& entry, GenerateOptions options) {
  const Interruptible interruptible;
  if (options.workload.backward.empty()) {
    return report_error(
        {"--backward has an empty name; 'none' writes forward passes alone, and `interlock list backwards` names the others."});
  }
  if (options.workload.backward == kNoBackward) options.workload.backward.clear();
  const Result<Program> program = program_of(entry, options.workload);
  if (!program) return report_error(program.error());
  const ExitStatus status = judge_micro_batch(entry, options.workload);
  return write_output(options.output, print(*program), status);
}

void add_workload_options(CLI::App& command, WorkloadOptions& options) {
  add_number(command, "--layers", options.layer_count, "how deep the model is", 1,
             kWorkloadLayersMax);
  add_number(command, "--steps", options.step_count, "batches; an arena is reset between them", 1,
             kWorkloadBatchesMax);
  add_number(command, "--micro-batches", options.micro_batch_count,
             "of each step: their gradients are added up", 1, kWorkloadBatchesMax);
  add_number(command, "--rows", options.rows, "samples of a micro-batch, or tokens", 1,
             kWorkloadExtentMax);
  add_number(command, "--cols", options.cols, "the width of a layer", 1, kWorkloadExtentMax);
  add_number(command, "--vocabulary", options.vocabulary, "transformer: entries of the table", 1,
             kWorkloadExtentMax);
  add_number(command, "--seed", options.seed, "of weights and inputs");
  command.add_flag("--repeat-batch", options.repeats_batch,
                   "the same inputs in every micro-batch: the loss must fall");
  command.add_flag("--zero-gradients", options.zeroes_gradients,
                   "steps begin with gradients of zeros, as with zero_grad()");
  command.add_flag("--losses", options.collects_losses,
                   "one tensor 'losses', for all micro-batches");
  command.add_flag("--norms", options.collects_norms,
                   "a tensor 'norms': of each step the squares of all gradients, added up");
  command
      .add_option("--backward", options.backward,
                  "the backward pass, exit status 1 if it is wrong; none: forward passes alone")
      ->capture_default_str();
  command.add_option("--optimizer", options.optimizer, "sgd or adamw")->capture_default_str();
}

}  // namespace

void add_generate_command(CLI::App& app, ExitStatus& status) {
  CLI::App* const command =
      app.add_subcommand("generate", "writes a training step, with no tensor placed");
  command->require_subcommand(1);
  for (const WorkloadEntry& entry : workload_registry()) {
    CLI::App* const workload =
        command->add_subcommand(std::string(entry.name), std::string(entry.summary));
    auto options = std::make_shared<GenerateOptions>();
    options->workload = entry.defaults;
    add_workload_options(*workload, options->workload);
    add_output_option(*workload, options->output);
    workload->callback([&entry, options, &status] { status = run_generate(entry, *options); });
  }
}

}  // namespace interlock
