#include "fuzz/judge/gradient_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "backends/reference/float64_execution.h"
#include "encoder/assemble/build.h"
#include "encoder/program/check.h"
#include "encoder/program/draft.h"
#include "simulator/gradients/gradient_check.h"
#include "simulator/report/explain.h"
#include "simulator/report/report.h"

namespace interlock {
namespace {

// The largest magnitude that is a number.
double largest_in(const Float64Image& image) {
  double largest = 0;
  for (const std::vector<double>& words : image.memories) {
    for (const double word : words) {
      if (std::isfinite(word)) largest = std::max(largest, std::abs(word));
    }
  }
  return largest;
}

std::optional<std::string> sentence_about(std::string_view name, const std::vector<double>& actual,
                                          const std::vector<double>& expected, double tolerance) {
  INTERLOCK_CHECK(actual.size() == expected.size());
  size_t count = 0;
  size_t first = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    if (!std::isfinite(expected[i]) || std::abs(actual[i] - expected[i]) <= tolerance) continue;
    if (count++ == 0) first = i;
  }
  if (count == 0) return std::nullopt;
  return fmt::format(
      "{} of {} values of {} differ from those of one-shot in float64: {}[{}] is {} there and {} "
      "here.",
      count, expected.size(), name, name, first, static_cast<float>(expected[first]),
      static_cast<float>(actual[first]));
}

// Without what names tensors that are outputs already.
ItemDraft without_outputs(ItemDraft item, const std::set<std::string>& outputs) {
  if (auto* output = std::get_if<OutputDraft>(&item)) {
    std::erase_if(output->tensors,
                  [&](const std::string& name) { return outputs.count(name) > 0; });
  }
  return item;
}

bool is_empty_output(const ItemDraft& item) {
  const auto* output = std::get_if<OutputDraft>(&item);
  return output != nullptr && output->tensors.empty();
}

std::set<std::string> output_names(const Program& program) {
  std::set<std::string> names;
  for (const TensorId id : program.outputs) {
    names.emplace(program.name(program.tensor(id).name));
  }
  return names;
}

}  // namespace

std::optional<std::string> differing_numbers(const AppendedBackward& appended,
                                             const AppendedBackward& reference) {
  const auto actual = execute_in_float64(appended.program, kGradientNumbersBytes);
  const auto expected = execute_in_float64(reference.program, kGradientNumbersBytes);
  if (!actual || !expected) return std::nullopt;
  const double tolerance = 1e-9 * std::max(largest_in(*actual), largest_in(*expected));
  for (size_t i = 0; i < appended.pass.gradients.size(); ++i) {
    const TensorId gradient = appended.pass.gradients[i];
    auto sentence = sentence_about(
        appended.program.name(appended.program.tensor(gradient).name),
        values_of(appended.program, *actual, gradient),
        values_of(reference.program, *expected, reference.pass.gradients[i]), tolerance);
    if (sentence) return sentence;
  }
  return std::nullopt;
}

std::optional<std::string> wrong_gradients(const AppendedBy& by) {
  const Program& program = by.appended.program;
  const GradientReport report = check_gradients(program, {by.appended.pass});
  std::string text;
  for (const GradientFinding& finding : report.findings) {
    if (!text.empty()) text += '\n';
    text += text_of_finding(program, explain_gradient(program, finding), "-");
  }
  while (text.ends_with('\n')) text.pop_back();
  if (!text.empty()) return text;
  return differing_numbers(by.appended, by.reference.value());
}

Result<Encoding> with_backward_of_others(const Program& program, const BackwardEntry& backward) {
  ProgramDraft written;
  std::set<std::string> outputs;
  for (ItemDraft& item : without_evidence(draft_of(program)).items) {
    const auto* request = std::get_if<BackwardDraft>(&item);
    if (request == nullptr) {
      ItemDraft rest = without_outputs(std::move(item), outputs);
      if (!is_empty_output(rest)) written.items.push_back(std::move(rest));
      continue;
    }
    const auto given = build(written);
    if (!given) return given.error();
    auto by = append_backward_by(*given, *request, backward);
    if (!by) return by.error();
    if (by->failure) return Encoding{{}, std::move(by->failure), {}};
    if (auto wrong = wrong_gradients(*by)) {
      return Encoding{{}, EncodeFailure{EncodeFailureKind::kWrongGradient, std::move(*wrong)}, {}};
    }
    written = draft_of(by->appended.program);
    outputs = output_names(by->appended.program);
  }
  auto result = build(written);
  if (!result) return result.error();
  return Encoding{std::move(*result), std::nullopt, {}};
}

Program forward_of(const Program& program) {
  ProgramDraft forward;
  for (ItemDraft& item : without_evidence(draft_of(program)).items) {
    if (std::holds_alternative<BackwardDraft>(item)) break;
    forward.items.push_back(std::move(item));
  }
  return build(forward).value();
}

}  // namespace interlock
