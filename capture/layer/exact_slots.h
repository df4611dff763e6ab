// SlotArena: the memory in which dispatches note what they touch. A slot is the buffer of one
// dispatch: the table and the bitmaps that instrument.h describes, with a descriptor set that binds
// it. Slots are cut from chunks of memory that the host sees, and are zero when they are given out.
#pragma once

#include <volk.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "capture/layer/devices.h"
#include "capture/log/exact_records.h"

namespace interlock {

// One element of a binding that is measured in this dispatch.
struct SlotElement {
  MeasuredElementFields fields;  // Without ranges.
  uint32_t entry = 0;            // In the table.
  uint32_t loads_word = 0;       // Where its bitmaps begin; 0: it has none.
  uint32_t stores_word = 0;
  uint32_t bit_count = 0;
};

struct SlotChunk {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  std::byte* bytes = nullptr;  // Mapped.
  uint64_t size_bytes = 0;
  uint64_t used_bytes = 0;
  uint64_t slot_count = 0;  // Given out and not back. At 0, all of it is free again.
};

struct ExactSlot {
  uint64_t number = 0;  // 0: it notes nothing.
  SlotChunk* chunk = nullptr;
  uint32_t* words = nullptr;
  uint64_t word_count = 0;
  VkDescriptorSet set = VK_NULL_HANDLE;
  std::vector<SlotElement> elements;
  uint64_t use_count = 0;  // Submissions that are not known to be complete.
  bool is_shared = false;  // Several of them were so at the same time.
};

class SlotArena {
 public:
  // Requires: `device` outlives this.
  SlotArena(const Device& device, const VkPhysicalDeviceLimits& limits);

  // False if the device has no such layout.
  bool open();
  // Requires: no slot is in use.
  void close();

  VkDescriptorSetLayout layout() const { return layout_; }
  VkDescriptorSetLayout empty_layout() const { return empty_layout_; }

  // A slot of so many words, all zero. Null if there is no memory for it.
  std::shared_ptr<ExactSlot> take(uint64_t word_count);

 private:
  SlotChunk* chunk_with(uint64_t size_bytes);
  std::unique_ptr<SlotChunk> create_chunk(uint64_t size_bytes) const;
  void destroy_chunk(const SlotChunk& chunk) const;
  VkDescriptorSet take_set();
  void give_back(ExactSlot* slot);

  const Device& device_;
  uint64_t alignment_bytes_;
  uint64_t slot_bytes_max_;
  VkDescriptorSetLayout layout_ = VK_NULL_HANDLE;
  VkDescriptorSetLayout empty_layout_ = VK_NULL_HANDLE;
  std::vector<std::unique_ptr<SlotChunk>> chunks_;
  std::vector<VkDescriptorPool> pools_;
  std::vector<VkDescriptorSet> free_sets_;
  uint64_t all_bytes_ = 0;
};

// What the slot holds now, element by element. Cost: its words, and the ranges.
std::vector<MeasuredElementFields> measured_elements(const ExactSlot& slot);

// Zeroes the bitmaps, and what notes that something was past them.
void clear_bits(ExactSlot& slot);

}  // namespace interlock
