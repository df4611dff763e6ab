#include "backends/cuda/cuda_status.h"

#include "encoder/program/error_of.h"

namespace interlock {

bool is_lost(CudaStatus status) {
  switch (status) {
    case CudaStatus::kTimeout:
    case CudaStatus::kEccUncorrectable:
    case CudaStatus::kIllegalAddress:
    case CudaStatus::kLaunchTimeout:
    case CudaStatus::kContextIsDestroyed:
    case CudaStatus::kAssert:
    case CudaStatus::kHardwareStackError:
    case CudaStatus::kIllegalInstruction:
    case CudaStatus::kMisalignedAddress:
    case CudaStatus::kInvalidAddressSpace:
    case CudaStatus::kInvalidPc:
    case CudaStatus::kLaunchFailure:
    case CudaStatus::kUnknown:
      return true;
    case CudaStatus::kSuccess:
    case CudaStatus::kMemoryAllocation:
    case CudaStatus::kInsufficientDriver:
    case CudaStatus::kNoDevice:
    case CudaStatus::kNotReady:
      break;
  }
  return false;
}

Error cuda_error(CudaStatus status, std::string_view action, std::string_view text) {
  std::string_view what = "The CUDA runtime failed";
  if (is_lost(status)) what = "The CUDA device was lost";
  if (status == CudaStatus::kTimeout) what = "The CUDA device does not answer";
  if (status == CudaStatus::kMemoryAllocation) what = "The CUDA device does not have enough memory";
  return error_of("{} while {} ({}).", what, action, text);
}

}  // namespace interlock
