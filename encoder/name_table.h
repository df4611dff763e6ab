// NameTable: which number each name of a program has, and what the name stands for. A name is
// hashed once per mention; all that it can mean hangs on its number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/ids.h"

namespace interlock {

// What a name means. It can mean several things: memories, tensors, labels and kernels have
// separate names.
struct NameMeaning {
  MemoryId memory;
  TensorId tensor;
  StatementId label;
  KernelId kernel;
};

class NameTable {
 public:
  // Returns the number of the name, or none. `names` are those added so far, here and below.
  // Cost: linear in the name; at worst times the log of the names, whoever chose them.
  NameId find(const std::vector<std::string>& names, std::string_view name) const;

  // Returns the number of the name, and appends it to `names` if it is new. Cost: as find().
  NameId add(std::vector<std::string>& names, std::string_view name);

  // Drops the names from number `count` on, as if they had never been added.
  void drop_from(std::vector<std::string>& names, size_t count);

  const NameMeaning& meaning(NameId id) const { return meanings_[id.index]; }
  NameMeaning& meaning(NameId id) { return meanings_[id.index]; }

  // The names that mean something of this sort, in alphabetical order, at most `limit` of them.
  // Cost: linear in all names, times log of the limit.
  template <typename MeaningId>
  std::vector<std::string_view> names_with(const std::vector<std::string>& names,
                                           MeaningId NameMeaning::* sort, size_t limit) const {
    return first_names(names, limit,
                       [sort](const NameMeaning& meaning) { return (meaning.*sort).is_some(); });
  }

 private:
  // Names that collide too often are kept in order instead: a hostile text cannot make us slow.
  static constexpr size_t kProbesMax = 16;

  struct Slot {
    uint32_t tag = 0;  // Of the hash: most names that are not wanted are never looked at.
    NameId id;         // None: the slot is free.
  };

  size_t slot_of(const std::vector<std::string>& names, uint64_t hash, std::string_view name) const;
  void store(const std::vector<std::string>& names, NameId id);
  void grow(const std::vector<std::string>& names);
  std::vector<std::string_view> first_names(const std::vector<std::string>& names, size_t limit,
                                            bool (*is_wanted)(const NameMeaning&)) const;

  std::vector<Slot> slots_;  // A power of two of them, or none.
  std::map<std::string, NameId, std::less<>> crowded_out_;
  std::vector<NameMeaning> meanings_;  // By name.
};

}  // namespace interlock
