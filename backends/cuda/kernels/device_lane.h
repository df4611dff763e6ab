// The lanes of the kernel dialect (backends/kernels/dialect.h) as threads of CUDA.
#pragma once

#include <cstdint>

#include "backends/cuda/kernels/device_words.h"
#include "backends/cuda/kernels/launch_arguments.h"
#include "backends/kernels/dialect.h"

namespace interlock {
inline namespace DEVICE_CODE {

// The dynamic shared memory of a block, of the size that its launch names.
alignas(16) extern __shared__ unsigned char shared_storage[];

static_assert(kSliceSharedBytes >= kSharedCount * (sizeof(float) + sizeof(uint32_t)));

// The threads of a block run a slice.
class DeviceLane {
 public:
  __device__ uint32_t index() const { return threadIdx.x; }
  __device__ uint32_t count() const { return blockDim.x; }
  __device__ float& shared(uint32_t i) const { return reinterpret_cast<float*>(shared_storage)[i]; }
  __device__ uint32_t& shared_word(uint32_t i) const {
    return reinterpret_cast<uint32_t*>(shared_storage)[kSharedCount + i];
  }

#if defined(__CUDACC__)
  __device__ void sync() const { __syncthreads(); }
#else
  // The emulation tells barriers apart by the line that calls.
  void sync(BarrierPlace place = barrier_place()) const { __syncthreads(place); }
#endif
};

// All threads of a grid divide the work; they have nothing to share and cannot wait for each other.
class GridLane {
 public:
  __device__ uint64_t index() const { return uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
  __device__ uint64_t count() const { return uint64_t{gridDim.x} * blockDim.x; }
};

}  // namespace DEVICE_CODE
}  // namespace interlock
