// Three sources for every schedule: the shadow machine says which outputs can differ, the CPU
// which bytes they get if no kernel rounds, the device what it does.
#include "fuzz/judge/device_oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "backends/reference/oracle_check.h"
#include "backends/reference/reference.h"
#include "backends/registry.h"
#include "encoder/assemble/build.h"
#include "encoder/kernel/kernel_table.h"
#include "encoder/program/check.h"
#include "encoder/program/draft.h"
#include "fuzz/judge/evidence.h"
#include "fuzz/judge/replay.h"
#include "simulator/order/queue_order.h"
#include "simulator/order/reference_order.h"
#include "simulator/schedules/choice.h"
#include "simulator/schedules/displacements.h"
#include "simulator/schedules/shadow_machine.h"
#include "simulator/schedules/sinks.h"
#include "simulator/schedules/strategy_random.h"
#include "simulator/schedules/strategy_three.h"

namespace interlock {
namespace {

// Each takes a run of the program up to it.
constexpr uint64_t kDispatchesJudgedMax = 15;

// The positions of outputs that differ, as ShadowMachine::differing_outputs() counts them.
std::vector<uint32_t> differing_outputs(const Program& program, const MemoryImage& a,
                                        const MemoryImage& b) {
  std::vector<uint32_t> differing;
  const std::vector<OutputComparison> outputs = compare_outputs(program, a, b);
  for (uint32_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].differing_count > 0) differing.push_back(i);
  }
  return differing;
}

// The program up to its first `dispatch_count` dispatches, in reference order.
Program prefix_of(const Program& program, size_t dispatch_count) {
  ProgramDraft prefix;
  size_t seen = 0;
  for (ItemDraft& item : without_evidence(expanded_draft_of(program)).items) {
    if (auto* dispatch = std::get_if<DispatchDraft>(&item)) {
      if (seen++ >= dispatch_count) continue;
      dispatch->order.reset();
    } else if (std::holds_alternative<BarrierDraft>(item) && seen >= dispatch_count) {
      continue;
    }
    prefix.items.push_back(std::move(item));
  }
  return build(prefix).value();
}

// Of a program of one queue: those that decide most, a random one, and sinks of some hazards.
std::vector<DeviceSchedule> deciding_schedules(const Program& program, const HappensBefore& order,
                                               const std::vector<Fact>& facts,
                                               size_t sink_count_max, Choice& choice) {
  std::vector<DeviceSchedule> all;
  if (!order.has_scopes()) {
    all.push_back({"The epoch-reversed schedule", epoch_reversed_schedule(program, order)});
    all.push_back({"The lazy schedule", lazy_schedule(program, order)});
  }
  all.push_back({"A random schedule", random_schedule(program, order, choice)});
  std::vector<DeviceSchedule> sinks;
  for (const Fact& fact : facts) {
    for (const Sink& sink : sinks_of_fact(program, order, fact)) {
      auto schedule = schedule_of(program, order, sink.displacements);
      // Steps of whole dispatches: no device refuses them.
      if (!schedule || !schedule->bytes.empty()) continue;
      sinks.push_back({"The schedule '" + text_of(program, head_of(sink.displacements)) + "'",
                       std::move(*schedule)});
    }
  }
  const size_t count = std::min<size_t>(sinks.size(), sink_count_max);
  for (size_t i = 0; i < count; ++i) {
    all.push_back(std::move(sinks[i * sinks.size() / count]));
  }
  return all;
}

class DeviceJudge {
 public:
  DeviceJudge(const Program& program, const std::vector<Fact>& facts,
              const DeviceOracleOptions& options)
      : program_(program), options_(options) {
    for (const Fact& fact : facts) {
      has_hazard_ |= std::holds_alternative<Hazard>(fact);
      is_reordered_ |= std::holds_alternative<ReorderedRead>(fact);
    }
  }

