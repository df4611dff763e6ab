#include "capture/convert/object_state.h"

#include <fmt/format.h>
#include <vulkan/vulkan_core.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "capture/convert/captured_bytes.h"
#include "capture/convert/format_facts.h"
#include "encoder/program/result.h"

namespace interlock {
namespace {

// What one descriptor set of an application may have here: a binding may say any number.
constexpr uint32_t kDescriptorsOfASetMax = 1u << 20;

// Walks the descriptors of a set: after the last of a binding comes the first of the next binding
// that has any (14.2.4). Where the layout is not known, all are of one binding.
class SlotCursor {
 public:
  SlotCursor(CapturedSet& set, uint32_t binding, uint64_t element)
      : set_(set), binding_(binding), element_(element) {
    settle();
  }

  bool is_there() const { return is_there_; }

  // What was written here; null if nothing was. Requires: is_there().
  const CapturedDescriptor* find() const {
    const auto binding = set_.bindings.find(binding_);
    if (binding == set_.bindings.end()) return nullptr;
    const auto found = binding->second.find(element_);
    return found == binding->second.end() ? nullptr : &found->second;
  }

  // Requires: is_there().
  void write(const CapturedDescriptor& descriptor) {
    set_.bindings[binding_][element_] = descriptor;
  }

  void advance() {
    ++element_;
    settle();
  }

 private:
  uint64_t room() const {
    if (set_.layout == nullptr) return kDescriptorsOfASetMax;
    const auto found = set_.layout->bindings.find(binding_);
    return found == set_.layout->bindings.end() ? 0 : found->second.count;
  }

  void settle() {
    while (element_ >= room()) {
      is_there_ = false;
      if (set_.layout == nullptr) return;
      const auto next = set_.layout->bindings.upper_bound(binding_);
      if (next == set_.layout->bindings.end()) return;
      element_ -= room();
      binding_ = next->first;
      is_there_ = true;
    }
  }

