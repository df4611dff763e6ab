// The objects of an application as the records tell of them. A handle names a new object each time
// it is created; whoever holds an object of before keeps it, and what it was.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "capture/log/graphics_records.h"
#include "capture/log/object_records.h"
#include "capture/spirv/shader_accesses.h"
#include "encoder/program/range.h"

namespace interlock {

// A file that memory was exported as, or imported from: the device and the number of its inode.
using SharedFile = std::pair<uint64_t, uint64_t>;

// Bytes of the host that were imported as two memories, of which neither is a part of the other: in
// the program they are apart. That is true as long as nobody touches a byte as both.
struct HostOverlap {
  ByteRange addresses;
  ByteRange touched[2] = {};  // From the first to the last byte that was, as either of the two.
  bool is_touched_as_both = false;
};

struct CapturedMemory {
  uint64_t number = 0;  // In the order of creation, from 1. So for every number below.
  uint64_t size_bytes = 0;
  bool is_coherent = false;  // What the host writes there, if it can, needs no call; or unknown.
  uint64_t declared_window = 0;          // The last window that declares it; 0: none.
  uint64_t handle_count = 1;             // Of it, and of what is a part of it.
  std::optional<uint64_t> host_pointer;  // Of one that is imported.
  std::vector<SharedFile> files;         // Of one that is exported, or imported from a file.
  bool is_of_others = false;             // It was imported first, and not exported here.
  // An earlier one that it is a part of, since both are imported, or that was exported; else null.
  // That one is a part of none.
  std::shared_ptr<CapturedMemory> whole;
  uint64_t offset_in_whole_bytes = 0;
  uint64_t host_address = 0;  // Of what is imported from the host. So the next: which of the two.
  std::vector<std::pair<std::shared_ptr<HostOverlap>, size_t>> overlaps;
};

struct CapturedBuffer {
  uint64_t number = 0;
  uint64_t size_bytes = 0;
  std::shared_ptr<CapturedMemory> memory;  // Null: none is bound yet.
  uint64_t offset_bytes = 0;
  std::optional<uint64_t> address;  // Of the device, if it was asked for.
};

struct CapturedImage {
  CreateImageRecord info;
  uint64_t number = 0;
  std::shared_ptr<CapturedMemory> memory;  // Bound, or one of its own.
  uint64_t offset_bytes = 0;
};

struct CapturedImageView {
  std::shared_ptr<CapturedImage> image;
  SubresourceFields range;
  bool is_of_volume = false;  // Its layers are slices of a volume.
};

struct CapturedBufferView {
  std::shared_ptr<CapturedBuffer> buffer;
  uint64_t offset_bytes = 0;
  uint64_t range_bytes = 0;
};

// A descriptor: at most one of the three is there.
struct CapturedDescriptor {
  uint32_t type = 0;    // VkDescriptorType.
  uint64_t handle = 0;  // 0: it names nothing.
  std::shared_ptr<CapturedBuffer> buffer;
  uint64_t offset_bytes = 0;
  uint64_t range_bytes = 0;
  std::shared_ptr<CapturedImageView> view;
  std::shared_ptr<CapturedBufferView> buffer_view;
};

struct CapturedSetLayout {
  std::map<uint32_t, SetBindingFields> bindings;
};

struct CapturedSet {
  uint64_t pool = 0;  // Its handle.
  std::shared_ptr<CapturedSetLayout> layout;
  // What was written, by binding and element: a set may have room for far more.
  std::map<uint32_t, std::map<uint64_t, CapturedDescriptor>> bindings;
};

struct CapturedPipelineLayout {
  std::vector<std::shared_ptr<CapturedSetLayout>> sets;
};

struct CapturedPipeline {
  uint64_t number = 0;
  std::string name;  // Of the application; empty: none.
  std::shared_ptr<CapturedPipelineLayout> layout;
  std::optional<ShaderAccesses> accesses;  // None: they are not known. Of all stages together.
  std::set<uint32_t> vertex_bindings;      // Of graphics. So the next.
  bool has_any_vertices = false;           // All that are bound may be read.
};

struct CapturedRenderPass {
  CreateRenderPassRecord info;  // What it names is there.
  uint64_t number = 0;
  std::vector<size_t> last_uses;  // The last subpass that uses each attachment.
};

using CapturedViews = std::vector<std::shared_ptr<CapturedImageView>>;

struct CapturedFramebuffer {
  CapturedViews views;
};

// Handles of one type.
template <typename T>
class HandleTable {
 public:
  // Null if it names nothing.
  std::shared_ptr<T> find(uint64_t handle) const {
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : found->second;
  }

  std::shared_ptr<T> create(uint64_t handle) {
    auto object = std::make_shared<T>();
    objects_[handle] = object;
    return object;
  }

  void destroy(uint64_t handle) { objects_.erase(handle); }

 private:
  std::map<uint64_t, std::shared_ptr<T>> objects_;
};

}  // namespace interlock
