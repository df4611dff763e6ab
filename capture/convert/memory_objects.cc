// The part of ObjectState about memory: what is allocated, and what is the same bytes as another
// one.

#include <vulkan/vulkan_core.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "capture/convert/object_state.h"
#include "encoder/program/limits.h"

namespace interlock {

void ObjectState::apply(const AllocateMemoryRecord& record) {
  release_memory(record.memory);
  const auto memory = memories_.create(record.memory);
  memory->number = ++memory_count_;
  memory->size_bytes = std::min(record.size_bytes, Limits().memory_bytes);
  memory->is_coherent =
      record.properties == 0 || (record.properties & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) != 0;
}

void ObjectState::apply(const ImportMemoryRecord& record) {
  const auto memory = memories_.find(record.memory);
  if (memory == nullptr || memory->whole != nullptr || memory->host_pointer) return;
  if (memory->handle_count > 1) return;  // What has parts stays whole.
  const uint64_t room_bytes = UINT64_MAX - record.pointer;
  const uint64_t end = record.pointer + std::min(memory->size_bytes, room_bytes);
  const auto after = imports_.upper_bound(record.pointer);
  bool is_apart = after == imports_.end() || after->first >= end;
  if (is_apart && after != imports_.begin()) {
    const auto& [begin, whole] = *std::prev(after);
    const uint64_t offset_bytes = record.pointer - begin;
    is_apart = offset_bytes >= whole->size_bytes;
    if (!is_apart && memory->size_bytes <= whole->size_bytes - offset_bytes) {
      return make_part(*memory, whole, offset_bytes);
    }
  }
  // FFmpeg imports planes of pictures, which begin and end within a page that others share.
  if (!is_apart) {
    return summary_.remark(
        "memory of the host whose pages are imported again, in part (it is taken to be apart)");
  }
  memory->host_pointer = record.pointer;
  imports_[record.pointer] = memory;
}

void ObjectState::apply(const ShareMemoryRecord& record) {
  const auto memory = memories_.find(record.memory);
  if (memory == nullptr || memory->whole != nullptr) return;
  const bool is_known_file = record.file != 0 || record.file_device != 0;
  const SharedFile file(record.file_device, record.file);
  if (record.is_import == 0) {
    summary_.remark("memory that is exported (what others do with it is not seen)");
    if (is_known_file) name_file(memory, file);
    return;
  }
  if (!is_known_file) {
    return summary_.remark(
        "memory that is imported, whose file does not tell what it is (it is taken to be apart, and "
        "what others do with it is not seen)");
  }
  const auto [shared, is_new] = shared_.try_emplace(file, memory);
  const std::shared_ptr<CapturedMemory> whole = shared->second;
  if (is_new) {
    memory->files.push_back(file);
    memory->is_of_others = true;
  }
  if (whole->is_of_others) {
    summary_.remark(
        "memory that is imported and was not exported here (what others do with it is not seen)");
  }
  if (whole != memory) make_part_of_file(memory, whole);
}

void ObjectState::name_file(const std::shared_ptr<CapturedMemory>& memory, SharedFile file) {
  if (shared_.try_emplace(file, memory).second) memory->files.push_back(file);
}

void ObjectState::make_part_of_file(const std::shared_ptr<CapturedMemory>& memory,
                                    const std::shared_ptr<CapturedMemory>& whole) {
  // What has parts stays whole: what a part is of is a part of nothing.
  if (memory->handle_count > 1 || memory->host_pointer) return;
  if (memory->size_bytes > whole->size_bytes && whole->is_of_others) {
    if (whole->declared_window != 0) {
      return summary_.remark(
          "memory that is imported again, and is larger now (it is taken to be apart)");
    }
    whole->size_bytes = memory->size_bytes;
  }
  memory->size_bytes = std::min(memory->size_bytes, whole->size_bytes);
  for (const SharedFile& file : std::exchange(memory->files, {})) {
    shared_[file] = whole;
    whole->files.push_back(file);
  }
  make_part(*memory, whole, 0);
}

void ObjectState::make_part(CapturedMemory& memory, const std::shared_ptr<CapturedMemory>& whole,
                            uint64_t offset_bytes) {
  memory.whole = whole;
  memory.offset_in_whole_bytes = offset_bytes;
  ++whole->handle_count;
}

void ObjectState::release_memory(uint64_t handle) {
  const auto memory = memories_.find(handle);
  if (memory == nullptr) return;
  CapturedMemory& whole = memory->whole == nullptr ? *memory : *memory->whole;
  if (--whole.handle_count > 0) return;
  if (whole.host_pointer) imports_.erase(*whole.host_pointer);
  // Another file may get its number.
  for (const auto& file : whole.files) shared_.erase(file);
}

MemoryPlace ObjectState::place_of(uint64_t handle) const {
  const auto memory = memories_.find(handle);
  if (memory == nullptr || memory->whole == nullptr) {
    return {memory, 0, memory == nullptr ? 0 : memory->size_bytes};
  }
  return {memory->whole, memory->offset_in_whole_bytes, memory->size_bytes};
}

}  // namespace interlock
