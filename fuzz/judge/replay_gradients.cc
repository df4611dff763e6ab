#include "fuzz/judge/replay_gradients.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "backends/reference/float64_execution.h"
#include "encoder/assemble/build.h"
#include "encoder/program/check.h"
#include "encoder/program/draft.h"
#include "fuzz/judge/evidence.h"
#include "simulator/schedules/schedule.h"

namespace interlock {
namespace {

// Expectations and witnesses may name dispatches that only the other pass has.
Program with_one_shot(const Program& program) {
  ProgramDraft draft = without_evidence(draft_of(program));
  for (ItemDraft& item : draft.items) {
    if (auto* backward = std::get_if<BackwardDraft>(&item)) backward->mode = kDefaultBackwardMode;
  }
  Result<Program> built = build(draft);
  INTERLOCK_CHECK(built.has_value());
  return std::move(built).value();
}

// Larger programs are not executed in float64: that takes about ten times as long.
constexpr uint64_t kFloat64Bytes = 4u << 20;

// `exact` is the gradient by the pass one-shot in float64, if that is known.
std::string sentence_of_gradient(const Program& program, const OutputComparison& c,
                                 const std::vector<double>* exact) {
  const std::string_view name = program.name(program.tensor(c.tensor).name);
  if (c.differing_count == 0) {
    return fmt::format("All {} values of {} agree.", c.element_count, name);
  }
  return fmt::format(
      "{} of {} values of {} differ: {}[{}] is {} with one-shot{} and {} here; the largest difference is {}.",
      c.differing_count, c.element_count, name, name, c.first_differing,
      static_cast<float>(c.reference_value),
      exact == nullptr
          ? ""
          : fmt::format(" ({} in float64)", static_cast<float>((*exact)[c.first_differing])),
      static_cast<float>(c.witness_value), static_cast<float>(c.max_abs_difference));
}

}  // namespace

Result<ReplayReport> replay_gradients(const Program& program,
                                      const std::vector<GradientFinding>& wrong, Backend& backend) {
  const Program reference = with_one_shot(program);
  const auto expected =
      backend.run(reference, issue_order_schedule(reference), ExecutionMode::kWitness);
  if (!expected) return Error{expected.error().message + "\n  - While running one-shot."};
  const auto actual = backend.run(program, issue_order_schedule(program), ExecutionMode::kWitness);
  if (!actual) return Error{actual.error().message + "\n  - While running the backward pass."};

  ReplayReport report;
  uint64_t differing_count = 0;
  std::optional<Result<Float64Image>> in_float64;  // Executed when something differs.
  for (const GradientFinding& finding : wrong) {
    for (size_t i = 0; i < program.backwards.size(); ++i) {
      const std::vector<TensorId>& gradients = program.backwards[i].gradients;
      const auto found = std::find(gradients.begin(), gradients.end(), finding.gradient);
      if (found == gradients.end()) continue;
      const auto k = static_cast<size_t>(found - gradients.begin());
      const TensorId right = reference.backwards[i].gradients[k];
      report.outputs.push_back(
          compare_output(program, *actual, finding.gradient, reference, *expected, right));
      const bool differs = report.outputs.back().differing_count > 0;
      if (differs && !in_float64) in_float64 = execute_in_float64(reference, kFloat64Bytes);
      std::vector<double> exact;
      if (differs && *in_float64) exact = values_of(reference, **in_float64, right);
      report.details.push_back(
          sentence_of_gradient(program, report.outputs.back(), exact.empty() ? nullptr : &exact));
      differing_count += differs ? 1 : 0;
    }
  }
  report.diverges = differing_count > 0;
  report.headline =
      report.diverges
          ? fmt::format(
                "It still fails on {}: in issue order, {} of {} wrong gradients {} from {} of the backward pass one-shot.",
                backend.name(), differing_count, report.outputs.size(),
                differing_count == 1 ? "differs" : "differ",
                differing_count == 1 ? "that" : "those")
          : fmt::format("On {} the wrong gradients have the numbers of the right ones.",
                        backend.name());
  return report;
}

}  // namespace interlock
