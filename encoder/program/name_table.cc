// The basic idea is a table with open addressing that gives up early: a name whose first few slots
// are taken goes to an ordered map. So chosen collisions cost a logarithm and no more, and no
// answer depends on the hash.
//
// Names are forgotten in the reverse order of their adding, as they are when a statement does not
// fit. Freeing a slot then restores the table as it was, and needs no mark.
#include "encoder/program/name_table.h"

#include "encoder/program/check.h"
#include "encoder/program/hash.h"

namespace interlock {
namespace {

constexpr size_t kProbesMax = 16;
constexpr size_t kSlotsMin = 64;

uint64_t hash_of(std::string_view name) { return scrambled(fnv1a(name)); }

// The tag is the low half of the hash; the place comes from the high half.
uint32_t tag_of(uint64_t hash) { return static_cast<uint32_t>(hash); }
size_t place_of(uint64_t hash) { return static_cast<size_t>(hash >> 32); }

}  // namespace

NameId NameTable::find(const Names& names, std::string_view name) const {
  return find_hashed(names, name, hash_of(name));
}

NameId NameTable::find_hashed(const Names& names, std::string_view name, uint64_t hash) const {
  if (slots_.empty()) return {};
  const size_t mask = slots_.size() - 1;
  for (size_t probe = 0; probe < kProbesMax; ++probe) {
    const Slot& slot = slots_[(place_of(hash) + probe) & mask];
    if (!slot.id.is_some()) return {};
    if (slot.tag == tag_of(hash) && names[slot.id.index] == name) return slot.id;
  }
  const auto found = crowded_.find(name);
  return found == crowded_.end() ? NameId{} : found->second;
}

NameId NameTable::add(Names& names, std::string_view name) {
  const uint64_t hash = hash_of(name);
  const NameId known = find_hashed(names, name, hash);
  if (known.is_some()) return known;
  if (2 * (names.size() + 1) > slots_.size()) grow(names);
  const NameId id(names.size());
  names.emplace_back(name);
  meanings_.emplace_back();
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
void NameTable::grow(const Names& names) {
  slots_.assign(std::max(kSlotsMin, 2 * slots_.size()), Slot{});
  crowded_.clear();
  for (size_t i = 0; i < names.size(); ++i) store(names, NameId(i), hash_of(names[i]));
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
    names.pop_back();
    meanings_.pop_back();
  }
}

}  // namespace interlock
