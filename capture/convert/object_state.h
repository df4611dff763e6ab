// ObjectState: follows the records about objects, and answers what a handle names now.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "capture/convert/captured_addresses.h"
#include "capture/convert/objects.h"
#include "capture/convert/summary.h"
#include "capture/log/graphics_records.h"
#include "capture/log/object_records.h"

namespace interlock {

struct MemoryPlace {
  std::shared_ptr<CapturedMemory> memory;  // Null: it is not known.
  uint64_t offset_bytes = 0;  // Other than 0 where it is imported as a part of this one.
  uint64_t size_bytes = 0;
};

class ObjectState {
 public:
  // Requires: `summary` outlives this.
  explicit ObjectState(CaptureSummary& summary) : summary_(summary) {}

  // Of memory (memory_objects.cc), with what of it is below.
  void apply(const AllocateMemoryRecord& record);
  void apply(const ImportMemoryRecord& record);
  void apply(const ShareMemoryRecord& record);
  // Of all others.
  void apply(const CreateBufferRecord& record);
  void apply(const BindBufferRecord& record);
  void apply(const BufferAddressRecord& record);
  void apply(const CreateImageRecord& record);
  void apply(const BindImageRecord& record);
  void apply(const CreateImageViewRecord& record);
  void apply(const CreateBufferViewRecord& record);
  void apply(const CreateShaderModuleRecord& record);
  void apply(const CreateSetLayoutRecord& record);
  void apply(const CreatePipelineLayoutRecord& record);
  void apply(const CreateComputePipelineRecord& record);
  // Of graphics (graphics_objects.cc).
  void apply(const CreateGraphicsPipelineRecord& record);
  void apply(const CreateRenderPassRecord& record);
  void apply(const CreateFramebufferRecord& record);
  void apply(const AllocateSetsRecord& record);
  void apply(const FreeSetsRecord& record);
  void apply(const ResetSetPoolRecord& record);
  void apply(const UpdateSetsRecord& record);
  void apply(const DestroyRecord& record);
  void apply(const ObjectNameRecord& record);

  // Where the bytes of a memory are.
  MemoryPlace place_of(uint64_t handle) const;
  std::shared_ptr<CapturedBuffer> buffer(uint64_t handle) const { return buffers_.find(handle); }
  std::shared_ptr<CapturedImage> image(uint64_t handle) const { return images_.find(handle); }
  std::shared_ptr<CapturedImageView> view(uint64_t handle) const {
    return image_views_.find(handle);
  }
  const CapturedAddresses& addresses() const { return addresses_; }
  CapturedViews views(const std::vector<uint64_t>& handles) const;
  std::shared_ptr<CapturedRenderPass> render_pass(uint64_t handle) const {
    return render_passes_.find(handle);
  }
  std::shared_ptr<CapturedFramebuffer> framebuffer(uint64_t handle) const {
    return framebuffers_.find(handle);
  }
  std::shared_ptr<CapturedSet> set(uint64_t handle) const { return sets_.find(handle); }
  std::shared_ptr<CapturedPipeline> pipeline(uint64_t handle) const {
    return pipelines_.find(handle);
  }
  std::shared_ptr<CapturedPipelineLayout> pipeline_layout(uint64_t handle) const {
    return pipeline_layouts_.find(handle);
  }

  // Writes descriptors to a set, on into the next bindings where one is full.
  void write(const SetWriteFields& fields, CapturedSet& set);

 private:
  using Code = std::vector<uint32_t>;
  // By entry point, with its ExecutionModel.
  using EntryTable = std::map<std::pair<uint32_t, std::string>, std::optional<ShaderAccesses>>;

  // To so many bytes at least, as its file has; once a program has its length, it is too late.
  static void grow(CapturedMemory& memory, uint64_t size_bytes);
  // A memory is exported as this file: the first one counts.
  void name_file(const std::shared_ptr<CapturedMemory>& memory, SharedFile file);
  // Requires: another one, and neither is a part.
  void make_part_of_file(const std::shared_ptr<CapturedMemory>& memory,
                         const std::shared_ptr<CapturedMemory>& whole);
  // The bytes of one from here on are some of another.
  static void make_part(CapturedMemory& memory, const std::shared_ptr<CapturedMemory>& whole,
                        uint64_t offset_bytes);
  // The memories of the host that have some of these bytes; none if there are too many.
  std::optional<std::vector<std::shared_ptr<CapturedMemory>>> imports_at(ByteRange bytes) const;
  // One that is freed, or allocated anew.
  void release_memory(uint64_t handle);
  // Of an image that no memory is known of: as many bytes as it has here.
  void give_own_memory(CapturedImage& image);
  // None if they are not known, which is noted.
  std::optional<ShaderAccesses> accesses_of(const Code& code, const std::string& entry,
                                            uint32_t model);
  CapturedDescriptor descriptor_of(uint32_t type, const DescriptorFields& fields) const;
  void copy(const SetCopyFields& fields);

  CaptureSummary& summary_;
  HandleTable<CapturedMemory> memories_;
  // By pointer, of those of the host that are no part of another; they do not overlap.
  std::map<uint64_t, std::shared_ptr<CapturedMemory>> imports_;
  // And those that overlap such, or each other.
  std::vector<std::shared_ptr<CapturedMemory>> overlapping_imports_;
  // By file, of what was exported, until all that is the same bytes is freed.
  std::map<SharedFile, std::shared_ptr<CapturedMemory>> shared_;
  HandleTable<CapturedBuffer> buffers_;
  CapturedAddresses addresses_;
  HandleTable<CapturedImage> images_;
  HandleTable<CapturedImageView> image_views_;
  HandleTable<CapturedBufferView> buffer_views_;
  HandleTable<Code> modules_;
  HandleTable<CapturedSetLayout> set_layouts_;
  HandleTable<CapturedPipelineLayout> pipeline_layouts_;
  HandleTable<CapturedPipeline> pipelines_;
  HandleTable<CapturedRenderPass> render_passes_;
  HandleTable<CapturedFramebuffer> framebuffers_;
  HandleTable<CapturedSet> sets_;
  std::map<uint64_t, std::set<uint64_t>> sets_of_pool_;
  // Applications create the same pipeline again and again.
  std::map<Code, EntryTable> known_accesses_;
  uint64_t read_words_ = 0;
  uint64_t memory_count_ = 0;
  uint64_t buffer_count_ = 0;
  uint64_t image_count_ = 0;
  uint64_t pipeline_count_ = 0;
  uint64_t render_pass_count_ = 0;
};

}  // namespace interlock
