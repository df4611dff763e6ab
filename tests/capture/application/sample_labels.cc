// Modes of the sample application that say where they are: debug labels, and functions of one name
// each.
#include <volk.h>

#include <cstdlib>

#include "tests/capture/application/sample_modes.h"

namespace interlock {
namespace {

VkDebugUtilsLabelEXT label_of(const char* name) {
  VkDebugUtilsLabelEXT label = {VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT};
  label.pLabelName = name;
  return label;
}

// The label outside of the dispatch is of the command buffer, and another one of the queue.
[[gnu::noinline]] void record_labelled(const Sample& sample, VkCommandBuffer commands,
                                       VkDescriptorSet set, const char* name) {
  const VkDebugUtilsLabelEXT label = label_of(name);
  vkCmdBeginDebugUtilsLabelEXT(commands, &label);
  sample.device.dispatch(commands, set);
  vkCmdEndDebugUtilsLabelEXT(commands);
}

}  // namespace

void run_labels(Sample& sample) {
  const VkCommandBuffer commands = sample.device.begin();
  const VkDebugUtilsLabelEXT frame = label_of("frame");
  vkCmdBeginDebugUtilsLabelEXT(commands, &frame);
  record_labelled(sample, commands, sample.first, "horizontal");
  record_labelled(sample, commands, sample.second, "vertical");
  vkCmdEndDebugUtilsLabelEXT(commands);
  const VkDebugUtilsLabelEXT batch = label_of("first batch");
  vkQueueBeginDebugUtilsLabelEXT(sample.device.queue(), &batch);
  sample.device.run(commands);
  vkQueueEndDebugUtilsLabelEXT(sample.device.queue());
}

void run_markers(Sample& sample) {
  if (vkCmdDebugMarkerBeginEXT == nullptr) std::exit(4);
  const VkCommandBuffer commands = sample.device.begin();
  const auto begin = [&](const char* name) {
    VkDebugMarkerMarkerInfoEXT marker = {VK_STRUCTURE_TYPE_DEBUG_MARKER_MARKER_INFO_EXT};
    marker.pMarkerName = name;
    vkCmdDebugMarkerBeginEXT(commands, &marker);
  };
  begin("frame");
  begin("horizontal");
  sample.device.dispatch(commands, sample.first);
  vkCmdDebugMarkerEndEXT(commands);
  begin("vertical");
  sample.device.dispatch(commands, sample.second);
  vkCmdDebugMarkerEndEXT(commands);
  vkCmdDebugMarkerEndEXT(commands);
  sample.device.run(commands);
}

void run_unasked_names(Sample& sample) {
  VkDebugUtilsObjectNameInfoEXT info = {VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT};
  info.objectType = VK_OBJECT_TYPE_BUFFER;
  info.objectHandle = reinterpret_cast<uint64_t>(sample.b.buffer);
  info.pObjectName = "between";
  if (vkSetDebugUtilsObjectNameEXT != nullptr) {
    require(vkSetDebugUtilsObjectNameEXT(sample.device.device(), &info), "a name");
  }
  for (const VkDescriptorSet set : {sample.first, sample.second}) {
    const VkCommandBuffer commands = sample.device.begin();
    sample.device.dispatch(commands, set);
    sample.device.run(commands);
  }
}

}  // namespace interlock
