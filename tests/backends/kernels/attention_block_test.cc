// The attention block of the corpus against its definition: y = (softmax(q k^T / 4) v) silu(u) and
// the gradients of <gy, y>, written down here in float64 without any kernel.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "encoder/text/files.h"
#include "tests/backends/kernels/kernel_case.h"

namespace interlock::attention_block_test {
namespace {

constexpr size_t kRows = 8;
constexpr size_t kCols = 16;

using Doubles = std::vector<double>;
using Values = std::map<std::string, Doubles>;  // By tensor.

// Row `row` of y, which needs all of k and v.
Doubles attend(const Values& in, size_t row) {
  Doubles weights(kRows);
  double sum = 0;
  for (size_t other = 0; other < kRows; ++other) {
    double score = 0;
    for (size_t c = 0; c < kCols; ++c) {
      score += in.at("q")[row * kCols + c] * in.at("k")[other * kCols + c];
    }
    weights[other] = std::exp(score / 4);
    sum += weights[other];
  }
  Doubles y(kCols);
  for (size_t c = 0; c < kCols; ++c) {
    for (size_t other = 0; other < kRows; ++other) {
      y[c] += weights[other] / sum * in.at("v")[other * kCols + c];
    }
    const double u = in.at("u")[row * kCols + c];
    y[c] *= u / (1 + std::exp(-u));
  }
  return y;
}

Doubles forward(const Values& in) {
  Doubles y;
  for (size_t row = 0; row < kRows; ++row) {
    for (const double v : attend(in, row)) y.push_back(v);
  }
  return y;
}

double contracted(const Values& in) {
  const Doubles y = forward(in);
  double sum = 0;
  for (size_t i = 0; i < y.size(); ++i) sum += in.at("gy")[i] * y[i];
  return sum;
}

class AttentionBlock : public testing::Test {
 protected:
  AttentionBlock()
      : program_(
            parse_file(INTERLOCK_SOURCE_DIR "/corpus/seeds/attention-in-place.fixed.ilk").value()),
        image_(image_after(program_, reference_order_schedule(program_))) {
    const MemoryImage before = initial_image(program_, kExecutionLimitBytes).value();
    for (const char* name : {"q", "k", "v", "u", "gy"}) inputs_[name] = values(before, name);
  }

  Doubles values(const MemoryImage& image, const std::string& name) const {
    const std::vector<float> floats = values_of(program_, image, name);
    return {floats.begin(), floats.end()};
  }
  Doubles result(const std::string& name) const { return values(image_, name); }

  Program program_;
  MemoryImage image_;
  Values inputs_;
};

// Each result is a sum of at most 128 terms below 1 that pass through fewer than 100 roundings, of
// 2^-24 each: 8e-4 at the very worst, and a hundredth of that where they do not all add up.
constexpr double kFloat32Error = 8e-6;

TEST_F(AttentionBlock, ComputesItsDefinition) {
  const Doubles expected = forward(inputs_);
  const Doubles y = result("y");
  for (size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], expected[i], kFloat32Error) << i;
}

TEST_F(AttentionBlock, ComputesItsGradients) {
  constexpr double kStep = 1e-5;
  for (const std::string name : {"q", "k", "v", "u"}) {
    const Doubles gradient = result("g" + name);
    double largest = 0;
    for (size_t i = 0; i < gradient.size(); ++i) {
      Values plus = inputs_;
      Values minus = inputs_;
      plus[name][i] += kStep;
      minus[name][i] -= kStep;
      const double expected = (contracted(plus) - contracted(minus)) / (2 * kStep);
      ASSERT_NEAR(gradient[i], expected, kFloat32Error) << name << "[" << i << "]";
      largest = std::max(largest, std::fabs(expected));
    }
    EXPECT_GT(largest, 1000 * kFloat32Error) << name;
  }
}

}  // namespace
}  // namespace interlock::attention_block_test
