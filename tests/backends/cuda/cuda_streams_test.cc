// Recorded streams execute on a CUDA device with mix: as encoded they have the bits of the
// reference, and where the CPU diverges under the sink of a hazard, so does the device.
#include <gtest/gtest.h>

#include <string>

#include "backends/reference/reference.h"
#include "backends/registry.h"
#include "encoder/sync/encoder.h"
#include "encoder/text/files.h"
#include "fuzz/judge/oracles.h"
#include "simulator/report/check.h"
#include "simulator/schedules/displacements.h"
#include "tests/backends/cuda/cuda_device.h"
#include "tests/backends/kernels/kernel_case.h"
#include "tests/program_count.h"

namespace interlock::cuda_streams_test {
namespace {

using CudaStreams = OnCuda;
INTERLOCK_ON_CUDA(CudaStreams);

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

TEST_P(CudaStreams, HaveTheBitsOfTheReferenceAsEncoded) {
  const uint64_t executable_bytes =
      is_on_host() ? (is_slow_build() ? 200'000 : 2'000'000) : 300'000'000;
  int executed_count = 0;
  for (const char* name :
       {"llama24-metal", "llama24-metal-reorder", "llama24-vulkan", "llama24kv-metal",
        "llama24kv-vulkan-reorder", "llama24-metal-64steps", "train-metal-4", "train-metal-30",
        "rms-norm-back-alias", "soft-max-back-alias", "vulkan-reorder-ok1", "vulkan-reorder-ok2",
        "vulkan-reorder-ok3", "vulkan-reorder-falsepos"}) {
    const Program program = stream(name);
    if (bytes_read(program) >= executable_bytes) continue;
    ++executed_count;
    const MemoryImage right = reference(program);
    EXPECT_TRUE(image_on_cuda(program, reference_order_schedule(program)) == right) << name;
    for (const CudaLowering lowering : kCudaLowerings) {
      EXPECT_TRUE(image_by_overlap(program, {.lowering = lowering}) == right)
          << name << " " << static_cast<int>(lowering);
    }
  }
  EXPECT_GE(executed_count, is_on_host() ? 1 : 13);
}

TEST_P(CudaStreams, DivergeUnderTheSinksOfRemovedBarriersExactlyWhereTheCpuDoes) {
  // Small enough for the fibers of the host.
  const Program program = is_on_host()
                              ? encode_with(stream("vulkan-reorder-ok1"), find_encoder("none"))
                              : stream("llama24-nobarrier");
  const HappensBefore order(program);
  std::vector<Finding> hazards;
  for (const Finding& finding : check(program).findings) {
    if (!finding.witness.empty()) hazards.push_back(finding);
  }
  const size_t sample_count = is_on_host() ? 4 : 12;
  ASSERT_GE(hazards.size(), sample_count);
  for (size_t i = 0; i < sample_count; ++i) {
    const Finding& finding = hazards[i * hazards.size() / sample_count];
    const Result<Schedule> sink = schedule_of(program, order, finding.witness);
    ASSERT_TRUE(sink.has_value()) << sink.error().message;
    EXPECT_TRUE(image_on_cuda(program, *sink) == image_after(program, *sink)) << finding.headline;
  }
}

}  // namespace
}  // namespace interlock::cuda_streams_test
