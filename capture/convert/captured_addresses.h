// Addresses of buffers, as the application asked for them, and the push constants that hold some.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "capture/convert/objects.h"

namespace interlock {

// A place in a buffer that an address names.
struct AddressedPlace {
  std::shared_ptr<CapturedBuffer> buffer;
  uint64_t offset_bytes = 0;
};

class CapturedAddresses {
 public:
  // Does nothing if it is known. Requires: `buffer` is not null.
  void add(uint64_t address, std::shared_ptr<CapturedBuffer> buffer);
  // Of a buffer that is destroyed. Does nothing if none is known of it.
  void remove(const CapturedBuffer& buffer);

  // Of all buffers that have the address: several, where they share memory. Of those that begin
  // below it, kBuffersBelowMax are looked at.
  std::vector<AddressedPlace> find(uint64_t address) const;

  // In the order of addresses.
  using Buffers = std::map<std::pair<uint64_t, uint64_t>, std::shared_ptr<CapturedBuffer>>;
  const Buffers& all() const { return buffers_; }

  static constexpr int kBuffersBelowMax = 64;

 private:
  Buffers buffers_;  // By address and number.
};

// What was pushed, byte by byte.
class PushedConstants {
 public:
  // What is beyond kPushedBytesMax is left out.
  void push(uint64_t offset_bytes, const std::vector<uint8_t>& bytes);
  // None if not all of its bytes were.
  std::optional<uint64_t> address_at(uint64_t offset_bytes) const;

  static constexpr uint64_t kPushedBytesMax = 4096;

 private:
  std::vector<std::optional<uint8_t>> bytes_;
};

}  // namespace interlock
