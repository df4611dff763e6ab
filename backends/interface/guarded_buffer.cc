// The buffer of the bytes is kept and grown, so that at most one memory is there twice.
#include "backends/interface/guarded_buffer.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace interlock {
namespace {

// Each byte is as the one after it, and the first as it was. That asks for no byte alone.
bool is_intact(const uint8_t* guard) {
  return guard[0] == GuardedBuffer::kGuard &&
         std::memcmp(guard, guard + 1, GuardedBuffer::kGuardBytes - 1) == 0;
}

}  // namespace

GuardedBuffer::GuardedBuffer(std::vector<uint8_t> bytes) : bytes_(std::move(bytes)) {
  bytes_.reserve(bytes_.size() + 2 * kGuardBytes);
  bytes_.insert(bytes_.begin(), kGuardBytes, kGuard);
  bytes_.resize(bytes_.size() + kGuardBytes, kGuard);
}

std::optional<int64_t> GuardedBuffer::stray_offset() const {
  const uint8_t* const last_guard = bytes_.data() + bytes_.size() - kGuardBytes;
  if (is_intact(bytes_.data()) && is_intact(last_guard)) return std::nullopt;
  const auto is_stray = [](uint8_t byte) { return byte != kGuard; };
  const auto begin = bytes_.begin() + kGuardBytes;
  const auto end = bytes_.end() - kGuardBytes;
  const auto before = std::find_if(bytes_.begin(), begin, is_stray);
  if (before != begin) return before - begin;
  const auto behind = std::find_if(end, bytes_.end(), is_stray);
  if (behind != bytes_.end()) return behind - begin;
  return std::nullopt;
}

std::vector<uint8_t> GuardedBuffer::release() && {
  bytes_.resize(bytes_.size() - kGuardBytes);
  bytes_.erase(bytes_.begin(), bytes_.begin() + kGuardBytes);
  return std::move(bytes_);
}

}  // namespace interlock
