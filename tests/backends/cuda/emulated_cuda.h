// The emulated CUDA device of the tests: blocks of other sizes, other orders, both forms of mix.
#pragma once

#include <gtest/gtest.h>

#include "backends/cuda/emulated/emulated_cuda_backend.h"
#include "encoder/text/printer.h"
#include "tests/backends/kernels/kernel_case.h"

namespace interlock {

// Both run in witness mode; an error fails the test.
inline MemoryImage image_on(Backend& backend, const Program& program, const Schedule& schedule) {
  auto image = backend.run(program, schedule, ExecutionMode::kWitness);
  EXPECT_TRUE(image.has_value()) << image.error().message << "\n" << print(program);
  return image.has_value() ? std::move(image).value() : MemoryImage{};
}

inline MemoryImage image_on_emulated_cuda(const Program& program, const Schedule& schedule,
                                          const EmulatedCudaOptions& options = {}) {
  EmulatedCudaBackend backend(options);
  return image_on(backend, program, schedule);
}

}  // namespace interlock
