// The bytes before the first dispatch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>

#include "backends/interface/image.h"
#include "tests/backends/kernels/kernel_case.h"

namespace interlock::image_test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

MemoryImage image_of(const Program& program) {
  return initial_image(program, kExecutionLimitBytes).value();
}

TEST(InitialImage, HoldsInitialValues) {
  const Program program = parsed(R"(interlock 1
memory m 64
tensor zeros f32[2] at m+0 = zeros
tensor ones f32[2] at m+8 = ones
tensor iota f32[3] at m+16 = iota
tensor one_i i32[1] at m+28 = ones
tensor iota_i i32[2] at m+32 = iota
tensor iota_u u8[3] at m+40 = iota
tensor ones_u u8[2] at m+43 = ones
)");
  const MemoryImage image = image_of(program);
  EXPECT_THAT(values_of(program, image, "zeros"), Each(0.0f));
  EXPECT_THAT(values_of(program, image, "ones"), Each(1.0f));
  EXPECT_THAT(values_of(program, image, "iota"), ElementsAre(0.0f, 1.0f, 2.0f));
  EXPECT_THAT(bytes_of(program, image, "one_i"), ElementsAre(1, 0, 0, 0));
  EXPECT_THAT(bytes_of(program, image, "iota_i"), ElementsAre(0, 0, 0, 0, 1, 0, 0, 0));
  EXPECT_THAT(bytes_of(program, image, "iota_u"), ElementsAre(0, 1, 2));
  EXPECT_THAT(bytes_of(program, image, "ones_u"), ElementsAre(1, 1));
}

TEST(InitialImage, HoldsValuesThatAreWrittenOut) {
  const Program program = parsed(R"(interlock 1
tensor f f32[2,2] = values(0.4,-0.2,1e10,-0)
tensor i i32[3] = values(-2147483648,7,2147483647)
tensor u u8[2] = values(255,0)
)");
  const MemoryImage image = image_of(program);
  EXPECT_THAT(values_of(program, image, "f"), ElementsAre(0.4f, -0.2f, 1e10f, 0.0f));
  EXPECT_TRUE(std::signbit(values_of(program, image, "f")[3]));
  EXPECT_THAT(bytes_of(program, image, "i"),
              ElementsAre(0, 0, 0, 0x80, 7, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f));
  EXPECT_THAT(bytes_of(program, image, "u"), ElementsAre(255, 0));
}

// splitmix64 by its published first outputs, for the seeds 0 and 1: e220a8397b1dcdaf and
// 910a2dec89025cc1. random(0) has the seeds 0, 1, …
TEST(InitialImage, HasRandomValuesBySplitmix64) {
  const Program program = parsed(R"(interlock 1
memory m 64
tensor f f32[2] at m+0 = random(0)
tensor g f32[2] at m+8 = random(1)
)");
  const MemoryImage image = image_of(program);
  EXPECT_THAT(values_of(program, image, "f"),
              ElementsAre(static_cast<float>(0xe220a8) * 0x1p-23f - 1.0f,
                          static_cast<float>(0x910a2d) * 0x1p-23f - 1.0f));
  EXPECT_NE(values_of(program, image, "f"), values_of(program, image, "g"));
}

TEST(InitialImage, FillsTheRestWithFiniteNumbersThatTellPlacesApart) {
  const Program program = parsed("interlock 1\nmemory a 4003\nmemory b 4000\n");
  const MemoryImage image = image_of(program);
  EXPECT_EQ(image.memories[0].size(), 4003u);
  std::set<float> seen;
  for (const auto& memory : image.memories) {
    for (size_t i = 0; i + 4 <= memory.size(); i += 4) {
      float value = 0;
      std::memcpy(&value, &memory[i], sizeof value);
      ASSERT_GE(value, -1.0f);
      ASSERT_LT(value, 1.0f);
      seen.insert(value);
    }
  }
  // 2000 draws of 24 bits: 0.12 equal pairs expected; fixed names, so this holds or it does not.
  EXPECT_GE(seen.size(), 1998u);
}

TEST(InitialImage, RefusesMoreThanTheLimitBeforeAllocating) {
  const Program program = parsed("interlock 1\nmemory a 1000\nmemory huge 281474976710656\n");
  const auto image = initial_image(program, kExecutionLimitBytes);
  ASSERT_FALSE(image.has_value());
  EXPECT_THAT(image.error().message, HasSubstr("268435456 bytes, the execution limit"));
  EXPECT_THAT(image.error().message, HasSubstr("'huge' has 281474976710656 bytes"));
}

TEST(InitialImage, AllowsExactlyTheLimit) {
  const Program program = parsed("interlock 1\nmemory a 600\nmemory b 400\n");
  EXPECT_TRUE(initial_image(program, 1000).has_value());
  EXPECT_FALSE(initial_image(program, 999).has_value());
}

}  // namespace
}  // namespace interlock::image_test
