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
namespace {

// Of the host, that one may overlap, or that may overlap others at all.
constexpr size_t kOverlapsMax = 256;

ByteRange host_bytes(const CapturedMemory& memory) {
  const uint64_t begin = memory.host_address;
  return {begin, begin + std::min(memory.size_bytes, UINT64_MAX - begin)};
}

}  // namespace

void ObjectState::apply(const AllocateMemoryRecord& record) {
  release_memory(record.memory);
  const auto memory = memories_.create(record.memory);
  memory->number = ++memory_count_;
  memory->size_bytes = std::min(record.size_bytes, Limits().memory_bytes);
  memory->is_coherent =
      record.properties == 0 || (record.properties & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) != 0;
}

std::optional<std::vector<std::shared_ptr<CapturedMemory>>> ObjectState::imports_at(
    ByteRange bytes) const {
  std::vector<std::shared_ptr<CapturedMemory>> found;
  auto next = imports_.upper_bound(bytes.begin);
  if (next != imports_.begin() && share_a_byte(host_bytes(*std::prev(next)->second), bytes)) --next;
  for (; next != imports_.end() && next->first < bytes.end; ++next) {
    if (found.size() == kOverlapsMax) return std::nullopt;
    found.push_back(next->second);
  }
  for (const auto& memory : overlapping_imports_) {
    if (!share_a_byte(host_bytes(*memory), bytes)) continue;
    if (found.size() == kOverlapsMax) return std::nullopt;
    found.push_back(memory);
  }
  return found;
}

void ObjectState::apply(const ImportMemoryRecord& record) {
  const auto memory = memories_.find(record.memory);
  if (memory == nullptr || memory->whole != nullptr || memory->host_address != 0) return;
  if (record.pointer == 0 || memory->handle_count > 1) return;  // What has parts stays whole.
  memory->host_address = record.pointer;
  const ByteRange bytes = host_bytes(*memory);
  const auto others = imports_at(bytes);
  if (others && others->empty()) {
    memory->host_pointer = record.pointer;
    imports_[record.pointer] = memory;
    return;
  }
  if (!others || overlapping_imports_.size() == kOverlapsMax) {
    return summary_.note(
        "memory of the host that overlaps more than is followed (it is taken to be apart)");
  }
  for (const auto& whole : *others) {
    const ByteRange all = host_bytes(*whole);
    if (all.contains(bytes)) return make_part(*memory, whole, bytes.begin - all.begin);
  }
  // FFmpeg imports planes of pictures, which begin and end within a page that others share.
  for (const auto& other : *others) {
    const ByteRange all = host_bytes(*other);
    const auto both = std::make_shared<HostOverlap>();
    both->addresses = intersection(all, bytes);
    std::erase_if(other->overlaps, [](const auto& each) { return each.first.use_count() == 1; });
    other->overlaps.emplace_back(both, 0);
    memory->overlaps.emplace_back(both, 1);
  }
  overlapping_imports_.push_back(memory);
}

void ObjectState::apply(const ShareMemoryRecord& record) {
  const auto memory = memories_.find(record.memory);
  if (memory == nullptr || memory->whole != nullptr) return;
  const bool is_known_file = record.file != 0 || record.file_device != 0;
  const SharedFile file(record.file_device, record.file);
  if (record.is_import == 0) {
    summary_.remark("memory that is exported (what others do with it is not seen)");
    if (!is_known_file) return;
    name_file(memory, file);
    grow(*memory, record.file_bytes);
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
    grow(*memory, record.file_bytes);
  }
  if (whole->is_of_others) {
    summary_.remark(
        "memory that is imported and was not exported here (what others do with it is not seen)");
  }
  if (whole != memory) make_part_of_file(memory, whole);
}

void ObjectState::grow(CapturedMemory& memory, uint64_t size_bytes) {
  if (memory.declared_window != 0 || memory.host_address != 0) return;
  memory.size_bytes =
      std::clamp(size_bytes, memory.size_bytes, std::max(memory.size_bytes, Limits().memory_bytes));
}

void ObjectState::name_file(const std::shared_ptr<CapturedMemory>& memory, SharedFile file) {
  if (shared_.try_emplace(file, memory).second) memory->files.push_back(file);
}

void ObjectState::make_part_of_file(const std::shared_ptr<CapturedMemory>& memory,
                                    const std::shared_ptr<CapturedMemory>& whole) {
  // What has parts stays whole: what a part is of is a part of nothing.
  if (memory->handle_count > 1 || memory->host_address != 0) return;
  grow(*whole, memory->size_bytes);
  if (memory->size_bytes > whole->size_bytes) {
    summary_.note("memory that is imported, and is larger than it was (what is past its end)");
    memory->size_bytes = whole->size_bytes;
  }
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
  std::erase_if(overlapping_imports_, [&](const auto& each) { return each.get() == &whole; });
  whole.overlaps.clear();
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
