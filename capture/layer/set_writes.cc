#include "capture/layer/set_writes.h"

#include <cstddef>
#include <cstring>
#include <utility>

#include "capture/layer/next_functions.h"

namespace interlock {
namespace {

enum class DescriptorSort : uint8_t { kImage, kBuffer, kView, kInline, kOther };

DescriptorSort sort_of(VkDescriptorType type) {
  switch (type) {
    case VK_DESCRIPTOR_TYPE_SAMPLER:
    case VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER:
    case VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE:
    case VK_DESCRIPTOR_TYPE_STORAGE_IMAGE:
    case VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT:
      return DescriptorSort::kImage;
    case VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER:
    case VK_DESCRIPTOR_TYPE_STORAGE_BUFFER:
    case VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC:
    case VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC:
      return DescriptorSort::kBuffer;
    case VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER:
    case VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER:
      return DescriptorSort::kView;
    case VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK:
      return DescriptorSort::kInline;
    default:
      return DescriptorSort::kOther;
  }
}

DescriptorFields descriptor_of(VkDescriptorType type, const VkDescriptorImageInfo& info) {
  // Of a sampler alone the view means nothing; of others the sampler.
  const bool has_sampler = type == VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
  return {type == VK_DESCRIPTOR_TYPE_SAMPLER ? 0 : number_of(info.imageView),
          has_sampler ? number_of(info.sampler) : 0, 0};
}

DescriptorFields descriptor_of(VkDescriptorType, const VkDescriptorBufferInfo& info) {
  return {number_of(info.buffer), info.offset, info.range};
}

DescriptorFields descriptor_of(VkDescriptorType, const VkBufferView& view) {
  return {number_of(view), 0, VK_WHOLE_SIZE};
}

// They name something, and nobody here knows what: the type says so.
void add_unknown(uint64_t count, SetWriteFields& fields) {
  fields.descriptors.insert(fields.descriptors.end(), count, {UINT64_MAX, 0, 0});
}

}  // namespace

std::vector<SetWriteFields> fields_of_writes(uint32_t count, const VkWriteDescriptorSet* writes) {
  std::vector<SetWriteFields> result;
  result.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    const VkWriteDescriptorSet& write = writes[i];
    const VkDescriptorType type = write.descriptorType;
    SetWriteFields fields{number_of(write.dstSet),
                          write.dstBinding,
                          write.dstArrayElement,
                          static_cast<uint32_t>(type),
                          {}};
    const auto add_each = [&](const auto* infos) {
      for (uint32_t k = 0; infos != nullptr && k < write.descriptorCount; ++k) {
        fields.descriptors.push_back(descriptor_of(type, infos[k]));
      }
    };
    switch (sort_of(type)) {
      case DescriptorSort::kImage:
        add_each(write.pImageInfo);
        break;
      case DescriptorSort::kBuffer:
        add_each(write.pBufferInfo);
        break;
      case DescriptorSort::kView:
        add_each(write.pTexelBufferView);
        break;
      case DescriptorSort::kInline:
        break;  // Its bytes are the set's own; nothing on the device writes them.
      case DescriptorSort::kOther:
        add_unknown(write.descriptorCount, fields);
        break;
    }
    result.push_back(std::move(fields));
  }
  return result;
}

std::vector<SetWriteFields> fields_of_template(const UpdateTemplate& known, uint64_t set,
                                               const void* data) {
  std::vector<SetWriteFields> result;
  result.reserve(known.entries.size());
  for (const VkDescriptorUpdateTemplateEntry& entry : known.entries) {
    const VkDescriptorType type = entry.descriptorType;
    SetWriteFields fields{
        set, entry.dstBinding, entry.dstArrayElement, static_cast<uint32_t>(type), {}};
    const auto add_each = [&]<typename Info>(Info info) {
      for (uint32_t k = 0; k < entry.descriptorCount; ++k) {
        const auto* const from =
            static_cast<const std::byte*>(data) + entry.offset + k * entry.stride;
        std::memcpy(&info, from, sizeof(info));
        fields.descriptors.push_back(descriptor_of(type, info));
      }
    };
    switch (sort_of(type)) {
      case DescriptorSort::kImage:
        add_each(VkDescriptorImageInfo{});
        break;
      case DescriptorSort::kBuffer:
        add_each(VkDescriptorBufferInfo{});
        break;
      case DescriptorSort::kView:
        add_each(VkBufferView{});
        break;
      case DescriptorSort::kInline:
        break;
      case DescriptorSort::kOther:
        add_unknown(entry.descriptorCount, fields);
        break;
    }
    result.push_back(std::move(fields));
  }
  return result;
}

}  // namespace interlock
