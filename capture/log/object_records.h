// Records about objects: devices, memory, resources, shaders and descriptors. Handles are as the
// application has them; they are used again, and the order of the records tells what they name.
// Enumerations and flags are Vulkan's numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/log/record_kind.h"

namespace interlock {

// The first record of a log.
struct ProcessRecord {
  static constexpr RecordKind kKind = RecordKind::kProcess;
  uint64_t process_id = 0;
  std::string command;      // The name of the program.
  std::string application;  // As it names itself to Vulkan, and its engine.

  static void each_field(auto& self, auto& fields) {
    fields(self.process_id, self.command, self.application);
  }
};

struct DeviceRecord {
  static constexpr RecordKind kKind = RecordKind::kDevice;
  uint64_t device = 0;
  std::string name;
  std::string extensions;    // Those that are enabled, apart by spaces.
  uint32_t api_version = 0;  // What the application may use of the device, as Vulkan packs it.

  static void each_field(auto& self, auto& fields) {
    fields(self.device, self.name, self.extensions, self.api_version);
  }
};

struct QueueRecord {
  static constexpr RecordKind kKind = RecordKind::kQueue;
  uint64_t device = 0;
  uint64_t queue = 0;
  uint32_t family = 0;
  uint32_t index = 0;

  static void each_field(auto& self, auto& fields) {
    fields(self.device, self.queue, self.family, self.index);
  }
};

struct ObjectNameRecord {
  static constexpr RecordKind kKind = RecordKind::kObjectName;
  uint32_t type = 0;  // VkObjectType.
  uint64_t handle = 0;
  std::string name;

  static void each_field(auto& self, auto& fields) { fields(self.type, self.handle, self.name); }
};

// An object that is no more. Written before the call, so that no other has its handle yet.
struct DestroyRecord {
  static constexpr RecordKind kKind = RecordKind::kDestroy;
  uint32_t type = 0;  // VkObjectType.
  uint64_t handle = 0;

  static void each_field(auto& self, auto& fields) { fields(self.type, self.handle); }
};

// A call that the layer sees and has no record for, and that concerns no command buffer.
struct NotUnderstoodRecord {
  static constexpr RecordKind kKind = RecordKind::kNotUnderstood;
  std::string name;

  static void each_field(auto& self, auto& fields) { fields(self.name); }
};

// In place of a record that is longer than records may be.
struct LostRecord {
  static constexpr RecordKind kKind = RecordKind::kLost;
  RecordKind kind = RecordKind::kNone;
  uint64_t size_bytes = 0;

  static void each_field(auto& self, auto& fields) { fields(self.kind, self.size_bytes); }
};

struct AllocateMemoryRecord {
  static constexpr RecordKind kKind = RecordKind::kAllocateMemory;
  uint64_t memory = 0;
  uint64_t size_bytes = 0;
  uint32_t properties = 0;  // VkMemoryPropertyFlags of its type.

  static void each_field(auto& self, auto& fields) {
    fields(self.memory, self.size_bytes, self.properties);
  }
};

// Of a memory that was just allocated: its bytes are those of the host from this pointer on.
struct ImportMemoryRecord {
  static constexpr RecordKind kKind = RecordKind::kImportMemory;
  uint64_t memory = 0;
  uint64_t pointer = 0;

  static void each_field(auto& self, auto& fields) { fields(self.memory, self.pointer); }
};

// A memory is exported as a handle of the system, or was just allocated by importing one. The file
// tells whether two are the same; both are 0 where none is known that is of this memory alone.
struct ShareMemoryRecord {
  static constexpr RecordKind kKind = RecordKind::kShareMemory;
  uint64_t memory = 0;
  uint32_t is_import = 0;
  uint32_t handle_type = 0;  // VkExternalMemoryHandleTypeFlagBits.
  uint64_t file_device = 0;
  uint64_t file = 0;        // Its inode.
  uint64_t file_bytes = 0;  // How long it is; 0: not known.

  static void each_field(auto& self, auto& fields) {
    fields(self.memory, self.is_import, self.handle_type, self.file_device, self.file,
           self.file_bytes);
  }
};

struct CreateBufferRecord {
  static constexpr RecordKind kKind = RecordKind::kCreateBuffer;
  uint64_t buffer = 0;
  uint64_t size_bytes = 0;
  uint32_t flags = 0;
  uint32_t usage = 0;

