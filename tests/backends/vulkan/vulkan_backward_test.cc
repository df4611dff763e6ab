// The numbers of PyTorch #180952 on a Vulkan device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "encoder/text/text.h"
#include "tests/backends/kernels/kernel_case.h"
#include "tests/backends/vulkan/vulkan_device.h"

namespace interlock::vulkan_backward_test {
namespace {

using testing::ElementsAre;
using testing::FloatNear;

class BackwardNumbersOnVulkan : public OnVulkan {};

TEST_F(BackwardNumbersOnVulkan, AreThoseOfPytorch180952) {
  constexpr float kReported = 1e-6f;
  const auto gradient = [](const std::string& name) {
    const Program program =
        parse_file(INTERLOCK_SOURCE_DIR "/corpus/bugs/" + name + ".ilk").value();
    return values_of(program, image_on_vulkan(program, issue_order_schedule(program)), "d_w");
  };
  EXPECT_THAT(gradient("pytorch-180952"),
              ElementsAre(FloatNear(0.39f, kReported), FloatNear(2.15f, kReported),
                          FloatNear(-0.71f, kReported), FloatNear(-1.83f, kReported)));
  EXPECT_THAT(gradient("pytorch-180952.fixed"),
              ElementsAre(FloatNear(0.17f, kReported), FloatNear(1.05f, kReported),
                          FloatNear(-0.57f, kReported), FloatNear(-1.13f, kReported)));
}

}  // namespace
}  // namespace interlock::vulkan_backward_test
