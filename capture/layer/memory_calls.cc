// Memory, buffers and their views, and what the host says of mapped memory.

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <volk.h>

#include <array>

#include "capture/layer/devices.h"
#include "capture/layer/intercepted.h"
#include "capture/layer/next_functions.h"
#include "capture/layer/pretended_device.h"
#include "capture/log/object_records.h"

namespace interlock {
namespace {

// Names the file, if each memory has one of its own: shared memory, or a buffer of dma-buf. Handles
// of other drivers may all be of one file, which says nothing.
void name_file(int descriptor, ShareMemoryRecord& record) {
  struct stat status;
  struct statfs system;
  if (fstat(descriptor, &status) != 0 || fstatfs(descriptor, &system) != 0) return;
  const bool is_own = S_ISREG(status.st_mode) || system.f_type == DMA_BUF_MAGIC;
  if (!is_own) return;
  record.file_device = status.st_dev;
  record.file = status.st_ino;
  record.file_bytes = static_cast<uint64_t>(status.st_size);
}

VKAPI_ATTR VkResult VKAPI_CALL allocate_memory(VkDevice device, const VkMemoryAllocateInfo* info,
                                               const VkAllocationCallbacks* allocator,
                                               VkDeviceMemory* memory) {
  const Device& owner = device_of(device);
  // Who imports a descriptor gives it away.
  ShareMemoryRecord shared;
  const auto* const file = find_in_chain<VkImportMemoryFdInfoKHR>(
      info->pNext, VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR);
  if (file != nullptr && file->handleType != 0) name_file(file->fd, shared);
  const VkResult result = owner.next.vkAllocateMemory(device, info, allocator, memory);
  if (result != VK_SUCCESS) return result;
  const bool is_known = info->memoryTypeIndex < owner.memory.memoryTypeCount;
  log().append(AllocateMemoryRecord{
      number_of(*memory), info->allocationSize,
      is_known ? owner.memory.memoryTypes[info->memoryTypeIndex].propertyFlags : 0});
  const auto* const import = find_in_chain<VkImportMemoryHostPointerInfoEXT>(
      info->pNext, VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT);
  if (import != nullptr && import->handleType != 0) {
    log().append(
        ImportMemoryRecord{number_of(*memory), reinterpret_cast<uintptr_t>(import->pHostPointer)});
  }
  if (file != nullptr && file->handleType != 0) {
    shared.memory = number_of(*memory);
    shared.is_import = 1;
    shared.handle_type = file->handleType;
    log().append(shared);
  }
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL get_memory_file(VkDevice device, const VkMemoryGetFdInfoKHR* info,
                                               int* descriptor) {
  const VkResult result = device_of(device).next.vkGetMemoryFdKHR(device, info, descriptor);
  if (result != VK_SUCCESS) return result;
  ShareMemoryRecord shared;
  shared.memory = number_of(info->memory);
  shared.handle_type = info->handleType;
  name_file(*descriptor, shared);
  log().append(shared);
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL create_buffer(VkDevice device, const VkBufferCreateInfo* info,
                                             const VkAllocationCallbacks* allocator,
                                             VkBuffer* buffer) {
  const VkBufferCreateInfo real = with_real_families(*info);
  const VkResult result = device_of(device).next.vkCreateBuffer(device, &real, allocator, buffer);
  if (result == VK_SUCCESS) {
    log().append(CreateBufferRecord{number_of(*buffer), info->size, info->flags, info->usage});
  }
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL bind_buffer(VkDevice device, VkBuffer buffer, VkDeviceMemory memory,
                                           VkDeviceSize offset_bytes) {
  const VkResult result =
      device_of(device).next.vkBindBufferMemory(device, buffer, memory, offset_bytes);
  if (result == VK_SUCCESS) {
    log().append(BindBufferRecord{number_of(buffer), number_of(memory), offset_bytes});
  }
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL bind_buffers(VkDevice device, uint32_t count,
                                            const VkBindBufferMemoryInfo* infos) {
  const VkResult result = device_of(device).next.vkBindBufferMemory2(device, count, infos);
  for (uint32_t i = 0; result == VK_SUCCESS && i < count; ++i) {
    log().append(BindBufferRecord{number_of(infos[i].buffer), number_of(infos[i].memory),
                                  infos[i].memoryOffset});
  }
  return result;
}

VKAPI_ATTR VkDeviceAddress VKAPI_CALL get_address(VkDevice device,
                                                  const VkBufferDeviceAddressInfo* info) {
  Device& owner = device_of(device);
  owner.gave_addresses = true;
  const VkDeviceAddress address = owner.next.vkGetBufferDeviceAddress(device, info);
  log().append(BufferAddressRecord{number_of(info->buffer), address});
  return address;
}

VKAPI_ATTR VkResult VKAPI_CALL create_buffer_view(VkDevice device,
                                                  const VkBufferViewCreateInfo* info,
                                                  const VkAllocationCallbacks* allocator,
                                                  VkBufferView* view) {
  const VkResult result = device_of(device).next.vkCreateBufferView(device, info, allocator, view);
  if (result == VK_SUCCESS) {
    log().append(CreateBufferViewRecord{number_of(*view), number_of(info->buffer), info->offset,
                                        info->range});
  }
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL map_memory(VkDevice device, VkDeviceMemory memory,
                                          VkDeviceSize offset_bytes, VkDeviceSize size_bytes,
                                          VkMemoryMapFlags flags, void** data) {
  const VkResult result =
      device_of(device).next.vkMapMemory(device, memory, offset_bytes, size_bytes, flags, data);
  if (result == VK_SUCCESS) {
    log().append(HostRangeRecord{HostRangeUse::kMap, number_of(memory), offset_bytes, size_bytes});
  }
  return result;
}

VKAPI_ATTR void VKAPI_CALL unmap_memory(VkDevice device, VkDeviceMemory memory) {
  log().append(HostRangeRecord{HostRangeUse::kUnmap, number_of(memory), 0, VK_WHOLE_SIZE});
  device_of(device).next.vkUnmapMemory(device, memory);
}

void log_ranges(HostRangeUse use, uint32_t count, const VkMappedMemoryRange* ranges) {
  for (uint32_t i = 0; i < count; ++i) {
    log().append(
        HostRangeRecord{use, number_of(ranges[i].memory), ranges[i].offset, ranges[i].size});
  }
}

VKAPI_ATTR VkResult VKAPI_CALL flush_ranges(VkDevice device, uint32_t count,
                                            const VkMappedMemoryRange* ranges) {
  log_ranges(HostRangeUse::kFlush, count, ranges);
  return device_of(device).next.vkFlushMappedMemoryRanges(device, count, ranges);
}

VKAPI_ATTR VkResult VKAPI_CALL invalidate_ranges(VkDevice device, uint32_t count,
                                                 const VkMappedMemoryRange* ranges) {
  log_ranges(HostRangeUse::kInvalidate, count, ranges);
  return device_of(device).next.vkInvalidateMappedMemoryRanges(device, count, ranges);
}

}  // namespace

std::span<const Intercepted> memory_calls() {
  static const std::array kCalls = {
      Intercepted{"vkAllocateMemory", as_function(allocate_memory)},
      Intercepted{"vkFreeMemory",
                  as_function(destroy_object<&VolkDeviceTable::vkFreeMemory,
                                             VK_OBJECT_TYPE_DEVICE_MEMORY, VkDeviceMemory>)},
      Intercepted{"vkGetMemoryFdKHR", as_function(get_memory_file)},
      Intercepted{"vkCreateBuffer", as_function(create_buffer)},
      Intercepted{
          "vkDestroyBuffer",
          as_function(
              destroy_object<&VolkDeviceTable::vkDestroyBuffer, VK_OBJECT_TYPE_BUFFER, VkBuffer>)},
      Intercepted{"vkBindBufferMemory", as_function(bind_buffer)},
      Intercepted{"vkBindBufferMemory2", as_function(bind_buffers)},
      Intercepted{"vkBindBufferMemory2KHR", as_function(bind_buffers)},
      Intercepted{"vkGetBufferDeviceAddress", as_function(get_address)},
      Intercepted{"vkGetBufferDeviceAddressKHR", as_function(get_address)},
      Intercepted{"vkGetBufferDeviceAddressEXT", as_function(get_address)},
      Intercepted{"vkCreateBufferView", as_function(create_buffer_view)},
      Intercepted{"vkDestroyBufferView",
                  as_function(destroy_object<&VolkDeviceTable::vkDestroyBufferView,
                                             VK_OBJECT_TYPE_BUFFER_VIEW, VkBufferView>)},
      Intercepted{"vkMapMemory", as_function(map_memory)},
      Intercepted{"vkUnmapMemory", as_function(unmap_memory)},
      Intercepted{"vkFlushMappedMemoryRanges", as_function(flush_ranges)},
      Intercepted{"vkInvalidateMappedMemoryRanges", as_function(invalidate_ranges)},
  };
  return kCalls;
}

}  // namespace interlock
