#include "capture/convert/captured_addresses.h"

#include <algorithm>

namespace interlock {

void CapturedAddresses::add(uint64_t address, std::shared_ptr<CapturedBuffer> buffer) {
  remove(*buffer);
  buffer->address = address;
  const uint64_t number = buffer->number;
  buffers_[{address, number}] = std::move(buffer);
}

void CapturedAddresses::remove(const CapturedBuffer& buffer) {
  if (buffer.address) buffers_.erase({*buffer.address, buffer.number});
}

std::vector<AddressedPlace> CapturedAddresses::find(uint64_t address) const {
  std::vector<AddressedPlace> places;
  auto above = buffers_.upper_bound({address, UINT64_MAX});
  for (int i = 0; i < kBuffersBelowMax && above != buffers_.begin(); ++i) {
    --above;
    const auto& [key, buffer] = *above;
    const uint64_t offset_bytes = address - key.first;
    if (offset_bytes < buffer->size_bytes) places.push_back({buffer, offset_bytes});
  }
  return places;
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
