// The CUDA runtime of a build without CUDA: none.
#include "backends/cuda/cuda_runtime.h"

namespace interlock {

CudaRuntime* system_cuda_runtime() { return nullptr; }

}  // namespace interlock
