// CUDA's words for a compiler of the host: one thread of one block at a time, each a fiber
// (launch.h), which gives way to others in __syncthreads() and, by chance, in atomics.
//
// The macros are for sources of device code, and for them alone: no other header may include this.
#pragma once

#include <cstdint>

#define __global__
#define __device__
#define __shared__ __thread

namespace interlock {
inline namespace emulated {

struct uint3 {
  uint32_t x = 0;
  uint32_t y = 0;
  uint32_t z = 0;
};

struct dim3 {
  uint32_t x = 1;
  uint32_t y = 1;
  uint32_t z = 1;
};

// Of the thread of CUDA that runs now. The launch sets them before each turn of a thread.
extern __thread uint3 threadIdx;
extern __thread uint3 blockIdx;
extern __thread dim3 blockDim;
extern __thread dim3 gridDim;

// The line of source that waits.
struct BarrierPlace {
  const char* file;
  int line;
};
constexpr BarrierPlace barrier_place(const char* file = __builtin_FILE(),
                                     int line = __builtin_LINE()) {
  return {file, line};
}

// Waits for all threads of the block. Requires: runs inside a launch.
void __syncthreads(BarrierPlace place = barrier_place());

// Return the old value. Requires: as __syncthreads().
unsigned int atomicAdd(unsigned int* word, unsigned int value);
unsigned int atomicCAS(unsigned int* word, unsigned int expected, unsigned int desired);

}  // namespace emulated
}  // namespace interlock
