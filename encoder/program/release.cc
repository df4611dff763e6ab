#include "encoder/program/release.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "encoder/program/names.h"

namespace interlock {
namespace {

using ReleaseNumbers = std::array<uint64_t, 3>;

// What is left out is 0.
std::optional<ReleaseNumbers> release_numbers_of(std::string_view version) {
  ReleaseNumbers numbers{};
  for (uint64_t& number : numbers) {
    const size_t dot = std::min(version.find('.'), version.size());
    const std::optional<uint64_t> read = decimal_of(version.substr(0, dot));
    if (!read) return std::nullopt;
    number = *read;
    if (dot == version.size()) return numbers;
    version.remove_prefix(dot + 1);
  }
  return std::nullopt;
}

}  // namespace

std::string_view release_text() { return INTERLOCK_VERSION; }

std::optional<bool> is_at_least(std::string_view release, std::string_view version) {
  const auto own = release_numbers_of(release);
  const auto other = release_numbers_of(version);
  if (!own || !other) return std::nullopt;
  return *own >= *other;
}

}  // namespace interlock
