// ExactObjects: what the layer knows of descriptors where it measures what dispatches touch: how
// large each bound buffer and each view is, and how samplers look for texels. Fed by the calls that
// it sees; what it does not know is not measured.
#pragma once

#include <volk.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "capture/log/object_records.h"

namespace interlock {

struct ExactView {
  uint32_t width = 0;  // Of its only mip; 0: it cannot be measured.
  uint32_t height = 0;
  uint32_t depth = 0;  // Or layers.
};

struct ExactSampler {
  bool is_known = false;
  uint32_t axis_bits[3] = {};  // SamplingBit of instrument.h.
};

struct ExactBinding {
  uint32_t type = 0;
  uint32_t count = 0;
  bool is_updated_after_bind = false;
  std::vector<ExactSampler> samplers;  // Immutable ones, one for each element; or none.
};

struct ExactSetLayout {
  uint64_t content = 0;  // The same for layouts that are defined identically.
  std::map<uint32_t, ExactBinding> bindings;
  // What of it counts against the limits of a device: none where the set is updated after it is
  // bound, which has limits of its own (14.2.1).
  uint64_t storage_buffer_count = 0;          // Of all stages, but for dynamic ones.
  uint64_t storage_buffer_count_compute = 0;  // Of the stage of compute. So the next.
  uint64_t resource_count_compute = 0;
};

struct ExactDescriptor {
  uint32_t type = 0;
  DescriptorFields fields;  // Of an image, with its sampler as the offset.
};

struct ExactSet {
  std::shared_ptr<const ExactSetLayout> layout;
  std::map<std::pair<uint32_t, uint32_t>, ExactDescriptor> descriptors;  // By binding and element.
};

struct ExactPipelineLayout {
  std::vector<std::shared_ptr<const ExactSetLayout>> sets;
  // For each set: the same for layouts that are compatible up to it (14.2.2). As many as the
  // layout that the layer made of it has.
  std::vector<uint64_t> prefixes;
  VkPipelineLayout own = VK_NULL_HANDLE;  // With the set of the layer; null: there is no room.
  bool has_room_for_buffer = true;        // False: the device allows no buffer more.
};

class ExactObjects {
 public:
  void add_buffer(VkBuffer buffer, uint64_t size_bytes);
  void add_image(VkImage image, const VkImageCreateInfo& info);
  void add_view(VkImageView view, const VkImageViewCreateInfo& info);
  void add_sampler(VkSampler sampler, const VkSamplerCreateInfo& info);
  void add_set_layout(VkDescriptorSetLayout layout, const VkDescriptorSetLayoutCreateInfo& info);
  void add_set(VkDescriptorSet set, VkDescriptorSetLayout layout);
  void write(const std::vector<SetWriteFields>& writes);
  void copy(std::span<const VkCopyDescriptorSet> copies);
  // Into a set that is none of the application's.
  static void write_to(const SetWriteFields& fields, ExactSet& set);
  // A layout as it is defined; without one of the layer's own yet.
  std::shared_ptr<ExactPipelineLayout> describe(const VkPipelineLayoutCreateInfo& info,
                                                uint32_t own_set);
  void add_pipeline_layout(VkPipelineLayout layout, std::shared_ptr<const ExactPipelineLayout> is);
  // A number for a content, the same for the same.
  uint64_t number_of_content(const std::vector<uint64_t>& content);

  std::shared_ptr<const ExactSet> set(VkDescriptorSet handle) const;
  std::shared_ptr<const ExactPipelineLayout> pipeline_layout(VkPipelineLayout handle) const;
  std::shared_ptr<const ExactSetLayout> set_layout(VkDescriptorSetLayout handle) const;

  // How many bytes a descriptor binds from the offset of its set on; 0 if that is not known.
  uint64_t buffer_bytes(const ExactDescriptor& descriptor, uint64_t dynamic_offset_bytes) const;
  ExactView view(const ExactDescriptor& descriptor) const;
  // That of the layout, if it has one.
  ExactSampler sampler(const ExactSet& set, uint32_t binding, uint32_t element,
                       const ExactDescriptor& descriptor) const;

 private:
  std::map<uint64_t, uint64_t> buffers_;  // Sizes in bytes. By handle, so all of these.
  std::map<uint64_t, VkImageCreateInfo> images_;
  std::map<uint64_t, ExactView> views_;
  std::map<uint64_t, ExactSampler> samplers_;
  std::map<uint64_t, std::shared_ptr<const ExactSetLayout>> set_layouts_;
  std::map<uint64_t, std::shared_ptr<ExactSet>> sets_;
  std::map<uint64_t, std::shared_ptr<const ExactPipelineLayout>> pipeline_layouts_;
  std::map<std::vector<uint64_t>, uint64_t> contents_;
};

}  // namespace interlock
