#include "fuzz/judge/queue_judges.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "backends/registry.h"
#include "encoder/program/check.h"
#include "encoder/program/stop.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/judge/disagree.h"
#include "fuzz/judge/findings.h"
#include "fuzz/judge/replay.h"
#include "simulator/lifetimes/ended_bytes.h"
#include "simulator/order/in_reference_order.h"
#include "simulator/order/queue_order.h"
#include "simulator/order/signal_order.h"
#include "simulator/schedules/choice.h"
#include "simulator/schedules/queue_legality.h"
#include "simulator/schedules/queue_schedule.h"
#include "simulator/schedules/queue_walk.h"
#include "simulator/schedules/shadow_machine.h"

namespace interlock {
namespace {

constexpr uint64_t kSinkSteps = 4'000'000;  // Of all hazards of one program.

ParseOptions parse_options() {
  ParseOptions options;
  options.reads_every_queue = true;
  return options;
}

class QueueStack {
 public:
  QueueStack(const Program& program, const QueueJudgeOptions& options, uint64_t number)
      : text_(program),
        options_(options),
        number_(number),
        choice_(number * 0x9e3779b97f4a7c15ull + 1) {}

  QueueJudgement judge() {
    if (is_turn(options_.text_period)) check_text();
    const ReferenceOrder reference = options_.methods.find_run(text_);
    result_.run = reference.is_text_order ? text_ : in_reference_order(text_, reference);
    result_.facts = find_in_queues(result_.run, reference);
    if (find_unordered_signals(text_)) {
      disagree(OracleStage::kBuild, "Nothing orders two signals of one semaphore.");
      return std::move(result_);
    }
    if (text_.statements.size() > options_.statement_count_max) return std::move(result_);
    bounds_ = result_.facts;
    const bool has_bounds = std::ranges::any_of(result_.run.dispatches, &Dispatch::is_approximate);
    if (has_bounds && reference.cycle.empty()) bounds_ = find_everything(result_.run, true);
    if (is_stopped()) return std::move(result_);
    add(OracleStage::kReferenceRun, compare_runs(text_, reference));
    compare_with_chains();
    if (reference.cycle.empty() && !is_stopped()) judge_run();
    if (is_turn(options_.advice_period) && !is_stopped()) {
      add(OracleStage::kAdvice,
          compare_advice(text_, options_.methods.find_redundant(text_, {}).redundant));
    }
    if (is_turn(options_.text_period) && !is_stopped()) {
      add(OracleStage::kJson, compare_json(text_, check(text_)));
    }
    if (is_stopped()) return {};
    return std::move(result_);
  }

 private:
  bool is_turn(uint64_t period) const { return period > 0 && number_ % period == 0; }

  template <typename... Arguments>
  void disagree(OracleStage stage, fmt::format_string<Arguments...> text,
                Arguments&&... arguments) {
    interlock::disagree(result_.disagreements, stage, text, std::forward<Arguments>(arguments)...);
  }
  void add(OracleStage stage, const Difference& difference) {
    if (difference) result_.disagreements.push_back({stage, *difference});
  }

  void check_text() {
    const std::string text = print(text_);
    const auto parsed = parse(text, "<text>", parse_options());
    if (!parsed) {
      disagree(OracleStage::kPrintParse, "The printed program does not parse: {}",
               parsed.error().message);
    } else if (print(*parsed) != text) {
      disagree(OracleStage::kPrintParse, "Printing the parsed text gives another text.");
    }
  }

  void compare_with_chains() {
    uint64_t work_left = UINT64_MAX;
    const OrderFindings findings =
        options_.methods.find_order(text_, HazardsListed::kAll, work_left);
    if (is_stopped() || !findings.is_known) return;
    add(OracleStage::kChains, compare_hazards(text_, findings));
    // The list keeps the latest of each access, and is empty iff there are none at all.
    has_hazard_ = !findings.hazards.empty();
    const bool has_listed = std::ranges::any_of(
        bounds_, [](const Fact& fact) { return std::holds_alternative<Hazard>(fact); });
    if (has_listed != has_hazard_) {
      disagree(OracleStage::kExactCheck, "The list of hazards is {}, and that of all pairs is not.",
               has_hazard_ ? "empty" : "not empty");
    }
  }

  // What the machine of counters, the shadow machine and the CPU say.
  void judge_run() {
    const Program& run = result_.run;
    if (needs_queue_order(run)) {
      add(OracleStage::kMachine, compare_orders(run));
      add(OracleStage::kChains, compare_destroys(text_, run));
      if (is_turn(options_.reversal_period)) {
        add(OracleStage::kMachine, compare_reversals(run));
      }
      // Within a dispatch that breaks its alias contract no schedule is the right one.
      const bool has_alias = std::ranges::any_of(
          bounds_, [](const Fact& fact) { return std::holds_alternative<AliasViolation>(fact); });
      if (!has_alias && !is_stopped()) run_schedules();
    }
  }

