#include "capture/layer/exact_objects.h"

#include <algorithm>

#include "capture/layer/intercepted.h"
#include "capture/layer/next_functions.h"
#include "capture/spirv/instrument.h"

namespace interlock {
namespace {

constexpr SamplingBit kNoBit = {};

template <typename T>
T found_in(const std::map<uint64_t, T>& objects, uint64_t handle) {
  const auto found = objects.find(handle);
  return found == objects.end() ? T() : found->second;
}

// Where the descriptors of a set go on after the last of a binding (14.2.4). False past the end.
bool settle(const ExactSetLayout& layout, uint32_t& binding, uint32_t& element) {
  auto at = layout.bindings.find(binding);
  while (at != layout.bindings.end() && element >= at->second.count) {
    element -= at->second.count;
    ++at;
  }
  if (at == layout.bindings.end()) return false;
  binding = at->first;
  return true;
}

// Bits of SamplingBit for an address mode; none if it is not followed.
std::optional<uint32_t> mode_bits(VkSamplerAddressMode mode) {
  switch (mode) {
    case VK_SAMPLER_ADDRESS_MODE_REPEAT:
      return kSamplesRepeating;
    case VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE:
      return 0;
    case VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER:
      return kSamplesBorder;
    default:
      return std::nullopt;
  }
}

uint32_t of_mip(uint32_t size, uint32_t mip) { return std::max(mip < 32 ? size >> mip : 0, 1u); }

void count_against_limits(VkDescriptorSetLayoutCreateFlags flags,
                          const VkDescriptorSetLayoutBinding& binding, ExactSetLayout& layout) {
  if ((flags & VK_DESCRIPTOR_SET_LAYOUT_CREATE_UPDATE_AFTER_BIND_POOL_BIT) != 0) return;
  const bool is_plain = binding.descriptorType == VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
  const bool is_storage =
      is_plain || binding.descriptorType == VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC;
  if (is_plain) layout.storage_buffer_count += binding.descriptorCount;
  if ((binding.stageFlags & VK_SHADER_STAGE_COMPUTE_BIT) == 0) return;
  if (is_storage) layout.storage_buffer_count_compute += binding.descriptorCount;
  const bool is_resource = binding.descriptorType != VK_DESCRIPTOR_TYPE_SAMPLER;
  if (is_resource) layout.resource_count_compute += binding.descriptorCount;
}

}  // namespace

void ExactObjects::add_buffer(VkBuffer buffer, uint64_t size_bytes) {
  buffers_[number_of(buffer)] = size_bytes;
}

void ExactObjects::add_image(VkImage image, const VkImageCreateInfo& info) {
  images_[number_of(image)] = info;
}

void ExactObjects::add_view(VkImageView view, const VkImageViewCreateInfo& info) {
  ExactView& added = views_[number_of(view)] = {};
  const auto image = images_.find(number_of(info.image));
  if (image == images_.end()) return;
  const VkImageCreateInfo& of = image->second;
  const VkImageSubresourceRange& range = info.subresourceRange;
  const uint32_t mip_count = range.levelCount == VK_REMAINING_MIP_LEVELS
                                 ? of.mipLevels - range.baseMipLevel
                                 : range.levelCount;
  const uint32_t layer_count = range.layerCount == VK_REMAINING_ARRAY_LAYERS
                                   ? of.arrayLayers - range.baseArrayLayer
                                   : range.layerCount;
  const bool is_volume = of.imageType == VK_IMAGE_TYPE_3D;
  // One mip, of one sample, of colour, and no slices of a volume as layers.
  if (mip_count != 1 || of.samples != VK_SAMPLE_COUNT_1_BIT ||
      range.aspectMask != VK_IMAGE_ASPECT_COLOR_BIT ||
      is_volume != (info.viewType == VK_IMAGE_VIEW_TYPE_3D)) {
    return;
  }
  added.width = of_mip(of.extent.width, range.baseMipLevel);
  added.height = of_mip(of.extent.height, range.baseMipLevel);
  added.depth = is_volume ? of_mip(of.extent.depth, range.baseMipLevel) : layer_count;
}

void ExactObjects::add_sampler(VkSampler sampler, const VkSamplerCreateInfo& info) {
  ExactSampler& added = samplers_[number_of(sampler)] = {};
  const VkSamplerAddressMode modes[] = {info.addressModeU, info.addressModeV, info.addressModeW};
  if (info.pNext != nullptr || info.magFilter != info.minFilter ||
      info.magFilter > VK_FILTER_LINEAR || info.anisotropyEnable != VK_FALSE) {
    return;
  }
  for (size_t axis = 0; axis < std::size(modes); ++axis) {
    const std::optional<uint32_t> bits = mode_bits(modes[axis]);
    if (!bits) return;
    added.axis_bits[axis] =
        *bits | (info.magFilter == VK_FILTER_LINEAR ? kSamplesLinearly : kNoBit) |
        (info.unnormalizedCoordinates != VK_FALSE ? kSamplesTexelCoordinates : kNoBit);
  }
  added.is_known = true;
}

void ExactObjects::add_set_layout(VkDescriptorSetLayout layout,
                                  const VkDescriptorSetLayoutCreateInfo& info) {
  const auto* const flags = find_in_chain<VkDescriptorSetLayoutBindingFlagsCreateInfo>(
      info.pNext, VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO);
  const auto added = std::make_shared<ExactSetLayout>();
  std::map<uint32_t, std::vector<uint64_t>> content;
  for (uint32_t i = 0; i < info.bindingCount; ++i) {
    const VkDescriptorSetLayoutBinding& binding = info.pBindings[i];
    const uint32_t of_binding =
        flags != nullptr && i < flags->bindingCount ? flags->pBindingFlags[i] : 0;
    ExactBinding& known = added->bindings[binding.binding];
    known.type = static_cast<uint32_t>(binding.descriptorType);
    known.count = binding.descriptorCount;
    known.is_updated_after_bind = (of_binding & VK_DESCRIPTOR_BINDING_UPDATE_AFTER_BIND_BIT) != 0;
    count_against_limits(info.flags, binding, *added);
    std::vector<uint64_t>& said = content[binding.binding];
    said = {known.type, known.count, binding.stageFlags, of_binding};
    const bool takes_samplers = binding.descriptorType == VK_DESCRIPTOR_TYPE_SAMPLER ||
                                binding.descriptorType == VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
    if (!takes_samplers || binding.pImmutableSamplers == nullptr) continue;
    for (uint32_t k = 0; k < binding.descriptorCount; ++k) {
      known.samplers.push_back(found_in(samplers_, number_of(binding.pImmutableSamplers[k])));
      said.push_back(number_of(binding.pImmutableSamplers[k]));
    }
  }
  std::vector<uint64_t> all = {info.flags};
  for (const auto& [number, said] : content) {
    all.push_back(number);
    all.push_back(said.size());
    all.insert(all.end(), said.begin(), said.end());
  }
  added->content = number_of_content(all);
  set_layouts_[number_of(layout)] = added;
}

void ExactObjects::add_set(VkDescriptorSet set, VkDescriptorSetLayout layout) {
  const auto added = std::make_shared<ExactSet>();
  added->layout = set_layout(layout);
  sets_[number_of(set)] = added;
}

void ExactObjects::write_to(const SetWriteFields& fields, ExactSet& set) {
  if (set.layout == nullptr) return;
  uint32_t binding = fields.binding;
  uint32_t element = fields.element;
  for (const DescriptorFields& descriptor : fields.descriptors) {
    if (!settle(*set.layout, binding, element)) return;
    set.descriptors[{binding, element}] = {fields.type, descriptor};
    ++element;
  }
}

void ExactObjects::write(const std::vector<SetWriteFields>& writes) {
  for (const SetWriteFields& fields : writes) {
    if (const auto set = found_in(sets_, fields.set)) write_to(fields, *set);
  }
}

void ExactObjects::copy(std::span<const VkCopyDescriptorSet> copies) {
  for (const VkCopyDescriptorSet& each : copies) {
    const auto from = found_in(sets_, number_of(each.srcSet));
    const auto to = found_in(sets_, number_of(each.dstSet));
    if (from == nullptr || to == nullptr || from->layout == nullptr || to->layout == nullptr) {
      continue;
    }
    std::pair source(each.srcBinding, each.srcArrayElement);
    std::pair target(each.dstBinding, each.dstArrayElement);
    for (uint32_t i = 0; i < each.descriptorCount; ++i, ++source.second, ++target.second) {
      if (!settle(*from->layout, source.first, source.second) ||
          !settle(*to->layout, target.first, target.second)) {
        break;
      }
      const auto found = from->descriptors.find(source);
      if (found != from->descriptors.end())
        to->descriptors[target] = ExactDescriptor(found->second);
    }
  }
}

std::shared_ptr<ExactPipelineLayout> ExactObjects::describe(const VkPipelineLayoutCreateInfo& info,
                                                            uint32_t own_set) {
  auto layout = std::make_shared<ExactPipelineLayout>();
  std::vector<uint64_t> content;
  for (uint32_t i = 0; i < info.pushConstantRangeCount; ++i) {
    const VkPushConstantRange& range = info.pPushConstantRanges[i];
    content.insert(content.end(), {range.stageFlags, range.offset, range.size});
  }
  content.push_back(UINT64_MAX);
  for (uint32_t i = 0; i <= own_set || i < info.setLayoutCount; ++i) {
    const auto set = i < info.setLayoutCount ? set_layout(info.pSetLayouts[i]) : nullptr;
    if (i < info.setLayoutCount) layout->sets.push_back(set);
    content.push_back(set == nullptr ? 0 : set->content);
    layout->prefixes.push_back(number_of_content(content));
  }
  return layout;
}

void ExactObjects::add_pipeline_layout(VkPipelineLayout layout,
                                       std::shared_ptr<const ExactPipelineLayout> is) {
  pipeline_layouts_[number_of(layout)] = std::move(is);
}

uint64_t ExactObjects::number_of_content(const std::vector<uint64_t>& content) {
  return contents_.try_emplace(content, contents_.size() + 1).first->second;
}

std::shared_ptr<const ExactSet> ExactObjects::set(VkDescriptorSet handle) const {
  return found_in(sets_, number_of(handle));
}

std::shared_ptr<const ExactPipelineLayout> ExactObjects::pipeline_layout(
    VkPipelineLayout handle) const {
  return found_in(pipeline_layouts_, number_of(handle));
}

std::shared_ptr<const ExactSetLayout> ExactObjects::set_layout(VkDescriptorSetLayout handle) const {
  return found_in(set_layouts_, number_of(handle));
}

uint64_t ExactObjects::buffer_bytes(const ExactDescriptor& descriptor,
                                    uint64_t dynamic_offset_bytes) const {
  const uint64_t size_bytes = found_in(buffers_, descriptor.fields.handle);
  const uint64_t offset_bytes = descriptor.fields.offset_bytes + dynamic_offset_bytes;
  if (offset_bytes >= size_bytes) return 0;
  return std::min(descriptor.fields.range_bytes, size_bytes - offset_bytes);
}

ExactView ExactObjects::view(const ExactDescriptor& descriptor) const {
  return found_in(views_, descriptor.fields.handle);
}

ExactSampler ExactObjects::sampler(const ExactSet& set, uint32_t binding, uint32_t element,
                                   const ExactDescriptor& descriptor) const {
  const auto of_layout = set.layout->bindings.find(binding);
  if (of_layout != set.layout->bindings.end() && element < of_layout->second.samplers.size()) {
    return of_layout->second.samplers[element];
  }
  return found_in(samplers_, descriptor.fields.offset_bytes);
}

}  // namespace interlock
