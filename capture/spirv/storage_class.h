// Storage classes of SPIR-V 1.6 that are told apart here.
#pragma once

#include <cstdint>

namespace interlock {

enum StorageClass : uint32_t {
  kUniformConstantClass = 0,
  kInputClass = 1,
  kUniformClass = 2,
  kWorkgroupClass = 4,
  kPrivateClass = 6,
  kFunctionClass = 7,
  kPushConstantClass = 9,
  kStorageBufferClass = 12,
  kPhysicalStorageClass = 5349,
};

}  // namespace interlock
