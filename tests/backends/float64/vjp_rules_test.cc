// VJP rules against the definition of a gradient: central differences and the adjoint identity in
// float64, by the oracles of the kernels; then the same dispatches as a program, in float32.
#include "encoder/backward/vjp_rules.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "backends/float64/kernel_oracles.h"
#include "encoder/sync/encoder.h"
#include "simulator/report/check.h"
#include "tests/backends/kernels/kernel_case.h"

namespace interlock::vjp_rules_test {
namespace {

using Shape = std::vector<uint64_t>;

// A forward dispatch and its group, as a program with a full barrier between any two dispatches.
struct Backward {
  KernelCase c;
  const VjpRule* rule;
  DispatchDraft forward;
  std::vector<DispatchDraft> group;
  std::map<std::string, Shape> shapes;
  Program program;
};

std::string backward_name(VjpValue value) {
  constexpr std::string_view kNames[] = {"", "g", "dx", "t"};
  return fmt::format("{}{}", kNames[static_cast<size_t>(value.kind)], value.index);
}

std::string text_of(const Shape& shape, DType dtype) {
  std::string text;
  for (const uint64_t extent : shape) text += fmt::format("{}{}", text.empty() ? "" : ",", extent);
  return fmt::format("{}[{}]", word_of(dtype), text);
}

// "dispatch matmul_nt reads g2 b writes dx0"
std::string text_of(const DispatchDraft& dispatch) {
  std::string text = "dispatch " + dispatch.kernel;
  AccessMode mode = AccessMode::kUniform;
  for (const OperandDraft& operand : dispatch.operands) {
    if (operand.mode != mode) text += fmt::format(" {}", clause_of(operand.mode));
    mode = operand.mode;
    text += " " + operand.name;
  }
  for (const auto& [key, value] : dispatch.attributes) text += fmt::format(" {}={}", key, value);
  return text + "\n";
}

// `separator` stands in front of every dispatch of the group.
Backward backward_of(const KernelCase& c, const std::string& separator = "barrier\n") {
  Backward b{c, find_vjp_rule(c.kernel), {}, {}, {}, {}};
  for (const ItemDraft& item : draft_of(program_of(c)).items) {
    if (const auto* dispatch = std::get_if<DispatchDraft>(&item)) b.forward = *dispatch;
  }
  const std::vector<CaseOperand> operands = operands_of(c);
  std::string text = "interlock 1\n";
  const auto declare = [&](const std::string& name, const Shape& shape, const std::string& value,
                           DType dtype = DType::kF32) {
    b.shapes[name] = shape;
    uint64_t size_bytes = 4;
    for (const uint64_t extent : shape) size_bytes *= extent;
    text += fmt::format("memory m_{} {}\ntensor {} {} at m_{}+0{}\n", name, size_bytes, name,
                        text_of(shape, dtype), name, value);
  };
  for (size_t i = 0; i < operands.size(); ++i) {
    const int position = static_cast<int>(i);
    const bool is_output = operands[i].is_output;
    if (operands[i].dtype == DType::kI32) {
      declare(operands[i].name, operands[i].shape, " = iota", DType::kI32);
      continue;  // No gradient.
    }
    declare(operands[i].name, operands[i].shape,
            is_output ? "" : fmt::format(" = random({})", i + 1));
    const VjpValueKind kind = is_output ? VjpValueKind::kCotangent : VjpValueKind::kGradient;
    declare(backward_name({kind, position}), operands[i].shape,
            is_output ? fmt::format(" = random({})", i + 10) : "");
  }
  for (size_t i = 0; i < b.rule->intermediate_shapes.size(); ++i) {
    declare(backward_name({VjpValueKind::kIntermediate, static_cast<int>(i)}),
            operands[static_cast<size_t>(b.rule->intermediate_shapes[i])].shape, "");
  }
  b.group = vjp_group(*b.rule, b.forward, inputs_of(*b.rule), backward_name);
  text += text_of(b.forward);
  for (const DispatchDraft& dispatch : b.group) text += separator + text_of(dispatch);
  b.program = parsed(text);
  return b;
}

std::vector<Backward> backwards() {
  std::vector<Backward> all;
  for (const VjpRule& rule : vjp_rules()) {
    for (const auto& [rows, cols] :
         {std::pair<uint64_t, uint64_t>{1, 1}, {1, 5}, {3, 1}, {4, 3}, {2, 37}}) {
      all.push_back(backward_of({std::string(rule.kernel), rows, cols, 3}));
    }
  }
  return all;
}

using Values = std::map<std::string, Doubles>;

OracleShape oracle_shape(const Backward& b, const DispatchDraft& dispatch) {
  const auto extent = [&](size_t operand, size_t i) {
    return b.shapes.at(dispatch.operands[operand].name)[i];
  };
  const std::string& kernel = dispatch.kernel;
  if (kernel == "concat") return {extent(0, 0), extent(1, 1), extent(0, 1)};
  if (kernel == "split") return {extent(1, 0), extent(2, 1), extent(1, 1)};
  if (kernel == "matmul_nn") return {extent(0, 0), extent(1, 1), extent(0, 1)};
  if (kernel == "matmul_nt") return {extent(0, 0), extent(1, 0), extent(0, 1)};
  if (kernel == "matmul_tn") return {extent(0, 1), extent(1, 1), extent(0, 0)};
  if (kernel.starts_with("embedding")) return {extent(2, 0), extent(2, 1), extent(1, 0)};
  for (const OperandDraft& operand : dispatch.operands) {
    const Shape& shape = b.shapes.at(operand.name);
    if (shape.size() == 2) return {shape[0], shape[1], 1};
  }
  return {1, b.shapes.at(dispatch.operands[0].name)[0], 1};
}

std::vector<OracleTensor> oracles_of(const Backward& b, const DispatchDraft& dispatch,
                                     const Values& values) {
  std::vector<Doubles> inputs;
  for (const OperandDraft& operand : dispatch.operands) {
    if (operand.mode == AccessMode::kRead) inputs.push_back(values.at(operand.name));
  }
  if (dispatch.kernel == "copy") {
    OracleTensor copied;
    for (const double v : inputs[0]) copied.push_back({v, 0});
    return {copied};
  }
  return find_kernel_oracle(dispatch.kernel)({inputs, oracle_shape(b, dispatch),
                                              oracle_attributes_of({dispatch.kernel}),
                                              kIeeeArithmetic});
}

// Executes the dispatch in float64.
void execute(const Backward& b, const DispatchDraft& dispatch, Values& values) {
  const std::vector<OracleTensor> outputs = oracles_of(b, dispatch, values);
  size_t next = 0;
  for (const OperandDraft& operand : dispatch.operands) {
    if (operand.mode != AccessMode::kWrite) continue;
    Doubles written;
    for (const Rounded& v : outputs[next]) written.push_back(v.value);
    values[operand.name] = written;
    ++next;
  }
}

Values initial_values(const Backward& b) {
  const MemoryImage image = initial_image(b.program, kExecutionLimitBytes).value();
  Values values;
  for (const auto& [name, shape] : b.shapes) {
    values[name] = numbers_of(b.program, image, name);
  }
  return values;
}

Values float64_values(const Backward& b) {
  Values values = initial_values(b);
  execute(b, b.forward, values);
  for (const DispatchDraft& dispatch : b.group) execute(b, dispatch, values);
  for (const auto& [input, output] : b.rule->passes) {
    values[backward_name({VjpValueKind::kGradient, input})] =
        values.at(backward_name({VjpValueKind::kCotangent, output}));
  }
  return values;
}

// <g, f(values)>, the sum over all outputs.
double contracted(const Backward& b, Values values) {
  execute(b, b.forward, values);
  double sum = 0;
  const std::vector<CaseOperand> operands = operands_of(b.c);
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!operands[i].is_output) continue;
    const Doubles& y = values.at(operands[i].name);
    const Doubles& g = values.at(backward_name({VjpValueKind::kCotangent, static_cast<int>(i)}));
    for (size_t k = 0; k < y.size(); ++k) sum += y[k] * g[k];
  }
  return sum;
}

