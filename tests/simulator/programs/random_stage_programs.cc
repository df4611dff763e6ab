// The idea: what a dependency must not order shows only where nothing else does, so there are two
// stages, two bytes, and hardly a dependency of all.
#include "tests/simulator/programs/random_stage_programs.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace interlock {
namespace {

constexpr std::string_view kDispatches[] = {"Work reads m[0:1]",
                                            "Work writes m[0:1]",
                                            "Work reads m",
                                            "Work writes m",
                                            "fill writes m[0:1] value=7",
                                            "fill writes m value=7",
                                            "Blit in copy reads m[0:1]",
                                            "Blit in copy reads m[0:1] writes m[1:2]"};
constexpr std::string_view kStagesOfSync[] = {"compute", "copy"};
constexpr std::string_view kScopesOfStages[] = {"compute.write",
                                                "compute.read",
                                                "copy.write",
                                                "copy.read",
                                                "compute",
                                                "copy",
                                                "compute.read|compute.write",
                                                "copy.read|copy.write"};

class StageSketch {
 public:
  explicit StageSketch(Choice& choice) : choice_(choice) {}

  std::string text() {
    std::string text = "interlock 1\nmemory m 2\nq0: queue concurrent\nq1: queue concurrent\n";
    uint64_t dispatches_left = 2 + choice_.below(3);
    uint64_t syncs_left = 2 + choice_.below(6);
    while (dispatches_left > 0) {
      if (choice_.chance(syncs_left, syncs_left + dispatches_left)) {
        text += sync();
        --syncs_left;
      } else {
        text += fmt::format("dispatch {} on q{}\n", one_of(kDispatches), choice_.below(2));
        --dispatches_left;
      }
    }
    return text;
  }

 private:
  template <typename Words>
  std::string_view one_of(const Words& words) {
    return words[choice_.below(std::size(words))];
  }

  std::string stages(std::string_view word) {
    if (choice_.chance(1, 6)) return "";
    return fmt::format(" {} {}", word, one_of(kStagesOfSync));
  }

  std::string sync() {
    const uint64_t queue = choice_.below(2);
    switch (choice_.below(7)) {
      case 0:
        return fmt::format("barrier{} on q{}\n", dependencies(), queue);
      case 1:
      case 2:
        return event(queue);
      case 3:
        return signal(queue);
      default:
        return wait(queue);
    }
  }

  std::string dependencies() {
    std::string text;
    do {
      const std::string_view source = one_of(kScopesOfStages);
      text += fmt::format("{} {} -> {}", text.empty() ? "" : ",", source, one_of(kScopesOfStages));
    } while (choice_.chance(1, 2));
    return text;
  }

  std::string event(uint64_t queue) {
    bool& is_set = is_set_[queue];
    if (is_set && choice_.chance(2, 3)) return fmt::format("await e{} on q{}\n", queue, queue);
    is_set = true;
    return fmt::format("set e{}{} on q{}\n", queue, dependencies(), queue);
  }

  // Each queue has two semaphores.
  std::string signal(uint64_t queue) {
    const uint64_t first = choice_.below(2);
    std::string text = "signal " + part(queue, first);
    if (choice_.chance(1, 2)) text += ", " + part(queue, 1 - first);
    return text + fmt::format(" on q{}\n", queue);
  }
  std::string part(uint64_t queue, uint64_t semaphore) {
    const uint64_t value = ++values_[queue][semaphore];
    return fmt::format("s{}_{}={}{}", queue, semaphore, value, stages("after"));
  }

  // Mostly by the other queue.
  std::string wait(uint64_t queue) {
    const uint64_t from = choice_.chance(4, 5) ? 1 - queue : queue;
    const uint64_t semaphore = choice_.below(2);
    const uint64_t value_max = values_[from][semaphore];
    if (value_max == 0) return signal(from);
    const uint64_t value = choice_.chance(3, 4) ? value_max : 1 + choice_.below(value_max);
    return fmt::format("wait s{}_{}={}{} on q{}\n", from, semaphore, value, stages("before"),
                       queue);
  }

  Choice& choice_;
  uint64_t values_[2][2] = {};  // [queue][semaphore]: what was signaled.
  bool is_set_[2] = {};         // By queue.
};

}  // namespace

std::string random_stage_program(Choice& choice) { return StageSketch(choice).text(); }

}  // namespace interlock
