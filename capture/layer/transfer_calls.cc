// Copies, fills, updates, clears, blits and resolves, of both generations: regions with two ends.

#include <volk.h>

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>
#include <span>
#include <utility>

#include "capture/layer/devices.h"
#include "capture/layer/intercepted.h"
#include "capture/layer/next_functions.h"
#include "capture/log/command_records.h"
#include "capture/log/object_records.h"

namespace interlock {
namespace {

TransferEndFields buffer_end(VkBuffer buffer, uint64_t offset_bytes, uint64_t size_bytes) {
  TransferEndFields end;
  end.handle = number_of(buffer);
  end.offset_bytes = offset_bytes;
  end.size_bytes = size_bytes;
  return end;
}

TransferEndFields image_end(VkImage image, const VkImageSubresourceLayers& layers,
                            const VkOffset3D& offset, const VkExtent3D& extent) {
  TransferEndFields end;
  end.handle = number_of(image);
  end.is_image = 1;
  end.range = {layers.aspectMask, layers.mipLevel, 1, layers.baseArrayLayer, layers.layerCount};
  end.x = offset.x;
  end.y = offset.y;
  end.z = offset.z;
  end.width = extent.width;
  end.height = extent.height;
  end.depth = extent.depth;
  return end;
}

TransferEndFields cleared_end(VkImage image, const VkImageSubresourceRange& range) {
  TransferEndFields end;
  end.handle = number_of(image);
  end.is_image = 1;
  end.range = fields_of(range);
  return end;
}

// The box between two corners, whichever comes first.
TransferEndFields blit_end(VkImage image, const VkImageSubresourceLayers& layers,
                           const VkOffset3D (&corners)[2]) {
  const auto least = [](int32_t a, int32_t b) { return a < b ? a : b; };
  const auto length = [](int32_t a, int32_t b) {
    return static_cast<uint32_t>(a < b ? b - a : a - b);
  };
  return image_end(image, layers,
                   {least(corners[0].x, corners[1].x), least(corners[0].y, corners[1].y),
                    least(corners[0].z, corners[1].z)},
                   {length(corners[0].x, corners[1].x), length(corners[0].y, corners[1].y),
                    length(corners[0].z, corners[1].z)});
}

template <typename Region, typename EndsOf>
void log_regions(VkCommandBuffer commands, TransferUse use, std::span<const Region> regions,
                 const EndsOf& ends_of) {
  TransferRecord record{number_of(commands), use, {}};
  record.regions.reserve(regions.size());
  for (const Region& region : regions) {
    auto [from, to] = ends_of(region);
    record.regions.push_back({{std::move(from)}, {std::move(to)}});
  }
  log().append(record);
}

// Both generations have the same members.
template <typename Region>
void log_buffer_copy(VkCommandBuffer commands, VkBuffer from, VkBuffer to,
                     std::span<const Region> regions) {
  log_regions(commands, TransferUse::kCopy, regions, [&](const Region& region) {
    return std::pair(buffer_end(from, region.srcOffset, region.size),
                     buffer_end(to, region.dstOffset, region.size));
  });
}

template <typename Region>
void log_image_copy(VkCommandBuffer commands, TransferUse use, VkImage from, VkImage to,
                    std::span<const Region> regions) {
  log_regions(commands, use, regions, [&](const Region& region) {
    return std::pair(image_end(from, region.srcSubresource, region.srcOffset, region.extent),
                     image_end(to, region.dstSubresource, region.dstOffset, region.extent));
  });
}

template <typename Region>
void log_blit(VkCommandBuffer commands, VkImage from, VkImage to, std::span<const Region> regions) {
  log_regions(commands, TransferUse::kBlit, regions, [&](const Region& region) {
    return std::pair(blit_end(from, region.srcSubresource, region.srcOffsets),
                     blit_end(to, region.dstSubresource, region.dstOffsets));
  });
}

template <typename Region>
TransferEndFields buffer_side(VkBuffer buffer, const Region& region) {
  TransferEndFields end = buffer_end(buffer, region.bufferOffset, 0);
  end.row_length = region.bufferRowLength;
  end.image_height = region.bufferImageHeight;
  return end;
}

template <typename Region>
TransferEndFields image_side(VkImage image, const Region& region) {
  return image_end(image, region.imageSubresource, region.imageOffset, region.imageExtent);
}

template <typename Region>
void log_upload(VkCommandBuffer commands, VkBuffer from, VkImage to,
                std::span<const Region> regions) {
  log_regions(commands, TransferUse::kCopy, regions, [&](const Region& region) {
    return std::pair(buffer_side(from, region), image_side(to, region));
  });
}

template <typename Region>
void log_download(VkCommandBuffer commands, VkImage from, VkBuffer to,
                  std::span<const Region> regions) {
  log_regions(commands, TransferUse::kCopy, regions, [&](const Region& region) {
    return std::pair(image_side(from, region), buffer_side(to, region));
  });
}

VKAPI_ATTR void VKAPI_CALL copy_buffer(VkCommandBuffer commands, VkBuffer from, VkBuffer to,
                                       uint32_t count, const VkBufferCopy* regions) {
  log_buffer_copy(commands, from, to, std::span(regions, count));
  device_of(commands).next.vkCmdCopyBuffer(commands, from, to, count, regions);
}

VKAPI_ATTR void VKAPI_CALL copy_buffer_2(VkCommandBuffer commands, const VkCopyBufferInfo2* info) {
  log_buffer_copy(commands, info->srcBuffer, info->dstBuffer,
                  std::span(info->pRegions, info->regionCount));
  device_of(commands).next.vkCmdCopyBuffer2(commands, info);
}

VKAPI_ATTR void VKAPI_CALL copy_image(VkCommandBuffer commands, VkImage from,
                                      VkImageLayout from_layout, VkImage to,
                                      VkImageLayout to_layout, uint32_t count,
                                      const VkImageCopy* regions) {
  log_image_copy(commands, TransferUse::kCopy, from, to, std::span(regions, count));
  device_of(commands).next.vkCmdCopyImage(commands, from, from_layout, to, to_layout, count,
                                          regions);
}

VKAPI_ATTR void VKAPI_CALL copy_image_2(VkCommandBuffer commands, const VkCopyImageInfo2* info) {
  log_image_copy(commands, TransferUse::kCopy, info->srcImage, info->dstImage,
                 std::span(info->pRegions, info->regionCount));
  device_of(commands).next.vkCmdCopyImage2(commands, info);
}

VKAPI_ATTR void VKAPI_CALL copy_to_image(VkCommandBuffer commands, VkBuffer from, VkImage to,
                                         VkImageLayout layout, uint32_t count,
                                         const VkBufferImageCopy* regions) {
  log_upload(commands, from, to, std::span(regions, count));
  device_of(commands).next.vkCmdCopyBufferToImage(commands, from, to, layout, count, regions);
}

VKAPI_ATTR void VKAPI_CALL copy_to_image_2(VkCommandBuffer commands,
                                           const VkCopyBufferToImageInfo2* info) {
  log_upload(commands, info->srcBuffer, info->dstImage,
             std::span(info->pRegions, info->regionCount));
  device_of(commands).next.vkCmdCopyBufferToImage2(commands, info);
}

VKAPI_ATTR void VKAPI_CALL copy_from_image(VkCommandBuffer commands, VkImage from,
                                           VkImageLayout layout, VkBuffer to, uint32_t count,
                                           const VkBufferImageCopy* regions) {
  log_download(commands, from, to, std::span(regions, count));
  device_of(commands).next.vkCmdCopyImageToBuffer(commands, from, layout, to, count, regions);
}

VKAPI_ATTR void VKAPI_CALL copy_from_image_2(VkCommandBuffer commands,
                                             const VkCopyImageToBufferInfo2* info) {
  log_download(commands, info->srcImage, info->dstBuffer,
               std::span(info->pRegions, info->regionCount));
  device_of(commands).next.vkCmdCopyImageToBuffer2(commands, info);
}

VKAPI_ATTR void VKAPI_CALL blit_image(VkCommandBuffer commands, VkImage from,
                                      VkImageLayout from_layout, VkImage to,
                                      VkImageLayout to_layout, uint32_t count,
                                      const VkImageBlit* regions, VkFilter filter) {
  log_blit(commands, from, to, std::span(regions, count));
  device_of(commands).next.vkCmdBlitImage(commands, from, from_layout, to, to_layout, count,
                                          regions, filter);
}

VKAPI_ATTR void VKAPI_CALL blit_image_2(VkCommandBuffer commands, const VkBlitImageInfo2* info) {
  log_blit(commands, info->srcImage, info->dstImage, std::span(info->pRegions, info->regionCount));
  device_of(commands).next.vkCmdBlitImage2(commands, info);
}

VKAPI_ATTR void VKAPI_CALL resolve_image(VkCommandBuffer commands, VkImage from,
                                         VkImageLayout from_layout, VkImage to,
                                         VkImageLayout to_layout, uint32_t count,
                                         const VkImageResolve* regions) {
  log_image_copy(commands, TransferUse::kResolve, from, to, std::span(regions, count));
  device_of(commands).next.vkCmdResolveImage(commands, from, from_layout, to, to_layout, count,
                                             regions);
}

VKAPI_ATTR void VKAPI_CALL resolve_image_2(VkCommandBuffer commands,
                                           const VkResolveImageInfo2* info) {
  log_image_copy(commands, TransferUse::kResolve, info->srcImage, info->dstImage,
                 std::span(info->pRegions, info->regionCount));
  device_of(commands).next.vkCmdResolveImage2(commands, info);
}

VKAPI_ATTR void VKAPI_CALL fill_buffer(VkCommandBuffer commands, VkBuffer to,
                                       VkDeviceSize offset_bytes, VkDeviceSize size_bytes,
                                       uint32_t value) {
  log().append(TransferRecord{
      number_of(commands), TransferUse::kFill, {{{}, {buffer_end(to, offset_bytes, size_bytes)}}}});
  device_of(commands).next.vkCmdFillBuffer(commands, to, offset_bytes, size_bytes, value);
}

VKAPI_ATTR void VKAPI_CALL update_buffer(VkCommandBuffer commands, VkBuffer to,
                                         VkDeviceSize offset_bytes, VkDeviceSize size_bytes,
                                         const void* data) {
  log().append(TransferRecord{number_of(commands),
                              TransferUse::kUpdate,
                              {{{}, {buffer_end(to, offset_bytes, size_bytes)}}}});
  device_of(commands).next.vkCmdUpdateBuffer(commands, to, offset_bytes, size_bytes, data);
}

void log_clear(VkCommandBuffer commands, VkImage image,
               std::span<const VkImageSubresourceRange> ranges) {
  TransferRecord record{number_of(commands), TransferUse::kClear, {}};
  for (const VkImageSubresourceRange& range : ranges) {
    record.regions.push_back({{}, {cleared_end(image, range)}});
  }
  log().append(record);
}

VKAPI_ATTR void VKAPI_CALL clear_color(VkCommandBuffer commands, VkImage image,
                                       VkImageLayout layout, const VkClearColorValue* value,
                                       uint32_t count, const VkImageSubresourceRange* ranges) {
  log_clear(commands, image, std::span(ranges, count));
  device_of(commands).next.vkCmdClearColorImage(commands, image, layout, value, count, ranges);
}

VKAPI_ATTR void VKAPI_CALL clear_depth(VkCommandBuffer commands, VkImage image,
                                       VkImageLayout layout, const VkClearDepthStencilValue* value,
                                       uint32_t count, const VkImageSubresourceRange* ranges) {
  log_clear(commands, image, std::span(ranges, count));
  device_of(commands).next.vkCmdClearDepthStencilImage(commands, image, layout, value, count,
                                                       ranges);
}

// How many numbers the result of one query has.
uint32_t number_count_of(const VkQueryPoolCreateInfo& info) {
  switch (info.queryType) {
    case VK_QUERY_TYPE_PIPELINE_STATISTICS:
      return static_cast<uint32_t>(std::popcount(info.pipelineStatistics));
    case VK_QUERY_TYPE_OCCLUSION:
    case VK_QUERY_TYPE_TIMESTAMP:
      return 1;
    case VK_QUERY_TYPE_TRANSFORM_FEEDBACK_STREAM_EXT:
      return 2;
    default:
      return 0;  // It is not known.
  }
}

VKAPI_ATTR VkResult VKAPI_CALL create_query_pool(VkDevice device, const VkQueryPoolCreateInfo* info,
                                                 const VkAllocationCallbacks* allocator,
                                                 VkQueryPool* pool) {
  Device& owner = device_of(device);
  const VkResult result = owner.next.vkCreateQueryPool(device, info, allocator, pool);
  if (result != VK_SUCCESS) return result;
  const std::lock_guard lock(owner.mutex);
  owner.query_pools[number_of(*pool)] = {number_count_of(*info)};
  return result;
}

VKAPI_ATTR void VKAPI_CALL destroy_query_pool(VkDevice device, VkQueryPool pool,
                                              const VkAllocationCallbacks* allocator) {
  Device& owner = device_of(device);
  {
    const std::lock_guard lock(owner.mutex);
    owner.query_pools.erase(number_of(pool));
  }
  owner.next.vkDestroyQueryPool(device, pool, allocator);
}

// The bytes of one result in memory; none if it is not known.
uint64_t result_bytes_of(Device& owner, VkQueryPool pool, VkQueryResultFlags flags) {
  const std::lock_guard lock(owner.mutex);
  const auto found = owner.query_pools.find(number_of(pool));
  if (found == owner.query_pools.end() || found->second.number_count == 0) return 0;
  constexpr VkQueryResultFlags kWithState =
      VK_QUERY_RESULT_WITH_AVAILABILITY_BIT | VK_QUERY_RESULT_WITH_STATUS_BIT_KHR;
  const uint64_t count = found->second.number_count + ((flags & kWithState) != 0 ? 1u : 0u);
  return count * ((flags & VK_QUERY_RESULT_64_BIT) != 0 ? 8 : 4);
}

VKAPI_ATTR void VKAPI_CALL copy_queries(VkCommandBuffer commands, VkQueryPool pool, uint32_t first,
                                        uint32_t count, VkBuffer to, VkDeviceSize offset_bytes,
                                        VkDeviceSize stride, VkQueryResultFlags flags) {
  Device& owner = device_of(commands);
  const uint64_t result_bytes = result_bytes_of(owner, pool, flags);
  if (result_bytes == 0) {
    log().append(NotUnderstoodCommandRecord{number_of(commands), "vkCmdCopyQueryPoolResults"});
  } else {
    // Between the results nothing is written.
    TransferRecord record{number_of(commands), TransferUse::kQueries, {}};
    const bool is_dense = count <= 1 || stride == result_bytes;
    for (uint32_t i = 0; i < (is_dense ? std::min(count, 1u) : count); ++i) {
      const uint64_t size_bytes = is_dense ? count * result_bytes : result_bytes;
      record.regions.push_back({{}, {buffer_end(to, offset_bytes + i * stride, size_bytes)}});
    }
    log().append(record);
  }
  owner.next.vkCmdCopyQueryPoolResults(commands, pool, first, count, to, offset_bytes, stride,
                                       flags);
}

}  // namespace

std::span<const Intercepted> transfer_calls() {
  static const std::array kCalls = {
      Intercepted{"vkCmdCopyBuffer", as_function(copy_buffer)},
      Intercepted{"vkCmdCopyBuffer2", as_function(copy_buffer_2)},
      Intercepted{"vkCmdCopyBuffer2KHR", as_function(copy_buffer_2)},
      Intercepted{"vkCmdCopyImage", as_function(copy_image)},
      Intercepted{"vkCmdCopyImage2", as_function(copy_image_2)},
      Intercepted{"vkCmdCopyImage2KHR", as_function(copy_image_2)},
      Intercepted{"vkCmdCopyBufferToImage", as_function(copy_to_image)},
      Intercepted{"vkCmdCopyBufferToImage2", as_function(copy_to_image_2)},
      Intercepted{"vkCmdCopyBufferToImage2KHR", as_function(copy_to_image_2)},
      Intercepted{"vkCmdCopyImageToBuffer", as_function(copy_from_image)},
      Intercepted{"vkCmdCopyImageToBuffer2", as_function(copy_from_image_2)},
      Intercepted{"vkCmdCopyImageToBuffer2KHR", as_function(copy_from_image_2)},
      Intercepted{"vkCmdBlitImage", as_function(blit_image)},
      Intercepted{"vkCmdBlitImage2", as_function(blit_image_2)},
      Intercepted{"vkCmdBlitImage2KHR", as_function(blit_image_2)},
      Intercepted{"vkCmdResolveImage", as_function(resolve_image)},
      Intercepted{"vkCmdResolveImage2", as_function(resolve_image_2)},
      Intercepted{"vkCmdResolveImage2KHR", as_function(resolve_image_2)},
      Intercepted{"vkCmdFillBuffer", as_function(fill_buffer)},
      Intercepted{"vkCmdUpdateBuffer", as_function(update_buffer)},
      Intercepted{"vkCmdClearColorImage", as_function(clear_color)},
      Intercepted{"vkCmdClearDepthStencilImage", as_function(clear_depth)},
      Intercepted{"vkCreateQueryPool", as_function(create_query_pool)},
      Intercepted{"vkDestroyQueryPool", as_function(destroy_query_pool)},
      Intercepted{"vkCmdCopyQueryPoolResults", as_function(copy_queries)},
  };
  return kCalls;
}

}  // namespace interlock
