// The CUDA devices of the tests: the one of this machine, if there is one, and the host as one
// (host_cuda_runtime.h), so that every test runs somewhere.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>

#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/emulated/host_cuda_runtime.h"

namespace interlock {

enum class CudaPlace : uint8_t { kDevice, kHost };

// Tests that run on either; on the device they skip without one, and say why.
class OnCuda : public testing::TestWithParam<CudaPlace> {
 protected:
  void SetUp() override;
  bool is_on_host() const { return GetParam() == CudaPlace::kHost; }

  // A backend with these options of overlap mode.
  CudaBackend& cuda(const CudaRecordingOptions& overlap = {.lowering = CudaLowering::kStreams});

  // Run in witness mode, or in overlap mode; an error fails the test.
  MemoryImage image_on_cuda(const Program& program, const Schedule& schedule);
  MemoryImage image_by_overlap(const Program& program, const CudaRecordingOptions& overlap);

 private:
  std::unique_ptr<HostCudaRuntime> runtime_;
  std::unique_ptr<CudaBackend> backend_;
  CudaRecordingOptions overlap_;
};

inline constexpr CudaLowering kCudaLowerings[] = {
    CudaLowering::kOneStream, CudaLowering::kStreams, CudaLowering::kGraph,
    CudaLowering::kCapturedGraph, CudaLowering::kConflictGraph};

std::string name_of(const testing::TestParamInfo<CudaPlace>& info);

// Instantiates the suite for both places.
#define INTERLOCK_ON_CUDA(suite)                                                               \
  INSTANTIATE_TEST_SUITE_P(Cuda, suite, testing::Values(CudaPlace::kDevice, CudaPlace::kHost), \
                           name_of)

}  // namespace interlock
