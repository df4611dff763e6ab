// Commands that touch memory and that the log has no records for. They are counted by name, and the
// verdict names them. Those that only set a state of the command buffer, or a query, touch no
// memory: they pass. So does vkCmdClearAttachments: its pass writes its attachments anyway.

#include <volk.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "capture/layer/devices.h"
#include "capture/layer/intercepted.h"
#include "capture/layer/next_functions.h"
#include "capture/log/command_records.h"

namespace interlock {
namespace {

// A name as an argument of a template.
template <size_t kSize>
struct Name {
  // NOLINTNEXTLINE(google-explicit-constructor): from a literal.
  constexpr Name(const char (&literal)[kSize]) { std::copy_n(literal, kSize, text); }

  char text[kSize] = {};
};

template <Name kName, auto kNext>
struct NotUnderstood;

template <Name kName, typename... Arguments,
          void (VKAPI_PTR* VolkDeviceTable::*kNext)(VkCommandBuffer, Arguments...)>
struct NotUnderstood<kName, kNext> {
  static VKAPI_ATTR void VKAPI_CALL call(VkCommandBuffer commands, Arguments... arguments) {
    log().append(NotUnderstoodCommandRecord{number_of(commands), kName.text});
    (device_of(commands).next.*kNext)(commands, arguments...);
  }
};

template <Name kName, auto kNext>
Intercepted not_understood() {
  return {kName.text, as_function(NotUnderstood<kName, kNext>::call)};
}

}  // namespace

std::span<const Intercepted> not_understood_calls() {
  using Next = VolkDeviceTable;
  static const std::array kCalls = {
      not_understood<"vkCmdBeginConditionalRenderingEXT",
                     &Next::vkCmdBeginConditionalRenderingEXT>(),
      not_understood<"vkCmdBeginTransformFeedbackEXT", &Next::vkCmdBeginTransformFeedbackEXT>(),
      not_understood<"vkCmdBeginVideoCodingKHR", &Next::vkCmdBeginVideoCodingKHR>(),
      not_understood<"vkCmdBindDescriptorBufferEmbeddedSamplersEXT",
                     &Next::vkCmdBindDescriptorBufferEmbeddedSamplersEXT>(),
      not_understood<"vkCmdBindDescriptorBuffersEXT", &Next::vkCmdBindDescriptorBuffersEXT>(),
      not_understood<"vkCmdBuildAccelerationStructureNV",
                     &Next::vkCmdBuildAccelerationStructureNV>(),
      not_understood<"vkCmdBuildAccelerationStructuresIndirectKHR",
                     &Next::vkCmdBuildAccelerationStructuresIndirectKHR>(),
      not_understood<"vkCmdBuildAccelerationStructuresKHR",
                     &Next::vkCmdBuildAccelerationStructuresKHR>(),
      not_understood<"vkCmdBuildMicromapsEXT", &Next::vkCmdBuildMicromapsEXT>(),
      not_understood<"vkCmdCopyAccelerationStructureKHR",
                     &Next::vkCmdCopyAccelerationStructureKHR>(),
      not_understood<"vkCmdCopyAccelerationStructureNV", &Next::vkCmdCopyAccelerationStructureNV>(),
      not_understood<"vkCmdCopyAccelerationStructureToMemoryKHR",
                     &Next::vkCmdCopyAccelerationStructureToMemoryKHR>(),
      not_understood<"vkCmdCopyMemoryIndirectNV", &Next::vkCmdCopyMemoryIndirectNV>(),
      not_understood<"vkCmdCopyMemoryToAccelerationStructureKHR",
                     &Next::vkCmdCopyMemoryToAccelerationStructureKHR>(),
      not_understood<"vkCmdCopyMemoryToImageIndirectNV", &Next::vkCmdCopyMemoryToImageIndirectNV>(),
      not_understood<"vkCmdCopyMemoryToMicromapEXT", &Next::vkCmdCopyMemoryToMicromapEXT>(),
      not_understood<"vkCmdCopyMicromapEXT", &Next::vkCmdCopyMicromapEXT>(),
      not_understood<"vkCmdCopyMicromapToMemoryEXT", &Next::vkCmdCopyMicromapToMemoryEXT>(),
      not_understood<"vkCmdCuLaunchKernelNVX", &Next::vkCmdCuLaunchKernelNVX>(),
      not_understood<"vkCmdDecodeVideoKHR", &Next::vkCmdDecodeVideoKHR>(),
      not_understood<"vkCmdDecompressMemoryIndirectCountNV",
                     &Next::vkCmdDecompressMemoryIndirectCountNV>(),
      not_understood<"vkCmdDecompressMemoryNV", &Next::vkCmdDecompressMemoryNV>(),
      not_understood<"vkCmdDrawClusterHUAWEI", &Next::vkCmdDrawClusterHUAWEI>(),
      not_understood<"vkCmdDrawClusterIndirectHUAWEI", &Next::vkCmdDrawClusterIndirectHUAWEI>(),
      not_understood<"vkCmdDrawIndirectByteCountEXT", &Next::vkCmdDrawIndirectByteCountEXT>(),
      not_understood<"vkCmdDrawMeshTasksEXT", &Next::vkCmdDrawMeshTasksEXT>(),
      not_understood<"vkCmdDrawMeshTasksIndirectCountEXT",
                     &Next::vkCmdDrawMeshTasksIndirectCountEXT>(),
      not_understood<"vkCmdDrawMeshTasksIndirectCountNV",
                     &Next::vkCmdDrawMeshTasksIndirectCountNV>(),
      not_understood<"vkCmdDrawMeshTasksIndirectEXT", &Next::vkCmdDrawMeshTasksIndirectEXT>(),
      not_understood<"vkCmdDrawMeshTasksIndirectNV", &Next::vkCmdDrawMeshTasksIndirectNV>(),
      not_understood<"vkCmdDrawMeshTasksNV", &Next::vkCmdDrawMeshTasksNV>(),
      not_understood<"vkCmdDrawMultiEXT", &Next::vkCmdDrawMultiEXT>(),
      not_understood<"vkCmdDrawMultiIndexedEXT", &Next::vkCmdDrawMultiIndexedEXT>(),
      not_understood<"vkCmdExecuteGeneratedCommandsNV", &Next::vkCmdExecuteGeneratedCommandsNV>(),
      not_understood<"vkCmdOpticalFlowExecuteNV", &Next::vkCmdOpticalFlowExecuteNV>(),
      not_understood<"vkCmdPreprocessGeneratedCommandsNV",
                     &Next::vkCmdPreprocessGeneratedCommandsNV>(),
      not_understood<"vkCmdSubpassShadingHUAWEI", &Next::vkCmdSubpassShadingHUAWEI>(),
      not_understood<"vkCmdTraceRaysIndirect2KHR", &Next::vkCmdTraceRaysIndirect2KHR>(),
      not_understood<"vkCmdTraceRaysIndirectKHR", &Next::vkCmdTraceRaysIndirectKHR>(),
      not_understood<"vkCmdTraceRaysKHR", &Next::vkCmdTraceRaysKHR>(),
      not_understood<"vkCmdTraceRaysNV", &Next::vkCmdTraceRaysNV>(),
      not_understood<"vkCmdWriteAccelerationStructuresPropertiesKHR",
                     &Next::vkCmdWriteAccelerationStructuresPropertiesKHR>(),
      not_understood<"vkCmdWriteAccelerationStructuresPropertiesNV",
                     &Next::vkCmdWriteAccelerationStructuresPropertiesNV>(),
      not_understood<"vkCmdWriteBufferMarker2AMD", &Next::vkCmdWriteBufferMarker2AMD>(),
      not_understood<"vkCmdWriteBufferMarkerAMD", &Next::vkCmdWriteBufferMarkerAMD>(),
      not_understood<"vkCmdWriteMicromapsPropertiesEXT", &Next::vkCmdWriteMicromapsPropertiesEXT>(),
  };
  return kCalls;
}

}  // namespace interlock
