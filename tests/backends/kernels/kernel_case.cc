#include "tests/backends/kernels/kernel_case.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <utility>

#include "backends/cpu/cpu_backend.h"
#include "backends/kernels/dialect.h"
#include "encoder/kernel/kernel_binding.h"
#include "encoder/kernel/kernel_table.h"
#include "encoder/program/check.h"
#include "encoder/text/parser.h"

namespace interlock {
namespace {

constexpr uint64_t kMarginBytes = 256;

std::string attribute_text(const KernelCase& c) {
  std::string text;
  for (const auto& [name, value] : attributes_of(c)) text += fmt::format(" {}={}", name, value);
  return text;
}

bool is_rope(const KernelCase& c) { return c.kernel.starts_with("rope"); }

bool has_inner_extent(std::string_view kernel) {
  return kernel.starts_with("matmul") || kernel.starts_with("embedding") || kernel == "concat" ||
         kernel == "split";
}

std::string shape_text(const CaseOperand& operand) {
  std::string text;
  for (const uint64_t extent : operand.shape) {
    text += fmt::format("{}{}", text.empty() ? "" : ",", extent);
  }
  return fmt::format("{}[{}]", word_of(operand.dtype), text);
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const KernelCase& c) {
  return out << fmt::format("{} rows={} cols={} inner={}", c.kernel, c.rows, c.cols, c.inner);
}

uint64_t CaseOperand::size_bytes() const {
  uint64_t count = 1;
  for (const uint64_t extent : shape) {
    count *= extent;
  }
  return count * sizeof(float);
}

std::vector<std::pair<std::string, double>> attributes_of(const KernelCase& c) {
  if (c.kernel == "fill") return {{"value", kCaseByte}};
  if (c.kernel == "scale") return {{"factor", kCaseFactor}};
  if (c.kernel == "sgd") return {{"lr", kCaseFactor}};
  if (c.kernel == "adamw") {
    return {{"lr", 0.5},      {"step", 3},   {"beta1", 0.75},
            {"beta2", 0.875}, {"eps", 0.25}, {"weight_decay", 0.125}};
  }
  if (c.kernel.find("norm") != std::string::npos) return {{"eps", double{kCaseEps}}};
  if (is_rope(c)) return {{"base", kCaseBase}, {"start", kCaseStart}};
  return {};
}

OracleAttributes oracle_attributes_of(const KernelCase& c) {
  OracleAttributes attributes;
  for (const auto& [name, value] : attributes_of(c)) {
    if (name == "factor" || name == "lr") attributes.factor = value;
    if (name == "eps") attributes.eps = value;
    if (name == "beta1") attributes.beta1 = value;
    if (name == "beta2") attributes.beta2 = value;
    if (name == "weight_decay") attributes.weight_decay = value;
    if (name == "step") attributes.step = static_cast<uint32_t>(value);
    if (name == "base") attributes.base = value;
    if (name == "start") attributes.start = value;
  }
  return attributes;
}

OracleShape oracle_shape_of(const KernelCase& c) {
  return {c.rows, is_rope(c) ? c.cols + c.cols % 2 : c.cols, c.inner};
}

std::vector<CaseOperand> operands_of(const KernelCase& c) {
  const std::vector<uint64_t> matrix = {c.rows, c.cols};
  const std::vector<uint64_t> row = {c.cols};
  const std::string& k = c.kernel;
  if (k == "fill") {
    return {{"y", true, matrix}};
  }
  if (k == "copy" || k == "scale" || k == "silu" || k == "softmax") {
    return {{"x", false, matrix}, {"y", true, matrix}};
  }
  if (k == "add" || k == "mul") {
    return {{"a", false, matrix}, {"b", false, matrix}, {"y", true, matrix}};
  }
  if (k == "silu_vjp") {
    return {{"x", false, matrix}, {"g", false, matrix}, {"gx", true, matrix}};
  }
  if (k == "accumulate") {
    return {{"g", false, matrix}, {"acc", true, matrix, true}};
  }
  if (k == "sgd") {
    return {{"g", false, matrix}, {"p", true, matrix, true}};
  }
  if (k == "adamw") {
    return {{"g", false, matrix},
            {"p", true, matrix, true},
            {"m", true, matrix, true},
            {"v", true, matrix, true}};
  }
  if (k == "concat" || k == "split") {
    const std::vector<uint64_t> first = {c.rows, c.inner};
    const std::vector<uint64_t> whole = {c.rows, c.inner + c.cols};
    if (k == "concat") return {{"a", false, first}, {"b", false, matrix}, {"y", true, whole}};
    return {{"g", false, whole}, {"ga", true, first}, {"gb", true, matrix}};
  }
  if (k == "transpose") {
    return {{"x", false, matrix}, {"y", true, {c.cols, c.rows}}};
  }
  if (k == "softmax_vjp" || k == "softmax_vjp_stream") {
    return {{"y", false, matrix}, {"g", false, matrix}, {"gx", true, matrix}};
  }
  if (k == "col_sum_vjp") {
    return {{"g", false, row}, {"gx", true, matrix}};
  }
  if (k == "row_sum_vjp") {
    return {{"g", false, {c.rows}}, {"gx", true, matrix}};
  }
  if (k == "col_sum") {
    return {{"x", false, matrix}, {"y", true, row}};
  }
  if (k == "row_sum") {
    return {{"x", false, matrix}, {"y", true, {c.rows}}};
  }
  if (k == "matmul_nn") {
    return {{"a", false, {c.rows, c.inner}}, {"b", false, {c.inner, c.cols}}, {"y", true, matrix}};
  }
  if (k == "matmul_nt") {
    return {{"a", false, {c.rows, c.inner}}, {"b", false, {c.cols, c.inner}}, {"y", true, matrix}};
  }
  if (k == "matmul_tn") {
    return {{"a", false, {c.inner, c.rows}}, {"b", false, {c.inner, c.cols}}, {"y", true, matrix}};
  }
  if (k == "rms_norm") {
    return {{"x", false, matrix}, {"w", false, row}, {"y", true, matrix}};
  }
  if (k == "layer_norm") {
    return {{"x", false, matrix}, {"w", false, row}, {"b", false, row}, {"y", true, matrix}};
  }
  if (k == "rms_norm_vjp" || k == "rms_norm_vjp_stream" || k == "layer_norm_vjp") {
    return {{"x", false, matrix},
            {"w", false, row},
            {"g", false, matrix},
            {"gx", true, matrix},
            {"gw_rows", true, matrix}};
  }
  if (k == "rope" || k == "rope_vjp") {
    const std::vector<uint64_t> pairs = {c.rows, oracle_shape_of(c).cols};
    return {{k == "rope" ? "x" : "g", false, pairs}, {k == "rope" ? "y" : "gx", true, pairs}};
  }
  if (k == "embedding") {
    return {{"ids", false, {c.rows}, false, DType::kI32},
            {"table", false, {c.inner, c.cols}, false, DType::kF32, true},
            {"y", true, matrix}};
  }
  if (k == "embedding_vjp") {
    return {{"ids", false, {c.inner}, false, DType::kI32},
            {"g", false, {c.inner, c.cols}, false, DType::kF32, true},
            {"gtable", true, matrix}};
  }
  if (k == "cross_entropy") {
    return {{"logits", false, matrix},
            {"labels", false, {c.rows}, false, DType::kI32},
            {"loss", true, {c.rows}}};
  }
  if (k == "cross_entropy_vjp") {
    return {{"logits", false, matrix},
            {"labels", false, {c.rows}, false, DType::kI32},
            {"gloss", false, {c.rows}},
            {"glogits", true, matrix}};
  }
  ADD_FAILURE() << "Kernel '" << k
                << "' has no operands here; every kernel of the table needs them.";
  return {};
}

std::vector<KernelCase> all_cases() {
  std::vector<KernelCase> cases;
  for (const KernelEntry& entry : kernel_table()) {
    if (entry.is_variadic) {
      continue;
    }
    for (const auto& [rows, cols] : {std::pair<uint64_t, uint64_t>{1, 1},
                                     {1, 67},
                                     {67, 1},
                                     {3, 5},
                                     {13, 33},
                                     {32, 64},
                                     {5, 131},
                                     {70, 19}}) {
      for (const uint64_t inner : {1, 7, 50}) {
        if (inner == 1 || has_inner_extent(entry.name)) {
          cases.push_back({std::string(entry.name), rows, cols, inner});
        }
      }
    }
  }
  return cases;
}

std::vector<KernelCase> one_case_per_kernel() {
  std::vector<KernelCase> cases;
  for (const KernelEntry& entry : kernel_table()) {
    if (!entry.is_variadic) {
      // A table has fewer rows than there are ids, so that ids meet again.
      const uint64_t inner = entry.name == "embedding"       ? 7
                             : entry.name == "embedding_vjp" ? 31
                                                             : 13;
      cases.push_back({std::string(entry.name), 13, 41, inner});
    }
  }
  return cases;
}

namespace {

// How the tensor of an input starts.
std::string initial_text(const KernelCase& c, const CaseOperand& operand, int seed) {
  const bool is_square = c.kernel == "adamw" && operand.name == "v";  // Not negative.
  return is_square || operand.dtype == DType::kI32 ? " = iota" : fmt::format(" = random({})", seed);
}

CaseText text_of(const KernelCase& c, const SharedPlaces& shared, bool is_apart) {
  std::string memories;
  std::string tensors;
  std::string clauses;
  std::string clause;
  std::map<std::string, std::string> initial;  // By input.
  for (const CaseOperand& operand : operands_of(c)) {
    const auto place = shared.find(operand.name);
    const bool is_shared = place != shared.end();
    const bool is_moved = is_shared && !is_apart;
    const std::string memory = "memory_" + (is_moved ? place->second.input : operand.name);
    const uint64_t offset_bytes =
        kMarginBytes + static_cast<uint64_t>(is_moved ? place->second.offset_bytes : 0);
    if (!is_moved) {
      memories += fmt::format("memory {} {}\n", memory, operand.size_bytes() + 2 * kMarginBytes);
    }
    tensors += fmt::format("tensor {} {} at {}+{}", operand.name, shape_text(operand), memory,
                           offset_bytes);
    if (operand.is_input() && !is_shared) {
      initial[operand.name] = initial_text(c, operand, static_cast<int>(initial.size()) + 1);
      tensors += initial[operand.name];
    } else if (operand.is_input() && is_apart) {
      tensors += initial.at(place->second.input);
    }
    tensors += "\n";
    const std::string own = operand.is_updated ? "updates" : operand.is_output ? "writes" : "reads";
    if (own != clause) clauses += " " + own;
    clause = own;
    clauses += " " + operand.name;
  }
  return {"interlock 1\n" + memories + tensors,
          fmt::format("dispatch {}{}{}\n", c.kernel, clauses, attribute_text(c))};
}

}  // namespace

CaseText text_of(const KernelCase& c, const SharedPlaces& shared) {
  return text_of(c, shared, false);
}

Program program_of(const KernelCase& c, const SharedPlaces& shared) {
  const CaseText text = text_of(c, shared);
  return parsed(text.declarations + text.dispatch);
}

Program program_apart(const KernelCase& c, const SharedPlaces& shared) {
  const CaseText text = text_of(c, shared, true);
  return parsed(text.declarations + text.dispatch);
}

Schedule slices_in_order(const std::vector<uint64_t>& slices) {
  Schedule schedule;
  for (const uint64_t slice : slices) {
    schedule.steps.push_back({StepKind::kRun, DispatchId{0}, static_cast<uint32_t>(slice), 1});
  }
  return schedule;
}

std::vector<uint64_t> ascending_slices(const Program& program) {
  std::vector<uint64_t> slices(slice_count_of(program, program.dispatches[0]));
  std::iota(slices.begin(), slices.end(), 0);
  return slices;
}

std::vector<uint64_t> descending_slices(const Program& program) {
  std::vector<uint64_t> slices = ascending_slices(program);
  std::reverse(slices.begin(), slices.end());
  return slices;
}

std::vector<uint64_t> shuffled_slices(const Program& program, uint32_t seed) {
  std::vector<uint64_t> slices = ascending_slices(program);
  std::mt19937 generator(seed);
  for (size_t i = slices.size(); i > 1; --i) {
    std::swap(slices[i - 1], slices[generator() % i]);
  }
  return slices;
}

MemoryImage image_after(const Program& program, const Schedule& schedule) {
  CpuBackend cpu;
  auto image = cpu.run(program, schedule, ExecutionMode::kWitness);
  if (!image) {
    ADD_FAILURE() << image.error().message;
    return {};
  }
  return std::move(*image);
}

std::vector<uint8_t> bytes_of(const Program& program, const MemoryImage& image,
                              std::string_view name) {
  for (const Tensor& tensor : program.tensors) {
    if (program.name(tensor.name) == name) {
      const uint8_t* memory = image.memories[tensor.memory.index].data();
      return {memory + tensor.range.begin, memory + tensor.range.end};
    }
  }
  for (size_t i = 0; i < program.memories.size(); ++i) {
    if (program.name(program.memories[i].name) == name) {
      return image.memories[i];
    }
  }
  ADD_FAILURE() << "no tensor or memory is named " << name;
  return {};
}

std::vector<float> values_of(const Program& program, const MemoryImage& image,
                             std::string_view name) {
  const std::vector<uint8_t> bytes = bytes_of(program, image, name);
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

Doubles numbers_of(const Program& program, const MemoryImage& image, std::string_view name) {
  const std::vector<uint8_t> bytes = bytes_of(program, image, name);
  const bool is_i32 =
      std::any_of(program.tensors.begin(), program.tensors.end(), [&](const Tensor& tensor) {
        return program.name(tensor.name) == name && tensor.dtype == DType::kI32;
      });
  Doubles numbers(bytes.size() / sizeof(uint32_t));
  for (size_t i = 0; i < numbers.size(); ++i) {
    uint32_t word;
    std::memcpy(&word, &bytes[i * sizeof word], sizeof word);
    numbers[i] = is_i32 ? static_cast<double>(word) : double{f32_of_bits(word)};
  }
  return numbers;
}

Program parsed(std::string_view text) {
  auto program = parse(text);
  if (!program) {
    ADD_FAILURE() << program.error().message << "\n" << text;
    return {};
  }
  return std::move(*program);
}

}  // namespace interlock
