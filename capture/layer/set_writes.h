// What is written to descriptor sets, as the log has it: each descriptor as a handle with a range.
#pragma once

#include <volk.h>

#include <cstdint>
#include <vector>

#include "capture/layer/devices.h"
#include "capture/log/object_records.h"

namespace interlock {

std::vector<SetWriteFields> fields_of_writes(uint32_t count, const VkWriteDescriptorSet* writes);

// What the template writes to the set from `data`.
std::vector<SetWriteFields> fields_of_template(const UpdateTemplate& known, uint64_t set,
                                               const void* data);

}  // namespace interlock
