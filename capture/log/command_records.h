// Records about command buffers: what they record. Handles, enumerations and flags as in
// object_records.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/log/object_records.h"
#include "capture/log/record_kind.h"

namespace interlock {

struct AllocateCommandsRecord {
  static constexpr RecordKind kKind = RecordKind::kAllocateCommands;
  uint64_t pool = 0;
  uint32_t level = 0;
  std::vector<uint64_t> commands;  // Command buffers.

  static void each_field(auto& self, auto& fields) { fields(self.pool, self.level, self.commands); }
};

struct BeginCommandsRecord {
  static constexpr RecordKind kKind = RecordKind::kBeginCommands;
  uint64_t commands = 0;
  uint32_t flags = 0;

  static void each_field(auto& self, auto& fields) { fields(self.commands, self.flags); }
};

struct ResetCommandsRecord {
  static constexpr RecordKind kKind = RecordKind::kResetCommands;
  uint64_t commands = 0;

  static void each_field(auto& self, auto& fields) { fields(self.commands); }
};

struct ResetCommandPoolRecord {
  static constexpr RecordKind kKind = RecordKind::kResetCommandPool;
  uint64_t pool = 0;

  static void each_field(auto& self, auto& fields) { fields(self.pool); }
};

struct FreeCommandsRecord {
  static constexpr RecordKind kKind = RecordKind::kFreeCommands;
  std::vector<uint64_t> commands;

  static void each_field(auto& self, auto& fields) { fields(self.commands); }
};

struct BindPipelineRecord {
  static constexpr RecordKind kKind = RecordKind::kBindPipeline;
  uint64_t commands = 0;
  uint32_t bind_point = 0;
  uint64_t pipeline = 0;

  static void each_field(auto& self, auto& fields) {
    fields(self.commands, self.bind_point, self.pipeline);
  }
};

struct BindSetsRecord {
  static constexpr RecordKind kKind = RecordKind::kBindSets;
  uint64_t commands = 0;
  uint32_t bind_point = 0;
  uint64_t layout = 0;
  uint32_t first_set = 0;
  std::vector<uint64_t> sets;
  std::vector<uint32_t> dynamic_offsets;

  static void each_field(auto& self, auto& fields) {
    fields(self.commands, self.bind_point, self.layout, self.first_set, self.sets,
           self.dynamic_offsets);
  }
};

// Push descriptors; the sets that the writes name mean nothing.
struct PushSetRecord {
  static constexpr RecordKind kKind = RecordKind::kPushSet;
  uint64_t commands = 0;
  uint32_t bind_point = 0;
  uint64_t layout = 0;
  uint32_t set = 0;
  std::vector<SetWriteFields> writes;

  static void each_field(auto& self, auto& fields) {
    fields(self.commands, self.bind_point, self.layout, self.set, self.writes);
  }
};

// Of a device that some address of a buffer was asked for of, before: others are not logged.
struct PushConstantsRecord {
  static constexpr RecordKind kKind = RecordKind::kPushConstants;
  uint64_t commands = 0;
  uint32_t stages = 0;  // VkShaderStageFlags.
  uint32_t offset_bytes = 0;
  std::vector<uint8_t> bytes;

  static void each_field(auto& self, auto& fields) {
    fields(self.commands, self.stages, self.offset_bytes, self.bytes);
  }
};

struct DispatchRecord {
  static constexpr RecordKind kKind = RecordKind::kDispatch;
  uint64_t commands = 0;
  uint32_t groups_x = 0;
  uint32_t groups_y = 0;
  uint32_t groups_z = 0;

  static void each_field(auto& self, auto& fields) {
    fields(self.commands, self.groups_x, self.groups_y, self.groups_z);
  }
};

struct DispatchIndirectRecord {
  static constexpr RecordKind kKind = RecordKind::kDispatchIndirect;
  uint64_t commands = 0;
  uint64_t buffer = 0;
  uint64_t offset_bytes = 0;

  static void each_field(auto& self, auto& fields) {
    fields(self.commands, self.buffer, self.offset_bytes);
  }
};

enum class TransferUse : uint32_t { kCopy, kFill, kUpdate, kClear, kBlit, kResolve, kQueries };

// One end of a region: of a buffer, or of an image.
struct TransferEndFields {
  uint64_t handle = 0;
  uint32_t is_image = 0;
  uint64_t offset_bytes = 0;  // Of a buffer. So the next three.
  uint64_t size_bytes = 0;    // Or "whole size"; 0 beside an image: as its texels need.
  uint32_t row_length = 0;    // In texels; 0: as the image.
  uint32_t image_height = 0;
  SubresourceFields range;  // Of an image. So the rest.
  int32_t x = 0;
  int32_t y = 0;
  int32_t z = 0;
  uint32_t width = 0;  // 0: all of it.
  uint32_t height = 0;
  uint32_t depth = 0;

