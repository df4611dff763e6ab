// contradict_faults SEED COUNT: looks for a program on which the verdicts and a second method
// differ, among so many of a seed. Prints its number from one, the method and what the two say,
// apart by tabs, then the program, and exits with 1; or `none` and how many there were, and with 0.
// `./dev faults --seeds` runs it on trees with a fault.
#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string_view>

#include "tests/fuzz/judge/contradictions.h"

namespace {

std::optional<uint64_t> number_of(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

int main(int argc, char** argv) {
  const auto seed = argc == 3 ? number_of(argv[1]) : std::nullopt;
  const auto count = argc == 3 ? number_of(argv[2]) : std::nullopt;
  if (!seed || !count) {
    fmt::print(stderr, "Usage: contradict_faults SEED COUNT\n");
    return 2;
  }
  for (uint64_t number = 0; number < *count; ++number) {
    const auto found = interlock::find_contradiction(*seed, number);
    if (!found) continue;
    fmt::print("{}\t{}\t{}\n{}", number + 1, found->method, found->message, found->program);
    return 1;
  }
  fmt::print("none\t{}\n", *count);
}
