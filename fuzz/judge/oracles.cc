// The basic idea is that a second method computes every answer as well, and that methods which
// share no code must agree: the exact check and the shadow machine, our encoder and the barrier
// bound, the shadow machine and the CPU. Where they do not, the program is a test case for us.
#include "fuzz/judge/oracles.h"

#include <algorithm>
#include <array>
#include <utility>

#include "backends/reference/reference.h"
#include "backends/registry.h"
#include "encoder/assemble/build.h"
#include "encoder/program/check.h"
#include "encoder/program/stop.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/judge/disagree.h"
#include "fuzz/judge/replay.h"
#include "simulator/barriers/barrier_bounds.h"
#include "simulator/barriers/closing_sync.h"
#include "simulator/hazards/hazards.h"
#include "simulator/hazards/undeclared.h"
#include "simulator/lifetimes/destroy_needs.h"
#include "simulator/lifetimes/lifetimes.h"
#include "simulator/schedules/choice.h"
#include "simulator/schedules/observability.h"
#include "simulator/schedules/shadow_machine.h"
#include "simulator/schedules/strategy_random.h"
#include "simulator/schedules/strategy_three.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, 14> kStageWords = {
    "build",      "print-parse",      "encode", "exact-check", "cross-check",
    "three-runs", "random-schedules", "cpu",    "device",      "reference-run",
    "chains",     "machine",          "advice", "json"};

// Of one program, in dispatches executed; what takes more counts as observable.
constexpr uint64_t kObservabilityWork = 100'000;

// No sink changes an output, and all have been tried.
bool is_unobservable(const Program& program, const HappensBefore& order) {
  const ByteSegments segments(program);
  const std::vector<Hazard> hazards = find_hazards(program, order, segments).hazards;
  const std::vector<ObservabilityVerdict> verdicts =
      judge_observability(program, order, segments, hazards, {.work_limit = kObservabilityWork});
  return std::ranges::all_of(verdicts, [](const ObservabilityVerdict& verdict) {
    return verdict.proof == ObservabilityProof::kSinks;
  });
}

// A pin may keep a destroy waiting, which the encode pass does not count on: it places a barrier
// all the same.
bool may_wait_for_unpin(const Program& program) {
  return program.has_any(LifetimeKind::kDestroy) && program.has_any(LifetimeKind::kUnpin);
}

// Judges one program, stage after stage.
class OracleStack {
 public:
  OracleStack(const OracleOptions& options, uint64_t number)
      : options_(options),
        number_(number),
        choice_(number * 0x9e3779b97f4a7c15ull + 1),
        is_text_turn_(has_text_turn(options, number)),
        is_cpu_turn_(options.cpu_period > 0 && number % options.cpu_period == 0),
        is_device_turn_(options.device.backend != nullptr && options.device.period > 0 &&
                        number % options.device.period == 0) {}

  // `draft`: what the program was built from; null if there is none.
  OracleReport run(Program&& program, const ProgramDraft* draft) {
    if (is_text_turn_) check_text(program, draft);
    // The cross-check encodes it once more, unless what was encoded is what it looks at.
    const bool is_needed_again =
        options_.encoder != nullptr && options_.encoder != cross_check_entry();
    if (is_needed_again) {
      Encoding encoding = encode_by(program, *options_.encoder);
      report_.failure = std::move(encoding.failure);
      report_.program = std::move(encoding.program);
      report_.branches = std::move(encoding.branches);
    } else {
      report_.program = encode_with(std::move(program), options_.encoder);
    }
    if (is_stopped()) return {};
    if (report_.failure) return std::move(report_);
    const HappensBefore order(report_.program);
    check_exactly(order);
    if (is_stopped()) return {};
    cross_check_encoder(is_needed_again ? program : report_.program);
    // Within a dispatch that breaks its alias contract the order of slices matters, and no schedule
    // is the right one.
    if (!has_alias_violation_) run_schedules(order);
    if (is_device_turn_ && !has_alias_violation_ && report_.disagreements.empty()) {
      execute_on_device(order);
    }
    if (is_stopped()) return {};
    return std::move(report_);
  }

