#include "simulator/lifetimes/truncation.h"

#include <fmt/format.h>

#include "encoder/program/check.h"

namespace interlock {

std::string text_of(const Truncation& truncation) {
  const uint64_t limit = truncation.limit;
  switch (truncation.cause) {
    case TruncationCause::kHazards:
      return fmt::format(
          "there are more hazards than {}, the limit; repair some of those listed, and check again",
          limit);
    case TruncationCause::kAliases:
      return fmt::format(
          "there are more operands that share bytes against an alias contract than {}, the limit; repair some of those listed, and check again",
          limit);
    case TruncationCause::kScopedSearch:
      return fmt::format(
          "the search for hazards beside scoped barriers takes more than {} steps, the limit; let dependencies name fewer ranges, or check the program in parts",
          limit);
    case TruncationCause::kAllPairs:
      return fmt::format(
          "listing every hazardous pair takes more than {} looks at operands, the limit; check without --all",
          limit);
    case TruncationCause::kLifetimeFindings:
      return fmt::format(
          "there are more reads without a value of their own than {}, the limit; repair some of those listed, and check again",
          limit);
    case TruncationCause::kLifetimeRuns:
      return fmt::format(
          "following which value each byte holds takes more than {} visits of runs of bytes, the limit; check the program in parts",
          limit);
    case TruncationCause::kHolders:
      return fmt::format(
          "the tensors that hold values by adoption make lists of more than {} entries, the limit; free those that nobody reads again, before others adopt the value",
          limit);
    case TruncationCause::kGradients:
      return fmt::format(
          "judging the gradients takes more than {} visits of dispatches, the limit; check fewer backward passes at a time",
          limit);
  }
  INTERLOCK_CHECK(false);
}

std::string text_of(const std::vector<Truncation>& truncations) {
  INTERLOCK_CHECK(!truncations.empty());
  std::string text;
  for (const Truncation& truncation : truncations) {
    text += (text.empty() ? "" : "; and ") + text_of(truncation);
  }
  return text;
}

}  // namespace interlock
