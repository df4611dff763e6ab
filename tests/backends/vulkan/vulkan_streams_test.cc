// Recorded streams execute on the Vulkan device with mix: as encoded they have the bits of the
// reference, and where the CPU diverges under the sink of a hazard, so does the device.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "backends/reference/reference.h"
#include "backends/registry.h"
#include "encoder/text/files.h"
#include "simulator/report/check.h"
#include "simulator/schedules/displacements.h"
#include "tests/backends/kernels/kernel_case.h"
#include "tests/backends/vulkan/vulkan_device.h"
#include "tests/program_count.h"

namespace interlock::vulkan_streams_test {
namespace {

using VulkanStreams = OnVulkan;

Program stream(const std::string& name) {
  Result<Program> program =
      parse_file(INTERLOCK_SOURCE_DIR "/corpus/streams/ggml-" + name + ".ilk");
  INTERLOCK_CHECK(program.has_value());
  return std::move(program).value();
}

uint64_t bytes_read(const Program& program) {
  uint64_t bytes = 0;
  for (const Access& access : program.accesses) {
    bytes += access.reads_plainly() ? access.range.size_bytes() : 0;
  }
  return bytes;
}

MemoryImage reference(const Program& program) {
  Result<MemoryImage> image = reference_image(program, *find_backend("cpu"));
  INTERLOCK_CHECK(image.has_value());
  return std::move(image).value();
}

TEST_F(VulkanStreams, HaveTheBitsOfTheReferenceAsEncoded) {
  // Larger ones run on the CPU alone (streams_test.cc); under a sanitizer those that are quick.
  constexpr uint64_t kExecutableBytes = is_slow_build() ? 5'000'000 : 100'000'000;
  int executed_count = 0;
  for (const char* name :
       {"llama24-metal", "llama24-metal-reorder", "llama24-vulkan", "llama24kv-metal",
        "llama24kv-vulkan-reorder", "llama24-metal-64steps", "train-metal-4", "train-metal-30",
        "rms-norm-back-alias", "soft-max-back-alias", "vulkan-reorder-ok1", "vulkan-reorder-ok2",
        "vulkan-reorder-ok3", "vulkan-reorder-falsepos"}) {
    const Program program = stream(name);
    if (bytes_read(program) >= kExecutableBytes) continue;
    ++executed_count;
    EXPECT_TRUE(image_on_vulkan(program, reference_order_schedule(program)) == reference(program))
        << name;
    const auto image =
        vulkan().run(program, reference_order_schedule(program), ExecutionMode::kOverlap);
    ASSERT_TRUE(image.has_value()) << name << ": " << image.error().message;
    EXPECT_TRUE(*image == reference(program)) << name;
  }
  EXPECT_EQ(executed_count, is_slow_build() ? 7 : 11);
}

TEST_F(VulkanStreams, ThatAnEncoderReorderedWronglyDifferFromTheReferenceAsOnTheCpu) {
  for (const char* name : {"vulkan-reorder-min", "vulkan-reorder-bad1", "vulkan-reorder-bad2",
                           "vulkan-reorder-bad3"}) {
    const Program program = stream(name);
    const Schedule issue = reference_order_schedule(program);
    const MemoryImage image = image_on_vulkan(program, issue);
    EXPECT_FALSE(image == reference(program)) << name;
    EXPECT_TRUE(image == image_after(program, issue)) << name;
  }
}

// Runs the sinks of `sample_count` observable hazards of the stream without barriers, spread over
// all of them; UINT64_MAX: of each. Every one diverges, and leaves every byte that it leaves on the
// CPU.
void expect_sinks_to_diverge_as_on_the_cpu(uint64_t sample_count) {
  // Not under validation: the runs of the streams as encoded are.
  static auto* const device = new VulkanBackend({.overlap = OverlapKind::kOneQueue});
  const Program program = stream("llama24-nobarrier");
  const HappensBefore order(program);
  const MemoryImage right = reference(program);
  std::vector<Finding> observable;
  for (const Finding& finding : check(program).findings) {
    if (finding.observability == Observability::kObservable) observable.push_back(finding);
  }
  ASSERT_GE(observable.size(), 100u);
  sample_count = std::min<uint64_t>(sample_count, observable.size());
  for (uint64_t i = 0; i < sample_count; ++i) {
    const Finding& finding = observable[i * observable.size() / sample_count];
    const Result<Schedule> sink = schedule_of(program, order, finding.witness);
    ASSERT_TRUE(sink.has_value()) << sink.error().message;
    const auto image = device->run(program, *sink, ExecutionMode::kWitness);
    ASSERT_TRUE(image.has_value()) << image.error().message;
    EXPECT_FALSE(*image == right) << finding.headline;
    EXPECT_TRUE(*image == image_after(program, *sink)) << finding.headline;
  }
  testing::Test::RecordProperty("sinks", static_cast<int>(sample_count));
}

TEST_F(VulkanStreams, DivergeUnderTheSinksOfRemovedBarriersExactlyWhereTheCpuDoes) {
  const bool is_all = std::getenv("INTERLOCK_TEST_ALL") != nullptr;
  expect_sinks_to_diverge_as_on_the_cpu(is_all ? UINT64_MAX : is_slow_build() ? 4 : 25);
}

}  // namespace
}  // namespace interlock::vulkan_streams_test