 private:
  template <typename... Arguments>
  void disagree(OracleStage stage, fmt::format_string<Arguments...> text,
                Arguments&&... arguments) {
    interlock::disagree(report_.disagreements, stage, text, std::forward<Arguments>(arguments)...);
  }

  void check_text(const Program& program, const ProgramDraft* draft) {
    const std::string text = print(program);
    if (draft != nullptr) check_text_of(*draft, text);
    const auto parsed = parse(text);
    if (!parsed) {
      disagree(OracleStage::kPrintParse, "The printed program does not parse: {}",
               parsed.error().message);
    } else if (print(*parsed) != text) {
      disagree(OracleStage::kPrintParse, "Printing the parsed text gives another text.");
    }
  }

  // Most drafts are written as `canonical`, the text of their program, which is parsed anyway.
  void check_text_of(const ProgramDraft& draft, const std::string& canonical) {
    const std::string text = print(draft);
    if (text == canonical) return;
    const auto parsed = parse(text);
    if (!parsed) {
      disagree(OracleStage::kBuild, "A draft does not parse: {}", parsed.error().message);
    } else if (print(*parsed) != canonical) {
      disagree(OracleStage::kPrintParse, "A draft and its text are two programs.");
    }
  }

  void check_exactly(const HappensBefore& order) {
    const ByteSegments segments(report_.program);
    GreedyBarriers greedy(find_destroy_needs(report_.program).pairs);
    std::vector<ConflictObserver*> observers = {&greedy};
    if (options_.observer != nullptr) observers.push_back(options_.observer);
    report_.facts = options_.methods.find(report_.program, order, segments, observers);
    // What approximate dispatches only may do is no finding. But runs execute all of their bounds,
    // and barriers are counted and placed for them.
    const bool has_bounds =
        std::ranges::any_of(report_.program.dispatches, &Dispatch::is_approximate);
    const std::vector<Fact> bounds =
        has_bounds ? find_everything(report_.program, true) : std::vector<Fact>();
    for (const Fact& fact : has_bounds ? bounds : report_.facts) {
      has_hazard_ |= std::holds_alternative<Hazard>(fact);
      has_alias_violation_ |= std::holds_alternative<AliasViolation>(fact);
      is_reordered_ |= std::holds_alternative<ReorderedRead>(fact);
    }
    report_.barrier_count = report_.program.barriers.size();
    report_.fewest_barriers = greedy.count();
    // As find_excess() says it.
    const uint64_t counted = report_.barrier_count - closing_barrier_count(report_.program);
    if (options_.judges_excess && counted > report_.fewest_barriers && !has_hazard_) {
      report_.facts.emplace_back(ExcessBarriers{counted, report_.fewest_barriers});
    }
    // The bound counts what destroys wait for; that this is missing is no hazard.
    if (!has_hazard_ && !report_.program.has_any(LifetimeKind::kDestroy) &&
        report_.barrier_count < report_.fewest_barriers) {
      disagree(
          OracleStage::kExactCheck,
          "The program has {} barriers and no hazard; the bound says that it needs at least {}.",
          report_.barrier_count, report_.fewest_barriers);
    }
  }

  const EncoderEntry* cross_check_entry() const {
    static const EncoderEntry* const interlock = find_encoder("interlock");
    return options_.methods.cross_check != nullptr ? options_.methods.cross_check : interlock;
  }

  // Requires: `program` is what was to be encoded, or is encoded as that would be.
  void cross_check_encoder(const Program& program) {
    if (!find_undeclared_accesses(program).empty()) return;  // It is not told of all accesses.
    const EncoderEntry* const entry = cross_check_entry();
    INTERLOCK_CHECK(entry != nullptr);
    if (options_.encoder == entry) {  // What it encoded is judged already.
      for (const Fact& fact : report_.facts) {
        const auto* const hazard = std::get_if<Hazard>(&fact);
        if (hazard == nullptr) continue;
        disagree_with_encoder(*entry, report_.program, *hazard);
        break;
      }
      return require_fewest_barriers(*entry, report_.program, report_.fewest_barriers);
    }
    const Program encoded = encode_with(program, entry);
    const ByteSegments segments(encoded);
    for (const Hazard& hazard :
         find_hazards(encoded, HappensBefore(encoded), segments, {.limit = 1}).hazards) {
      disagree_with_encoder(*entry, encoded, hazard);
    }
    // The bound depends on the order of the dispatches, which is the same unless the encoder under
    // test has reordered them.
    require_fewest_barriers(*entry, encoded,
                            report_.program.has_program_order ? fewest_barriers(encoded, segments)
                                                              : report_.fewest_barriers);
  }

