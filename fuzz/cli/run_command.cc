// interlock run: executes a program under one schedule and compares it with the reference.
#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <string>

#include "backends/cpu/instrumented.h"
#include "backends/output_digest.h"
#include "backends/reference.h"
#include "encoder/text.h"
#include "fuzz/cli/commands.h"
#include "fuzz/cli/console.h"
#include "fuzz/cli/input.h"
#include "fuzz/replay.h"
#include "simulator/choice.h"
#include "simulator/strategies.h"

namespace interlock {
namespace {

struct RunOptions {
  InputOptions input;
  std::string backend = "cpu";
  std::string mode = "witness";
  std::string schedule = "issue";
  uint64_t seed = 1;
  bool checks_declared = false;
};

Result<Schedule> named_schedule(const Program& program, const RunOptions& options) {
  const HappensBefore order(program);
  if (order.has_scopes() && (options.schedule == "reversed" || options.schedule == "lazy")) {
    return Error{fmt::format(
        "--schedule={} is about the epochs of global barriers, and this program has scoped ones; "
        "random and witness work for both.",
        options.schedule)};
  }
  if (options.schedule == "reversed") {
    return epoch_reversed_schedule(program, order);
  }
  if (options.schedule == "lazy") {
    return lazy_schedule(program, order);
  }
  if (options.schedule == "random") {
    SeededChoice choice(options.seed);
    return random_schedule(program, order, choice);
  }
  if (options.schedule == "witness") {
    if (program.witness.empty()) {
      return Error{"the program has no witness line, so --schedule=witness names no schedule."};
    }
    return schedule_of(program, order, program.witness);
  }
  return issue_order_schedule(program);
}

// "gb f32[64]: 0.5 -1.25 …": the first few values, so that a person can see that something
// happened.
std::string first_values(const Program& program, const MemoryImage& image, TensorId id) {
  constexpr uint64_t kShown = 4;
  const Tensor& tensor = program.tensor(id);
  const uint64_t element_bytes = size_bytes_of(tensor.dtype);
  const uint64_t count = tensor.range.size_bytes() / element_bytes;
  std::string text = fmt::format("  {} {}[{}]:", program.name(tensor.name), word_of(tensor.dtype),
                                 fmt::join(tensor.shape, ","));
  for (uint64_t i = 0; i < std::min(count, kShown); ++i) {
    const uint8_t* const bytes =
        image.memories[tensor.memory.index].data() + tensor.range.begin + i * element_bytes;
    if (tensor.dtype == DType::kF32) {
      float value = 0;
      std::memcpy(&value, bytes, sizeof value);
      text += fmt::format(" {}", value);
    } else if (tensor.dtype == DType::kI32) {
      int32_t value = 0;
      std::memcpy(&value, bytes, sizeof value);
      text += fmt::format(" {}", value);
    } else {
      text += fmt::format(" {}", *bytes);
    }
  }
  return text + (count > kShown ? " …\n" : "\n");
}

ExitStatus report_undeclared(const Program& program) {
  const Result<std::vector<Finding>> findings = find_undeclared(program);
  if (!findings) {
    return report_error({findings.error().message});
  }
  for (const Finding& finding : *findings) {
    print_report(finding.headline + "\n");
    for (const std::string& detail : finding.details) {
      print_out("  " + detail + "\n");
    }
    print_out("  Fix: " + finding.fix + "\n");
  }
  if (findings->empty()) {
    print_out("Every kernel touched only what its dispatch declares.\n");
    return ExitStatus::kNothingFound;
  }
  return ExitStatus::kFinding;
}

ExitStatus run_program(const RunOptions& options) {
  ExitStatus status = ExitStatus::kNothingFound;
  Backend* const backend = require_backend(options.backend, status);
  if (backend == nullptr) {
    return status;
  }
  const ExecutionMode mode =
      options.mode == "overlap" ? ExecutionMode::kOverlap : ExecutionMode::kWitness;
  if (!backend->supports(mode)) {
    report_error({fmt::format("backend '{}' has no {} mode.", options.backend, options.mode)});
    return ExitStatus::kUnavailable;
  }
  const Result<Program> program = parse_file(options.input.path, options.input.parse);
  if (!program) {
    return report_error(program.error());
  }
  const Result<Schedule> schedule = named_schedule(*program, options);
  if (!schedule) {
    return report_error({schedule.error().message});
  }
  const Result<MemoryImage> reference = reference_image(*program, *backend);
  const Result<MemoryImage> image = backend->run(*program, *schedule, mode);
  if (!reference || !image) {
    return report_run_error((reference ? image : reference).error(), *backend);
  }
  print_out(fmt::format("{} dispatches ran on {}, {} schedule; output digest {:016x}.\n",
                        program->dispatches.size(), backend->name(), options.schedule,
                        output_digest(*program, *image)));
  for (const TensorId id : program->outputs) {
    print_out(first_values(*program, *image, id));
  }
  if (outputs_differ(*program, *reference, *image)) {
    print_report("divergence: the outputs differ from the reference.\n");
    for (const OutputComparison& comparison : compare_outputs(*program, *reference, *image)) {
      print_out(fmt::format("  {}\n", sentence_of(*program, comparison)));
    }
    status = ExitStatus::kFinding;
  }
  if (options.checks_declared && report_undeclared(*program) != ExitStatus::kNothingFound) {
    status = ExitStatus::kFinding;
  }
  return status;
}

}  // namespace

void add_run_command(CLI::App& app, ExitStatus& status) {
  CLI::App* const command = app.add_subcommand("run", "executes a program under one schedule");
  auto options = std::make_shared<RunOptions>();
  add_input_options(*command, options->input);
  command->add_option("--backend", options->backend, "where to run")->capture_default_str();
  command->add_option("--mode", options->mode, "witness: step by step; overlap: as the device does")
      ->check(CLI::IsMember({"witness", "overlap"}))
      ->capture_default_str();
  command->add_option("--schedule", options->schedule, "issue, reversed, lazy, random or witness")
      ->check(CLI::IsMember({"issue", "reversed", "lazy", "random", "witness"}))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "of --schedule=random")
      ->check(whole_number())
      ->capture_default_str();
  command->add_flag("--check-declared", options->checks_declared,
                    "also executes with instrumented accesses and reports undeclared ones");
  command->callback([options, &status] { status = run_program(*options); });
}

}  // namespace interlock
