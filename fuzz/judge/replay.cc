#include "fuzz/judge/replay.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "backends/reference/float64_execution.h"
#include "backends/reference/reference.h"
#include "backends/reference/values_apart.h"
#include "encoder/program/check.h"
#include "encoder/program/draft.h"
#include "fuzz/judge/findings.h"
#include "fuzz/judge/pass_chain.h"
#include "simulator/order/happens_before.h"
#include "simulator/order/queue_order.h"
#include "simulator/order/reference_order.h"
#include "simulator/schedules/displacements.h"

namespace interlock {
namespace {

// An element as a number for the report; equality is judged on its bytes.
double value_of(DType dtype, const uint8_t* bytes) {
  switch (dtype) {
    case DType::kF32: {
      float value;
      std::memcpy(&value, bytes, sizeof value);
      return value;
    }
    case DType::kI32: {
      int32_t value;
      std::memcpy(&value, bytes, sizeof value);
      return value;
    }
    case DType::kU8:
      return *bytes;
  }
  return 0;
}

OutputComparison compare(std::span<const uint8_t> expected, std::span<const uint8_t> actual,
                         DType dtype) {
  OutputComparison result;
  const uint64_t element_bytes = size_bytes_of(dtype);
  INTERLOCK_CHECK(expected.size() == actual.size());
  result.element_count = expected.size() / element_bytes;
  for (uint64_t i = 0; i < result.element_count; ++i) {
    const uint8_t* a = expected.data() + i * element_bytes;
    const uint8_t* b = actual.data() + i * element_bytes;
    if (std::memcmp(a, b, element_bytes) == 0) continue;
    const double reference_value = value_of(dtype, a);
    const double witness_value = value_of(dtype, b);
    if (result.differing_count++ == 0) {
      result.first_differing = i;
      result.reference_value = reference_value;
      result.witness_value = witness_value;
    }
    const double difference = std::fabs(reference_value - witness_value);
    if (difference > result.max_abs_difference) result.max_abs_difference = difference;
  }
  return result;
}

std::span<const uint8_t> image_bytes(const MemoryImage& image, MemoryId memory, ByteRange range) {
  const std::vector<uint8_t>& bytes = image.memories[memory.index];
  INTERLOCK_CHECK(range.end <= bytes.size());
  return std::span(bytes).subspan(range.begin, range.size_bytes());
}

// The result that runs are compared with, as messages name it. It looks at the whole program: to
// be asked once, and not for each output.
std::string_view reference_name(const Program& program) {
  if (harms_values(program) && with_values_apart(program))
    return "a run whose values have bytes of their own";
  if (!program.lifetimes.empty()) return "a run whose values last";
  if (program.has_program_order) return "program order";
  return name_of_reference_order(needs_queue_order(program));
}

std::string text_of_number(DType dtype, double value) {
  return dtype == DType::kF32 ? fmt::format("{}", static_cast<float>(value))
                              : fmt::format("{}", value);
}

std::string schedule_text(const Program& program) {
  std::string text;
  for (const Displacement& displacement : program.witness) {
    text += text.empty() ? "" : ", then ";
    text += text_of(program, displacement);
  }
  return text;
}

// "gb", "look (host reads)"
std::string name_of(const Program& program, const OutputComparison& c) {
  if (c.host_read.is_some()) return "what " + program.description_of(c.host_read) + " reads";
  return std::string(program.name(c.tensor.is_some() ? program.tensor(c.tensor).name
                                                     : program.memory(c.memory).name));
}

std::string sentence_of(const Program& program, const OutputComparison& c,
                        std::string_view reference) {
  const bool is_tensor = c.tensor.is_some();
  const std::string name = name_of(program, c);
  const std::string_view unit = is_tensor ? "values" : "bytes";
  if (c.differing_count == 0) {
    return fmt::format("All {} {} of {} agree.", c.element_count, unit, name);
  }
  const DType dtype = is_tensor ? program.tensor(c.tensor).dtype : DType::kU8;
  return fmt::format(
      "{} of {} {} of {} differ: {} is {} in {} and {} here; the largest difference is {}.",
      c.differing_count, c.element_count, unit, name,
      c.host_read.is_some() ? fmt::format("number {}", c.first_differing)
                            : fmt::format("{}[{}]", name, c.first_differing),
      text_of_number(dtype, c.reference_value), reference, text_of_number(dtype, c.witness_value),
      text_of_number(dtype, c.max_abs_difference));
}

std::vector<std::string> output_sentences(const Program& program,
                                          const std::vector<OutputComparison>& comparisons,
                                          std::string_view reference) {
  std::vector<std::string> sentences;
  for (const OutputComparison& c : comparisons) {
    sentences.push_back(sentence_of(program, c, reference));
  }
  return sentences;
}

ReplayReport report_of(const Program& program, std::vector<OutputComparison> outputs,
                       const std::string& schedule, std::string_view backend) {
  ReplayReport report;
  uint64_t differing_outputs = 0;
  for (const OutputComparison& c : outputs) differing_outputs += c.differing_count > 0;
  const std::string_view reference = reference_name(program);
  report.details = output_sentences(program, outputs, reference);
  report.diverges = differing_outputs > 0;
  const bool is_tensors = !program.outputs.empty() || !program.host_dispatches.empty();
  if (report.diverges) {
    report.headline =
        fmt::format("It still fails on {}: with {}, {} of {} {} {} from {}.", backend, schedule,
                    differing_outputs, outputs.size(), is_tensors ? "outputs" : "memories",
                    differing_outputs == 1 ? "differs" : "differ", reference);
  } else {
    report.headline = fmt::format("It no longer fails on {}: with {}, every {} equals {}.", backend,
                                  schedule, is_tensors ? "output" : "memory", reference);
  }
  report.outputs = std::move(outputs);
  return report;
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

Result<ReplayReport> run_both(const Program& program, const Schedule& schedule, Backend& backend,
                              const std::string& schedule_words) {
  auto reference = reference_image(program, backend);
  if (!reference) {
    return Error{reference.error().message + "\n  - While running the reference."};
  }
  auto other = backend.run(program, schedule, ExecutionMode::kWitness);
  if (!other) {
    return Error{other.error().message + "\n  - While running the witness.", other.error().kind};
  }
  return report_of(program, compare_outputs(program, *reference, *other), schedule_words,
                   backend.name());
}

// Larger programs are not judged beside the run of a witness.
constexpr size_t kJudgedDispatches = 100'000;

bool still_has_hazard(const Program& program) {
  if (program.dispatches.size() > kJudgedDispatches) return false;
  return std::ranges::any_of(find_exactly(program),
                             [](const Fact& fact) { return std::holds_alternative<Hazard>(fact); });
}

}  // namespace

std::string text_of_element(DType dtype, const uint8_t* bytes) {
  return text_of_number(dtype, value_of(dtype, bytes));
}

std::vector<std::string> sentences_of(const Program& program,
                                      const std::vector<OutputComparison>& comparisons) {
  return output_sentences(program, comparisons, reference_name(program));
}

OutputComparison compare_output(const Program& other, const MemoryImage& other_image,
                                TensorId other_tensor, const Program& reference,
                                const MemoryImage& reference_image, TensorId reference_tensor) {
  const Tensor& a = reference.tensor(reference_tensor);
  const Tensor& b = other.tensor(other_tensor);
  OutputComparison result = compare(image_bytes(reference_image, a.memory, a.range),
                                    image_bytes(other_image, b.memory, b.range), b.dtype);
  result.memory = b.memory;
  result.tensor = other_tensor;
  return result;
}

std::vector<OutputComparison> compare_outputs(const Program& program, const MemoryImage& reference,
                                              const MemoryImage& other) {
  std::vector<OutputComparison> outputs;
  for (const TensorId id : program.outputs) {
    outputs.push_back(compare_output(program, other, id, program, reference, id));
  }
  for (size_t i = 0; program.outputs.empty() && i < program.memories.size(); ++i) {
    outputs.push_back(compare(reference.memories[i], other.memories[i], DType::kU8));
    outputs.back().memory = MemoryId{i};
  }
  for (size_t i = 0; i < program.host_dispatches.size(); ++i) {
    const DispatchId id = program.host_dispatches[i];
    if (program.dispatch(id).host != HostAccess::kReads) continue;
    const auto accesses = program.accesses_of(id);
    const TensorId tensor = accesses.size() == 1 ? accesses.front().tensor : TensorId();
    const DType dtype =
        tensor.is_some() && !accesses.front().is_sliced ? program.tensor(tensor).dtype : DType::kU8;
    outputs.push_back(compare(reference.host_reads[i], other.host_reads[i], dtype));
    if (dtype != DType::kU8) outputs.back().tensor = tensor;
    outputs.back().host_read = id;
  }
  return outputs;
}

bool outputs_differ(const Program& program, const MemoryImage& reference,
                    const MemoryImage& other) {
  if (program.outputs.empty()) return !(reference == other);
  if (reference.host_reads != other.host_reads) return true;
  return std::ranges::any_of(program.outputs, [&](TensorId id) {
    const Tensor& tensor = program.tensor(id);
    return !std::ranges::equal(image_bytes(reference, tensor.memory, tensor.range),
                               image_bytes(other, tensor.memory, tensor.range));
  });
}

Result<ReplayReport> replay(const Program& program, Backend& backend) {
  if (program.witness.empty()) {
    return Error{"The program has no witness line, so there is nothing to replay."};
  }
  const HappensBefore order(program);
  auto schedule = schedule_of(program, order, program.witness);
  if (!schedule) {
    return Error{schedule.error().message + "\n  - While applying the witness lines."};
  }
  auto report = run_both(program, *schedule, backend, schedule_text(program));
  if (report && !report->diverges && still_has_hazard(program)) {
    report->details.push_back(
        "The program still has a hazard all the same (interlock check): what the kernels write "
        "happens to be equal here, or no output depends on it.");
  }
  return report;
}

Result<ReplayReport> replay(const Program& program, const Schedule& schedule, Backend& backend) {
  const HappensBefore order(program);
  auto legal = check_legal(program, order, schedule);
  if (!legal) return legal.error();
  return run_both(program, schedule, backend,
                  schedule != reference_order_schedule(program)
                      ? "this schedule"
                      : std::string(name_of_reference_order(order.has_queues())));
}

Result<ReplayReport> replay_gradients(const Program& program,
                                      const std::vector<GradientFinding>& wrong, Backend& backend) {
  const Program reference = with_backward_mode(program, kDefaultBackwardMode).value();
  const auto expected =
      backend.run(reference, reference_order_schedule(reference), ExecutionMode::kWitness);
  if (!expected) return Error{expected.error().message + "\n  - While running one-shot."};
  const auto actual =
      backend.run(program, reference_order_schedule(program), ExecutionMode::kWitness);
  if (!actual) return Error{actual.error().message + "\n  - While running the backward pass."};

  ReplayReport report;
  uint64_t differing_count = 0;
  std::optional<Result<Float64Image>> in_float64;  // Executed when something differs.
  for (const GradientFinding& finding : wrong) {
    for (size_t i = 0; i < program.backwards.size(); ++i) {
      const std::vector<TensorId>& gradients = program.backwards[i].gradients;
      const auto found = std::ranges::find(gradients, finding.gradient);
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
                "It still fails on {}: in {}, {} of {} wrong gradients {} from {} of the backward pass one-shot.",
                backend.name(), name_of_reference_order(needs_queue_order(program)),
                differing_count, report.outputs.size(), differing_count == 1 ? "differs" : "differ",
                differing_count == 1 ? "that" : "those")
          : fmt::format("On {} the wrong gradients have the numbers of the right ones.",
                        backend.name());
  return report;
}

}  // namespace interlock