  void disagree_with_encoder(const EncoderEntry& entry, const Program& encoded,
                             const Hazard& hazard) {
    disagree(OracleStage::kCrossCheck, "Encoder '{}' leaves a {} hazard between {} and {}.",
             entry.name, word_of(hazard.kind), encoded.description_of(hazard.first.dispatch),
             encoded.description_of(hazard.second.dispatch));
  }

  void require_fewest_barriers(const EncoderEntry& entry, const Program& encoded, uint64_t fewest) {
    const uint64_t count = encoded.barriers.size();
    if (count == fewest || (count > fewest && may_wait_for_unpin(encoded))) return;
    disagree(OracleStage::kCrossCheck, "Encoder '{}' places {} barriers; the bound says {}.",
             entry.name, count, fewest);
  }

  // T4 and T5: on one queue with global barriers, and no two slices of one dispatch in conflict.
  // With scoped barriers no few runs decide: there are random ones, and now and then all sinks
  // (T6).
  void run_schedules(const HappensBefore& order) {
    const Program& program = report_.program;
    ShadowMachine machine(program);
    const Schedule issue = reference_order_schedule(program);
    std::vector<Schedule> others;
    if (!order.has_scopes()) {
      others.reserve(2);
      others.push_back(epoch_reversed_schedule(program, order));
      others.push_back(lazy_schedule(program, order));
    }
    ShadowResult reference;
    ShadowResult result;
    machine.run(issue, ShadowMode::kStrict, reference);
    bool differs_strictly = false;
    for (const Schedule& schedule : others) {
      machine.run(schedule, ShadowMode::kStrict, result);
      differs_strictly |= !(result == reference);
    }
    if (differs_strictly != has_hazard_ && !order.has_scopes()) {
      disagree(OracleStage::kThreeRuns, "{}",
               has_hazard_ ? "The exact check finds a hazard, but the three strict runs agree."
                           : "The three strict runs differ, but the exact check finds no hazard.");
    }
    run_random_schedules(machine, order, reference);
    if (has_hazard_ || is_cpu_turn_) {
      machine.run(issue, ShadowMode::kObservable, reference);
      for (const Schedule& schedule : others) {
        machine.run(schedule, ShadowMode::kObservable, result);
        report_.is_observable |= !(result == reference);
      }
    }
    if (report_.is_observable && !differs_strictly) {
      disagree(OracleStage::kThreeRuns,
               "An output differs between observable runs, but the three strict runs agree.");
    }
    if (order.has_scopes() && has_hazard_ && is_cpu_turn_) {
      report_.is_observable = !is_unobservable(program, order);
    }
    const bool wants_cpu = options_.cpu_period > 0 && (report_.is_observable || is_cpu_turn_);
    if (wants_cpu) execute(order);
  }

  void run_random_schedules(ShadowMachine& machine, const HappensBefore& order,
                            const ShadowResult& reference) {
    ShadowResult result;
    for (uint32_t i = 0; i < options_.random_schedule_count && !is_stopped(); ++i) {
      const Schedule schedule = random_schedule(report_.program, order, choice_);
      if (is_cpu_turn_) {
        const auto legal = check_legal(report_.program, order, schedule);
        if (!legal) {
          disagree(OracleStage::kRandomSchedules, "A random schedule is not legal: {}",
                   legal.error().message);
          return;
        }
      }
      machine.run(schedule, ShadowMode::kStrict, result);
      if (!has_hazard_ && !(result == reference)) {
        disagree(OracleStage::kRandomSchedules,
                 "A random legal schedule ends differently, although no check finds a hazard.");
      }
    }
  }

