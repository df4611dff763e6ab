#include "simulator/lifetimes/truncation.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

#include "encoder/program/check.h"

namespace interlock {
namespace {

// By cause.
constexpr std::string_view kPatterns[] = {
    "there are more hazards than {}, the limit; repair some of those listed, and check again",
    "there are more operands that share bytes against an alias contract than {}, the limit; repair some of those listed, and check again",
    "the search for hazards beside scoped barriers takes more than {} steps, the limit; let dependencies name fewer ranges, or check the program in parts",
    "listing every hazardous pair takes more than {} looks at operands, the limit; check without --all",
    "there are more reads without a value of their own than {}, the limit; repair some of those listed, and check again",
    "following which value each byte holds takes more than {} visits of runs of bytes, the limit; check the program in parts",
    "the tensors that hold values by adoption make lists of more than {} entries, the limit; free those that nobody reads again, before others adopt the value",
    "judging the gradients takes more than {} visits of dispatches, the limit; check fewer backward passes at a time",
    "the graph queues fall into more than {} paths, the limit; check the program in parts",
    "the gradients of backward passes, {} of them, are not judged, as other statements come between theirs in the reference order; put signals before their waits in the text",
};
static_assert(std::size(kPatterns) == static_cast<size_t>(TruncationCause::kGradientOrder) + 1);

}  // namespace

std::string text_of(const Truncation& truncation) {
  return fmt::format(fmt::runtime(kPatterns[static_cast<size_t>(truncation.cause)]),
                     truncation.limit);
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
