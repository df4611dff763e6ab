#include "capture/layer/next_functions.h"

// Its bodies, too, here alone. Its own variables are hidden in the library.
#define VOLK_IMPLEMENTATION
#include <volk.h>

namespace interlock {
namespace {

struct Loader {
  VkDevice device;
  PFN_vkGetDeviceProcAddr next_function;
};

PFN_vkVoidFunction load_one(void* context, const char* name) {
  const auto* const loader = static_cast<const Loader*>(context);
  return loader->next_function(loader->device, name);
}

// Both entries of a function that was promoted from an extension.
template <typename Function>
void share(Function& core, Function& extension) {
  if (core == nullptr) core = extension;
  if (extension == nullptr) extension = core;
}

}  // namespace

void load_next(VkDevice device, PFN_vkGetDeviceProcAddr next_function, VolkDeviceTable& table,
               DebugFunctions& debug) {
  Loader loader{device, next_function};
  volkGenLoadDeviceTable(&table, &loader, load_one);
  share(table.vkBindBufferMemory2, table.vkBindBufferMemory2KHR);
  share(table.vkBindImageMemory2, table.vkBindImageMemory2KHR);
  share(table.vkGetImageMemoryRequirements2, table.vkGetImageMemoryRequirements2KHR);
  share(table.vkCreateDescriptorUpdateTemplate, table.vkCreateDescriptorUpdateTemplateKHR);
  share(table.vkDestroyDescriptorUpdateTemplate, table.vkDestroyDescriptorUpdateTemplateKHR);
  share(table.vkUpdateDescriptorSetWithTemplate, table.vkUpdateDescriptorSetWithTemplateKHR);
  share(table.vkGetBufferDeviceAddress, table.vkGetBufferDeviceAddressKHR);
  share(table.vkGetBufferDeviceAddress, table.vkGetBufferDeviceAddressEXT);
  share(table.vkCmdDispatchBase, table.vkCmdDispatchBaseKHR);
  share(table.vkCmdCopyBuffer2, table.vkCmdCopyBuffer2KHR);
  share(table.vkCmdCopyImage2, table.vkCmdCopyImage2KHR);
  share(table.vkCmdCopyBufferToImage2, table.vkCmdCopyBufferToImage2KHR);
  share(table.vkCmdCopyImageToBuffer2, table.vkCmdCopyImageToBuffer2KHR);
  share(table.vkCmdBlitImage2, table.vkCmdBlitImage2KHR);
  share(table.vkCmdResolveImage2, table.vkCmdResolveImage2KHR);
  share(table.vkCreateRenderPass2, table.vkCreateRenderPass2KHR);
  share(table.vkCmdBeginRenderPass2, table.vkCmdBeginRenderPass2KHR);
  share(table.vkCmdNextSubpass2, table.vkCmdNextSubpass2KHR);
  share(table.vkCmdEndRenderPass2, table.vkCmdEndRenderPass2KHR);
  share(table.vkCmdBeginRendering, table.vkCmdBeginRenderingKHR);
  share(table.vkCmdEndRendering, table.vkCmdEndRenderingKHR);
  share(table.vkCmdBindVertexBuffers2, table.vkCmdBindVertexBuffers2EXT);
  share(table.vkCmdDrawIndirectCount, table.vkCmdDrawIndirectCountKHR);
  share(table.vkCmdDrawIndirectCount, table.vkCmdDrawIndirectCountAMD);
  share(table.vkCmdDrawIndexedIndirectCount, table.vkCmdDrawIndexedIndirectCountKHR);
  share(table.vkCmdDrawIndexedIndirectCount, table.vkCmdDrawIndexedIndirectCountAMD);
  share(table.vkCmdPipelineBarrier2, table.vkCmdPipelineBarrier2KHR);
  share(table.vkCmdSetEvent2, table.vkCmdSetEvent2KHR);
  share(table.vkCmdResetEvent2, table.vkCmdResetEvent2KHR);
  share(table.vkCmdWaitEvents2, table.vkCmdWaitEvents2KHR);
  share(table.vkQueueSubmit2, table.vkQueueSubmit2KHR);
  share(table.vkWaitSemaphores, table.vkWaitSemaphoresKHR);
  share(table.vkSignalSemaphore, table.vkSignalSemaphoreKHR);
  share(table.vkGetSemaphoreCounterValue, table.vkGetSemaphoreCounterValueKHR);
  const auto load = [&]<typename Function>(Function& function, const char* name) {
    function = reinterpret_cast<Function>(load_one(&loader, name));
  };
  load(debug.set_object_name, "vkSetDebugUtilsObjectNameEXT");
  load(debug.begin_label, "vkCmdBeginDebugUtilsLabelEXT");
  load(debug.end_label, "vkCmdEndDebugUtilsLabelEXT");
  load(debug.insert_label, "vkCmdInsertDebugUtilsLabelEXT");
  load(debug.begin_queue_label, "vkQueueBeginDebugUtilsLabelEXT");
  load(debug.end_queue_label, "vkQueueEndDebugUtilsLabelEXT");
  load(debug.insert_queue_label, "vkQueueInsertDebugUtilsLabelEXT");
}

}  // namespace interlock
