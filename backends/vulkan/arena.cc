#include "backends/vulkan/arena.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "encoder/program/check.h"

namespace interlock {
namespace {

uint64_t rounded_up(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

}  // namespace

ArenaLayout::ArenaLayout(const Program& program) {
  offsets_bytes_.reserve(program.memories.size());
  uint64_t end = kGuardBytes;
  for (const Memory& memory : program.memories) {
    offsets_bytes_.push_back(end);
    end = rounded_up(end + memory.size_bytes + kGuardBytes, kAlignmentBytes);
  }
  memories_end_bytes_ = end;
  size_bytes_ = end;
}

ArenaRange ArenaLayout::take(uint64_t size_bytes, uint64_t like) {
  const uint64_t begin = rounded_up(size_bytes_, kAlignmentBytes) + like % kAlignmentBytes;
  size_bytes_ = rounded_up(begin + size_bytes, kAlignmentBytes);  // The last word is bound whole.
  return {begin, size_bytes};
}

ArenaRange ArenaLayout::take_unused(uint64_t alignment) {
  constexpr uint64_t kUnusedBytes = 4;
  const uint64_t begin = rounded_up(size_bytes_, alignment);
  size_bytes_ = begin + kUnusedBytes;
  return {begin, kUnusedBytes};
}

void ArenaLayout::store(const MemoryImage& image, uint8_t* arena) const {
  INTERLOCK_CHECK(image.memories.size() == offsets_bytes_.size());
  uint64_t end = 0;
  for (size_t m = 0; m < offsets_bytes_.size(); ++m) {
    const std::vector<uint8_t>& memory = image.memories[m];
    std::fill(arena + end, arena + offsets_bytes_[m], kGuard);
    std::copy(memory.begin(), memory.end(), arena + offsets_bytes_[m]);
    end = offsets_bytes_[m] + memory.size();
  }
  std::fill(arena + end, arena + memories_end_bytes_, kGuard);
  std::fill(arena + memories_end_bytes_, arena + size_bytes_, uint8_t{0});
}

Result<Success> ArenaLayout::load(const Program& program, const uint8_t* arena,
                                  MemoryImage& image) const {
  uint64_t end = 0;
  const auto is_guarded = [&](uint64_t until) {
    return std::all_of(arena + end, arena + until, [](uint8_t byte) { return byte == kGuard; });
  };
  for (size_t m = 0; m < offsets_bytes_.size(); ++m) {
    std::vector<uint8_t>& memory = image.memories[m];
    const uint64_t next =
        m + 1 < offsets_bytes_.size() ? offsets_bytes_[m + 1] : memories_end_bytes_;
    std::copy_n(arena + offsets_bytes_[m], memory.size(), memory.begin());
    if (m == 0 && !is_guarded(offsets_bytes_[0])) {
      return Error{fmt::format("The device wrote bytes before memory '{}'.",
                               program.name(program.memories[m].name)),
                   ErrorKind::kFault};
    }
    end = offsets_bytes_[m] + memory.size();
    if (!is_guarded(next)) {
      return Error{fmt::format("The device wrote bytes behind memory '{}', which has {} bytes: a "
                               "shader or a driver is "
                               "wrong.",
                               program.name(program.memories[m].name), memory.size()),
                   ErrorKind::kFault};
    }
  }
  return Success{};
}

}  // namespace interlock
