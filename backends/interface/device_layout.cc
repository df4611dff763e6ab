#include "backends/interface/device_layout.h"

#include <algorithm>

#include "encoder/program/check.h"

namespace interlock {
namespace {

uint64_t rounded_up(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

}  // namespace

DeviceLayout::DeviceLayout(const Program& program) {
  uint64_t end = kGuardBytes;
  for (const Memory& memory : program.memories) {
    names_.emplace_back(program.name(memory.name));
    offsets_bytes_.push_back(end);
    ends_bytes_.push_back(end + memory.size_bytes);
    end = rounded_up(end + memory.size_bytes + kGuardBytes, kAlignmentBytes);
  }
  memories_end_bytes_ = end;
  size_bytes_ = end;
}

std::vector<PlacedOperand> DeviceLayout::place_operands(const Program& program,
                                                        DispatchId id) const {
  std::vector<PlacedOperand> operands;
  for (const Access& access : program.accesses_of(id)) {
    operands.push_back({range_of(access), access.mode});
  }
  return operands;
}

DeviceRange DeviceLayout::take(uint64_t size_bytes, uint64_t like) {
  const uint64_t begin = rounded_up(size_bytes_, kAlignmentBytes) + like % kAlignmentBytes;
  size_bytes_ = rounded_up(begin + size_bytes, kAlignmentBytes);
  return {begin, size_bytes};
}

DeviceRange DeviceLayout::take_unused(uint64_t alignment) {
  constexpr uint64_t kUnusedBytes = 4;
  const uint64_t begin = rounded_up(size_bytes_, alignment);
  size_bytes_ = begin + kUnusedBytes;
  return {begin, kUnusedBytes};
}

void DeviceLayout::store(MemoryId memory, const std::vector<uint8_t>& content,
                         uint8_t* bytes) const {
  const uint64_t offset = offsets_bytes_[memory.index];
  INTERLOCK_CHECK(offset + content.size() == ends_bytes_[memory.index]);
  std::copy(content.begin(), content.end(), bytes + offset);
}

void DeviceLayout::store(const MemoryImage& image, uint8_t* bytes) const {
  INTERLOCK_CHECK(image.memories.size() == offsets_bytes_.size());
  uint64_t end = 0;
  for (size_t m = 0; m < offsets_bytes_.size(); ++m) {
    std::fill(bytes + end, bytes + offsets_bytes_[m], kGuard);
    store(MemoryId(m), image.memories[m], bytes);
    end = ends_bytes_[m];
  }
  std::fill(bytes + end, bytes + memories_end_bytes_, kGuard);
}

std::optional<StrayWrite> DeviceLayout::find_stray_write(const uint8_t* bytes) const {
  const auto is_guarded = [&](uint64_t begin, uint64_t end) {
    return std::all_of(bytes + begin, bytes + end, [](uint8_t byte) { return byte == kGuard; });
  };
  const size_t count = offsets_bytes_.size();
  if (!is_guarded(0, kGuardBytes)) {
    return count == 0 ? StrayWrite{.is_before = true}
                      : StrayWrite{names_[0], range_of(MemoryId(0)).size_bytes, true};
  }
  for (size_t m = 0; m < count; ++m) {
    const uint64_t next = m + 1 == count ? memories_end_bytes_ : offsets_bytes_[m + 1];
    if (is_guarded(ends_bytes_[m], next)) continue;
    return StrayWrite{names_[m], range_of(MemoryId(m)).size_bytes, false};
  }
  return std::nullopt;
}

MemoryImage DeviceLayout::load(const uint8_t* bytes) const {
  MemoryImage image;
  for (size_t m = 0; m < offsets_bytes_.size(); ++m) {
    image.memories.emplace_back(bytes + offsets_bytes_[m], bytes + ends_bytes_[m]);
  }
  return image;
}

}  // namespace interlock
