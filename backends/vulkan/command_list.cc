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
  commands.push_back({DeviceCommandKind::kLaunch, index_of_next(launches), statement});
  launches.push_back(launch);
}

void CommandList::add_copy(BufferCopy copy) {
  if (copy.size_bytes == 0) return;
  commands.push_back({DeviceCommandKind::kCopy, index_of_next(copies), statement});
  copies.push_back(copy);
}

void CommandList::add_fill(BufferFill fill) {
  if (fill.range.size_bytes == 0) return;
  commands.push_back({DeviceCommandKind::kFill, index_of_next(fills), statement});
  fills.push_back(fill);
}

void CommandList::add_barrier(std::span<const DeviceDependency> parts) {
  commands.push_back({DeviceCommandKind::kBarrier, index_of_next(barriers), statement});
  barriers.push_back({index_of_next(dependencies), static_cast<uint32_t>(parts.size())});
  dependencies.insert(dependencies.end(), parts.begin(), parts.end());
}

void CommandList::add_full_barrier() { add_barrier(std::array{full_dependency()}); }

}  // namespace interlock
