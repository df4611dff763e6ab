// The basic idea is a table with open addressing that gives up early: a name whose first few slots
// are taken goes to an ordered map. So chosen collisions cost a logarithm and no more, and no
// answer depends on the hash.
//
// Names are forgotten in the reverse order of their adding, as they are when a statement does not
// fit. Freeing a slot then restores the table as it was, and needs no mark.
#include "encoder/program/name_table.h"

#include <bit>
#include <cstring>

#include "encoder/program/check.h"
#include "encoder/program/hash.h"

namespace interlock {
namespace {

constexpr size_t kProbesMax = 16;
constexpr size_t kSlotsMin = 64;

// Eight bytes of a name, or what it has of them, in whatever order the machine reads them.
[[gnu::always_inline]] inline uint64_t bytes_at(const char* bytes, size_t size) {
  uint64_t value = 0;
  if (size >= 8) {
    std::memcpy(&value, bytes, 8);
  } else if (size >= 4) {
    uint32_t first = 0;
    uint32_t last = 0;
    std::memcpy(&first, bytes, 4);
    std::memcpy(&last, bytes + size - 4, 4);
    value = (static_cast<uint64_t>(last) << 32) | first;
  } else if (size > 0) {
    const auto byte = [bytes](size_t i) {
      return static_cast<uint64_t>(static_cast<uint8_t>(bytes[i]));
    };
    value = byte(0) | (byte(size / 2) << 8) | (byte(size - 1) << 16);
  }
  return value;
}

// Requires: both have `size` bytes.
bool are_equal(const char* a, const char* b, size_t size) {
  for (; size > 8; a += 8, b += 8, size -= 8) {
    if (bytes_at(a, 8) != bytes_at(b, 8)) return false;
  }
  return bytes_at(a, size) == bytes_at(b, size);
}

uint32_t tag_of(uint64_t hash) { return static_cast<uint32_t>(hash); }

}  // namespace

// A multiplication for each eight bytes: names are short, and every mention of one is hashed.
uint64_t NameTable::hash_of(std::string_view name) {
  const char* bytes = name.data();
  size_t size = name.size();
  uint64_t digest = size * kGolden64;
  for (; size > 8; bytes += 8, size -= 8) {
    digest = (digest ^ bytes_at(bytes, 8)) * kGolden64;
    digest ^= digest >> 32;
  }
  return scrambled(digest ^ bytes_at(bytes, size));
}

bool NameTable::is_name_of(const Names& names, NameId id, std::string_view name) {
  if (id.index >= names.size()) return false;
  const std::string& known = names[id.index];
  return known.size() == name.size() && are_equal(known.data(), name.data(), name.size());
}

NameId NameTable::find(const Names& names, std::string_view name, NameId likely) const {
  return is_name_of(names, likely, name) ? likely : find(names, name);
}

NameId NameTable::find(const Names& names, std::string_view name, uint64_t hash) const {
  if (slots_.empty()) return {};
  const size_t mask = slots_.size() - 1;
  for (size_t probe = 0; probe < kProbesMax; ++probe) {
    const Slot& slot = slots_[(place_of(hash) + probe) & mask];
    if (!slot.id.is_some()) return {};
    if (slot.tag != tag_of(hash)) continue;
    if (is_name_of(names, slot.id, name)) return slot.id;
  }
  const auto found = crowded_.find(name);
  return found == crowded_.end() ? NameId{} : found->second;
}

NameId NameTable::append(Names& names, std::string_view name, uint64_t hash) {
  if (2 * (names.size() + 1) > slots_.size()) {
    resize_to(names, std::max(kSlotsMin, 2 * slots_.size()));
  }
  const NameId id(names.size());
  names.emplace_back(name);
  meanings_.emplace_back();
  text_bytes_ += name.size();
  store(names, id, hash);
  return id;
}

void NameTable::store(const Names& names, NameId id, uint64_t hash) {
  const size_t mask = slots_.size() - 1;
  for (size_t probe = 0; probe < kProbesMax; ++probe) {
    Slot& slot = slots_[(place_of(hash) + probe) & mask];
    if (slot.id.is_some()) continue;
    slot = {tag_of(hash), id};
    return;
  }
  crowded_.emplace(names[id.index], id);
}

// In the order of the names, so that the last one stored is still the last one.
void NameTable::resize_to(const Names& names, size_t slot_count) {
  slots_.assign(slot_count, Slot{});
  crowded_.clear();
  for (size_t i = 0; i < names.size(); ++i) store(names, NameId(i), hash_of(names[i]));
}

void NameTable::reserve(Names& names, size_t count) {
  names.reserve(count);
  meanings_.reserve(count);
  const size_t slot_count = std::bit_ceil(std::max(kSlotsMin, 2 * count));
  if (slot_count > slots_.size()) resize_to(names, slot_count);
}

void NameTable::forget_from(Names& names, size_t count) {
  while (names.size() > count) {
    const NameId id(names.size() - 1);
    const uint64_t hash = hash_of(names.back());
    const size_t mask = slots_.size() - 1;
    bool is_stored = false;
    for (size_t probe = 0; probe < kProbesMax && !is_stored; ++probe) {
      Slot& slot = slots_[(place_of(hash) + probe) & mask];
      is_stored = slot.id == id;
      if (is_stored) slot = Slot{};
    }
    if (!is_stored) INTERLOCK_CHECK(crowded_.erase(names.back()) == 1);
    text_bytes_ -= names.back().size();
    names.pop_back();
    meanings_.pop_back();
  }
}

}  // namespace interlock
