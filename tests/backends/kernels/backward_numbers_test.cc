// Backward passes as numbers: those of PyTorch #180952; and on random programs the reference, which
// is the pass one-shot in float64, and the definition of a gradient, by central differences of the
// forward program in float64.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "backends/interface/backend.h"
#include "backends/reference/float64_execution.h"
#include "encoder/assemble/append_backward.h"
#include "encoder/backward/backward.h"
#include "encoder/sync/encoder.h"
#include "encoder/text/files.h"
#include "tests/backends/kernels/kernel_case.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/differentiable_programs.h"

namespace interlock::backward_numbers_test {
namespace {

using testing::ElementsAre;
using testing::FloatNear;

constexpr float kReported = 1e-6f;  // The report has two digits; f32 has seven.

std::vector<float> gradient_in(const Program& program, std::string_view name) {
  return values_of(program, image_after(program, reference_order_schedule(program)), name);
}

TEST(BackwardNumbers, AreThoseOfPytorch180952) {
  const Program bug = parse_file(INTERLOCK_SOURCE_DIR "/corpus/bugs/pytorch-180952.ilk").value();
  EXPECT_THAT(gradient_in(bug, "d_w"),
              ElementsAre(FloatNear(0.39f, kReported), FloatNear(2.15f, kReported),
                          FloatNear(-0.71f, kReported), FloatNear(-1.83f, kReported)));
  EXPECT_THAT(gradient_in(bug, "d_x"),
              ElementsAre(FloatNear(-0.12f, kReported), FloatNear(0.44f, kReported)));
  const Program fixed =
      parse_file(INTERLOCK_SOURCE_DIR "/corpus/bugs/pytorch-180952.fixed.ilk").value();
  EXPECT_THAT(gradient_in(fixed, "d_w"),
              ElementsAre(FloatNear(0.17f, kReported), FloatNear(1.05f, kReported),
                          FloatNear(-0.57f, kReported), FloatNear(-1.13f, kReported)));
  EXPECT_THAT(gradient_in(fixed, "d_x"),
              ElementsAre(FloatNear(-0.12f, kReported), FloatNear(0.44f, kReported)));
}

Program with_backward(const Program& forward, const DifferentiableProgram& random,
                      std::string_view mode) {
  const auto appended = append_backward(forward, {random.loss, random.wrt, std::string(mode)});
  EXPECT_TRUE(appended) << (appended ? "" : appended.error().message);
  return appended.value().program;
}

// By weight.
using Gradients = std::map<std::string, std::vector<double>>;

Gradients one_shot_in_float64(const Program& forward, const DifferentiableProgram& random) {
  const Program program = with_backward(forward, random, "one-shot");
  const Float64Image image = execute_in_float64(program).value();
  Gradients gradients;
  for (const std::string& name : random.wrt) {
    const TensorId id = program.find_tensor("d_" + name);
    if (id.is_some()) gradients[name] = values_of(program, image, id);
    EXPECT_TRUE(id.is_some()) << "no tensor d_" << name;
  }
  return gradients;
}

// The largest difference of the pass `mode` in float32 from the reference, relative to the largest
// element of that gradient, or to 1.
double distance_from_reference(const DifferentiableProgram& random, std::string_view mode) {
  const Program forward = parsed(random.text);
  const Gradients reference = one_shot_in_float64(forward, random);
  const Program program = with_backward(forward, random, mode);
  const MemoryImage image = image_after(program, reference_order_schedule(program));
  double distance = 0;
  for (const auto& [name, expected] : reference) {
    const std::vector<float> actual = values_of(program, image, "d_" + name);
    EXPECT_EQ(actual.size(), expected.size());
    double size = 1;
    for (const double value : expected) size = std::max(size, std::abs(value));
    for (size_t k = 0; k < expected.size(); ++k) {
      distance = std::max(distance, std::abs(double{actual[k]} - expected[k]) / size);
    }
  }
  return distance;
}

// f32 through two dozen dispatches with sums of 3; values stay below 100.
constexpr double kFloat32Distance = 1e-4;

TEST(BackwardNumbers, AreThoseOfOneShotInFloat64) {
  for (uint32_t seed = 0; seed < static_cast<uint32_t>(program_count(400)); ++seed) {
    const DifferentiableProgram random = random_differentiable_program(seed, 8);
    for (const char* mode : {"one-shot", "one-shot-stream", "split"}) {
      EXPECT_LT(distance_from_reference(random, mode), kFloat32Distance) << mode << "\n"
                                                                         << random.text;
    }
  }
}

TEST(BackwardNumbers, OfTheBrokenSplitAreFarFromOneShotInFloat64) {
  const DifferentiableProgram two_products{
      "interlock 1\n"
      "tensor x f32[1,2] = values(1.1,-0.7)\n"
      "tensor w f32[2,2] = values(0.4,-0.2,0.7,0.3)\n"
      "tensor h f32[1,2]\n"
      "tensor y f32[1,2]\n"
      "dispatch matmul_nn reads x w writes h\n"
      "dispatch matmul_nn reads h w writes y\n",
      "y",
      {"x", "w"}};
  EXPECT_GT(distance_from_reference(two_products, "split-pytorch-180952"), 0.5);
  EXPECT_LT(distance_from_reference(two_products, "split"), 1e-6);
}

constexpr int kN = kSquareExtent;
using Values = std::map<std::string, std::vector<double>>;  // By tensor.

double attribute_of(const DispatchDraft& dispatch, std::string_view key) {
  for (const auto& [name, value] : dispatch.attributes) {
    if (name == key) return std::stod(value);
  }
  return 0;
}

std::vector<double> product(const std::vector<double>& a, const std::vector<double>& b,
                            bool is_a_transposed, bool is_b_transposed) {
  std::vector<double> y(kN * kN, 0.0);
  for (int i = 0; i < kN; ++i) {
    for (int j = 0; j < kN; ++j) {
      for (int k = 0; k < kN; ++k) {
        const auto at = static_cast<size_t>(is_a_transposed ? k * kN + i : i * kN + k);
        const auto bt = static_cast<size_t>(is_b_transposed ? j * kN + k : k * kN + j);
        y[static_cast<size_t>(i * kN + j)] += a[at] * b[bt];
      }
    }
  }
  return y;
}

// softmax, rms_norm or layer_norm of one row.
void by_row(const DispatchDraft& d, Values& values, const double* x, double* y) {
  double mean = 0;
  double square = 0;
  double sum = 0;
  for (int j = 0; j < kN; ++j) mean += x[j] / kN;
  for (int j = 0; j < kN; ++j) square += (x[j] - mean) * (x[j] - mean) / kN;
  for (int j = 0; j < kN; ++j) sum += std::exp(x[j]);
  const double eps = attribute_of(d, "eps");
  for (int j = 0; j < kN; ++j) {
    const auto at = static_cast<size_t>(j);
    if (d.kernel == "softmax") {
      y[j] = std::exp(x[j]) / sum;
    } else if (d.kernel == "rms_norm") {
      y[j] = x[j] * values["scales"][at] / std::sqrt(square + mean * mean + eps);
    } else {
      y[j] = (x[j] - mean) * values["scales"][at] / std::sqrt(square + eps) + values["shifts"][at];
    }
  }
}

// The sum of the loss, from the definition of each kernel.
double loss_of(const std::vector<DispatchDraft>& dispatches, Values values,
               const std::string& loss) {
  for (const DispatchDraft& d : dispatches) {
    const std::vector<double> x = values[d.operands[0].name];
    const std::vector<double> b = values[d.operands[1].name];
    std::vector<double> y(kN * kN);
    if (d.kernel.substr(0, 6) == "matmul") {
      y = product(x, b, d.kernel == "matmul_tn", d.kernel == "matmul_nt");
    } else if (d.kernel == "softmax" || d.kernel.find("norm") != std::string::npos) {
      for (int i = 0; i < kN; ++i)
        by_row(d, values, &x[static_cast<size_t>(i * kN)], &y[static_cast<size_t>(i * kN)]);
    } else {
      for (size_t k = 0; k < y.size(); ++k) {
        const size_t t = k % kN * kN + k / kN;
        y[k] = d.kernel == "add"         ? x[k] + b[k]
               : d.kernel == "mul"       ? x[k] * b[k]
               : d.kernel == "scale"     ? attribute_of(d, "factor") * x[k]
               : d.kernel == "silu"      ? x[k] / (1 + std::exp(-x[k]))
               : d.kernel == "transpose" ? x[t]
                                         : x[k];
      }
    }
    values[d.operands.back().name] = y;
  }
  double sum = 0;
  for (const double value : values[loss]) sum += value;
  return sum;
}

// Along a random direction in all weights at once: <gradient, v> is the derivative of the loss. It
// is the adjoint identity with the cotangent of ones, and each gradient has its part in it.
TEST(BackwardNumbers, AreTheDerivativeAlongARandomDirection) {
  for (uint32_t seed = 0; seed < static_cast<uint32_t>(program_count(60)); ++seed) {
    const DifferentiableProgram random = random_differentiable_program(seed, 8);
    const Program forward = parsed(random.text);
    std::vector<DispatchDraft> dispatches;
    for (const ItemDraft& item : draft_of(forward).items) {
      if (const auto* d = std::get_if<DispatchDraft>(&item)) dispatches.push_back(*d);
    }
    const MemoryImage image = image_after(forward, reference_order_schedule(forward));
    std::mt19937 numbers(seed);
    Values base;
    Values direction;
    for (const std::string& name : random.wrt) {
      for (const float value : values_of(forward, image, name)) {
        base[name].push_back(value);
        direction[name].push_back(static_cast<double>(numbers() % 2001) / 1000 - 1);
      }
    }
    const auto moved = [&](double step) {
      Values values = base;
      for (auto& [name, elements] : values) {
        for (size_t k = 0; k < elements.size(); ++k) elements[k] += step * direction[name][k];
      }
      return loss_of(dispatches, values, random.loss);
    };
    constexpr double kStep = 1e-5;
    const double expected = (moved(kStep) - moved(-kStep)) / (2 * kStep);
    for (const char* mode : {"one-shot", "one-shot-stream", "split"}) {
      const auto appended = append_backward(forward, {random.loss, random.wrt, mode});
      ASSERT_TRUE(appended) << appended.error().message;
      const Program* const program = &appended->program;
      const MemoryImage result = image_after(*program, reference_order_schedule(*program));
      double actual = 0;
      double size = 1;
      for (const std::string& name : random.wrt) {
        const std::vector<float> gradient = values_of(*program, result, "d_" + name);
        for (size_t k = 0; k < gradient.size(); ++k) {
          actual += gradient[k] * direction[name][k];
          size += std::abs(gradient[k] * direction[name][k]);
        }
      }
      // Far below a contribution too many.
      EXPECT_NEAR(actual, expected, kFloat32Distance * size) << mode << "\n" << random.text;
    }
    // The reference is held to what central differences themselves are off by: kStep^2 times the
    // third derivative, and the rounding of the loss by kStep.
    double reference = 0;
    double size = 1;
    for (const auto& [name, gradient] : one_shot_in_float64(forward, random)) {
      for (size_t k = 0; k < gradient.size(); ++k) {
        reference += gradient[k] * direction[name][k];
        size += std::abs(gradient[k] * direction[name][k]);
      }
    }
    EXPECT_NEAR(reference, expected, 1e-8 * size) << random.text;
  }
}

// What a value is called changes no number: the same dispatches run on the same bytes.
TEST(BackwardNumbers, AreTheSameThroughAdoptions) {
  for (uint32_t seed = 0; seed < static_cast<uint32_t>(program_count(20)); ++seed) {
    const DifferentiableProgram plain = random_differentiable_program(seed, 8);
    const DifferentiableProgram adopting = with_adoptions(plain);
    for (const char* mode : {"one-shot", "one-shot-stream", "split"}) {
      const auto expected = append_backward(parsed(plain.text), {plain.loss, plain.wrt, mode});
      const auto actual = append_backward(parsed(adopting.text), {adopting.loss, plain.wrt, mode});
      ASSERT_TRUE(expected) << expected.error().message;
      ASSERT_TRUE(actual) << actual.error().message;
      for (const std::string& name : plain.wrt) {
        EXPECT_EQ(gradient_in(actual->program, "d_" + name),
                  gradient_in(expected->program, "d_" + name))
            << mode << "\n"
            << adopting.text;
      }
    }
  }
}

// The second step of training differentiates by the weights that the first one leaves: as if they
// had been given.
TEST(BackwardNumbers, OfASecondStepAreThoseByTheUpdatedWeights) {
  for (uint32_t seed = 0; seed < static_cast<uint32_t>(program_count(10)); ++seed) {
    const DifferentiableProgram random = random_differentiable_program(seed, 6);
    const size_t split = random.text.find("op0:");
    const std::string declarations = random.text.substr(0, split);
    const std::string dispatches = random.text.substr(split);
    const std::string statement = fmt::format("backward {} wrt w0 w1 w2\n", random.loss);
    std::string updates;
    for (int i = 0; i < 3; ++i)
      updates += fmt::format("dispatch sgd reads d_w{0} updates w{0} lr=0.5\n", i);
    const Program step = parsed(random.text + statement + updates);
    std::string again = dispatches;  // Labels differ.
    for (int i = 0; i < 6; ++i) {
      const std::string label = fmt::format("op{}: ", i);
      again.replace(again.find(label), label.size(), "");
    }
    const Program both = parsed(random.text + statement + updates + again + statement);
    std::string given = declarations;
    for (int i = 0; i < 3; ++i) {
      const std::string initial = fmt::format("random({})", i + 1);
      std::string values;
      for (const float value : gradient_in(step, fmt::format("w{}", i))) {
        values += fmt::format("{}{:.9g}", values.empty() ? "" : ",", value);
      }
      given.replace(given.find(initial), initial.size(), "values(" + values + ")");
    }
    const Program alone = parsed(given + dispatches + statement);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(gradient_in(both, fmt::format("d_w{}.2", i)),
                gradient_in(alone, fmt::format("d_w{}", i)))
          << random.text;
    }
  }
}

}  // namespace
}  // namespace interlock::backward_numbers_test
