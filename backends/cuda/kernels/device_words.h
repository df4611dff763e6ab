// The words of CUDA that device code is written in. nvcc has them built in; any other compiler gets
// those of the emulation. Include it in sources of device code only.
//
// Device code lives in `inline namespace DEVICE_CODE`, so that what nvcc and the host's compiler
// make of one template are two functions in a binary that has both.
#pragma once

#if defined(__CUDACC__)
#define DEVICE_CODE cuda
#else
#define DEVICE_CODE emulated
#include "backends/cuda/emulation/words.h"
#endif