  // A program that is too large to execute here is left out.
  void execute(const HappensBefore& order) {
    Backend* const cpu =
        options_.methods.cpu != nullptr ? options_.methods.cpu : find_backend("cpu");
    INTERLOCK_CHECK(cpu != nullptr);
    const Program& program = report_.program;
    const Schedule issue = reference_order_schedule(program);
    const auto in_reference_order = cpu->run(program, issue, ExecutionMode::kWitness);
    if (!in_reference_order) return;
    const auto reference = reference_image(program, *cpu);
    if (!reference) return;
    report_.ran_on_cpu = true;
    // Then the reference has what was meant.
    const LifetimeReport lifetimes = check_lifetimes(program);
    const bool loses_values = !lifetimes.findings.empty() || lifetimes.is_truncated();
    std::vector<Schedule> schedules = {issue};
    if (!order.has_scopes()) {
      schedules.push_back(epoch_reversed_schedule(program, order));
      schedules.push_back(lazy_schedule(program, order));
    }
    schedules.push_back(random_schedule(program, order, choice_));
    for (const Schedule& schedule : schedules) {
      const auto image = cpu->run(program, schedule, ExecutionMode::kWitness);
      if (!image || is_stopped()) return;
      report_.diverges_on_cpu |= outputs_differ(program, *in_reference_order, *image);
      if (!has_hazard_ && !(*image == *in_reference_order)) {
        return disagree(
            OracleStage::kCpu,
            "A legal schedule leaves other bytes on the CPU, although no check finds a hazard.");
      }
      if (!has_hazard_ && !is_reordered_ && !loses_values && !(*image == *reference)) {
        return disagree(
            OracleStage::kCpu,
            "A legal schedule leaves other bytes on the CPU than the reference, although no check finds anything.");
      }
    }
    if (report_.diverges_on_cpu && !report_.is_observable) {
      disagree(OracleStage::kCpu,
               "An output differs on the CPU, although the shadow machine says that none can.");
    }
  }

  void execute_on_device(const HappensBefore& order) {
    report_.device =
        judge_on_device(report_.program, order, report_.facts, options_.device, number_);
    for (const std::string& message : report_.device.disagreements) {
      disagree(OracleStage::kDevice, "{}", message);
    }
  }

  const OracleOptions& options_;
  uint64_t number_;
  SeededChoice choice_;
  bool is_text_turn_;
  bool is_cpu_turn_;
  bool is_device_turn_;
  bool has_hazard_ = false;
  bool has_alias_violation_ = false;
  bool is_reordered_ = false;
  OracleReport report_;
};

}  // namespace

std::string_view word_of(OracleStage stage) { return kStageWords[static_cast<size_t>(stage)]; }

Program encode_with(const Program& program, const EncoderEntry* entry) {
  return entry == nullptr ? program : encode_by(program, *entry).program;
}

Program encode_with(Program&& program, const EncoderEntry* entry) {
  if (entry == nullptr) return std::move(program);
  if (entry->external != nullptr) return encode_by(program, *entry).program;
  return encode(std::move(program), *entry->create());
}

OracleReport judge(const Program& program, const OracleOptions& options, uint64_t number) {
  return OracleStack(options, number).run(Program(program), nullptr);
}

std::optional<Program> parsed_draft(const ProgramDraft& draft,
                                    std::vector<InternalDisagreement>& disagreements) {
  ParseOptions options;
  options.reads_one_queue = true;
  auto program = parse(print(draft), "<draft>", options);
  if (program) return *std::move(program);
  disagree(disagreements, OracleStage::kBuild, "A draft does not parse: {}",
           program.error().message);
  return std::nullopt;
}

OracleReport judge_built(Result<Program> built, const OracleOptions& options, uint64_t number) {
  if (built) return OracleStack(options, number).run(*std::move(built), nullptr);
  OracleReport report;
  disagree(report.disagreements, OracleStage::kBuild, "A draft does not build: {}",
           built.error().message);
  return report;
}

OracleReport judge(const ProgramDraft& draft, const OracleOptions& options, uint64_t number) {
  auto built = build(draft);
  if (!built || !has_text_turn(options, number)) {
    return judge_built(std::move(built), options, number);
  }
  return OracleStack(options, number).run(*std::move(built), &draft);
}

}  // namespace interlock