  static void each_field(auto& self, auto& fields) {
    fields(self.buffer, self.size_bytes, self.flags, self.usage);
  }
};

struct BindBufferRecord {
  static constexpr RecordKind kKind = RecordKind::kBindBuffer;
  uint64_t buffer = 0;
  uint64_t memory = 0;
  uint64_t offset_bytes = 0;

  static void each_field(auto& self, auto& fields) {
    fields(self.buffer, self.memory, self.offset_bytes);
  }
};

// Where the device finds the buffer. Each time that it is asked for.
struct BufferAddressRecord {
  static constexpr RecordKind kKind = RecordKind::kBufferAddress;
  uint64_t buffer = 0;
  uint64_t address = 0;

  static void each_field(auto& self, auto& fields) { fields(self.buffer, self.address); }
};

struct CreateImageRecord {
  static constexpr RecordKind kKind = RecordKind::kCreateImage;
  uint64_t image = 0;
  uint32_t flags = 0;
  uint32_t type = 0;  // VkImageType.
  uint32_t format = 0;
  uint32_t width = 0;
  uint32_t height = 0;
  uint32_t depth = 0;
  uint32_t mip_count = 0;
  uint32_t layer_count = 0;
  uint32_t sample_count = 0;
  uint32_t tiling = 0;
  uint32_t is_of_swapchain = 0;

  static void each_field(auto& self, auto& fields) {
    fields(self.image, self.flags, self.type, self.format, self.width, self.height, self.depth,
           self.mip_count, self.layer_count, self.sample_count, self.tiling, self.is_of_swapchain);
  }
};

struct BindImageRecord {
  static constexpr RecordKind kKind = RecordKind::kBindImage;
  uint64_t image = 0;
  uint64_t memory = 0;
  uint64_t offset_bytes = 0;
  uint32_t plane_aspect = 0;  // Of one plane of a disjoint image; else 0.

  static void each_field(auto& self, auto& fields) {
    fields(self.image, self.memory, self.offset_bytes, self.plane_aspect);
  }
};

// VkImageSubresourceRange; counts may say "all that remain".
struct SubresourceFields {
  uint32_t aspects = 0;
  uint32_t first_mip = 0;
  uint32_t mip_count = 0;
  uint32_t first_layer = 0;
  uint32_t layer_count = 0;

  static void each_field(auto& self, auto& fields) {
    fields(self.aspects, self.first_mip, self.mip_count, self.first_layer, self.layer_count);
  }
};

struct CreateImageViewRecord {
  static constexpr RecordKind kKind = RecordKind::kCreateImageView;
  uint64_t view = 0;
  uint64_t image = 0;
  uint32_t type = 0;  // VkImageViewType.
  SubresourceFields range;

  static void each_field(auto& self, auto& fields) {
    fields(self.view, self.image, self.type, self.range);
  }
};

struct CreateBufferViewRecord {
  static constexpr RecordKind kKind = RecordKind::kCreateBufferView;
  uint64_t view = 0;
  uint64_t buffer = 0;
  uint64_t offset_bytes = 0;
  uint64_t range_bytes = 0;  // Or "whole size".

  static void each_field(auto& self, auto& fields) {
    fields(self.view, self.buffer, self.offset_bytes, self.range_bytes);
  }
};

enum class HostRangeUse : uint32_t { kMap, kUnmap, kFlush, kInvalidate };

// Mapped memory, and what the host says of it.
struct HostRangeRecord {
  static constexpr RecordKind kKind = RecordKind::kHostRange;
  HostRangeUse use = HostRangeUse::kMap;
  uint64_t memory = 0;
  uint64_t offset_bytes = 0;
  uint64_t size_bytes = 0;  // Or "whole size".

  static void each_field(auto& self, auto& fields) {
    fields(self.use, self.memory, self.offset_bytes, self.size_bytes);
  }
};

struct CreateShaderModuleRecord {
  static constexpr RecordKind kKind = RecordKind::kCreateShaderModule;
  uint64_t module = 0;
  std::vector<uint32_t> code;

