// Buffers, and the memory behind them: the arena of a run, and its way from and to the host.
#pragma once

#include <volk.h>

#include <cstdint>
#include <memory>

#include "backends/vulkan/device.h"
#include "encoder/program/result.h"

namespace interlock {

enum class BufferPlace : uint8_t {
  kDevice,          // In the device's memory; mapped where the host reads that fast.
  kDeviceUnmapped,  // In the device's memory, never mapped.
  kHost,            // In the host's memory, mapped.
};

class VulkanBuffer {
 public:
  // Errors: no memory left, or none of that kind.
  static Result<std::unique_ptr<VulkanBuffer>> create(VulkanDevice& device, uint64_t size_bytes,
                                                      BufferPlace place);

  // A buffer on host memory that the caller keeps.
  // Requires: the device imports memory, and address and size are multiples of its alignment.
  static Result<std::unique_ptr<VulkanBuffer>> import(VulkanDevice& device, void* host,
                                                      uint64_t size_bytes);

  ~VulkanBuffer();
  VulkanBuffer(const VulkanBuffer&) = delete;
  VulkanBuffer& operator=(const VulkanBuffer&) = delete;

  VkBuffer handle() const { return handle_; }
  uint64_t size_bytes() const { return size_bytes_; }
  uint8_t* mapped() const { return mapped_; }  // Null if it is not. Coherent.

 private:
  VulkanBuffer(VulkanDevice& device, uint64_t size_bytes)
      : device_(device), size_bytes_(size_bytes) {}

  VkResult make_handle(bool is_imported);
  Result<Success> allocate(VkMemoryPropertyFlags wanted, const void* import_info, uint32_t types);

  VulkanDevice& device_;
  uint64_t size_bytes_;
  VkBuffer handle_ = VK_NULL_HANDLE;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;
  uint8_t* mapped_ = nullptr;
};

// The arena of a device. Grows with the programs that run; what a run finds in it is what it
// uploads.
class ArenaMemory {
 public:
  ArenaMemory(VulkanDevice& device, bool always_stages)
      : device_(device), always_stages_(always_stages) {}

  // Makes room. Errors: no memory left.
  Result<Success> reserve(uint64_t size_bytes);

  VkBuffer handle() const { return arena_->handle(); }

  // Where the host writes the bytes of an upload and reads those of a download.
  uint8_t* host_bytes() const { return is_staged() ? staging_->mapped() : arena_->mapped(); }

  // Records what brings the first `size_bytes` to the device and back, if anything has to.
  void record_upload(VkCommandBuffer commands, uint64_t size_bytes) const;
  void record_download(VkCommandBuffer commands, uint64_t size_bytes) const;

 private:
  bool is_staged() const { return staging_ != nullptr; }

  VulkanDevice& device_;
  bool always_stages_;
  std::unique_ptr<VulkanBuffer> arena_;
  std::unique_ptr<VulkanBuffer> staging_;  // Null where the arena is mapped.
};

// Records that everything before is over and visible to everything after, the host included.
void record_full_barrier(const VolkDeviceTable& table, VkCommandBuffer commands);

}  // namespace interlock
