// The results of calls of the CUDA runtime, by its numbers (cudaError_t), so that code that only
// handles them needs no header of CUDA.
#pragma once

#include <string>
#include <string_view>

#include "encoder/program/result.h"

namespace interlock {

// Those that the backend tells apart; any other number is an error as well.
enum class CudaStatus : int {
  kTimeout = -1,  // Not one of CUDA: the device did not answer in time.
  kSuccess = 0,
  kMemoryAllocation = 2,
  kInsufficientDriver = 35,
  kNoDevice = 100,
  kEccUncorrectable = 214,
  kNotReady = 600,
  kIllegalAddress = 700,
  kLaunchTimeout = 702,
  kContextIsDestroyed = 709,
  kAssert = 710,
  kHardwareStackError = 714,
  kIllegalInstruction = 715,
  kMisalignedAddress = 716,
  kInvalidAddressSpace = 717,
  kInvalidPc = 718,
  kLaunchFailure = 719,
  kUnknown = 999,
};

// True iff the process cannot use the device any more: CUDA then returns the same error from every
// call (CUDA Runtime API, "cudaError"); and so where the device does not answer.
bool is_lost(CudaStatus status);

// "The CUDA device was lost while waiting for it (cudaErrorIllegalAddress: an illegal memory access
// was encountered)." `action`: what failed, e.g. "allocating 64 bytes". `text`: what the runtime
// says of the status. Requires: `status` is no success.
Error cuda_error(CudaStatus status, std::string_view action, std::string_view text);

}  // namespace interlock
