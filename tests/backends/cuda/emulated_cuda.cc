#include "tests/backends/cuda/emulated_cuda.h"

#include <vector>

#include "tests/backends/devices/test_device.h"

namespace interlock {

std::vector<TestDevice> test_devices() {
  static EmulatedCudaBackend one_block(
      {.block_thread_count = 32, .mix_block_bytes_max = UINT64_MAX});
  static EmulatedCudaBackend two_launches({.block_thread_count = 32, .mix_block_bytes_max = 0});
  return {{.name = "EmulatedCudaWithMixInOneBlock",
           .backend = []() -> Backend& { return one_block; },
           .is_slow = true},
          {.name = "EmulatedCudaWithMixInTwoLaunches",
           .backend = []() -> Backend& { return two_launches; },
           .is_slow = true}};
}

}  // namespace interlock
