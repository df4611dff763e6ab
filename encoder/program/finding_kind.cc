#include "encoder/program/finding_kind.h"

#include <array>

#include "encoder/program/check.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, 12> kWords = {
    "RAW",   "WAR",        "WAW",        "reordered", "clobber",  "uninitialized", "use-after-free",
    "alias", "undeclared", "divergence", "gradient",  "redundant"};
static_assert(kWords.size() == static_cast<size_t>(FindingKind::kRedundant) + 1);

}  // namespace

std::string_view word_of(FindingKind kind) {
  const auto index = static_cast<size_t>(kind);
  INTERLOCK_CHECK(index < kWords.size());
  return kWords[index];
}

std::optional<FindingKind> finding_kind_of(std::string_view word) {
  for (size_t i = 0; i < kWords.size(); ++i) {
    if (kWords[i] == word) return static_cast<FindingKind>(i);
  }
  return std::nullopt;
}

}  // namespace interlock
