#include "backends/vulkan/buffer.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "backends/vulkan/barrier_lowering.h"
#include "backends/vulkan/driver_error.h"

namespace interlock {
namespace {

constexpr VkMemoryPropertyFlags kCoherent =
    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
constexpr VkMemoryPropertyFlags kReadable = kCoherent | VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
constexpr uint64_t kArenaBytesMin = 64 << 10;

}  // namespace

VkResult VulkanBuffer::make_handle(bool is_imported) {
  VkExternalMemoryBufferCreateInfo external{VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO};
  external.handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
  VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.pNext = is_imported ? &external : nullptr;
  info.size = size_bytes_;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT |
               VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  info.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
  return device_.table().vkCreateBuffer(device_.handle(), &info, nullptr, &handle_);
}

Result<Success> VulkanBuffer::allocate(VkMemoryPropertyFlags wanted, const void* import_info,
                                       uint32_t types) {
  const VolkDeviceTable& table = device_.table();
  VkMemoryRequirements required{};
  table.vkGetBufferMemoryRequirements(device_.handle(), handle_, &required);
  auto type = device_.memory_type(required.memoryTypeBits & types, wanted);
  if (!type) return type.error();
  VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  info.pNext = import_info;
  info.allocationSize = import_info == nullptr ? required.size : size_bytes_;
  info.memoryTypeIndex = *type;
  VkResult result = table.vkAllocateMemory(device_.handle(), &info, nullptr, &memory_);
  if (result == VK_SUCCESS) {
    result = table.vkBindBufferMemory(device_.handle(), handle_, memory_, 0);
  }
  if (result == VK_SUCCESS && import_info == nullptr && (wanted & kCoherent) == kCoherent) {
    void* bytes = nullptr;
    result = table.vkMapMemory(device_.handle(), memory_, 0, VK_WHOLE_SIZE, 0, &bytes);
    mapped_ = static_cast<uint8_t*>(bytes);
  }
  if (result == VK_SUCCESS) return Success{};
  return driver_error(result, fmt::format("allocating {} bytes", size_bytes_));
}

Result<std::unique_ptr<VulkanBuffer>> VulkanBuffer::create(VulkanDevice& device,
                                                           uint64_t size_bytes, BufferPlace place) {
  std::unique_ptr<VulkanBuffer> buffer(new VulkanBuffer(device, size_bytes));
  const VkResult made = buffer->make_handle(false);
  if (made != VK_SUCCESS) {
    return driver_error(made, fmt::format("making a buffer of {} bytes", size_bytes));
  }
  // From the best kind of memory to the least that will do.
  std::vector<VkMemoryPropertyFlags> kinds = {kReadable, kCoherent};
  if (place == BufferPlace::kDevice) {
    kinds = {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | kReadable, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
             0};
  } else if (place == BufferPlace::kDeviceUnmapped) {
    kinds = {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0};
  }
  constexpr uint32_t kAnyType = ~0u;
  for (size_t i = 0;; ++i) {
    auto allocated = buffer->allocate(kinds[i], nullptr, kAnyType);
    if (allocated) return buffer;
    if (i + 1 == kinds.size() || buffer->memory_ != VK_NULL_HANDLE) return allocated.error();
  }
}

Result<std::unique_ptr<VulkanBuffer>> VulkanBuffer::import(VulkanDevice& device, void* host,
                                                           uint64_t size_bytes) {
  constexpr auto kHandleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
  std::unique_ptr<VulkanBuffer> buffer(new VulkanBuffer(device, size_bytes));
  VkMemoryHostPointerPropertiesEXT properties{VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
  VkResult result = device.table().vkGetMemoryHostPointerPropertiesEXT(device.handle(), kHandleType,
                                                                       host, &properties);
  if (result == VK_SUCCESS) result = buffer->make_handle(true);
  if (result != VK_SUCCESS) {
    return driver_error(result, fmt::format("importing {} bytes of host memory", size_bytes));
  }
  VkImportMemoryHostPointerInfoEXT info{VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT};
  info.handleType = kHandleType;
  info.pHostPointer = host;
  auto allocated = buffer->allocate(kCoherent, &info, properties.memoryTypeBits);
  if (!allocated) return allocated.error();
  buffer->mapped_ = static_cast<uint8_t*>(host);
  return buffer;
}

VulkanBuffer::~VulkanBuffer() {
  const VolkDeviceTable& table = device_.table();
  if (handle_ != VK_NULL_HANDLE) table.vkDestroyBuffer(device_.handle(), handle_, nullptr);
  if (memory_ != VK_NULL_HANDLE) table.vkFreeMemory(device_.handle(), memory_, nullptr);
}

Result<Success> ArenaMemory::reserve(uint64_t size_bytes) {
  if (arena_ != nullptr && arena_->size_bytes() >= size_bytes) return Success{};
  arena_.reset();
  staging_.reset();
  const uint64_t rounded = std::max(kArenaBytesMin, std::bit_ceil(size_bytes));
  auto arena = VulkanBuffer::create(
      device_, rounded, always_stages_ ? BufferPlace::kDeviceUnmapped : BufferPlace::kDevice);
  if (!arena) return arena.error();
  if ((*arena)->mapped() == nullptr) {
    auto staging = VulkanBuffer::create(device_, rounded, BufferPlace::kHost);
    if (!staging) return staging.error();
    staging_ = std::move(*staging);
  }
  arena_ = std::move(*arena);
  return Success{};
}

void ArenaMemory::record_upload(VkCommandBuffer commands, uint64_t size_bytes) const {
  if (!is_staged()) return;
  const VkBufferCopy region{0, 0, size_bytes};
  device_.table().vkCmdCopyBuffer(commands, staging_->handle(), arena_->handle(), 1, &region);
  record_full_barrier(device_.table(), commands);
}

void ArenaMemory::record_download(VkCommandBuffer commands, uint64_t size_bytes) const {
  record_full_barrier(device_.table(), commands);
  if (!is_staged()) return;
  const VkBufferCopy region{0, 0, size_bytes};
  device_.table().vkCmdCopyBuffer(commands, arena_->handle(), staging_->handle(), 1, &region);
  record_full_barrier(device_.table(), commands);
}

void record_full_barrier(const VolkDeviceTable& table, VkCommandBuffer commands) {
  const DeviceDependency full = full_dependency();
  const VkMemoryBarrier2 barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
                                 nullptr,
                                 full.source_stages,
                                 full.source_accesses,
                                 full.destination_stages,
                                 full.destination_accesses};
  VkDependencyInfo info{VK_STRUCTURE_TYPE_DEPENDENCY_INFO};
  info.memoryBarrierCount = 1;
  info.pMemoryBarriers = &barrier;
  table.vkCmdPipelineBarrier2(commands, &info);
}

}  // namespace interlock
