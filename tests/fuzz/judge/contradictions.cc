#include "tests/fuzz/judge/contradictions.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "encoder/program/draft.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/generate/queue_generator.h"
#include "fuzz/generate/queue_launches.h"
#include "fuzz/generate/queue_meanings.h"
#include "fuzz/judge/queue_judges.h"
#include "simulator/bytes/byte_segments.h"
#include "simulator/hazards/alias_contracts.h"
#include "simulator/hazards/hazards.h"
#include "simulator/order/happens_before.h"
#include "simulator/order/host_atoms.h"
#include "simulator/order/in_reference_order.h"
#include "simulator/order/reference_order.h"
#include "simulator/order/signal_order.h"
#include "simulator/schedules/choice.h"
#include "simulator/schedules/observability.h"
#include "tests/simulator/judges/host_cache.h"
#include "tests/simulator/judges/part_execution.h"
#include "tests/simulator/judges/part_reversals.h"
#include "tests/simulator/judges/payload_runs.h"
#include "tests/simulator/judges/signals_on_machine.h"
#include "tests/simulator/judges/waiting_circles.h"
#include "tests/simulator/programs/random_deadlocks.h"
#include "tests/simulator/programs/random_destroys.h"
#include "tests/simulator/programs/random_host_programs.h"
#include "tests/simulator/programs/random_machine_programs.h"
#include "tests/simulator/programs/random_queue_programs.h"
#include "tests/simulator/programs/random_stage_programs.h"

