#include "capture/layer/exact_slots.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "capture/spirv/instrument.h"

namespace interlock {
namespace {

constexpr uint64_t kChunkBytes = 4ull << 20;
constexpr uint64_t kSlotBytesMax = 256ull << 20;
constexpr uint64_t kArenaBytesMax = 4ull << 30;
constexpr uint32_t kSetsOfAPool = 256;

// Ranges of a bitmap; more are bounded by one.
constexpr size_t kRangesMax = 1u << 16;

uint64_t rounded_up(uint64_t bytes, uint64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

// A type that the host sees, without flushes; one that it reads fast, if there is one.
uint32_t memory_type_of(const VkPhysicalDeviceMemoryProperties& memory, uint32_t allowed) {
  constexpr VkMemoryPropertyFlags kSeen =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  for (const VkMemoryPropertyFlags wanted : {kSeen | VK_MEMORY_PROPERTY_HOST_CACHED_BIT, kSeen}) {
    for (uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
      const bool has_all = (memory.memoryTypes[i].propertyFlags & wanted) == wanted;
      if ((allowed >> i & 1) != 0 && has_all) return i;
    }
  }
  return UINT32_MAX;
}

// Where each run of set bits begins and ends.
std::vector<uint64_t> bit_runs_of(const uint32_t* words, uint32_t bit_count, uint32_t& is_bounded) {
  std::vector<uint64_t> runs;
  bool is_in_run = false;
  for (uint64_t at = 0; at < bit_count;) {
    // Whole words of the same bits are most of them.
    const uint32_t word = words[at / 32];
    const uint32_t rest = (is_in_run ? ~word : word) >> (at % 32);
    if (rest == 0) {
      at = (at / 32 + 1) * 32;
      continue;
    }
    at += static_cast<uint64_t>(std::countr_zero(rest));
    if (at >= bit_count) break;
    runs.push_back(at);
    is_in_run = !is_in_run;
  }
  if (is_in_run) runs.push_back(bit_count);
  if (runs.size() / 2 > kRangesMax) {
    runs = {runs.front(), runs.back()};
    is_bounded = 1;
  }
  return runs;
}

}  // namespace

SlotArena::SlotArena(const Device& device, const VkPhysicalDeviceLimits& limits)
    : device_(device),
      alignment_bytes_(std::max<uint64_t>(limits.minStorageBufferOffsetAlignment, 16)),
      slot_bytes_max_(std::min<uint64_t>(limits.maxStorageBufferRange, kSlotBytesMax)) {}

bool SlotArena::open() {
  const VkDevice device = device_.handle;
  VkDescriptorSetLayoutBinding binding = {};
  binding.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
  binding.descriptorCount = 1;
  binding.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
  VkDescriptorSetLayoutCreateInfo info = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
  if (device_.next.vkCreateDescriptorSetLayout(device, &info, nullptr, &empty_layout_) !=
      VK_SUCCESS) {
    return false;
  }
  info.bindingCount = 1;
  info.pBindings = &binding;
  return device_.next.vkCreateDescriptorSetLayout(device, &info, nullptr, &layout_) == VK_SUCCESS;
}

void SlotArena::close() {
  for (const VkDescriptorPool pool : pools_) {
    device_.next.vkDestroyDescriptorPool(device_.handle, pool, nullptr);
  }
  for (const auto& chunk : chunks_) destroy_chunk(*chunk);
  device_.next.vkDestroyDescriptorSetLayout(device_.handle, layout_, nullptr);
  device_.next.vkDestroyDescriptorSetLayout(device_.handle, empty_layout_, nullptr);
}

void SlotArena::destroy_chunk(const SlotChunk& chunk) const {
  device_.next.vkDestroyBuffer(device_.handle, chunk.buffer, nullptr);
  device_.next.vkFreeMemory(device_.handle, chunk.memory, nullptr);
}

std::unique_ptr<SlotChunk> SlotArena::create_chunk(uint64_t size_bytes) const {
  const VkDevice device = device_.handle;
  auto chunk = std::make_unique<SlotChunk>();
  chunk->size_bytes = size_bytes;
  VkBufferCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = size_bytes;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
  if (device_.next.vkCreateBuffer(device, &info, nullptr, &chunk->buffer) != VK_SUCCESS) {
    return nullptr;
  }
  VkMemoryRequirements needs = {};
  device_.next.vkGetBufferMemoryRequirements(device, chunk->buffer, &needs);
  VkMemoryAllocateInfo memory = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  memory.allocationSize = needs.size;
  memory.memoryTypeIndex = memory_type_of(device_.memory, needs.memoryTypeBits);
  void* mapped = nullptr;
  const bool is_there =
      memory.memoryTypeIndex != UINT32_MAX &&
      device_.next.vkAllocateMemory(device, &memory, nullptr, &chunk->memory) == VK_SUCCESS &&
      device_.next.vkBindBufferMemory(device, chunk->buffer, chunk->memory, 0) == VK_SUCCESS &&
      device_.next.vkMapMemory(device, chunk->memory, 0, VK_WHOLE_SIZE, 0, &mapped) == VK_SUCCESS;
  if (!is_there) {
    destroy_chunk(*chunk);
    return nullptr;
  }
  chunk->bytes = static_cast<std::byte*>(mapped);
  return chunk;
}

SlotChunk* SlotArena::chunk_with(uint64_t size_bytes) {
  for (const auto& chunk : chunks_) {
    if (size_bytes <= chunk->size_bytes - chunk->used_bytes) return chunk.get();
  }
  const uint64_t chunk_bytes = std::max(size_bytes, kChunkBytes);
  if (chunk_bytes > kArenaBytesMax - all_bytes_) return nullptr;
  std::unique_ptr<SlotChunk> created = create_chunk(chunk_bytes);
  if (created == nullptr) return nullptr;
  all_bytes_ += chunk_bytes;
  chunks_.push_back(std::move(created));
  return chunks_.back().get();
}

VkDescriptorSet SlotArena::take_set() {
  if (free_sets_.empty()) {
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, kSetsOfAPool};
    VkDescriptorPoolCreateInfo info = {VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
    info.maxSets = kSetsOfAPool;
    info.poolSizeCount = 1;
    info.pPoolSizes = &size;
    VkDescriptorPool pool = VK_NULL_HANDLE;
    if (device_.next.vkCreateDescriptorPool(device_.handle, &info, nullptr, &pool) != VK_SUCCESS) {
      return VK_NULL_HANDLE;
    }
    pools_.push_back(pool);
    const std::vector<VkDescriptorSetLayout> layouts(kSetsOfAPool, layout_);
    std::vector<VkDescriptorSet> sets(kSetsOfAPool);
    VkDescriptorSetAllocateInfo all = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
    all.descriptorPool = pool;
    all.descriptorSetCount = kSetsOfAPool;
    all.pSetLayouts = layouts.data();
    if (device_.next.vkAllocateDescriptorSets(device_.handle, &all, sets.data()) != VK_SUCCESS) {
      return VK_NULL_HANDLE;
    }
    free_sets_ = std::move(sets);
  }
  const VkDescriptorSet set = free_sets_.back();
  free_sets_.pop_back();
  return set;
}

std::shared_ptr<ExactSlot> SlotArena::take(uint64_t word_count) {
  const uint64_t size_bytes = rounded_up(word_count * sizeof(uint32_t), alignment_bytes_);
  if (size_bytes > slot_bytes_max_) return nullptr;
  SlotChunk* const chunk = chunk_with(size_bytes);
  if (chunk == nullptr) return nullptr;
  const VkDescriptorSet set = take_set();
  if (set == VK_NULL_HANDLE) return nullptr;
  std::shared_ptr<ExactSlot> slot(new ExactSlot, [this](ExactSlot* gone) { give_back(gone); });
  slot->chunk = chunk;
  slot->set = set;
  slot->words = reinterpret_cast<uint32_t*>(chunk->bytes + chunk->used_bytes);
  slot->word_count = word_count;
  std::memset(slot->words, 0, size_bytes);
  VkDescriptorBufferInfo buffer = {chunk->buffer, chunk->used_bytes, size_bytes};
  VkWriteDescriptorSet write = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
  write.dstSet = set;
  write.descriptorCount = 1;
  write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
  write.pBufferInfo = &buffer;
  device_.next.vkUpdateDescriptorSets(device_.handle, 1, &write, 0, nullptr);
  chunk->used_bytes += size_bytes;
  ++chunk->slot_count;
  return slot;
}

void SlotArena::give_back(ExactSlot* slot) {
  const std::unique_ptr<ExactSlot> gone(slot);
  free_sets_.push_back(gone->set);
  if (--gone->chunk->slot_count == 0) gone->chunk->used_bytes = 0;
}

std::vector<MeasuredElementFields> measured_elements(const ExactSlot& slot) {
  std::vector<MeasuredElementFields> measured;
  for (const SlotElement& element : slot.elements) {
    MeasuredElementFields& fields = measured.emplace_back(element.fields);
    fields.is_past = slot.words[element.entry * kEntryWords + kPastWord] != 0 ? 1 : 0;
    if (element.loads_word != 0) {
      fields.loads =
          bit_runs_of(slot.words + element.loads_word, element.bit_count, fields.is_bounded);
    }
    if (element.stores_word != 0) {
      fields.stores =
          bit_runs_of(slot.words + element.stores_word, element.bit_count, fields.is_bounded);
    }
  }
  return measured;
}

void clear_bits(ExactSlot& slot) {
  for (const SlotElement& element : slot.elements) {
    const size_t size_bytes = (uint64_t{element.bit_count} + 31) / 32 * sizeof(uint32_t);
    slot.words[element.entry * kEntryWords + kPastWord] = 0;
    for (const uint32_t word : {element.loads_word, element.stores_word}) {
      if (word != 0) std::memset(slot.words + word, 0, size_bytes);
    }
  }
}

}  // namespace interlock
