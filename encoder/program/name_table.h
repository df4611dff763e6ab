// NameTable: which number each name of a program has, and what the name stands for. A name is
// hashed once per mention; everything that it can mean is stored by its number.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/program/ids.h"

namespace interlock {

// A name can mean one thing of each sort at once; what is recorded has no label yet. None: nothing
// of this sort has the name.
struct NameMeaning {
  MemoryId memory;
  TensorId tensor;
  StatementId label;
  CaptureId capture;
  CaptureId recorded_label;  // The capture that records a statement with this label.
  KernelId kernel;           // Also none if no dispatch has named it yet.
  SyncNameId sync;           // Queue, semaphore, event: few names are of any of these.
};

// Holds numbers only; the names themselves are the caller's, who passes the same list to every
// call and changes it through this table alone.
class NameTable {
 public:
  using Names = std::vector<std::string>;

  // The hash of a name. Differs between machines; no answer depends on it.
  static uint64_t hash_of(std::string_view name);

  // Returns the number of the name, or none.
  // Cost: linear in the name; at worst times the log of the names, whoever chose them.
  NameId find(const Names& names, std::string_view name) const {
    return find(names, name, hash_of(name));
  }

  // As find(); a new name is appended to `names`.
  NameId add(Names& names, std::string_view name) {
    return add(names, name, mention_of(names, name));
  }

  // A name that was looked up, so that nobody has to look for it again before it is added.
  struct Mention {
    uint64_t hash = 0;
    NameId id;
    size_t name_count = 0;  // When it was looked up: what was added since may be the name.
  };
  Mention mention_of(const Names& names, std::string_view name) const {
    const uint64_t hash = hash_of(name);
    return {hash, find(names, name, hash), names.size()};
  }

  // As add(). Requires: `mention` is of this name, and nothing was forgotten since.
  NameId add(Names& names, std::string_view name, const Mention& mention) {
    if (mention.id.is_some()) return mention.id;
    constexpr size_t kAddedFew = 4;  // A kernel, and what its attributes say.
    if (names.size() > mention.name_count + kAddedFew) return add(names, name);
    for (size_t i = mention.name_count; i < names.size(); ++i) {
      if (names[i] == name) return NameId(i);
    }
    return append(names, name, mention.hash);
  }

  // What it meant; nothing if it was unknown.
  NameMeaning meaning_of(const Mention& mention) const {
    return mention.id.is_some() ? meanings_[mention.id.index] : NameMeaning{};
  }

  // Fetches what find() will look at first: in a large table the memory is what it waits for.
  void prefetch(std::string_view name) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[place_of(hash_of(name)) & (slots_.size() - 1)]);
  }

  // Makes room for so many names, here and in `names`.
  void reserve(Names& names, size_t count);

  // Forgets the names from number `count` on, as if they had never been added.
  void forget_from(Names& names, size_t count);

  // What the name means; nothing if it is unknown. Cost: as find().
  NameMeaning meaning_of(const Names& names, std::string_view name) const {
    const NameId id = find(names, name);
    return id.is_some() ? meanings_[id.index] : NameMeaning{};
  }
  // As find(), without a search if the name is that of `likely`, which may be none.
  NameId find(const Names& names, std::string_view name, NameId likely) const;

  // Bytes of the names, of the table and of what they mean, without room for more.
  // Cost: constant.
  uint64_t memory_bytes() const {
    constexpr uint64_t kNameBytes = sizeof(std::string) + sizeof(NameMeaning) +
                                    4 * sizeof(Slot);  // Every fourth slot is taken.
    constexpr uint64_t kLongestName = 256;             // A crowded name is kept a second time.
    constexpr uint64_t kCrowdedBytes = 64 + sizeof(std::string) + kLongestName;
    return meanings_.size() * kNameBytes + text_bytes_ + crowded_.size() * kCrowdedBytes;
  }

  NameMeaning& meaning(NameId id) { return meanings_[id.index]; }
  const NameMeaning& meaning(NameId id) const { return meanings_[id.index]; }

  // The first `limit` names, in alphabetical order, that mean something of this sort.
  // Cost: linear in all names, times log of the limit.
  template <typename MeaningId>
  std::vector<std::string_view> first_names(const Names& names, MeaningId NameMeaning::*sort,
                                            size_t limit) const {
    std::vector<std::string_view> found;
    for (size_t i = 0; i < names.size(); ++i) {
      if ((meanings_[i].*sort).is_some()) found.push_back(names[i]);
    }
    const size_t count = std::min(limit, found.size());
    std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count),
                      found.end());
    found.resize(count);
    return found;
  }

 private:
  struct Slot {
    uint32_t tag = 0;  // Of the hash: most names that are not wanted are never looked at.
    NameId id;         // None: the slot is free.
  };

  // The tag is the low half of the hash; the place comes from the high half.
  static size_t place_of(uint64_t hash) { return static_cast<size_t>(hash >> 32); }

  static bool is_name_of(const Names& names, NameId id, std::string_view name);
  NameId find(const Names& names, std::string_view name, uint64_t hash) const;
  NameId append(Names& names, std::string_view name, uint64_t hash);
  void store(const Names& names, NameId id, uint64_t hash);
  void resize_to(const Names& names, size_t slot_count);

  std::vector<Slot> slots_;                             // A power of two of them, or none.
  std::map<std::string, NameId, std::less<>> crowded_;  // Those that found no slot.
  std::vector<NameMeaning> meanings_;                   // By name.
  uint64_t text_bytes_ = 0;                             // Of all names.
};

}  // namespace interlock