// Central differences are off by h^2 / 6 times a third derivative, here below 1e4, and by 2^-52 / h
// times a sum of some hundred terms of rounding.
constexpr double kStep = 1e-5;
constexpr double kDifferenceError = 1e-6;

TEST(VjpRules, AgreeWithCentralDifferences) {
  for (const Backward& b : backwards()) {
    SCOPED_TRACE(testing::PrintToString(b.c));
    const Values values = float64_values(b);
    for (const int input : inputs_of(*b.rule)) {
      const std::string& name = b.forward.operands[static_cast<size_t>(input)].name;
      const Doubles& gradient = values.at(backward_name({VjpValueKind::kGradient, input}));
      ASSERT_EQ(gradient.size(), values.at(name).size());
      for (size_t k = 0; k < gradient.size(); ++k) {
        Values plus = values;
        Values minus = values;
        plus[name][k] += kStep;
        minus[name][k] -= kStep;
        ASSERT_NEAR(gradient[k], (contracted(b, plus) - contracted(b, minus)) / (2 * kStep),
                    kDifferenceError)
            << name << "[" << k << "]";
      }
    }
  }
}

// <g, J v> = <VJP(g), v> for a direction v of all inputs at once.
TEST(VjpRules, AreAdjointToTheForwardDerivative) {
  for (const Backward& b : backwards()) {
    SCOPED_TRACE(testing::PrintToString(b.c));
    const Values values = float64_values(b);
    Values plus = values;
    Values minus = values;
    double pulled_back = 0;
    for (const int input : inputs_of(*b.rule)) {
      const std::string& name = b.forward.operands[static_cast<size_t>(input)].name;
      const Doubles& gradient = values.at(backward_name({VjpValueKind::kGradient, input}));
      for (size_t k = 0; k < gradient.size(); ++k) {
        const double v = std::sin(static_cast<double>(1 + input) + 7 * static_cast<double>(k));
        plus[name][k] += kStep * v;
        minus[name][k] -= kStep * v;
        pulled_back += gradient[k] * v;
      }
    }
    EXPECT_NEAR(pulled_back, (contracted(b, plus) - contracted(b, minus)) / (2 * kStep),
                10 * kDifferenceError);
  }
}

