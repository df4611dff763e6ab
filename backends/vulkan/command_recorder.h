// Records a command list into a Vulkan command buffer, command by command.
#pragma once

#include <volk.h>

#include <span>
#include <vector>

#include "backends/vulkan/command_list.h"
#include "backends/vulkan/device.h"
#include "backends/vulkan/instance.h"
#include "backends/vulkan/pipelines.h"
#include "encoder/program/result.h"

namespace interlock {

class CommandRecorder {
 public:
  // `log` learns which statement is being recorded.
  // Requires: all outlive the recorder; `commands` is being recorded.
  CommandRecorder(VulkanDevice& device, VulkanPipelines& pipelines, ValidationLog& log,
                  VkBuffer arena, VkCommandBuffer commands)
      : table_(device.table()),
        pipelines_(pipelines),
        log_(log),
        arena_(arena),
        commands_(commands) {}

  // The handles of the events of the list. Requires: they outlive the recorder.
  void set_events(std::span<const VkEvent> events) { events_ = events; }

  // Records commands [begin, end) of the list. Errors: a shader does not compile.
  Result<Success> record(const CommandList& list, size_t begin, size_t end);

 private:
  Result<Success> record(const CommandList& list, const ShaderLaunch& launch);
  Result<Success> record(const CommandList& list, const BufferCopy& copy);
  Result<Success> record(const CommandList& list, const BufferFill& fill);
  Result<Success> record(const CommandList& list, const DeviceBarrier& barrier);
  Result<Success> record(const CommandList& list, const DeviceEvent& event);

  // Valid until the next one.
  VkDependencyInfo dependency_of(const CommandList& list, const DeviceBarrier& barrier);

  const VolkDeviceTable& table_;
  VulkanPipelines& pipelines_;
  ValidationLog& log_;
  VkBuffer arena_;
  VkCommandBuffer commands_;
  std::span<const VkEvent> events_;
  const VulkanPipeline* bound_ = nullptr;          // Pipelines stay bound from launch to launch.
  std::vector<VkMemoryBarrier2> memory_barriers_;  // Of one barrier; kept for their storage.
  std::vector<VkBufferMemoryBarrier2> buffer_barriers_;  // So are these.
};

}  // namespace interlock
