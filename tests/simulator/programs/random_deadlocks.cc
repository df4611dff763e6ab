// The idea: what a deadlock needs is waits, so all lines are drawn first, and their places after.
#include "tests/simulator/programs/random_deadlocks.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <vector>

namespace interlock {
namespace {

constexpr std::string_view kKindsThatWait[] = {"serial", "concurrent", "serial blocking",
                                               "legacy-default", "graph"};

class DeadlockSketch {
 public:
  explicit DeadlockSketch(Choice& choice) : choice_(choice) {}

  std::string text() {
    std::string text = "interlock 1\nmemory m 4\n";
    queue_count_ = 2 + choice_.below(4);
    const bool joins = choice_.chance(1, 3);
    for (uint64_t q = 0; q < queue_count_; ++q) {
      const uint64_t any_kind = choice_.chance(1, 2) ? 0 : choice_.below(std::size(kKindsThatWait));
      const uint64_t kind = joins ? 2 + choice_.below(2) : any_kind;
      is_graph_.push_back(kind == 4);
      text += fmt::format("q{}: queue {}\n", q, kKindsThatWait[kind]);
    }
    const uint64_t semaphore_count = 2 + choice_.below(4);
    for (uint64_t s = 0; s < semaphore_count; ++s) add_semaphore(s);
    add_others();
    // Signals of one semaphore keep their order.
    for (size_t left = line_count(); left > 0; left = line_count()) {
      std::vector<std::string>& lane = lane_at(choice_.below(left));
      text += lane.front() + "\n";
      lane.erase(lane.begin());
    }
    return text;
  }

 private:
  std::string any_queue() { return fmt::format("q{}", choice_.below(queue_count_)); }

  void add_semaphore(uint64_t s) {
    const bool is_of_host = choice_.chance(1, 4);
    const std::string owner = any_queue();
    const uint64_t value_max = 1 + choice_.below(2);
    std::vector<std::string> signals;
    for (uint64_t value = 1; value <= value_max; ++value) {
      signals.push_back(is_of_host ? fmt::format("host signals s{}={}", s, value)
                                   : fmt::format("signal s{}={} on {}", s, value, owner));
    }
    lanes_.push_back(signals);
    const uint64_t wait_count = 1 + choice_.below(2);
    for (uint64_t i = 0; i < wait_count; ++i) {
      const uint64_t value = 1 + choice_.below(value_max);
      const bool is_host_wait = choice_.chance(1, 5);
      lanes_.push_back({is_host_wait ? fmt::format("host waits s{}={}", s, value)
                                     : fmt::format("wait s{}={} on {}", s, value, any_queue())});
    }
  }

  // What can be held back, or holds back the host.
  void add_others() {
    const uint64_t count = 1 + choice_.below(4);
    std::vector<std::string> dispatches;
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t sort = choice_.below(6);
      if (sort == 0) {
        lanes_.push_back({choice_.chance(1, 3) ? "host idle" : "host idle on " + any_queue()});
      } else if (sort == 1) {
        lanes_.push_back({"submit on " + any_queue()});
      } else {
        const uint64_t queue = choice_.below(queue_count_);
        std::string line = fmt::format("d{}: dispatch Work reads m[0:1]", dispatches.size());
        const bool has_edge = is_graph_[queue] && !nodes_.empty();
        if (has_edge) line += fmt::format(" after {}", nodes_[choice_.below(nodes_.size())]);
        if (is_graph_[queue]) nodes_.push_back(fmt::format("d{}", dispatches.size()));
        dispatches.push_back(line + fmt::format(" on q{}", queue));
      }
    }
    if (!dispatches.empty()) lanes_.push_back(dispatches);
  }

  size_t line_count() const {
    size_t count = 0;
    for (const auto& lane : lanes_) count += lane.size();
    return count;
  }
  // The one that has that line of all that are left.
  std::vector<std::string>& lane_at(uint64_t line) {
    for (auto& lane : lanes_) {
      if (line < lane.size()) return lane;
      line -= lane.size();
    }
    return lanes_.back();
  }

  Choice& choice_;
  uint64_t queue_count_ = 0;
  std::vector<bool> is_graph_;
  std::vector<std::string> nodes_;
  std::vector<std::vector<std::string>> lanes_;  // Lines in their order.
};

}  // namespace

std::string random_deadlock(Choice& choice) { return DeadlockSketch(choice).text(); }

}  // namespace interlock
