// Registries: what can be asked for by name, an entry each, in the order in which they are listed.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "encoder/program/names.h"

namespace interlock {

// Returns the entry of this name, or null if there is none. `name_of` is the member that says what
// an entry is called. Cost: linear in the registry.
template <typename Entry, typename NameOf = std::string_view Entry::*>
const Entry* find_entry(std::span<const Entry> registry, std::string_view name,
                        NameOf name_of = &Entry::name) {
  const auto found = std::ranges::find(registry, name, name_of);
  return found == registry.end() ? nullptr : &*found;
}

// Returns "no encoder 'mlx-2027'. Did you mean 'mlx-2026'?", for a name that has no entry; without
// the question if no entry has a name close to it. `noun` says what an entry is. Where `more`
// registries are asked by the same name, theirs are meant, too.
template <typename Entry, typename... More>
std::string no_entry_text(std::span<const Entry> registry, std::string_view noun,
                          std::string_view name, const More&... more) {
  NearestName nearest(name);
  const auto offer = [&nearest](const auto& entries) {
    for (const auto& entry : entries) nearest.offer(entry.name);
  };
  offer(registry);
  (offer(more), ...);
  return std::string("no ").append(noun) + ' ' + in_quotes(name) + '.' + nearest.advice();
}

}  // namespace interlock