  static void each_field(auto& self, auto& fields) { fields(self.module, self.code); }
};

struct SetBindingFields {
  uint32_t binding = 0;
  uint32_t type = 0;  // VkDescriptorType.
  uint32_t count = 0;
  uint32_t flags = 0;  // VkDescriptorBindingFlags.

  static void each_field(auto& self, auto& fields) {
    fields(self.binding, self.type, self.count, self.flags);
  }
};

struct CreateSetLayoutRecord {
  static constexpr RecordKind kKind = RecordKind::kCreateSetLayout;
  uint64_t layout = 0;
  uint32_t flags = 0;
  std::vector<SetBindingFields> bindings;

  static void each_field(auto& self, auto& fields) {
    fields(self.layout, self.flags, self.bindings);
  }
};

struct CreatePipelineLayoutRecord {
  static constexpr RecordKind kKind = RecordKind::kCreatePipelineLayout;
  uint64_t layout = 0;
  std::vector<uint64_t> set_layouts;

  static void each_field(auto& self, auto& fields) { fields(self.layout, self.set_layouts); }
};

struct CreateComputePipelineRecord {
  static constexpr RecordKind kKind = RecordKind::kCreateComputePipeline;
  uint64_t pipeline = 0;
  uint64_t layout = 0;
  uint64_t module = 0;         // 0: its code stands here.
  std::vector<uint32_t> code;  // VkShaderModuleCreateInfo in the chain of the stage.
  std::string entry;

  static void each_field(auto& self, auto& fields) {
    fields(self.pipeline, self.layout, self.module, self.code, self.entry);
  }
};

struct AllocateSetsRecord {
  static constexpr RecordKind kKind = RecordKind::kAllocateSets;
  uint64_t pool = 0;
  std::vector<uint64_t> sets;
  std::vector<uint64_t> layouts;          // One for each set.
  std::vector<uint32_t> variable_counts;  // One for each set, or none.

  static void each_field(auto& self, auto& fields) {
    fields(self.pool, self.sets, self.layouts, self.variable_counts);
  }
};

struct FreeSetsRecord {
  static constexpr RecordKind kKind = RecordKind::kFreeSets;
  std::vector<uint64_t> sets;

  static void each_field(auto& self, auto& fields) { fields(self.sets); }
};

struct ResetSetPoolRecord {
  static constexpr RecordKind kKind = RecordKind::kResetSetPool;
  uint64_t pool = 0;

  static void each_field(auto& self, auto& fields) { fields(self.pool); }
};

// What a descriptor names: a buffer with its range, an image view, or a buffer view.
struct DescriptorFields {
  uint64_t handle = 0;
  uint64_t offset_bytes = 0;  // Of an image view with a sampler: the sampler.
  uint64_t range_bytes = 0;   // Or "whole size".

  static void each_field(auto& self, auto& fields) {
    fields(self.handle, self.offset_bytes, self.range_bytes);
  }
};

struct SetWriteFields {
  uint64_t set = 0;
  uint32_t binding = 0;
  uint32_t element = 0;
  uint32_t type = 0;  // VkDescriptorType.
  std::vector<DescriptorFields> descriptors;

  static void each_field(auto& self, auto& fields) {
    fields(self.set, self.binding, self.element, self.type, self.descriptors);
  }
};

struct SetCopyFields {
  uint64_t from_set = 0;
  uint32_t from_binding = 0;
  uint32_t from_element = 0;
  uint64_t to_set = 0;
  uint32_t to_binding = 0;
  uint32_t to_element = 0;
  uint32_t count = 0;

  static void each_field(auto& self, auto& fields) {
    fields(self.from_set, self.from_binding, self.from_element, self.to_set, self.to_binding,
           self.to_element, self.count);
  }
};

// Update templates are written out, too.
struct UpdateSetsRecord {
  static constexpr RecordKind kKind = RecordKind::kUpdateSets;
  std::vector<SetWriteFields> writes;
  std::vector<SetCopyFields> copies;

  static void each_field(auto& self, auto& fields) { fields(self.writes, self.copies); }
};

}  // namespace interlock
