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

  struct Found {
    std::vector<AddressedPlace> places;
    uint64_t step_count = 0;  // Buffers that were looked at.
    bool is_complete = true;  // Else others may have the address: there are too many below it.
  };

  // Of all buffers that have the address: several, where they share memory. Cost: linear in those
  // that begin below it by less than the largest size, of which kBuffersBelowMax are looked at.
  Found find(uint64_t address) const;
  // The least that is known; none if there is none.
  std::optional<uint64_t> least() const;

  // In the order of addresses.
  using Buffers = std::map<std::pair<uint64_t, uint64_t>, std::shared_ptr<CapturedBuffer>>;
  const Buffers& all() const { return buffers_; }

  static constexpr int kBuffersBelowMax = 4096;

 private:
  Buffers buffers_;  // By address and number.
  uint64_t size_max_bytes_ = 0;
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
