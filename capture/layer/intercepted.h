// The calls that the layer sees, a list for each subject; layer.cc puts them together. Each writes
// a record and goes on to the next layer. What creates an object writes after the call, when there
// is a handle; what destroys one, submits or signals writes before it: so the order of the records
// is one in which it can have happened, whatever other threads do.
#pragma once

#include <volk.h>

#include <cstdint>
#include <span>
#include <vector>

#include "capture/layer/devices.h"
#include "capture/log/object_records.h"

namespace interlock {

struct Intercepted {
  const char* name;
  PFN_vkVoidFunction function;
};

template <typename Function>
PFN_vkVoidFunction as_function(Function function) {
  return reinterpret_cast<PFN_vkVoidFunction>(function);
}

std::span<const Intercepted> memory_calls();          // memory_calls.cc
std::span<const Intercepted> image_calls();           // image_calls.cc
std::span<const Intercepted> descriptor_calls();      // descriptor_calls.cc
std::span<const Intercepted> pipeline_calls();        // pipeline_calls.cc
std::span<const Intercepted> command_buffer_calls();  // command_buffer_calls.cc
std::span<const Intercepted> dispatch_calls();        // dispatch_calls.cc
std::span<const Intercepted> render_pass_calls();     // render_pass_calls.cc
std::span<const Intercepted> pass_calls();            // pass_calls.cc
std::span<const Intercepted> draw_calls();            // draw_calls.cc
std::span<const Intercepted> transfer_calls();        // transfer_calls.cc
std::span<const Intercepted> barrier_calls();         // barrier_calls.cc
std::span<const Intercepted> queue_calls();           // queue_calls.cc
std::span<const Intercepted> host_sync_calls();       // host_sync_calls.cc
std::span<const Intercepted> shared_sync_calls();     // shared_sync_calls.cc
std::span<const Intercepted> debug_calls();           // debug_calls.cc
std::span<const Intercepted> marker_calls();          // marker_calls.cc
std::span<const Intercepted> not_understood_calls();  // not_understood_calls.cc
// Of an instance, beside those of pretended_device.h.
std::span<const Intercepted> image_format_calls();  // image_format_calls.cc
// With --exact these come before the others, and call them.
std::span<const Intercepted> exact_object_calls();  // exact_calls.cc
std::span<const Intercepted> exact_work_calls();    // exact_work_calls.cc

// Writes the records of compute pipelines that were created.
void log_compute_pipelines(uint32_t count, const VkComputePipelineCreateInfo* infos,
                           const VkPipeline* pipelines);

// vkDestroy… and vkFree… of one object.
template <auto kNext, VkObjectType kType, typename Handle>
VKAPI_ATTR void VKAPI_CALL destroy_object(VkDevice device, Handle handle,
                                          const VkAllocationCallbacks* allocator) {
  const Device& owner = device_of(device);
  if (handle != VK_NULL_HANDLE) log().append(DestroyRecord{kType, number_of(handle)});
  (owner.next.*kNext)(device, handle, allocator);
}

// The first structure of this type in a chain; null if there is none.
template <typename Structure>
const Structure* find_in_chain(const void* chain, VkStructureType type) {
  for (auto* item = static_cast<const VkBaseInStructure*>(chain); item != nullptr;
       item = item->pNext) {
    if (item->sType == type) return reinterpret_cast<const Structure*>(item);
  }
  return nullptr;
}

// The code of a shader that stands in the call itself; nothing if it is a module's.
std::vector<uint32_t> own_code_of(const VkPipelineShaderStageCreateInfo& stage);

inline SubresourceFields fields_of(const VkImageSubresourceRange& range) {
  return {range.aspectMask, range.baseMipLevel, range.levelCount, range.baseArrayLayer,
          range.layerCount};
}

}  // namespace interlock
