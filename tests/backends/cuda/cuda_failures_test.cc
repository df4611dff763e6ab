// What the CUDA backend says and does when the runtime fails: every call of it is made to fail in
// turn. All on the host, where that can be had.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/emulated/host_cuda_runtime.h"
#include "encoder/text/printer.h"
#include "simulator/order/happens_before.h"
#include "simulator/schedules/strategy_three.h"
#include "tests/backends/kernels/kernel_case.h"
#include "tests/program_count.h"

namespace interlock::cuda_failures_test {
namespace {

using testing::HasSubstr;

// Two that may overlap, and one that joins them; mix in two launches; atomics.
const char* const kProgram = R"(interlock 1
memory a 70000
memory b 64
memory c 64
dispatch K reads a writes b
dispatch L writes c
barrier
dispatch M reads b updates c atomics a[0:8] atomic=add
)";

constexpr CudaLowering kLowerings[] = {CudaLowering::kOneStream, CudaLowering::kStreams,
                                       CudaLowering::kGraph, CudaLowering::kCapturedGraph,
                                       CudaLowering::kConflictGraph};

// Runs in overlap mode, then in witness mode with late writes; returns the first error.
std::string error_of_runs(CudaBackend& backend, const Program& program) {
  const Schedule late = lazy_schedule(program, HappensBefore(program));
  for (const ExecutionMode mode : {ExecutionMode::kOverlap, ExecutionMode::kWitness}) {
    const auto image = backend.run(program, late, mode);
    if (!image) return image.error().message;
    EXPECT_TRUE(*image == image_after(program, late)) << static_cast<int>(mode) << print(program);
  }
  return "";
}

std::string error_of_runs(CudaBackend& backend) { return error_of_runs(backend, parsed(kProgram)); }

CudaOptions options_on(HostCudaRuntime& runtime, CudaLowering lowering = CudaLowering::kStreams) {
  return {.overlap = {.lowering = lowering, .delay_ns = 10}, .runtime = &runtime};
}

TEST(CudaFailures, WithoutADriverTheBackendIsNotAvailable) {
  HostCudaRuntime runtime;
  runtime.fail_call(0, CudaStatus::kInsufficientDriver);
  CudaBackend backend(options_on(runtime));
  EXPECT_EQ(backend.availability().reason, "there is no CUDA device (error 35).");
  EXPECT_FALSE(backend.availability().is_available);
  EXPECT_EQ(error_of_runs(backend),
            "The CUDA backend is not available: there is no CUDA device (error 35).");
  EXPECT_EQ(runtime.call_count(), 1);
}

TEST(CudaFailures, AnyCallThatFailsIsAnErrorAndNotTheEnd) {
  const Program program = parsed(kProgram);
  for (const CudaLowering lowering : kLowerings) {
    uint64_t call = 2;  // After those that open the device.
    for (;; ++call) {
      HostCudaRuntime runtime({.seed = call});
      {
        CudaBackend backend(options_on(runtime, lowering));
        ASSERT_TRUE(backend.availability().is_available);
        runtime.fail_call(call - 2, CudaStatus::kMemoryAllocation);
        SCOPED_TRACE(fmt::format("{} call {}", static_cast<int>(lowering), call));
        const std::string error = error_of_runs(backend, program);
        if (runtime.failure_count() == 0) break;
        if (error.empty()) continue;  // Where a failure is cleaned up after.
        EXPECT_THAT(error, HasSubstr("The CUDA device does not have enough memory while "));
        EXPECT_THAT(error, HasSubstr("(error 2)."));
        EXPECT_TRUE(backend.availability().is_available);
        EXPECT_EQ(error_of_runs(backend, program), "") << "after call " << call;
      }
      // The one thing whose release failed may be left.
      EXPECT_LE(runtime.live_count(), 1) << "after call " << call;
    }
    EXPECT_GE(call, 30);
  }
}

TEST(CudaFailures, AfterADeviceIsLostNothingIsCalledAnyMore) {
  const Program program = parsed(kProgram);
  for (const CudaLowering lowering : kLowerings) {
    for (uint64_t call = 0;; ++call) {
      HostCudaRuntime runtime({.seed = call});
      CudaBackend backend(options_on(runtime, lowering));
      ASSERT_TRUE(backend.availability().is_available);
      runtime.fail_call(call, CudaStatus::kIllegalAddress);
      const std::string error = error_of_runs(backend, program);
      if (runtime.failure_count() == 0) break;
      if (error.empty()) continue;
      EXPECT_THAT(error, HasSubstr("The CUDA device was lost while "));
      EXPECT_FALSE(backend.availability().is_available);
      EXPECT_THAT(error, HasSubstr(backend.availability().reason));
      EXPECT_EQ(error_of_runs(backend, program),
                "The CUDA backend is not available: " + backend.availability().reason);
      EXPECT_EQ(runtime.failure_count(), 1) << "call " << call;
    }
  }
}

TEST(CudaFailures, AKernelThatFaultsLosesTheDevice) {
  for (const CudaLowering lowering : kLowerings) {
    HostCudaRuntime runtime;
    runtime.on_launch = [](const DeviceLaunch&) { return CudaStatus::kIllegalAddress; };
    CudaBackend backend(options_on(runtime, lowering));
    EXPECT_EQ(error_of_runs(backend), "The CUDA device was lost while waiting for it (error 700).");
    EXPECT_FALSE(backend.availability().is_available);
  }
}

TEST(CudaFailures, ADeviceThatHangsIsGivenUp) {
  for (const CudaLowering lowering : kLowerings) {
    HostCudaRuntime runtime;
    runtime.hang();
    CudaOptions options = options_on(runtime, lowering);
    options.timeout_seconds = 0.01;
    CudaBackend backend(options);
    EXPECT_EQ(error_of_runs(backend),
              "The CUDA device does not answer while waiting for it (for 0.01 seconds).");
    EXPECT_FALSE(backend.availability().is_available);
  }
}

// More launches than a queue of CUDA holds: the host waits with its time limit before it is full.
TEST(CudaFailures, AHangBeforeManyLaunchesIsGivenUpBeforeTheQueueIsFull) {
  std::string text = "interlock 1\nmemory a 64\n";
  for (int i = 0; i < 3000; ++i) text += "dispatch K updates a\nbarrier\n";
  const Program program = parsed(text);
  for (const ExecutionMode mode : {ExecutionMode::kOverlap, ExecutionMode::kWitness}) {
    HostCudaRuntime runtime;
    runtime.hang();
    CudaOptions options = options_on(runtime);
    options.overlap.delay_ns = 0;
    options.timeout_seconds = 0.01;
    CudaBackend backend(options);
    EXPECT_FALSE(backend.run(program, reference_order_schedule(program), mode).has_value());
    EXPECT_LT(runtime.call_count(), 2500 + runtime.query_count());
  }
}

TEST(CudaFailures, WithoutMemoryTheErrorHasTheSize) {
  HostCudaRuntime runtime;
  CudaBackend backend(options_on(runtime));
  ASSERT_TRUE(backend.availability().is_available);
  runtime.fail_call(0, CudaStatus::kMemoryAllocation);
  EXPECT_EQ(error_of_runs(backend),
            "The CUDA device does not have enough memory while allocating 131072 bytes (error 2).");
}

// The launch also writes to the byte at this offset from memory a.
std::string error_of_stray_write(ptrdiff_t offset_bytes) {
  HostCudaRuntime runtime;
  runtime.on_launch = [=](const DeviceLaunch& launch) {
    uint8_t* const first = launch.arguments.operands[1].data;
    first[offset_bytes] = 1;
    return CudaStatus::kSuccess;
  };
  CudaBackend backend({.runtime = &runtime});
  const Program program =
      parsed("interlock 1\nmemory a 64\nmemory b 64\ndispatch K writes b updates a\n");
  const auto image =
      backend.run(program, reference_order_schedule(program), ExecutionMode::kWitness);
  if (image) return "";
  EXPECT_EQ(image.error().kind, ErrorKind::kFault);
  return image.error().message;
}

TEST(CudaFailures, AWriteOutsideOfMemoriesIsAnError) {
  EXPECT_EQ(error_of_stray_write(-1),
            "The device wrote bytes before the first memory: a kernel or a driver is wrong.");
  // The first and the last byte between a, which starts at 256, and b at 768; the last one of all.
  for (const ptrdiff_t offset_bytes : {64, 511}) {
    EXPECT_EQ(
        error_of_stray_write(offset_bytes),
        "The device wrote bytes past memory 'a', which has 64 bytes: a kernel or a driver is wrong.");
  }
  for (const ptrdiff_t offset_bytes : {512 + 64, 1023}) {
    EXPECT_EQ(
        error_of_stray_write(offset_bytes),
        "The device wrote bytes past memory 'b', which has 64 bytes: a kernel or a driver is wrong.");
  }
  EXPECT_EQ(error_of_stray_write(63), "");
}

TEST(CudaFailures, TooManyLateWritesAreAnErrorWithTheLimit) {
  HostCudaRuntime runtime;
  CudaBackend backend({.limit_bytes = 100, .runtime = &runtime});
  const Program program = parsed(
      "interlock 1\nmemory a 64\ndispatch K reads a writes a\ndispatch L reads a writes a\n");
  Schedule late;
  for (const uint32_t d : {0u, 1u}) {
    late.steps.push_back(whole_step(program, DispatchId(d), StepKind::kRunLate));
  }
  for (const uint32_t d : {0u, 1u}) {
    late.steps.push_back(whole_step(program, DispatchId(d), StepKind::kCommit));
  }
  const auto image = backend.run(program, late, ExecutionMode::kWitness);
  ASSERT_FALSE(image.has_value());
  EXPECT_EQ(
      image.error().message,
      "The late writes of this schedule need more than 100 bytes, the execution limit, while L (dispatch 1) commits late.");
}

TEST(CudaFailures, NothingIsLeftBehind) {
  for (const CudaLowering lowering : kLowerings) {
    HostCudaRuntime runtime;
    {
      CudaBackend backend(options_on(runtime, lowering));
      for (int i = 0; i < 3; ++i) EXPECT_EQ(error_of_runs(backend), "");
    }
    EXPECT_EQ(runtime.live_count(), 0);
  }
}

}  // namespace
}  // namespace interlock::cuda_failures_test
