// contradict_faults SEED COUNT [machine]: looks for a program on which the verdicts and a second
// method, or the machine of counters alone, differ, among so many of a seed. Prints its number from
// one, the method and what the two say, apart by tabs, then the program, and exits with 1; else
// `none`, and with 0. A program on which a check of our own fails, or anything else ends the
// process, is no contradiction: the search goes on after it, and says last how many there were.
// `./dev faults --seeds` runs it on trees with a fault.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <new>
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

// Goes on from `number`, which says how far it has come.
int search(uint64_t seed, uint64_t count, bool is_by_machine, std::atomic<uint64_t>& number) {
  for (; number < count; ++number) {
    const auto found = is_by_machine ? interlock::find_contradiction_by_machine(seed, number)
                                     : interlock::find_contradiction(seed, number);
    if (!found) continue;
    fmt::print("{}\t{}\t{}\n{}", number.load() + 1, found->method, found->message, found->program);
    return 1;
  }
  fmt::print("none\n");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const bool is_by_machine = argc == 4 && std::string_view(argv[3]) == "machine";
  const bool has_numbers = argc == 3 || is_by_machine;
  const auto seed = has_numbers ? number_of(argv[1]) : std::nullopt;
  const auto count = has_numbers ? number_of(argv[2]) : std::nullopt;
  if (!seed || !count) {
    fmt::print(stderr, "Usage: contradict_faults SEED COUNT [machine]\n");
    return 2;
  }
  void* const shared = mmap(nullptr, sizeof(std::atomic<uint64_t>), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 3;
  std::atomic<uint64_t>& number = *new (shared) std::atomic<uint64_t>(0);
  for (uint64_t crash_count = 0;; ++crash_count, ++number) {
    const pid_t child = fork();
    if (child < 0) return 3;
    if (child == 0) {
      const int status = search(*seed, *count, is_by_machine, number);
      std::fflush(stdout);
      _exit(status);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child) return 3;
    if (!WIFEXITED(status)) continue;
    if (crash_count > 0) fmt::print("{} programs before it crash.\n", crash_count);
    return WEXITSTATUS(status);
  }
}
