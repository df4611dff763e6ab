// interlock encode: the passes over a program. Appends a backward pass, takes gradients out of the
// buffers of replays, gives the values their bytes and places the sync: all of that, or some of it.
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "encoder/assemble/append_backward_by.h"
#include "encoder/backward/backward.h"
#include "encoder/plan/plan_by.h"
#include "encoder/plan/planner.h"
#include "encoder/plan/unplan.h"
#include "encoder/program/error_of.h"
#include "encoder/program/limits.h"
#include "encoder/queues/external_queue_encoder.h"
#include "encoder/queues/queue_encoder.h"
#include "encoder/replay/replay_by.h"
#include "encoder/sync/encoder.h"
#include "encoder/sync/external_encoder.h"
#include "encoder/text/files.h"
#include "encoder/text/printer.h"
#include "fuzz/cli/commands.h"
#include "fuzz/cli/console.h"
#include "fuzz/cli/gradient_verdict.h"
#include "fuzz/cli/input.h"
#include "fuzz/cli/interrupt.h"
#include "fuzz/cli/pass_options.h"
#include "simulator/order/text_in_run_order.h"
#include "simulator/report/read_every_queue.h"

namespace interlock {
namespace {

struct EncodeOptions {
  InputOptions input;
  std::string unplanned_memory;
  BackwardDraft backward;
  bool has_backward = false;
  PassNames passes;
  ExternalOption external;
  const QueueEncoderEntry* queue_encoder = nullptr;  // Instead of the encoder of `passes`.
  uint32_t queue_count = 0;
  std::string output = "-";
  PlanOptions plan;
};

bool is_encoder_alone(const EncodeOptions& options) {
  return options.passes.planner.empty() && options.passes.replay.empty() && !options.has_backward;
}

// An encoder runs, ours unless one is named, if nothing else was asked for.
Result<PassChain> passes_of(EncodeOptions& options) {
  if (options.has_backward && (options.backward.loss.empty() || options.backward.wrt.empty())) {
    return Error{
        "--backward needs --loss and --wrt: what to differentiate, and the tensors to differentiate by."};
  }
  PassNames names = options.passes;
  if (options.has_backward && is_external_name(options.backward.mode)) {
    names.backward = options.backward.mode;
  }
  if (options.queue_encoder != nullptr) {
    names.encoder.clear();
  } else if (names.encoder.empty() && is_encoder_alone(options)) {
    names.encoder = "interlock";
  }
  Result<PassChain> passes = find_passes(names, options.external);
  if (passes && passes->queue_encoder != nullptr) options.queue_encoder = passes->queue_encoder;
  const bool is_planned_encoded = passes && passes->planner != nullptr &&
                                  passes->planner->plans_encoded &&
                                  options.queue_encoder != nullptr;
  if (is_planned_encoded) {
    return error_of(
        "the planner '{}' plans what the barriers of one queue let overlap, and the encoder '{}' "
        "places sync for several.",
        names.planner, options.queue_encoder->name);
  }
  return passes;
}

// A planner that keeps the sync of several queues, and nothing after it that would replace that.
bool is_planner_of_queues_alone(const EncodeOptions& options) {
  const PlannerEntry* const planner = find_planner(options.passes.planner);
  return planner != nullptr && planner->takes_queues && options.passes.encoder.empty() &&
         options.passes.replay.empty() && !options.has_backward;
}

// Finds the encoder if it is one for several queues. Such an encoder alone reads queues, too, and
// so does a planner that knows them.
Result<Success> set_queue_encoder(EncodeOptions& options) {
  if (auto checked = check_queue_kind(options.external, options.passes.encoder); !checked) {
    return checked;
  }
  options.queue_encoder = find_queue_encoder(options.passes.encoder);
  const bool is_of_others = !options.external.queue_kind.empty();
  const bool takes_count =
      (is_of_others && options.external.queue_kind != word_of(QueueKind::kGraph)) ||
      (options.queue_encoder != nullptr && options.queue_encoder->takes_queue_count);
  const bool is_known = options.queue_encoder != nullptr || options.passes.encoder.empty() ||
                        is_external_name(options.passes.encoder) ||
                        find_encoder(options.passes.encoder) != nullptr;
  if (options.queue_count > 0 && !takes_count && is_known) {
    return error_of("--queues={} means nothing to the encoder '{}'.", options.queue_count,
                    options.passes.encoder.empty() ? "interlock" : options.passes.encoder);
  }
  const bool is_for_queues = options.queue_encoder != nullptr || is_of_others;
  const bool knows_queues =
      (is_for_queues && is_encoder_alone(options)) || is_planner_of_queues_alone(options);
  if (knows_queues && options.unplanned_memory.empty()) read_every_queue(options.input.parse);
  options.input.parse.reads_one_queue =
      is_encoder_alone(options) && options.unplanned_memory.empty();
  return Success{};
}

// The program with the pass that --backward names. `status` says what is wrong with it.
Result<Program> with_backward(const EncodeOptions& options, const PassChain& passes,
                              const Program& program, ExitStatus& status) {
  const Limits& limits = options.input.parse.limits;
  if (passes.backward == nullptr) {
    auto trained = append_backward(program, options.backward, limits);
    if (!trained) return trained.error();
    status = worse(status, judge_gradients(trained->program, {trained->pass}));
    return std::move(trained->program);
  }
  auto by = append_backward_by(program, options.backward, *passes.backward, limits);
  if (!by) return by.error();
  if (by->failure) return Error{by->failure->message, ErrorKind::kFault};
  status = worse(status, judge_appended(*by));
  return std::move(by->appended.program);
}

// Runs them. `status` says what is wrong with the backward passes that are spelled out.
Result<Program> apply_passes(const EncodeOptions& options, const PassChain& passes, Program program,
                             ExitStatus& status) {
  status = judge_gradients(program, program.backwards);
  if (!options.unplanned_memory.empty()) {
    Result<Program> graph = unplan(program, options.unplanned_memory);
    if (!graph) return graph;
    program = std::move(*graph);
  }
  if (options.has_backward) {
    auto trained = with_backward(options, passes, program, status);
    if (!trained) return trained;
    program = std::move(*trained);
  }
  std::optional<EncodeFailure> failure;
  const auto take = [&](Result<Encoding> passed) -> Result<Success> {
    if (!passed) return passed.error();
    if (passed->failure) return Error{passed->failure->message, ErrorKind::kFault};
    program = std::move(passed->program);
    return Success{};
  };
  if (passes.replay != nullptr) {
    auto taken = take(replay_by(program, *passes.replay));
    if (!taken) return taken.error();
  }
  const auto encode_with = [&] {
    Encoding encoding = encode_by(program, *passes.encoder);
    program = std::move(encoding.program);
    failure = std::move(encoding.failure);
  };
  // Some planners are about what the sync lets overlap: it comes first.
  const bool encodes_first = passes.planner != nullptr && passes.planner->plans_encoded;
  if (passes.encoder != nullptr && encodes_first) encode_with();
  if (failure) return Error{failure->message, ErrorKind::kFault};
  if (passes.planner != nullptr) {
    auto taken = take(plan_by(program, options.plan, *passes.planner));
    if (!taken) return taken.error();
  }
  if (passes.encoder != nullptr && !encodes_first) encode_with();
  if (failure) return Error{failure->message, ErrorKind::kFault};
  if (options.queue_encoder != nullptr) {
    // What its sync orders is what the encoder is to keep.
    const Result<Program> in_order = text_in_run_order(std::move(program));
    if (!in_order) return in_order;
    auto taken = take(encode_by(*in_order, options.queue_count, *options.queue_encoder));
    if (!taken) return taken.error();
  }
  return program;
}

ExitStatus run_encode(EncodeOptions& options) {
  const Interruptible interruptible;
  Result<Program> program = parse_file(options.input.path, options.input.parse);
  if (!program) return report_error(program.error());
  const Result<PassChain> passes = passes_of(options);
  if (!passes) return report_error(passes.error());
  ExitStatus status = ExitStatus::kNothingFound;
  const Result<Program> result = apply_passes(options, *passes, std::move(*program), status);
  if (!result) {
    const ExitStatus reported = report_error(result.error());
    // What an encoder of others does instead of answering is what it was asked for.
    const bool is_finding =
        reported == ExitStatus::kBadInput && result.error().kind == ErrorKind::kFault;
    return is_finding ? ExitStatus::kFinding : reported;
  }
  return write_output(options.output, print(*result), status);
}

}  // namespace

void add_encode_command(CLI::App& app, ExitStatus& status) {
  CLI::App* const command = app.add_subcommand(
      "encode",
      "appends a backward pass to a program, takes gradients out of replays, places tensors and sync");
  auto options = std::make_shared<EncodeOptions>();
  add_input_options(*command, options->input);
  auto* const backward = command->add_option(
      "--backward", options->backward.mode,
      "a backward pass to append, from --loss to --wrt, exec:COMMAND asks a process; exit status 1 "
      "if it is wrong");
  command->add_option("--loss", options->backward.loss, "the tensor whose elements add up")
      ->needs(backward);
  command
      ->add_option("--wrt", options->backward.wrt,
                   "tensors to differentiate by; the gradient of w is d_w")
      ->delimiter(',')
      ->needs(backward);
  command->add_option(
      "--replay", options->passes.replay,
      "who takes gradients out of the static buffers of replays; exec:COMMAND asks a "
      "process");
  command->add_option("--encoder", options->passes.encoder,
                      "who places the sync; interlock, if nothing else is asked for; exec:COMMAND "
                      "asks a process, lib:FILE a library");
  add_exec_options(*command, options->external);
  add_queue_kind(*command, options->external);
  add_number(
      *command, "--queues", options->queue_count,
      "semaphores, models and exec:COMMAND: at most so many queues; 0: those of the program, or as "
      "many as keep all concurrency",
      0, Limits{}.queue_count - 1);
  command->add_option(
      "--planner", options->passes.planner,
      "who places the unplaced tensors, exec:COMMAND asks a process; the sync stays unless "
      "--encoder is given");
  command->add_option("--unplan", options->unplanned_memory,
                      "first make unplaced tensors of the raw ranges of this memory");
  add_output_option(*command, options->output);
  add_plan_options(*command, options->plan);
  command->callback([options, command, backward, &status] {
    options->has_backward = backward->count() > 0;
    auto checked = check_plan_options(*command, options->passes.planner);
    if (checked) checked = set_queue_encoder(*options);
    status = checked ? run_encode(*options) : report_error(checked.error());
  });
}

}  // namespace interlock