  static void each_field(auto& self, auto& fields) {
    fields(self.handle, self.is_image, self.offset_bytes, self.size_bytes, self.row_length,
           self.image_height, self.x, self.y, self.z, self.width, self.height, self.depth,
           self.range);
  }
};

struct TransferRegionFields {
  std::vector<TransferEndFields> from;  // One, or none.
  std::vector<TransferEndFields> to;    // One, or none.

  static void each_field(auto& self, auto& fields) { fields(self.from, self.to); }
};

struct TransferRecord {
  static constexpr RecordKind kKind = RecordKind::kTransfer;
  uint64_t commands = 0;
  TransferUse use = TransferUse::kCopy;
  std::vector<TransferRegionFields> regions;

  static void each_field(auto& self, auto& fields) {
    fields(self.commands, self.use, self.regions);
  }
};

enum class DependencyObject : uint32_t { kMemory, kBuffer, kImage };

// A VkMemoryBarrier2, VkBufferMemoryBarrier2 or VkImageMemoryBarrier2; of vkCmdPipelineBarrier(),
// with the stages of the call.
struct DependencyFields {
  DependencyObject object = DependencyObject::kMemory;
  uint64_t source_stages = 0;
  uint64_t source_accesses = 0;
  uint64_t destination_stages = 0;
  uint64_t destination_accesses = 0;
  uint64_t handle = 0;
  uint64_t offset_bytes = 0;
  uint64_t size_bytes = 0;
  uint32_t old_layout = 0;
  uint32_t new_layout = 0;
  uint32_t source_family = 0;
  uint32_t destination_family = 0;
  SubresourceFields range;

  static void each_field(auto& self, auto& fields) {
    fields(self.object, self.source_stages, self.source_accesses, self.destination_stages,
           self.destination_accesses, self.handle, self.offset_bytes, self.size_bytes,
           self.old_layout, self.new_layout, self.source_family, self.destination_family,
           self.range);
  }
};

struct BarrierRecord {
  static constexpr RecordKind kKind = RecordKind::kBarrier;
  uint64_t commands = 0;
  std::vector<DependencyFields> dependencies;

  static void each_field(auto& self, auto& fields) { fields(self.commands, self.dependencies); }
};

// vkCmdSetEvent2() has dependencies; vkCmdSetEvent() only stages, in one of kMemory.
struct SetEventRecord {
  static constexpr RecordKind kKind = RecordKind::kSetEvent;
  uint64_t commands = 0;
  uint64_t event = 0;
  uint32_t has_dependencies = 0;
  std::vector<DependencyFields> dependencies;

  static void each_field(auto& self, auto& fields) {
    fields(self.commands, self.event, self.has_dependencies, self.dependencies);
  }
};

struct ResetEventRecord {
  static constexpr RecordKind kKind = RecordKind::kResetEvent;
  uint64_t commands = 0;
  uint64_t event = 0;

  static void each_field(auto& self, auto& fields) { fields(self.commands, self.event); }
};

struct WaitEventsRecord {
  static constexpr RecordKind kKind = RecordKind::kWaitEvents;
  uint64_t commands = 0;
  std::vector<uint64_t> events;
  std::vector<DependencyFields> dependencies;

  static void each_field(auto& self, auto& fields) {
    fields(self.commands, self.events, self.dependencies);
  }
};

struct ExecuteCommandsRecord {
  static constexpr RecordKind kKind = RecordKind::kExecuteCommands;
  uint64_t commands = 0;
  std::vector<uint64_t> secondaries;

  static void each_field(auto& self, auto& fields) { fields(self.commands, self.secondaries); }
};

enum class LabelUse : uint32_t { kBegin, kEnd, kInsert };

// A debug label of the application.
struct LabelRecord {
  static constexpr RecordKind kKind = RecordKind::kLabel;
  uint64_t commands = 0;
  LabelUse use = LabelUse::kBegin;
  std::string name;

  static void each_field(auto& self, auto& fields) { fields(self.commands, self.use, self.name); }
};

struct NotUnderstoodCommandRecord {
  static constexpr RecordKind kKind = RecordKind::kNotUnderstoodCommand;
  uint64_t commands = 0;
  std::string name;

  static void each_field(auto& self, auto& fields) { fields(self.commands, self.name); }
};

}  // namespace interlock