  // Dispatches are judged one by one if `numbers` chooses some.
  DeviceReport judge(const std::vector<DeviceSchedule>& schedules, Choice* numbers) {
    const Schedule issue = reference_order_schedule(program_);
    auto image = image_after(issue, ExecutionMode::kWitness);
    if (!image) return std::move(report_);
    issue_image_ = std::move(*image);
    rounds_otherwise_ = !options_.backend->capabilities().rounds_correctly &&
                        !std::ranges::all_of(program_.dispatches, [](const Dispatch& dispatch) {
                          return kernel_entry(dispatch.kernel).is_bytewise;
                        });
    ShadowMachine machine(program_);
    machine.run(issue, ShadowMode::kObservable, shadow_of_issue_);
    // Reference order again: a device reproduces its own bits.
    judge_schedule({fmt::format("{}, run again,", capital_name_of_order()), issue}, machine);
    for (const DeviceSchedule& named : schedules) {
      if (is_over()) break;
      judge_schedule(named, machine);
    }
    if (!is_over()) judge_reference();
    if (!is_over()) judge_overlap();
    if (numbers != nullptr && !is_over()) judge_numbers(*numbers);
    report_.ran = has_answered();
    return std::move(report_);
  }

 private:
  void judge_schedule(const DeviceSchedule& named, ShadowMachine& machine) {
    auto run = options_.backend->run(program_, named.schedule, ExecutionMode::kWitness);
    const bool is_left_out =
        !run && run.error().kind == ErrorKind::kRefused && !named.schedule.bytes.empty();
    if (is_left_out) return;
    const auto image = taken(std::move(run));
    if (!image) return;
    ++report_.schedule_count;
    const std::string_view device = options_.backend->name();
    if (!has_hazard_ && !(*image == issue_image_)) {
      return disagree("{} leaves other bytes on {} than {}, although no check finds a hazard.",
                      named.name, device, name_of_reference_order(needs_queue_order(program_)));
    }
    predict(named, machine, *image);
    if (rounds_otherwise_) return;
    const auto on_cpu = find_backend("cpu")->run(program_, named.schedule, ExecutionMode::kWitness);
    if (on_cpu && !(*on_cpu == *image)) {
      disagree("{} leaves other bytes on {} than on the CPU, although they round alike.",
               named.name, device);
    }
  }

  void predict(const DeviceSchedule& named, ShadowMachine& machine, const MemoryImage& image) {
    const std::vector<uint32_t> predicted = machine.differing_outputs(
        shadow_of_issue_, machine.run(named.schedule, ShadowMode::kObservable));
    const std::vector<uint32_t> diverging = differing_outputs(program_, issue_image_, image);
    if (!std::ranges::includes(predicted, diverging)) {
      return disagree(
          "{} changes an output on {}, although the shadow machine says that it cannot.",
          named.name, options_.backend->name());
    }
    report_.predicted_output_count += predicted.size();
    report_.diverging_output_count += diverging.size();
  }

  // With which a sentence may begin.
  std::string_view capital_name_of_order() const {
    return needs_queue_order(program_) ? "The reference order" : "Issue order";
  }

  // Program order, where it is another one, and the device itself has executed it.
  void judge_reference() {
    const bool has_scratch = std::ranges::any_of(program_.memories, &Memory::is_scratch);
    const bool is_comparable = program_.has_program_order && (!rounds_otherwise_ || !has_scratch);
    if (!is_comparable || has_hazard_ || is_reordered_) return;
    const auto reference = taken(reference_image(program_, *options_.backend));
    if (reference && !(*reference == issue_image_)) {
      disagree("{} leaves other bytes on {} than program order, although no check finds anything.",
               capital_name_of_order(), options_.backend->name());
    }
  }

  void judge_overlap() {
    if (!options_.backend->supports(ExecutionMode::kOverlap)) return;
    const Schedule issue = reference_order_schedule(program_);
    for (uint32_t i = 0; i < options_.overlap_trial_count; ++i) {
      const auto image = image_after(issue, ExecutionMode::kOverlap);
      if (!image) return;
      ++report_.overlap_trial_count;
      report_.overlap_divergence_count += outputs_differ(program_, issue_image_, *image);
      if (has_hazard_ || *image == issue_image_) continue;
      return disagree(
          "Overlap mode leaves other bytes on {} than {} (trial {} of {}), although no check finds a hazard.",
          options_.backend->name(), name_of_reference_order(needs_queue_order(program_)), i + 1,
          options_.overlap_trial_count);
    }
  }

