// interlock run: executes a program under one schedule and compares it with the reference.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/cpu/instrumented.h"
#include "backends/interface/image.h"
#include "backends/reference/reference.h"
#include "backends/registry.h"
#include "encoder/program/error_of.h"
#include "encoder/text/files.h"
#include "fuzz/cli/commands.h"
#include "fuzz/cli/console.h"
#include "fuzz/cli/deadlock_report.h"
#include "fuzz/cli/input.h"
#include "fuzz/cli/interrupt.h"
#include "fuzz/judge/replay.h"
#include "simulator/order/in_reference_order.h"
#include "simulator/order/submissions.h"
#include "simulator/report/read_every_queue.h"
#include "simulator/schedules/choice.h"
#include "simulator/schedules/displacements.h"
#include "simulator/schedules/strategy_random.h"
#include "simulator/schedules/strategy_three.h"

namespace interlock {
namespace {

struct RunOptions {
  InputOptions input;
  std::string backend = "cpu";
  std::string mode = "witness";
  std::string lowering;  // Of overlap mode; empty: the backend's usual one.
  std::string schedule = "issue";
  uint64_t seed = 1;
  uint64_t trial_count = 1;  // Of overlap mode.
  bool checks_declared = false;
};

// What the trials of overlap mode left: each is another execution.
struct Trials {
  MemoryImage shown;   // Of the first trial that differs from the reference; else of the last one.
  uint64_t count = 0;  // A stop leaves the others out.
  uint64_t differing_count = 0;
  std::set<uint64_t> digests;  // Of outputs.
};

Result<Schedule> named_schedule(const Program& program, const RunOptions& options) {
  const HappensBefore order(program);
  if (order.has_queues() && (options.schedule == "reversed" || options.schedule == "lazy")) {
    return error_of(
        "--schedule={} is of programs of one queue; issue, for the reference order, random and witness work for this one.",
        options.schedule);
  }
  if (order.has_scopes() && (options.schedule == "reversed" || options.schedule == "lazy")) {
    return error_of(
        "--schedule={} is about the epochs of global barriers, and this program has scoped ones; random and witness work for both.",
        options.schedule);
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
  return reference_order_schedule(program);
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
    text += ' ' + text_of_element(tensor.dtype, bytes);
  }
  return text + (count > kShown ? " …\n" : "\n");
}

// Errors: as Backend::run().
Result<Trials> run_trials(const Program& program, Backend& backend, const MemoryImage& reference,
                          uint64_t trial_count) {
  Trials trials;
  const Schedule issue = reference_order_schedule(program);  // Which overlap mode does not obey.
  for (uint64_t i = 0; i < trial_count; ++i) {
    Result<MemoryImage> image = backend.run(program, issue, ExecutionMode::kOverlap);
    if (is_stopped()) break;
    if (!image) return image.error();
    ++trials.count;
    trials.digests.insert(output_digest(program, *image));
    const bool differs = outputs_differ(program, reference, *image);
    if (trials.differing_count == 0) trials.shown = std::move(*image);
    trials.differing_count += differs ? 1 : 0;
    show_progress(
        fmt::format("{} of {} trials, {} differ", i + 1, trial_count, trials.differing_count));
  }
  finish_progress();
  return trials;
}

// "2 dispatches", "1 dispatch and 2 accesses of the host": as `check` counts them.
std::string operations_of(const Program& program) {
  const size_t host_count = program.host_dispatches.size();
  const size_t count = program.dispatches.size() - program.uncounted_dispatches.size();
  std::string text = fmt::format("{} {}", count, count == 1 ? "dispatch" : "dispatches");
  if (host_count > 0) {
    text +=
        fmt::format(" and {} {} of the host", host_count, host_count == 1 ? "access" : "accesses");
  }
  return text;
}

std::string text_of(const Trials& trials, const Program& program, std::string_view backend) {
  const uint64_t trial_count = trials.count;
  return fmt::format(
      "{} ran {} on {} in overlap mode: {} of {} differ from the reference ({:.1f} %), {} in all.\n",
      operations_of(program), trial_count == 1 ? "once" : fmt::format("{} times", trial_count),
      backend, trials.differing_count, trial_count,
      100.0 * static_cast<double>(trials.differing_count) / static_cast<double>(trial_count),
      trials.digests.size() == 1 ? "one result" : fmt::format("{} results", trials.digests.size()));
}

// The queues that have anything to do; q0 is there without.
size_t used_queue_count(const Program& program) {
  std::set<QueueIndex> used;
  for (const Statement& statement : program.statements) {
    if (!is_of_host(program, statement)) used.insert(statement.queue);
  }
  return used.size();
}

// What a reader of trials has to know of the device; empty if nothing.
std::string note_on_queues(const Program& program, const Capabilities& capabilities) {
  const size_t device_count = capabilities.device_queue_count;
  const size_t queue_count = used_queue_count(program);
  if (queue_count < 2 || device_count == 0 || device_count >= queue_count) return "";
  return fmt::format(
      "  The device has {}: the {} of the program are submissions to {}, in an order that their sync allows, drawn anew in each trial.\n",
      device_count == 1 ? "one queue" : fmt::format("{} queues", device_count),
      fmt::format("{} queues", queue_count), device_count == 1 ? "it" : "them");
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

// Errors: an option that this mode or this backend does not have.
Result<Success> check_options(const RunOptions& options) {
  const bool overlaps = options.mode == "overlap";
  if (overlaps && options.schedule != "issue") {
    return Error{"--schedule is of --mode=witness: in overlap mode the device chooses."};
  }
  if (!overlaps && options.trial_count != 1) {
    return Error{"--trials is of --mode=overlap: in witness mode every run is the same."};
  }
  if (options.lowering.empty()) return Success{};
  if (!overlaps) {
    return Error{"--lowering is of --mode=overlap: in witness mode steps run one by one."};
  }
  const Backend* const backend = find_backend(options.backend);
  if (backend == nullptr) return Success{};  // Which is an error of its own.
  const std::vector<std::string_view> names = backend->lowerings();
  if (names.empty()) {
    return error_of("backend '{}' issues programs in one way; it has no --lowering.",
                    options.backend);
  }
  if (std::ranges::find(names, options.lowering) == names.end()) {
    return error_of("backend '{}' has no lowering '{}'; it has {}.", options.backend,
                    options.lowering, fmt::join(names, ", "));
  }
  return Success{};
}

ExitStatus run_program(const RunOptions& options) {
  const Interruptible interruptible;
  ExitStatus status = ExitStatus::kNothingFound;
  const Result<Success> checked = check_options(options);
  if (!checked) return report_error({checked.error().message});
  Backend* backend = require_backend(options.backend, status);
  if (backend == nullptr) {
    return status;
  }
  std::unique_ptr<Backend> lowered;
  if (!options.lowering.empty()) {
    lowered = backend->with_lowering(options.lowering);
    backend = lowered.get();
  }
  const ExecutionMode mode =
      options.mode == "overlap" ? ExecutionMode::kOverlap : ExecutionMode::kWitness;
  if (!backend->supports(mode)) {
    report_error({fmt::format("backend '{}' has no {} mode.", options.backend, options.mode)});
    return ExitStatus::kUnavailable;
  }
  Result<Program> program = parse_file(options.input.path, options.input.parse);
  if (!program) {
    return report_error(program.error());
  }
  if (const auto deadlock = report_endless(*program)) return *deadlock;
  program = reference_run(*program);
  const Result<Schedule> schedule = named_schedule(*program, options);
  if (!schedule) {
    return report_error({schedule.error().message});
  }
  const Result<MemoryImage> reference = reference_image(*program, *backend);
  if (!reference) return report_run_error(reference.error(), *backend);
  Result<MemoryImage> image = MemoryImage{};
  bool was_cut_short = false;
  if (mode == ExecutionMode::kOverlap) {
    Result<Trials> trials = run_trials(*program, *backend, *reference, options.trial_count);
    if (!trials) return report_run_error(trials.error(), *backend);
    was_cut_short = is_stopped();
    if (trials->count == 0) return ExitStatus::kInterrupted;
    const StopScope to_the_end(nullptr);  // They ran whole.
    print_out(text_of(*trials, *program, backend->name()));
    print_out(note_on_queues(*program, backend->capabilities()));
    image = std::move(trials->shown);
  } else {
    image = backend->run(*program, *schedule, mode);
    if (!image) return report_run_error(image.error(), *backend);
    print_out(fmt::format("{} ran on {}, {} schedule; output digest {:016x}.\n",
                          operations_of(*program), backend->name(), options.schedule,
                          output_digest(*program, *image)));
  }
  for (const TensorId id : program->outputs) {
    print_out(first_values(*program, *image, id));
  }
  if (outputs_differ(*program, *reference, *image)) {
    print_report("divergence: the outputs differ from the reference.\n");
    const std::vector<OutputComparison> outputs = compare_outputs(*program, *reference, *image);
    for (const std::string& sentence : sentences_of(*program, outputs)) {
      print_out(fmt::format("  {}\n", sentence));
    }
    status = ExitStatus::kFinding;
  }
  // What ran whole is told; that the rest would not differ either is not known.
  if (was_cut_short) return ExitStatus::kInterrupted;
  if (options.checks_declared && report_undeclared(*program) != ExitStatus::kNothingFound) {
    status = ExitStatus::kFinding;
  }
  return status;
}

}  // namespace

void add_run_command(CLI::App& app, ExitStatus& status) {
  auto [command, options] = add_subcommand<RunOptions>(
      app, status, "run", "executes a program under one schedule", run_program);
  add_input_options(command, options.input);
  read_every_queue(options.input.parse);
  command.add_option("--backend", options.backend, "where to run")->capture_default_str();
  command.add_option("--mode", options.mode, "witness: step by step; overlap: as the device does")
      ->check(one_of({"witness", "overlap"}))
      ->capture_default_str();
  command.add_option(
      "--lowering", options.lowering,
      "of --mode=overlap: how CUDA issues; streams, graph, captured-graph, conflict-graph or one-stream");
  command.add_option("--schedule", options.schedule, "issue, reversed, lazy, random or witness")
      ->check(one_of({"issue", "reversed", "lazy", "random", "witness"}))
      ->capture_default_str();
  add_number(command, "--seed", options.seed, "of --schedule=random");
  add_number(command, "--trials", options.trial_count,
             "of --mode=overlap: how often; counts those that differ", 1, 1'000'000);
  command.add_flag("--check-declared", options.checks_declared,
                   "also executes with instrumented accesses and reports undeclared ones");
}

}  // namespace interlock