  CapturedSet& set_;
  uint32_t binding_;
  uint64_t element_;
  bool is_there_ = true;
};

constexpr std::string_view kOutsideOfLayout = "a descriptor that the layout of its set has not";

// Shaders whose accesses are kept.
constexpr size_t kKnownShadersMax = 4096;

// What of shaders is read: a log may name one again and again, each time with another entry point.
constexpr uint64_t kReadWordsMax = 1ull << 28;

}  // namespace

void ObjectState::apply(const CreateBufferRecord& record) {
  // One that nobody destroyed ended with its device.
  if (const auto old = buffers_.find(record.buffer)) addresses_.remove(*old);
  const auto buffer = buffers_.create(record.buffer);
  buffer->number = ++buffer_count_;
  buffer->size_bytes = record.size_bytes;
  if ((record.flags & VK_BUFFER_CREATE_SPARSE_BINDING_BIT) != 0) {
    summary_.note("a buffer of sparse memory");
  }
}

void ObjectState::apply(const BindBufferRecord& record) {
  const auto buffer = buffers_.find(record.buffer);
  if (buffer == nullptr) return;
  const MemoryPlace place = place_of(record.memory);
  buffer->memory = place.memory;
  buffer->offset_bytes =
      place.offset_bytes + std::min(record.offset_bytes, UINT64_MAX - place.offset_bytes);
}

void ObjectState::apply(const BufferAddressRecord& record) {
  const auto buffer = buffers_.find(record.buffer);
  if (buffer == nullptr) return summary_.note("an address of a buffer that is not known");
  addresses_.add(record.address, buffer);
}

void ObjectState::apply(const CreateImageRecord& record) {
  // The images of a swapchain are asked for more than once.
  const auto known = images_.find(record.image);
  if (record.is_of_swapchain != 0 && known != nullptr && known->info.is_of_swapchain != 0) return;
  const auto image = images_.create(record.image);
  image->info = record;
  image->number = ++image_count_;
  if (!is_known_format(record.format)) summary_.note("an image of a format that is not known");
  if (record.is_of_swapchain != 0) give_own_memory(*image);
  if ((record.flags & VK_IMAGE_CREATE_SPARSE_BINDING_BIT) != 0) {
    summary_.note("an image of sparse memory");
  }
}

void ObjectState::apply(const BindImageRecord& record) {
  const auto image = images_.find(record.image);
  if (image == nullptr) return;
  if (record.plane_aspect != 0 && record.plane_aspect != VK_IMAGE_ASPECT_PLANE_0_BIT) {
    return summary_.note("a plane of an image with memory of its own");
  }
  const auto [memory, begin_bytes, room_bytes] = place_of(record.memory);
  const uint64_t size_bytes = model_size_of(*image);
  if (memory == nullptr) summary_.note("an image that is bound to memory that is not known");
  const bool fits = memory != nullptr && record.offset_bytes <= room_bytes &&
                    size_bytes <= room_bytes - record.offset_bytes;
  if (!fits) {
    if (memory != nullptr) summary_.note("an image for which its memory has no room here");
    return give_own_memory(*image);
  }
  image->memory = memory;
  image->offset_bytes = begin_bytes + record.offset_bytes;
}

void ObjectState::give_own_memory(CapturedImage& image) {
  image.memory = std::make_shared<CapturedMemory>();
  image.memory->number = ++memory_count_;
  image.memory->size_bytes = std::max<uint64_t>(model_size_of(image), 1);
  image.offset_bytes = 0;
}

void ObjectState::apply(const CreateImageViewRecord& record) {
  const auto view = image_views_.create(record.view);
  view->image = images_.find(record.image);
  view->range = record.range;
  view->is_of_volume = view->image != nullptr && view->image->info.type == VK_IMAGE_TYPE_3D &&
                       record.type != VK_IMAGE_VIEW_TYPE_3D;
}

void ObjectState::apply(const CreateBufferViewRecord& record) {
  const auto view = buffer_views_.create(record.view);
  view->buffer = buffers_.find(record.buffer);
  view->offset_bytes = record.offset_bytes;
  view->range_bytes = record.range_bytes;
}

void ObjectState::apply(const CreateShaderModuleRecord& record) {
  *modules_.create(record.module) = record.code;
}

void ObjectState::apply(const CreateSetLayoutRecord& record) {
  const auto layout = set_layouts_.create(record.layout);
  uint64_t count = 0;
  for (SetBindingFields binding : record.bindings) {
    binding.count =
        static_cast<uint32_t>(std::min<uint64_t>(binding.count, kDescriptorsOfASetMax - count));
    count += binding.count;
    layout->bindings[binding.binding] = binding;
  }
}

void ObjectState::apply(const CreatePipelineLayoutRecord& record) {
  const auto layout = pipeline_layouts_.create(record.layout);
  for (const uint64_t set : record.set_layouts) layout->sets.push_back(set_layouts_.find(set));
}

void ObjectState::apply(const CreateComputePipelineRecord& record) {
  const auto pipeline = pipelines_.create(record.pipeline);
  pipeline->number = ++pipeline_count_;
  pipeline->layout = pipeline_layouts_.find(record.layout);
  const auto module = modules_.find(record.module);
  const Code& code = record.module == 0 || module == nullptr ? record.code : *module;
  pipeline->accesses = accesses_of(code, record.entry, kComputeModel);
}

std::optional<ShaderAccesses> ObjectState::accesses_of(const Code& code, const std::string& entry,
                                                       uint32_t model) {
  if (const auto known = known_accesses_.find(code); known != known_accesses_.end()) {
    const auto found = known->second.find({model, entry});
    if (found != known->second.end()) return found->second;
  }
  read_words_ += code.size();
  if (read_words_ > kReadWordsMax) {
    summary_.note("a shader after 1 GiB of them");
    return std::nullopt;
  }
  const Result<ShaderAccesses> accesses = shader_accesses_of(code, entry, model);
  if (!accesses) summary_.note(accesses.error().message);
  if (known_accesses_.size() >= kKnownShadersMax) known_accesses_.clear();
  return known_accesses_[code][{model, entry}] = accesses ? std::optional(*accesses) : std::nullopt;
}

void ObjectState::apply(const AllocateSetsRecord& record) {
  std::set<uint64_t>& of_pool = sets_of_pool_[record.pool];
  for (size_t i = 0; i < record.sets.size() && i < record.layouts.size(); ++i) {
    const auto set = sets_.create(record.sets[i]);
    set->layout = set_layouts_.find(record.layouts[i]);
    set->pool = record.pool;
    of_pool.insert(record.sets[i]);
  }
}

void ObjectState::apply(const FreeSetsRecord& record) {
  for (const uint64_t handle : record.sets) {
    if (const auto set = sets_.find(handle)) sets_of_pool_[set->pool].erase(handle);
    sets_.destroy(handle);
  }
}

void ObjectState::apply(const ResetSetPoolRecord& record) {
  for (const uint64_t set : sets_of_pool_[record.pool]) sets_.destroy(set);
  sets_of_pool_.erase(record.pool);
}

CapturedDescriptor ObjectState::descriptor_of(uint32_t type, const DescriptorFields& fields) const {
  CapturedDescriptor descriptor;
  descriptor.type = type;
  descriptor.handle = fields.handle;
  descriptor.offset_bytes = fields.offset_bytes;
  descriptor.range_bytes = fields.range_bytes;
  switch (type) {
    case VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER:
    case VK_DESCRIPTOR_TYPE_STORAGE_BUFFER:
    case VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC:
    case VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC:
      descriptor.buffer = buffers_.find(fields.handle);
      break;
    case VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER:
    case VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER:
      descriptor.buffer_view = buffer_views_.find(fields.handle);
      break;
    default:
      descriptor.view = image_views_.find(fields.handle);
      break;
  }
  return descriptor;
}

void ObjectState::write(const SetWriteFields& fields, CapturedSet& set) {
  SlotCursor slots(set, fields.binding, fields.element);
  for (const DescriptorFields& descriptor : fields.descriptors) {
    if (!slots.is_there()) return summary_.note(kOutsideOfLayout);
    slots.write(descriptor_of(fields.type, descriptor));
    slots.advance();
  }
}

void ObjectState::copy(const SetCopyFields& fields) {
  const auto from = sets_.find(fields.from_set);
  const auto to = sets_.find(fields.to_set);
  if (from == nullptr || to == nullptr) {
    return summary_.note("a copy between descriptor sets that are not known");
  }
  SlotCursor sources(*from, fields.from_binding, fields.from_element);
  SlotCursor targets(*to, fields.to_binding, fields.to_element);
  for (uint64_t i = 0; i < fields.count; ++i) {
    if (!sources.is_there() || !targets.is_there()) return summary_.note(kOutsideOfLayout);
    // The two may be in one set.
    if (const CapturedDescriptor* const found = sources.find()) {
      targets.write(CapturedDescriptor(*found));
    }
    sources.advance();
    targets.advance();
  }
}

void ObjectState::apply(const UpdateSetsRecord& record) {
  for (const SetWriteFields& write_fields : record.writes) {
    const auto set = sets_.find(write_fields.set);
    if (set != nullptr) write(write_fields, *set);
  }
  for (const SetCopyFields& copy_fields : record.copies) copy(copy_fields);
}

void ObjectState::apply(const DestroyRecord& record) {
  switch (record.type) {
    case VK_OBJECT_TYPE_DEVICE_MEMORY:
      release_memory(record.handle);
      return memories_.destroy(record.handle);
    case VK_OBJECT_TYPE_BUFFER:
      if (const auto buffer = buffers_.find(record.handle)) addresses_.remove(*buffer);
      return buffers_.destroy(record.handle);
    case VK_OBJECT_TYPE_IMAGE:
      return images_.destroy(record.handle);
    case VK_OBJECT_TYPE_IMAGE_VIEW:
      return image_views_.destroy(record.handle);
    case VK_OBJECT_TYPE_BUFFER_VIEW:
      return buffer_views_.destroy(record.handle);
    case VK_OBJECT_TYPE_SHADER_MODULE:
      return modules_.destroy(record.handle);
    case VK_OBJECT_TYPE_DESCRIPTOR_SET_LAYOUT:
      return set_layouts_.destroy(record.handle);
    case VK_OBJECT_TYPE_PIPELINE_LAYOUT:
      return pipeline_layouts_.destroy(record.handle);
    case VK_OBJECT_TYPE_PIPELINE:
      return pipelines_.destroy(record.handle);
    case VK_OBJECT_TYPE_RENDER_PASS:
      return render_passes_.destroy(record.handle);
    case VK_OBJECT_TYPE_FRAMEBUFFER:
      return framebuffers_.destroy(record.handle);
    case VK_OBJECT_TYPE_DESCRIPTOR_POOL:
      return apply(ResetSetPoolRecord{record.handle});
    default:
      return;
  }
}

void ObjectState::apply(const ObjectNameRecord& record) {
  if (record.type != VK_OBJECT_TYPE_PIPELINE) return;
  if (const auto pipeline = pipelines_.find(record.handle)) pipeline->name = record.name;
}

}  // namespace interlock