  // What each dispatch finds and leaves is what the program up to it leaves, without and with it.
  void judge_numbers(Choice& choice) {
    const uint64_t dispatch_count = program_.dispatches.size();
    const uint64_t count = std::min<uint64_t>(dispatch_count, kDispatchesJudgedMax);
    const uint64_t first = choice.below(dispatch_count - count + 1);
    const Arithmetic arithmetic = arithmetic_of(options_.backend->capabilities());
    std::optional<MemoryImage> before;
    for (uint64_t i = first; i <= first + count; ++i) {
      const Program prefix = prefix_of(program_, i);
      std::optional<MemoryImage> after = taken(
          options_.backend->run(prefix, reference_order_schedule(prefix), ExecutionMode::kWitness));
      if (!after) return;
      if (before) {
        const auto check =
            check_against_oracle(program_, DispatchId{i - 1}, *before, *after, arithmetic);
        INTERLOCK_CHECK(check.has_value());
        ++report_.judged_dispatch_count;
        report_.bound_ratio_max = std::max(report_.bound_ratio_max, check->ratio_max);
        if (check->mismatch) {
          return disagree("On {}: {}", options_.backend->name(), check->mismatch->message);
        }
      }
      before = std::move(after);
    }
  }

  // What the device leaves; nothing, and why in the report, if it leaves nothing.
  std::optional<MemoryImage> image_after(const Schedule& schedule, ExecutionMode mode) {
    return taken(options_.backend->run(program_, schedule, mode));
  }

  std::optional<MemoryImage> taken(Result<MemoryImage> image) {
    if (image) return std::move(image).value();
    const Error& error = image.error();
    switch (error.kind) {
      case ErrorKind::kRefused:
        report_.is_refused = true;
        break;
      case ErrorKind::kFault:
        disagree("On {}: {}", options_.backend->name(), error.message);
        break;
      case ErrorKind::kOther:
        report_.failure = error.message;
    }
    return std::nullopt;
  }

  bool has_answered() const { return report_.failure.empty() && !report_.is_refused; }
  bool is_over() const { return !has_answered() || !report_.disagreements.empty(); }
  template <typename... Arguments>
  void disagree(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    report_.disagreements.push_back(fmt::format(text, std::forward<Arguments>(arguments)...));
  }

  const Program& program_;
  const DeviceOracleOptions& options_;
  bool has_hazard_ = false;
  bool is_reordered_ = false;
  bool rounds_otherwise_ = false;  // Than the CPU does.
  ShadowResult shadow_of_issue_;
  MemoryImage issue_image_;
  DeviceReport report_;
};

std::mutex device_turn;

}  // namespace

DeviceReport judge_on_device(const Program& program, const HappensBefore& order,
                             const std::vector<Fact>& facts, const DeviceOracleOptions& options,
                             uint64_t number) {
  const std::lock_guard turn(device_turn);
  SeededChoice choice(number * 0x9e3779b97f4a7c15ull + 2);
  const std::vector<DeviceSchedule> schedules =
      deciding_schedules(program, order, facts, options.sink_count_max, choice);
  const bool judges_numbers = options.numbers_period > 0 && number % options.numbers_period == 0;
  return DeviceJudge(program, facts, options).judge(schedules, judges_numbers ? &choice : nullptr);
}

DeviceReport judge_on_device(const Program& program, const std::vector<Fact>& facts,
                             const std::vector<DeviceSchedule>& schedules,
                             const DeviceOracleOptions& options) {
  const std::lock_guard turn(device_turn);
  return DeviceJudge(program, facts, options).judge(schedules, nullptr);
}

}  // namespace interlock
