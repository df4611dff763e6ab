#include "encoder/program/finding_kind.h"

#include "encoder/program/words.h"

namespace interlock {

static_assert(std::size(kFindingWords) == static_cast<size_t>(FindingKind::kRedundant) + 1);

std::string_view word_of(FindingKind kind) { return word_in(kFindingWords, kind); }

std::optional<FindingKind> finding_kind_of(std::string_view word) {
  return position_in<FindingKind>(kFindingWords, word);
}

}  // namespace interlock
