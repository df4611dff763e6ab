#include "tests/backends/kernels/number_case.h"

#include <algorithm>
#include <random>

#include <fmt/format.h>

#include "encoder/kernel/kernel_table.h"

namespace interlock {
namespace {

constexpr const char* kNames[] = {"unit", "tiny", "huge", "mixed", "shifted", "bits"};

uint64_t element_count_of(const CaseOperand& operand) {
  return operand.size_bytes() / sizeof(float);
}

// Scales runs of a few elements each, within rows and across them.
std::string mixed(const CaseOperand& operand, std::mt19937& generator) {
  constexpr uint64_t kRunCountMax = 12;
  const uint64_t count = element_count_of(operand);
  const uint64_t run_length = std::max<uint64_t>(3, count / kRunCountMax | 1);
  std::string text;
  for (uint64_t begin = 0; begin < count; begin += run_length) {
    const std::string name = fmt::format("{}_from_{}", operand.name, begin);
    text += fmt::format("tensor {} f32[{}] view {}+{}\n", name, std::min(run_length, count - begin),
                        operand.name, begin * sizeof(float));
    const int exponent = static_cast<int>(generator() % 41) - 20;
    text += fmt::format("dispatch scale reads {0} writes {0} factor=1e{1}\n", name, exponent);
  }
  return text;
}

// The constant has a memory of its own.
std::string shifted(const CaseOperand& operand) {
  const std::string& name = operand.name;
  return fmt::format(
      "memory shift_memory_{0} {1}\n"
      "tensor shift_{0} f32[{2}] at shift_memory_{0}+0 = ones\n"
      "tensor flat_{0} f32[{2}] view {0}+0\n"
      "dispatch scale reads shift_{0} writes shift_{0} factor=1000\n"
      "barrier\n"
      "dispatch add reads flat_{0} shift_{0} writes flat_{0}\n",
      name, operand.size_bytes(), element_count_of(operand));
}

std::string preparation_of(const CaseOperand& operand, const NumberCase& c,
                           std::mt19937& generator) {
  const std::string& name = operand.name;
  if (operand.dtype != DType::kF32 && c.magnitudes != Magnitudes::kBits) return "";
  switch (c.magnitudes) {
    case Magnitudes::kUnit:
      return "";
    case Magnitudes::kTiny:
      return fmt::format("dispatch scale reads {0} writes {0} factor=1e-20\n", name);
    case Magnitudes::kHuge:
      return fmt::format("dispatch scale reads {0} writes {0} factor=1e20\n", name);
    case Magnitudes::kMixed:
      return mixed(operand, generator);
    case Magnitudes::kShifted:
      return shifted(operand);
    case Magnitudes::kBits:
      return fmt::format("bits_{0}_{1}: dispatch Bits writes {0}\n", name, c.seed);
  }
  return "";
}

uint64_t odd_below(std::mt19937& generator, uint32_t limit) { return generator() % limit | 1; }

}  // namespace

std::ostream& operator<<(std::ostream& out, const NumberCase& c) {
  return out << c.kernel << " " << kNames[static_cast<size_t>(c.magnitudes)] << " seed=" << c.seed;
}

PreparedCase prepared(const KernelCase& c, const std::string& preparation) {
  const CaseText text = text_of(c);
  const std::string before = text.declarations + preparation + "barrier\n";
  return {parsed(before), parsed(before + text.dispatch)};
}

PreparedCase prepared(const NumberCase& c) {
  std::mt19937 generator(c.seed);
  std::string preparation;
  for (const CaseOperand& operand : operands_of(c.kernel)) {
    if (operand.is_input()) preparation += preparation_of(operand, c, generator);
  }
  return prepared(c.kernel, preparation);
}

std::vector<KernelCase> random_shapes(const std::string& kernel, uint32_t seed) {
  std::mt19937 generator(seed);
  const auto odd = [&](uint32_t limit) { return odd_below(generator, limit); };
  const uint64_t inner = odd(90);
  return {{kernel, 1, odd(400), inner},        {kernel, odd(400), 1, inner},
          {kernel, odd(12), odd(12), odd(12)}, {kernel, 150 + odd(200), odd(9), odd(9)},
          {kernel, odd(20), 90 + odd(200), 1}, {kernel, odd(40), odd(40), 30 + odd(200)}};
}

std::vector<NumberCase> number_cases() {
  std::vector<NumberCase> cases;
  uint32_t seed = 0;
  for (const KernelEntry& entry : kernel_table()) {
    if (entry.is_variadic) continue;
    for (const Magnitudes magnitudes : kAllMagnitudes) {
      ++seed;
      for (const KernelCase& shape : random_shapes(std::string(entry.name), seed)) {
        cases.push_back({shape, magnitudes, seed});
      }
    }
  }
  return cases;
}

}  // namespace interlock