// Each dispatch of the program, within the bound of its kernel on the inputs that it had.
TEST(VjpRules, ComputeTheSameInFloat32) {
  for (const Backward& b : backwards()) {
    SCOPED_TRACE(testing::PrintToString(b.c));
    const MemoryImage image = image_after(b.program, reference_order_schedule(b.program));
    Values values;
    for (const auto& [name, shape] : b.shapes) {
      values[name] = numbers_of(b.program, image, name);
    }
    for (const DispatchDraft& dispatch : b.group) {
      const std::vector<OracleTensor> oracles = oracles_of(b, dispatch, values);
      size_t next = 0;
      for (const OperandDraft& operand : dispatch.operands) {
        if (operand.mode != AccessMode::kWrite) continue;
        const OracleTensor& oracle = oracles[next++];
        for (size_t k = 0; k < oracle.size(); ++k) {
          ASSERT_LE(std::fabs(values.at(operand.name)[k] - oracle[k].value), oracle[k].error)
              << dispatch.kernel << ": " << operand.name << "[" << k << "]";
        }
      }
    }
  }
}

// Only an intermediate makes one dispatch of a group wait for another.
TEST(VjpRules, OrderDispatchesByBytesAlone) {
  for (const VjpRule& rule : vjp_rules()) {
    SCOPED_TRACE(rule.kernel);
    const Backward b = backward_of({std::string(rule.kernel), 4, 3, 3}, "");
    const Program encoded = encode(b.program, *find_encoder("interlock")->create());
    EXPECT_TRUE(check(encoded).findings.empty());
    // One barrier after the forward dispatch where its output is saved, one for the intermediate.
    const std::vector<int> saved = saved_primals_of(rule, inputs_of(rule));
    size_t expected = rule.intermediate_shapes.size();
    for (const int operand : saved) {
      expected += operands_of(b.c)[static_cast<size_t>(operand)].is_output;
    }
    EXPECT_EQ(encoded.barriers.size(), expected);
  }
}

}  // namespace
}  // namespace interlock::vjp_rules_test