  void run_schedules() {
    const Program& run = result_.run;
    ShadowMachine shadow(run);
    const Schedule issue = reference_order_schedule(run);
    const ShadowResult reference = shadow.run(issue, ShadowMode::kStrict);
    const bool is_cpu_turn = is_turn(options_.cpu_period);
    std::vector<Schedule> schedules;
    for (uint32_t i = 0; i < options_.random_schedule_count; ++i) {
      schedules.push_back(random_queue_schedule(run, choice_));
      if (const auto legal = check_legal_on_queues(run, schedules.back()); !legal) {
        disagree(OracleStage::kRandomSchedules, "A random schedule is not legal: {}",
                 legal.error().message);
        return;
      }
      if (has_hazard_ || shadow.run(schedules.back(), ShadowMode::kStrict) == reference) continue;
      disagree(OracleStage::kRandomSchedules,
               "A random legal schedule ends differently, although no check finds a hazard.");
    }
    // Backends poison what has ended when somebody reads it, at another time in each schedule.
    const bool reads_ended_values = std::ranges::any_of(
        find_ended_bytes(run), [](const EndedBytes& ended) { return ended.reader.is_some(); });
    const bool is_device_turn =
        options_.device.backend != nullptr && is_turn(options_.device.period);
    if (reads_ended_values || is_stopped() || !(is_cpu_turn || is_device_turn)) return;
    add_sinks(schedules);
    if (is_cpu_turn) execute(shadow, issue, schedules);
    if (is_device_turn && result_.disagreements.empty() && !is_stopped()) {
      execute_on_device(schedules);
    }
  }

  void execute_on_device(const std::vector<Schedule>& all) {
    const size_t random_count = std::min<size_t>(all.size(), options_.random_schedule_count);
    const size_t count =
        std::min<size_t>(all.size(), random_count + options_.device.sink_count_max);
    std::vector<DeviceSchedule> schedules;
    for (size_t i = 0; i < count; ++i) {
      schedules.push_back(
          {i < random_count ? "A random schedule" : "The schedule of a hazard", all[i]});
    }
    result_.device = judge_on_device(result_.run, bounds_, schedules, options_.device);
    for (const std::string& message : result_.device.disagreements) {
      disagree(OracleStage::kDevice, "{}", message);
    }
  }

  // The schedules that show a hazard each.
  void add_sinks(std::vector<Schedule>& schedules) {
    uint64_t steps_left = kSinkSteps;
    for (const Fact& fact : bounds_) {
      const auto* const hazard = std::get_if<Hazard>(&fact);
      if (hazard == nullptr) continue;
      for (Schedule& sink : queue_sinks_of(result_.run, *hazard, steps_left)) {
        schedules.push_back(std::move(sink));
      }
    }
  }

  void execute(ShadowMachine& shadow, const Schedule& issue,
               const std::vector<Schedule>& schedules) {
    const Program& run = result_.run;
    Backend* const cpu =
        options_.methods.cpu != nullptr ? options_.methods.cpu : find_backend("cpu");
    INTERLOCK_CHECK(cpu != nullptr);
    const auto in_reference_order = cpu->run(run, issue, ExecutionMode::kWitness);
    if (!in_reference_order) return;
    result_.ran_on_cpu = true;
    const ShadowResult reference = shadow.run(issue, ShadowMode::kObservable);
    for (const Schedule& schedule : schedules) {
      const auto image = cpu->run(run, schedule, ExecutionMode::kWitness);
      if (!image || is_stopped()) return;
      if (!has_hazard_ && !(*image == *in_reference_order)) {
        return disagree(OracleStage::kCpu,
                        "A legal schedule leaves other bytes on the CPU, although no check finds a "
                        "hazard.");
      }
      const bool can_differ = !(shadow.run(schedule, ShadowMode::kObservable) == reference);
      if (!can_differ && outputs_differ(run, *in_reference_order, *image)) {
        return disagree(OracleStage::kCpu,
                        "An output differs on the CPU, and not on the shadow machine.");
      }
    }
  }

  const Program& text_;
  const QueueJudgeOptions& options_;
  const uint64_t number_;
  SeededChoice choice_;
  std::vector<Fact> bounds_;  // With what the bounds of approximate dispatches make possible.
  bool has_hazard_ = false;
  QueueJudgement result_;
};

}  // namespace

std::vector<Fact> find_in_queues(const Program& run, const ReferenceOrder& reference) {
  if (!reference.cycle.empty()) return {Deadlock{reference.cycle}};
  return find_everything(run);
}

QueueJudgement judge_queues(const Program& program, const QueueJudgeOptions& options,
                            uint64_t number) {
  return QueueStack(program, options, number).judge();
}

QueueJudgement judge_queues(const ProgramDraft& draft, const QueueJudgeOptions& options,
                            uint64_t number) {
  const auto program = parse(print(draft), "<text>", parse_options());
  if (program) return judge_queues(*program, options, number);
  QueueJudgement judgement;
  disagree(judgement.disagreements, OracleStage::kBuild, "A draft does not parse: {}",
           program.error().message);
  return judgement;
}

}  // namespace interlock
