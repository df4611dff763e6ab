#include "backends/vulkan/command_list.h"

#include <array>

#include "backends/vulkan/barrier_lowering.h"

namespace interlock {
namespace {

template <class T>
uint32_t index_of_next(const std::vector<T>& items) {
  return static_cast<uint32_t>(items.size());
}

}  // namespace

void CommandList::add_launch(ShaderLaunch launch, std::span<const DeviceRange> operands,
                             std::span<const uint32_t> params) {
  launch.first_binding = index_of_next(bindings);
  launch.binding_count = static_cast<uint32_t>(operands.size());
  launch.first_push_word = index_of_next(push_words);
  launch.push_word_count = static_cast<uint32_t>(params.size());
  bindings.insert(bindings.end(), operands.begin(), operands.end());
  push_words.insert(push_words.end(), params.begin(), params.end());
  commands.push_back({launch, statement});
}

void CommandList::add_copy(BufferCopy copy) {
  if (copy.size_bytes > 0) commands.push_back({copy, statement});
}

void CommandList::add_fill(BufferFill fill) {
  if (fill.range.size_bytes > 0) commands.push_back({fill, statement});
}

void CommandList::add_barrier(std::span<const DeviceDependency> parts) {
  commands.push_back({barrier_of(parts), statement});
}

void CommandList::add_event(uint32_t event, bool is_wait, std::span<const DeviceDependency> parts) {
  commands.push_back({DeviceEvent{event, is_wait, barrier_of(parts)}, statement});
}

DeviceBarrier CommandList::barrier_of(std::span<const DeviceDependency> parts) {
  const DeviceBarrier barrier{index_of_next(dependencies), static_cast<uint32_t>(parts.size())};
  dependencies.insert(dependencies.end(), parts.begin(), parts.end());
  return barrier;
}

void CommandList::add_full_barrier() { add_barrier(std::array{full_dependency()}); }

}  // namespace interlock