namespace interlock {
namespace {

using Found = std::optional<Contradiction>;

std::optional<Program> valid_program(const std::string& text) {
  ParseOptions options;
  options.reads_every_queue = true;
  Result<Program> program = parse(text, "test", options);
  if (!program) return std::nullopt;
  return std::move(program).value();
}

Program run_of(const Program& program, const ReferenceOrder& reference) {
  return reference.is_text_order ? program : in_reference_order(program, reference);
}

// All judges of campaigns: the search of chains, the machine of counters, random schedules, the
// CPU, and what removal of sync leaves.
Found judge_by_all(const Program& program, uint64_t number) {
  QueueJudgeOptions options;
  options.text_period = 0;
  options.advice_period = options.reversal_period = options.cpu_period = 1;
  const QueueJudgement judgement = judge_queues(program, options, number);
  if (judgement.disagreements.empty()) return std::nullopt;
  const InternalDisagreement& first = judgement.disagreements.front();
  // What is drawn is valid, and its signals come in the order of their values.
  const std::string_view method =
      first.stage == OracleStage::kBuild ? "construction" : word_of(first.stage);
  return Contradiction{std::string(method), first.message, ""};
}

std::string campaign_program(Choice& choice) {
  ProgramDraft draft = generate_queues(choice);
  if (choice.chance(1, 3)) add_queue_meanings(draft, choice);
  if (choice.chance(1, 5)) add_queue_launches(draft, choice);
  return print(draft);
}

// Few accesses and much sync, so that many programs are clean.
std::string program_of_much_sync(Choice& choice) {
  return random_queue_program(
      choice,
      {.queue_count_max = 3, .dispatch_count_max = 4, .sync_count_max = 12, .memory_bytes = 8});
}

Found judge_if_ordered(const Program& program, uint64_t number) {
  if (find_unordered_signals(program)) return std::nullopt;
  return judge_by_all(program, number);
}

std::string program_with_destroys(Choice& choice) {
  const uint64_t sort = choice.below(3);
  if (sort == 0) return print(draft_with_destroys(choice));
  return print(sort == 1 ? draft_with_joined_ends(choice) : draft_held_back(choice));
}

std::string program_of_signals(Choice& choice) {
  RandomMachineProgramOptions options;
  options.has_binary = choice.chance(1, 2);
  options.is_serial = options.has_binary && choice.chance(1, 2);
  options.orders_signals = options.has_binary && choice.chance(2, 3);
  options.dispatch_count_max = options.is_serial ? 2 : 3;
  options.sync_count_max = options.is_serial ? 8 : 5;
  return random_machine_program(choice, options);
}

// Each wait takes the signal that it is paired with, in all runs, exactly where nothing is named.
Found judge_payloads(const Program& program, const std::optional<UnorderedSignals>& pair) {
  const bool is_serial = std::ranges::all_of(
      program.queues, [](const Queue& queue) { return queue.kind == QueueKind::kSerial; });
  if (!is_serial || (pair && !reused_binary_semaphores(program)[pair->semaphore.index])) return {};
  constexpr uint64_t kStatesMax = 10'000;
  const std::optional<bool> is_broken = breaks_a_payload(program, kStatesMax);
  if (!is_broken || *is_broken == pair.has_value()) return std::nullopt;
  return Contradiction{"all runs",
                       *is_broken
                           ? "A wait may take another signal than its own, and none is named."
                           : "Every wait takes its own signal, and one is named.",
                       ""};
}

Found judge_signals(const Program& program, uint64_t number) {
  const std::optional<UnorderedSignals> pair = find_unordered_signals(program);
  // In a deadlock, waits that are never over may take other signals than their own.
  if (find_reference_order(program).cycle.empty()) {
    const bool is_unordered = find_unordered_on_machine(program).has_value();
    if (is_unordered != pair.has_value()) {
      return Contradiction{"machine",
                           is_unordered
                               ? "A signal may come before a lower one, and none is named."
                               : "Signals come in the order of their values, and one is named.",
                           ""};
    }
    if (Found found = judge_payloads(program, pair)) return found;
  } else if (pair && !find_unordered_on_machine(program)) {
    return Contradiction{"machine", "Signals come in the order of their values, and one is named.",
                         ""};
  }
  if (pair) return std::nullopt;
  return judge_by_all(program, number);
}

// Whether some hazard is called observable, or a hazard is; none where that is not known.
std::optional<bool> is_called_observable(const Program& run) {
  const Program atoms = with_whole_atoms(run);
  const HazardList hazards = find_hazards(atoms, HappensBefore(atoms, &run), ByteSegments(atoms));
  bool is_observable = false;
  for (const ObservabilityVerdict& verdict :
       judge_observability(run, HappensBefore(run), ByteSegments(run), hazards.hazards, {})) {
    using enum ObservabilityProof;
    if (verdict.proof == kOverBudget) return std::nullopt;
    is_observable |= verdict.proof == kOwnWitness || verdict.proof == kOwnExecution;
  }
  return is_observable;
}

// A verdict that is about whether any execution differs, against all of them.
Found compare_with_executions(std::string method, std::optional<bool> verdict,
                              DivergenceVerdict executions) {
  if (!verdict || executions == DivergenceVerdict::kTooMany) return std::nullopt;
  const bool differs = executions == DivergenceVerdict::kSometimes;
  if (differs == *verdict) return std::nullopt;
  return Contradiction{std::move(method),
                       differs ? "Some execution differs, and nothing is found."
                               : "Something is found, and no execution differs.",
                       ""};
}

Found judge_host(const Program& program, uint64_t number) {
  constexpr size_t kStatesMax = 20'000;
  const ReferenceOrder reference = find_reference_order(program);
  if (!reference.cycle.empty()) return judge_by_all(program, number);
  uint64_t work_left = UINT64_MAX;
  const OrderFindings findings = find_order_findings(program, HazardsListed::kAll, work_left);
  if (Found found = compare_with_executions("all states of the cache", !findings.hazards.empty(),
                                            find_host_divergence(program, kStatesMax))) {
    return found;
  }
  if (Found found = compare_with_executions("all states of the cache",
                                            is_called_observable(run_of(program, reference)),
                                            find_host_output_divergence(program, kStatesMax))) {
    return found;
  }
  return judge_by_all(program, number);
}

Found judge_stuck(const Program& program, uint64_t number) {
  if (Found found = judge_if_ordered(program, number)) return found;
  const ReferenceOrder reference = find_reference_order(program);
  if (reference.cycle.empty()) return std::nullopt;
  const std::optional<std::string> wrong = find_wrong_circle(program, reference.cycle);
  if (!wrong) return std::nullopt;
  return Contradiction{"circles of waits", *wrong, ""};
}

std::string program_of_three(Choice& choice) {
  QueueGeneratorOptions options;
  options.operation_count_max = 3;
  options.ends_values = false;
  return print(generate_queues(choice, options));
}

Found judge_executions(const Program& program, uint64_t /*number*/) {
  constexpr uint64_t kExecutionsMax = 2000;
  constexpr size_t kPiecesMax = 18;
  const ReferenceOrder reference = find_reference_order(program);
  if (!reference.cycle.empty() || find_unordered_signals(program)) return std::nullopt;
  const Program run = run_of(program, reference);
  if (QueueMachine(run, {.splits_memory = true}).pieces().size() > kPiecesMax) return std::nullopt;
  if (const std::optional<std::string> wrong = find_wrong_kinds(run)) {
    return Contradiction{"machine", *wrong, ""};
  }
  // Two writes of one operation to a byte may end either way.
  if (!find_alias_violations(run, 1).empty()) return std::nullopt;
  return compare_with_executions("all executions", is_called_observable(run),
                                 find_divergence(run, kExecutionsMax));
}

struct ProgramSort {
  std::string (*draw)(Choice& choice);
  Found (*judge)(const Program& program, uint64_t number);
};

constexpr std::array<ProgramSort, 8> kSorts = {{{campaign_program, judge_by_all},
                                                {program_of_much_sync, judge_if_ordered},
                                                {random_stage_program, judge_if_ordered},
                                                {program_with_destroys, judge_if_ordered},
                                                {program_of_signals, judge_signals},
                                                {random_host_program, judge_host},
                                                {random_deadlock, judge_stuck},
                                                {program_of_three, judge_executions}}};

}  // namespace

std::optional<Contradiction> find_contradiction(uint64_t seed, uint64_t number) {
  SeededChoice choice((seed << 32) + number);
  const ProgramSort& sort = kSorts[number % kSorts.size()];
  const std::string text = sort.draw(choice);
  const std::optional<Program> program = valid_program(text);
  if (!program) return std::nullopt;
  Found found = sort.judge(*program, number);
  if (found) found->program = text;
  return found;
}

std::optional<Contradiction> find_contradiction_by_machine(uint64_t seed, uint64_t number) {
  constexpr size_t kPiecesMax = 24;
  SeededChoice choice((seed << 32) + number);
  const std::string text = random_host_program(choice);
  const std::optional<Program> program = valid_program(text);
  if (!program || find_unordered_signals(*program)) return std::nullopt;
  const ReferenceOrder reference = find_reference_order(*program);
  if (!reference.cycle.empty()) return std::nullopt;
  const Program run = run_of(*program, reference);
  if (QueueMachine(run, {.splits_memory = true}).pieces().size() > kPiecesMax) return std::nullopt;
  const std::optional<std::string> wrong = find_wrong_kinds(run);
  if (!wrong) return std::nullopt;
  return Contradiction{"machine", *wrong, text};
}

}  // namespace interlock
