#include "capture/layer/exact_device.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <utility>

#include "capture/layer/intercepted.h"
#include "capture/layer/next_functions.h"
#include "capture/log/exact_records.h"

namespace interlock {
namespace {

// Of all devices: a log has no device beside the number of a slot.
std::atomic<uint64_t> last_slot_number = 0;

bool is_dynamic_type(uint32_t type) {
  return type == VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC ||
         type == VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC;
}

}  // namespace

ExactDevice::ExactDevice(const Device& device, const VkPhysicalDeviceLimits& limits)
    : device_(device),
      limits_(limits),
      own_set_(limits.maxBoundDescriptorSets - 1),
      arena_(device, limits) {}

bool ExactDevice::open() {
  if (!arena_.open()) return false;
  // Every entry of it says that it has no bits.
  sink_ = arena_.take(uint64_t{kEntriesMax} * kEntryWords);
  if (sink_ == nullptr) return false;
  log().append(ExactModeRecord{number_of(device_.handle), own_set_});
  return true;
}

void ExactDevice::close() {
  const std::lock_guard lock(mutex);
  collect_all();
  commands_.clear();
  sink_.reset();
  for (const VkFence fence : free_fences_) {
    device_.next.vkDestroyFence(device_.handle, fence, nullptr);
  }
  for (const auto& [prefix, layout] : own_layouts_) {
    device_.next.vkDestroyPipelineLayout(device_.handle, layout, nullptr);
  }
  arena_.close();
}

void ExactDevice::reset(ExactCommands& commands) {
  collect_if_used(*commands.slots);
  commands.slots = std::make_shared<SlotList>();
  commands.executed.clear();
  commands.pipeline = nullptr;
  commands.sets.clear();
}

void ExactDevice::reset_pool(uint64_t pool) {
  for (auto& [handle, commands] : commands_) {
    if (commands.pool == pool) reset(commands);
  }
}

void ExactDevice::free(VkCommandBuffer handle) {
  const auto found = commands_.find(handle);
  if (found == commands_.end()) return;
  reset(found->second);
  commands_.erase(found);
}

void ExactDevice::bind_sets(ExactCommands& commands, VkPipelineLayout layout, uint32_t first_set,
                            std::span<const VkDescriptorSet> sets,
                            std::span<const uint32_t> offsets) {
  const auto known = objects.pipeline_layout(layout);
  for (uint32_t i = 0; i < sets.size(); ++i) {
    const uint32_t number = first_set + i;
    ExactBoundSet& bound = commands.sets[number] = {};
    bound.set = sets[i];
    bound.contents = objects.set(sets[i]);
    if (known == nullptr || number >= known->sets.size()) continue;
    bound.prefix = known->prefixes[number];
    if (known->sets[number] == nullptr) continue;
    for (const auto& [binding, of] : known->sets[number]->bindings) {
      const uint64_t count = is_dynamic_type(of.type) ? of.count : 0;
      const auto taken = offsets.first(std::min<size_t>(count, offsets.size()));
      bound.dynamic_offsets.insert(bound.dynamic_offsets.end(), taken.begin(), taken.end());
      offsets = offsets.subspan(taken.size());
    }
  }
}

void ExactDevice::push_set(ExactCommands& commands, VkPipelineLayout layout, uint32_t number,
                           const std::vector<SetWriteFields>& writes) {
  const auto known = objects.pipeline_layout(layout);
  ExactBoundSet& bound = commands.sets[number];
  const auto contents = bound.set == VK_NULL_HANDLE && bound.contents != nullptr
                            ? std::make_shared<ExactSet>(*bound.contents)
                            : std::make_shared<ExactSet>();
  bound = {};
  if (known != nullptr && number < known->sets.size()) {
    contents->layout = known->sets[number];
    bound.prefix = known->prefixes[number];
  }
  for (const SetWriteFields& fields : writes) ExactObjects::write_to(fields, *contents);
  bound.contents = contents;
}

std::optional<SlotElement> ExactDevice::element_of(const MeasuredBinding& measured,
                                                   uint32_t element,
                                                   const ExactCommands& commands) const {
  const auto bound = commands.sets.find(measured.set);
  if (bound == commands.sets.end() || bound->second.contents == nullptr) return std::nullopt;
  const ExactSet& set = *bound->second.contents;
  const auto found = set.descriptors.find({measured.binding, element});
  if (found == set.descriptors.end() || set.layout == nullptr) return std::nullopt;
  const auto binding = set.layout->bindings.find(measured.binding);
  if (binding == set.layout->bindings.end() || binding->second.is_updated_after_bind) {
    return std::nullopt;
  }
  SlotElement result;
  result.entry = measured.first_entry + element;
  result.fields.set = measured.set;
  result.fields.binding = measured.binding;
  result.fields.element = element;
  result.fields.granule_shift = measured.granule_shift;
  uint64_t bit_count = 0;
  if (measured.is_image) {
    const ExactView view = objects.view(found->second);
    const bool has_sampler =
        !measured.is_sampled ||
        objects.sampler(set, measured.binding, element, found->second).is_known;
    if (!has_sampler) return std::nullopt;
    result.fields.is_image = 1;
    result.fields.width = view.width;
    result.fields.height = view.height;
    result.fields.depth = view.depth;
    bit_count = uint64_t{view.width} * view.height * view.depth;
  } else {
    uint64_t dynamic_index = element;
    for (const auto& [number, before] : set.layout->bindings) {
      if (number < measured.binding && is_dynamic_type(before.type)) dynamic_index += before.count;
    }
    const bool is_dynamic = is_dynamic_type(found->second.type);
    const std::vector<uint32_t>& offsets = bound->second.dynamic_offsets;
    if (is_dynamic && dynamic_index >= offsets.size()) return std::nullopt;
    const uint64_t size_bytes =
        objects.buffer_bytes(found->second, is_dynamic ? offsets[dynamic_index] : 0);
    const uint64_t granule_bytes = uint64_t{1} << measured.granule_shift;
    bit_count = (size_bytes + granule_bytes - 1) / granule_bytes;
  }
  if (bit_count == 0 || bit_count > UINT32_MAX / 2) return std::nullopt;
  result.bit_count = static_cast<uint32_t>(bit_count);
  return result;
}

std::shared_ptr<ExactSlot> ExactDevice::make_slot(const ExactPipeline& pipeline,
                                                  const ExactCommands& commands) {
  std::vector<SlotElement> elements;
  uint64_t word_count = uint64_t{pipeline.module->entry_count} * kEntryWords;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> sampling;
  for (const MeasuredBinding& measured : pipeline.module->measured) {
    for (uint32_t i = 0; i < measured.element_count; ++i) {
      std::optional<SlotElement> element = element_of(measured, i, commands);
      if (!element) continue;
      const uint64_t words = (uint64_t{element->bit_count} + 31) / 32;
      if (word_count + 2 * words > UINT32_MAX / 8) continue;
      if (measured.is_loaded) {
        element->loads_word = static_cast<uint32_t>(word_count);
        word_count += words;
      }
      if (measured.is_stored) {
        element->stores_word = static_cast<uint32_t>(word_count);
        word_count += words;
      }
      elements.push_back(std::move(*element));
    }
  }
  std::shared_ptr<ExactSlot> slot = arena_.take(word_count);
  if (slot == nullptr) return nullptr;
  slot->number = ++last_slot_number;
  for (const MeasuredBinding& measured : pipeline.module->measured) {
    for (const SlotElement& element : elements) {
      if (element.entry < measured.first_entry ||
          element.entry >= measured.first_entry + measured.element_count) {
        continue;
      }
      uint32_t* const entry = slot->words + uint64_t{element.entry} * kEntryWords;
      entry[kLoadsWord] = element.loads_word;
      entry[kStoresWord] = element.stores_word;
      entry[kLimitWord] = element.bit_count;
      entry[kWidthWord] = element.fields.width;
      entry[kHeightWord] = element.fields.height;
      entry[kDepthWord] = element.fields.depth;
      if (!measured.is_sampled) continue;
      const ExactBoundSet& bound = commands.sets.at(measured.set);
      const auto& descriptor =
          bound.contents->descriptors.at({measured.binding, element.fields.element});
      const ExactSampler sampler =
          objects.sampler(*bound.contents, measured.binding, element.fields.element, descriptor);
      for (uint32_t axis = 0; axis < 3; ++axis) {
        // An axis that the image does not have is one texel wide.
        uint32_t bits = kSamplesTexelCoordinates;
        if (axis < measured.axis_count) bits = sampler.axis_bits[axis];
        if (axis == 2 && measured.is_arrayed) bits |= kSamplesLayer;
        entry[kSamplingWord] |= bits << (8 * axis);
      }
    }
  }
  slot->elements = std::move(elements);
  return slot;
}

void ExactDevice::bind_set(VkCommandBuffer handle, const ExactPipelineLayout& layout,
                           uint32_t number, VkDescriptorSet set,
                           const std::vector<uint32_t>& offsets) const {
  device_.next.vkCmdBindDescriptorSets(handle, VK_PIPELINE_BIND_POINT_COMPUTE, layout.own, number,
                                       1, &set, static_cast<uint32_t>(offsets.size()),
                                       offsets.data());
}

void ExactDevice::restore_sets(VkCommandBuffer handle, const ExactPipelineLayout& layout,
                               ExactCommands& commands) const {
  bool is_bound = false;
  for (auto& [number, bound] : commands.sets) {
    if (!bound.is_disturbed || number >= layout.sets.size() ||
        bound.prefix != layout.prefixes[number]) {
      continue;
    }
    if (layout.own == VK_NULL_HANDLE) {
      // The application's layout may be destroyed by now.
      remark("a set that another pipeline disturbed, and whose layout has no set to spare");
      continue;
    }
    if (bound.set == VK_NULL_HANDLE) {
      remark("a pushed set that another pipeline disturbed");
      continue;
    }
    bind_set(handle, layout, number, bound.set, bound.dynamic_offsets);
    bound.is_disturbed = false;
    is_bound = true;
  }
  // Those of the pipeline before are disturbed in turn.
  if (is_bound) note_disturbed(layout, commands);
}

void ExactDevice::note_disturbed(const ExactPipelineLayout& layout, ExactCommands& commands) const {
  for (auto& [number, bound] : commands.sets) {
    bound.is_disturbed =
        bound.is_disturbed || number >= own_set_ || bound.prefix != layout.prefixes[number];
  }
}

void ExactDevice::bind_slot(VkCommandBuffer handle, const ExactPipeline& pipeline,
                            ExactCommands& commands, const ExactSlot& slot) {
  restore_sets(handle, *pipeline.layout, commands);
  bind_set(handle, *pipeline.layout, own_set_, slot.set, {});
  note_disturbed(*pipeline.layout, commands);
}

uint64_t ExactDevice::prepare_dispatch(VkCommandBuffer handle) {
  ExactCommands& commands = this->commands(handle);
  const std::shared_ptr<const ExactPipeline> pipeline = commands.pipeline;
  if (pipeline == nullptr) return 0;
  if (pipeline->module == nullptr) {
    // It runs as it is, with the sets that the application bound: not with what a slot left of
    // them.
    if (pipeline->layout != nullptr) restore_sets(handle, *pipeline->layout, commands);
    return 0;
  }
  const std::shared_ptr<ExactSlot> slot = make_slot(*pipeline, commands);
  if (slot == nullptr) {
    remark("a dispatch as it is: there is no memory for its bitmaps");
    bind_slot(handle, *pipeline, commands, *sink_);
    return 0;
  }
  bind_slot(handle, *pipeline, commands, *slot);
  commands.slots->push_back(slot);
  return slot->number;
}

bool exact_is_asked_for() {
  static const bool kIs = [] {
    const char* const said = std::getenv("INTERLOCK_CAPTURE_EXACT");
    return said != nullptr && *said == '1';
  }();
  return kIs;
}

void open_exact(Device& device, const VkPhysicalDeviceLimits& limits) {
  if (!exact_is_asked_for()) return;
  auto exact = std::make_shared<ExactDevice>(device, limits);
  if (!exact->open()) {
    // Else the report would not say why nothing is exact.
    log().append(ExactRemarkRecord{"a device on which nothing can be measured"});
    return;
  }
  device.exact = std::move(exact);
}

void close_exact(Device& device) {
  if (device.exact != nullptr) device.exact->close();
}

}  // namespace interlock
