// Draws, and the buffers of vertices and indices that they read.

#include <volk.h>

#include <array>
#include <cstdint>

#include "capture/layer/devices.h"
#include "capture/layer/intercepted.h"
#include "capture/layer/next_functions.h"
#include "capture/log/graphics_records.h"

namespace interlock {
namespace {

constexpr uint64_t kCountBytes = 4;

void log_vertices(VkCommandBuffer commands, uint32_t first, uint32_t count, const VkBuffer* buffers,
                  const VkDeviceSize* offsets, const VkDeviceSize* sizes) {
  BindVertexBuffersRecord record;
  record.commands = number_of(commands);
  record.first_binding = first;
  for (uint32_t i = 0; i < count; ++i) {
    record.buffers.push_back(
        {number_of(buffers[i]), offsets[i], sizes == nullptr ? VK_WHOLE_SIZE : sizes[i]});
  }
  log().append(record);
}

VKAPI_ATTR void VKAPI_CALL bind_vertices(VkCommandBuffer commands, uint32_t first, uint32_t count,
                                         const VkBuffer* buffers, const VkDeviceSize* offsets) {
  log_vertices(commands, first, count, buffers, offsets, nullptr);
  device_of(commands).next.vkCmdBindVertexBuffers(commands, first, count, buffers, offsets);
}

VKAPI_ATTR void VKAPI_CALL bind_vertices_2(VkCommandBuffer commands, uint32_t first, uint32_t count,
                                           const VkBuffer* buffers, const VkDeviceSize* offsets,
                                           const VkDeviceSize* sizes, const VkDeviceSize* strides) {
  log_vertices(commands, first, count, buffers, offsets, sizes);
  device_of(commands).next.vkCmdBindVertexBuffers2(commands, first, count, buffers, offsets, sizes,
                                                   strides);
}

uint32_t bytes_of_index(VkIndexType type) {
  switch (type) {
    case VK_INDEX_TYPE_UINT16:
      return 2;
    case VK_INDEX_TYPE_UINT8_EXT:
      return 1;
    default:
      return 4;
  }
}

VKAPI_ATTR void VKAPI_CALL bind_indices(VkCommandBuffer commands, VkBuffer buffer,
                                        VkDeviceSize offset_bytes, VkIndexType type) {
  log().append(BindIndexBufferRecord{number_of(commands), number_of(buffer), offset_bytes,
                                     bytes_of_index(type)});
  device_of(commands).next.vkCmdBindIndexBuffer(commands, buffer, offset_bytes, type);
}

VKAPI_ATTR void VKAPI_CALL draw(VkCommandBuffer commands, uint32_t vertex_count,
                                uint32_t instance_count, uint32_t first_vertex,
                                uint32_t first_instance) {
  log().append(DrawRecord{number_of(commands), 0, 0, 0, {}});
  device_of(commands).next.vkCmdDraw(commands, vertex_count, instance_count, first_vertex,
                                     first_instance);
}

VKAPI_ATTR void VKAPI_CALL draw_indexed(VkCommandBuffer commands, uint32_t index_count,
                                        uint32_t instance_count, uint32_t first_index,
                                        int32_t vertex_offset, uint32_t first_instance) {
  log().append(DrawRecord{number_of(commands), 1, first_index, index_count, {}});
  device_of(commands).next.vkCmdDrawIndexed(commands, index_count, instance_count, first_index,
                                            vertex_offset, first_instance);
}

// From the first to the end of the last of them.
DrawArgumentsFields arguments_of(VkBuffer buffer, VkDeviceSize offset_bytes, uint32_t count,
                                 uint32_t stride_bytes, uint64_t size_bytes) {
  const uint64_t all = count == 0 ? 0 : uint64_t{count - 1} * stride_bytes + size_bytes;
  return {number_of(buffer), offset_bytes, all};
}

void log_indirect(VkCommandBuffer commands, bool is_indexed, const DrawArgumentsFields& arguments) {
  log().append(DrawRecord{number_of(commands), is_indexed ? 1u : 0u, 0, UINT64_MAX, {arguments}});
}

VKAPI_ATTR void VKAPI_CALL draw_indirect(VkCommandBuffer commands, VkBuffer buffer,
                                         VkDeviceSize offset_bytes, uint32_t count,
                                         uint32_t stride) {
  log_indirect(commands, false,
               arguments_of(buffer, offset_bytes, count, stride, sizeof(VkDrawIndirectCommand)));
  device_of(commands).next.vkCmdDrawIndirect(commands, buffer, offset_bytes, count, stride);
}

VKAPI_ATTR void VKAPI_CALL draw_indexed_indirect(VkCommandBuffer commands, VkBuffer buffer,
                                                 VkDeviceSize offset_bytes, uint32_t count,
                                                 uint32_t stride) {
  log_indirect(
      commands, true,
      arguments_of(buffer, offset_bytes, count, stride, sizeof(VkDrawIndexedIndirectCommand)));
  device_of(commands).next.vkCmdDrawIndexedIndirect(commands, buffer, offset_bytes, count, stride);
}

void log_counted(VkCommandBuffer commands, bool is_indexed, const DrawArgumentsFields& arguments,
                 VkBuffer count_buffer, VkDeviceSize count_offset) {
  log().append(DrawRecord{number_of(commands),
                          is_indexed ? 1u : 0u,
                          0,
                          UINT64_MAX,
                          {arguments, {number_of(count_buffer), count_offset, kCountBytes}}});
}

VKAPI_ATTR void VKAPI_CALL draw_counted(VkCommandBuffer commands, VkBuffer buffer,
                                        VkDeviceSize offset_bytes, VkBuffer count_buffer,
                                        VkDeviceSize count_offset, uint32_t count_max,
                                        uint32_t stride) {
  log_counted(commands, false,
              arguments_of(buffer, offset_bytes, count_max, stride, sizeof(VkDrawIndirectCommand)),
              count_buffer, count_offset);
  device_of(commands).next.vkCmdDrawIndirectCount(commands, buffer, offset_bytes, count_buffer,
                                                  count_offset, count_max, stride);
}

VKAPI_ATTR void VKAPI_CALL draw_indexed_counted(VkCommandBuffer commands, VkBuffer buffer,
                                                VkDeviceSize offset_bytes, VkBuffer count_buffer,
                                                VkDeviceSize count_offset, uint32_t count_max,
                                                uint32_t stride) {
  log_counted(
      commands, true,
      arguments_of(buffer, offset_bytes, count_max, stride, sizeof(VkDrawIndexedIndirectCommand)),
      count_buffer, count_offset);
  device_of(commands).next.vkCmdDrawIndexedIndirectCount(
      commands, buffer, offset_bytes, count_buffer, count_offset, count_max, stride);
}

}  // namespace

std::span<const Intercepted> draw_calls() {
  static const std::array kCalls = {
      Intercepted{"vkCmdBindVertexBuffers", as_function(bind_vertices)},
      Intercepted{"vkCmdBindVertexBuffers2", as_function(bind_vertices_2)},
      Intercepted{"vkCmdBindVertexBuffers2EXT", as_function(bind_vertices_2)},
      Intercepted{"vkCmdBindIndexBuffer", as_function(bind_indices)},
      Intercepted{"vkCmdDraw", as_function(draw)},
      Intercepted{"vkCmdDrawIndexed", as_function(draw_indexed)},
      Intercepted{"vkCmdDrawIndirect", as_function(draw_indirect)},
      Intercepted{"vkCmdDrawIndexedIndirect", as_function(draw_indexed_indirect)},
      Intercepted{"vkCmdDrawIndirectCount", as_function(draw_counted)},
      Intercepted{"vkCmdDrawIndirectCountKHR", as_function(draw_counted)},
      Intercepted{"vkCmdDrawIndirectCountAMD", as_function(draw_counted)},
      Intercepted{"vkCmdDrawIndexedIndirectCount", as_function(draw_indexed_counted)},
      Intercepted{"vkCmdDrawIndexedIndirectCountKHR", as_function(draw_indexed_counted)},
      Intercepted{"vkCmdDrawIndexedIndirectCountAMD", as_function(draw_indexed_counted)},
  };
  return kCalls;
}

}  // namespace interlock
