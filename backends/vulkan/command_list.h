// CommandList: what a run asks of the device, as plain numbers. VulkanLowering makes it from a
// program without any device; recording (command_recorder.h) turns it into Vulkan commands one by
// one.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "backends/interface/device_layout.h"
#include "backends/vulkan/shaders.h"

namespace interlock {

// Dispatches workgroups of a shader.
struct ShaderLaunch {
  ShaderIndex shader = 0;
  uint32_t first_binding = 0;  // Into CommandList::bindings; binding k of the shader is the k-th.
  uint32_t binding_count = 0;
  uint32_t first_push_word = 0;  // Into CommandList::push_words.
  uint32_t push_word_count = 0;
  uint32_t group_count_x = 1;
  uint32_t group_count_y = 1;
};

struct BufferCopy {
  uint64_t source_bytes = 0;  // Offsets in the arena.
  uint64_t destination_bytes = 0;
  uint64_t size_bytes = 0;
};

struct BufferFill {
  DeviceRange range;  // Multiples of four bytes.
  uint32_t word = 0;
};

// A memory dependency between Vulkan stages (VkPipelineStageFlags2, VkAccessFlags2), in the ranges
// if there are any, else in all memory. Without accesses: an execution dependency.
struct DeviceDependency {
  uint64_t source_stages = 0;
  uint64_t source_accesses = 0;
  uint64_t destination_stages = 0;
  uint64_t destination_accesses = 0;
  uint32_t first_range = 0;  // Into CommandList::barrier_ranges.
  uint32_t range_count = 0;
};

// One barrier command. Its dependencies do not chain.
struct DeviceBarrier {
  uint32_t first_dependency = 0;
  uint32_t dependency_count = 0;
};

// One half of a barrier: an event is set, or waited for. Both halves have the same dependencies.
struct DeviceEvent {
  uint32_t event = 0;
  bool is_wait = false;
  DeviceBarrier barrier;
};

struct DeviceCommand {
  std::variant<ShaderLaunch, BufferCopy, BufferFill, DeviceBarrier, DeviceEvent> work;
  uint32_t statement = 0;  // Of the program: what the command is a part of.
};

struct CommandList {
  uint32_t statement = 0;  // Of the commands to come.
  std::vector<DeviceCommand> commands;
  std::vector<DeviceRange> bindings;
  std::vector<uint32_t> push_words;
  std::vector<DeviceDependency> dependencies;
  std::vector<DeviceRange> barrier_ranges;

  // `launch` has its shader and grid; this sets the rest.
  void add_launch(ShaderLaunch launch, std::span<const DeviceRange> operands,
                  std::span<const uint32_t> params);
  void add_copy(BufferCopy copy);  // An empty one adds nothing.
  void add_fill(BufferFill fill);  // Likewise.
  void add_barrier(std::span<const DeviceDependency> parts);
  void add_event(uint32_t event, bool is_wait, std::span<const DeviceDependency> parts);

  // Everything before is over, and visible to everything after and to the host.
  void add_full_barrier();

 private:
  DeviceBarrier barrier_of(std::span<const DeviceDependency> parts);
};

}  // namespace interlock
