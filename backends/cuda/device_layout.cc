#include "backends/cuda/device_layout.h"

#include <fmt/format.h>

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

DeviceRange DeviceLayout::take(uint64_t size_bytes, uint64_t like) {
  const uint64_t begin = rounded_up(size_bytes_, kAlignmentBytes) + like % kAlignmentBytes;
  size_bytes_ = rounded_up(begin + size_bytes, kAlignmentBytes);
  return {begin, size_bytes};
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

Result<MemoryImage> DeviceLayout::load(const uint8_t* bytes) const {
  const auto is_guarded = [&](uint64_t begin, uint64_t end) {
    return std::all_of(bytes + begin, bytes + end, [](uint8_t byte) { return byte == kGuard; });
  };
  MemoryImage image;
  if (!is_guarded(0, kGuardBytes)) {
    return Error{"The device wrote bytes before the first memory: a kernel or a driver is wrong.",
                 ErrorKind::kFault};
  }
  for (size_t m = 0; m < offsets_bytes_.size(); ++m) {
    const bool is_last = m + 1 == offsets_bytes_.size();
    const uint64_t next = is_last ? memories_end_bytes_ : offsets_bytes_[m + 1];
    if (!is_guarded(ends_bytes_[m], next)) {
      return Error{fmt::format("The device wrote bytes behind memory '{}', which has {} bytes: a "
                               "kernel or a driver is "
                               "wrong.",
                               names_[m], ends_bytes_[m] - offsets_bytes_[m]),
                   ErrorKind::kFault};
    }
    image.memories.emplace_back(bytes + offsets_bytes_[m], bytes + ends_bytes_[m]);
  }
  return image;
}

}  // namespace interlock
