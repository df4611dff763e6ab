#include "capture/convert/captured_addresses.h"

#include <algorithm>

namespace interlock {

void CapturedAddresses::add(uint64_t address, std::shared_ptr<CapturedBuffer> buffer) {
  remove(*buffer);
  buffer->address = address;
  size_max_bytes_ = std::max(size_max_bytes_, buffer->size_bytes);
  const uint64_t number = buffer->number;
  buffers_[{address, number}] = std::move(buffer);
}

void CapturedAddresses::remove(const CapturedBuffer& buffer) {
  if (buffer.address) buffers_.erase({*buffer.address, buffer.number});
}

CapturedAddresses::Found CapturedAddresses::find(uint64_t address) const {
  Found found;
  auto above = buffers_.upper_bound({address, UINT64_MAX});
  while (above != buffers_.begin()) {
    --above;
    const auto& [key, buffer] = *above;
    const uint64_t offset_bytes = address - key.first;
    if (offset_bytes >= size_max_bytes_) break;
    if (++found.step_count > kBuffersBelowMax) {
      found.is_complete = false;
      break;
    }
    if (offset_bytes < buffer->size_bytes) found.places.push_back({buffer, offset_bytes});
  }
  return found;
}

std::optional<uint64_t> CapturedAddresses::least() const {
  if (buffers_.empty()) return std::nullopt;
  return buffers_.begin()->first.first;
}

void PushedConstants::push(uint64_t offset_bytes, const std::vector<uint8_t>& bytes) {
  const uint64_t end = std::min(offset_bytes + bytes.size(), kPushedBytesMax);
  if (bytes_.size() < end) bytes_.resize(end);
  for (uint64_t i = offset_bytes; i < end; ++i) bytes_[i] = bytes[i - offset_bytes];
}

std::optional<uint64_t> PushedConstants::address_at(uint64_t offset_bytes) const {
  uint64_t address = 0;
  for (uint64_t i = 0; i < sizeof(address); ++i) {
    const uint64_t at = offset_bytes + i;
    if (at >= bytes_.size() || !bytes_[at]) return std::nullopt;
    address |= uint64_t{*bytes_[at]} << (8 * i);
  }
  return address;
}

}  // namespace interlock
