#include "encoder/program/word_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace interlock {
namespace {

struct WordPlace {
  std::string_view word;
  std::string_view place;  // What follows "stands".
};

constexpr std::string_view kDeclaredOperands = "after the kernel of a dispatch, before operands";
constexpr std::string_view kHostOperands =
    "after the kernel of a dispatch or 'host', before operands";
constexpr std::string_view kTransition = "after the two scopes of a barrier, before operands";
constexpr std::string_view kMemoryEnd = "after the bytes of a memory";
constexpr std::string_view kTensorPlace = "after the extents of a tensor";
constexpr std::string_view kRows =
    "in the brackets of an operand, as in '[0:64 rows 4 pitch 16 width 8]'";
constexpr std::string_view kWitness = "after the first dispatch of a witness";

constexpr WordPlace kPlaces[] = {
    {"actual", "after the operands that a dispatch declares"},
    {"after",
     "after the operands and attributes of a dispatch on a graph queue, or after 'signal S=N'"},
    {"approximate", "after the operands of a dispatch, or of what the host reads or writes"},
    {"at", kTensorPlace},
    {"atomics", kDeclaredOperands},
    {"before", "after 'wait S=N', or between the two dispatches of a witness"},
    {"binary", "after 'NAME: semaphore'"},
    {"blocking", "after 'NAME: queue serial'"},
    {"commits", kWitness},
    {"discards", kTransition},
    {"donates", kTensorPlace},
    {"encoder", "right after 'expect', as in 'encoder=serial'"},
    {"execution", "right after 'barrier' or 'set EVENT'"},
    {"fetches", kWitness},
    {"from", "after the semaphore of a wait, as in 'from outside'"},
    {"in", "right after the kernel of a dispatch, as in 'in copy'"},
    {"noncoherent", kMemoryEnd},
    {"on", "at the end of what a queue executes, as in 'on q1'"},
    {"order", "right after the kernel and the stage of a dispatch, as in 'order=3'"},
    {"partial", "after the operands of a dispatch"},
    {"pitch", kRows},
    {"programmatic", "after 'after OPERATION…', at the end of a dispatch on a graph queue"},
    {"reads", kHostOperands},
    {"rows", kRows},
    {"scratch", "right after the bytes of a memory"},
    {"transitions", kTransition},
    {"unified", kMemoryEnd},
    {"uniform", kDeclaredOperands},
    {"updates", kDeclaredOperands},
    {"view", kTensorPlace},
    {"width", kRows},
    {"writes", kHostOperands},
    {"wrt", "after the loss of 'backward'"},
};

static_assert(std::ranges::is_sorted(kPlaces, {}, &WordPlace::word));

}  // namespace

std::string place_of_word(std::string_view word) {
  const auto* const found = std::ranges::lower_bound(kPlaces, word, {}, &WordPlace::word);
  if (found == std::end(kPlaces) || found->word != word) return {};
  return fmt::format(" '{}' stands {}.", word, found->place);
}

}  // namespace interlock
