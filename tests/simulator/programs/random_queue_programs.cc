// The idea: few bytes and few places, so that most operands touch and most dependencies meet
// something. Each program has some of the features only, as what many statements order at once
// hides what one of them should not.
#include "tests/simulator/programs/random_queue_programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/simulator/programs/semaphore_sketch.h"

namespace interlock {
namespace {

constexpr std::string_view kScopeWordsOfQueues[] = {
    "compute.read", "compute.write", "compute.uniform", "copy.read", "copy.write", "indirect.read",
    "host.read",    "host.write",    "compute",         "copy",      "indirect",   "host"};
constexpr std::string_view kScopeWordsOfImages[] = {"graphics.read",    "graphics.write",
                                                    "graphics.uniform", "graphics",
                                                    "compute.write",    "copy.write"};
constexpr std::string_view kWideScopesOfImages[] = {"none",
                                                    "device",
                                                    "device.read|device.write",
                                                    "device.write",
                                                    "graphics.read|graphics.write",
                                                    "none",
                                                    "all.read|all.write"};
constexpr std::string_view kWideScopes[] = {"all",
                                            "all.read|all.write",
                                            "all.write",
                                            "all.read",
                                            "compute.read|compute.write|compute.uniform",
                                            "copy.read|copy.write",
                                            "compute.write|copy.write|host.write"};
constexpr std::string_view kStageLists[] = {
    "compute",          "copy",      "indirect", "compute|copy", "all",
    "compute|indirect", "copy|host", "host",     "graphics",     "device"};
constexpr std::string_view kQueueKinds[] = {"concurrent", "serial", "serial blocking",
                                            "legacy-default", "graph"};

class QueueProgramSketch {
 public:
  QueueProgramSketch(Choice& choice, const RandomQueueProgramOptions& options)
      : choice_(choice), options_(options) {}

  std::string text() {
    draw_features();
    add_memories();
    add_queues();
    uint64_t dispatches_left = 2 + choice_.below(options_.dispatch_count_max - 1);
    uint64_t syncs_left = choice_.below(options_.sync_count_max + 1);
    while (dispatches_left > 0) {
      if (syncs_left > 0 && choice_.chance(syncs_left, syncs_left + dispatches_left)) {
        add_sync();
        --syncs_left;
      } else {
        add_access();
        --dispatches_left;
      }
    }
    add_missing_signals();
    return text_;
  }

 private:
  bool has(uint64_t numerator, uint64_t denominator) {
    return choice_.chance(numerator, denominator);
  }

  void draw_features() {
    has_copies_ = has(1, 2);
    has_uniforms_ = has(1, 4);
    has_indirect_ = has(1, 3);
    has_atomics_ = has(1, 4);
    has_host_ = has(1, 2);
    has_operands_ = has(1, 3);
    has_scopes_ = has(1, 2);
    has_stages_ = has(1, 2);
    has_events_ = has(1, 3);
    has_submits_ = has(1, 3);
    has_rows_ = has(1, 6);
    has_images_ = has(1, 3);
    has_outside_ = has(1, 6);
  }

  template <typename Words>
  std::string_view one_of(const Words& words) {
    return words[choice_.below(std::size(words))];
  }

  void add_memories() {
    text_ = fmt::format("interlock 1\nmemory m {}\n", options_.memory_bytes);
    memories_ = {"m"};
    if (!has(1, 2)) return;
    constexpr std::string_view kSorts[] = {"", " unified", " noncoherent=4", " noncoherent=2"};
    const uint64_t sort = choice_.below(std::size(kSorts));
    text_ += fmt::format("memory n {}{}\n", options_.memory_bytes, kSorts[sort]);
    memories_.push_back("n");
    has_noncoherent_ = sort >= 2;
    if (sort != 0) has_host_ = true;
  }

  void add_queues() {
    queue_count_ = 1 + choice_.below(options_.queue_count_max);
    const bool is_uniform = has(1, 3);
    const uint64_t common = choice_.below(std::size(kQueueKinds));
    for (size_t q = 0; q < queue_count_; ++q) {
      const uint64_t drawn = has(1, 2) ? 0 : choice_.below(std::size(kQueueKinds));
      const uint64_t kind = is_uniform ? common : drawn;
      is_graph_.push_back(kind == 4);
      text_ += fmt::format("q{}: queue {}\n", q, kQueueKinds[kind]);
    }
    events_.resize(queue_count_);
    const size_t semaphore_count = 1 + choice_.below(3);
    for (size_t k = 0; k < semaphore_count; ++k) {
      SemaphoreSketch semaphore;
      semaphore.owner = choice_.below(queue_count_ + (has_host_ ? 1 : 0));
      semaphore.is_binary = has(1, 5);
      semaphore.name = fmt::format("s{}", k);
      if (semaphore.is_binary) {
        text_ += fmt::format("{}: semaphore binary\n", semaphore.name);
      } else if (has(1, 5)) {
        semaphore.signal_count = 1;  // Waits for 1 are met at once.
        text_ += fmt::format("{}: semaphore = 1\n", semaphore.name);
      }
      semaphores_.push_back(semaphore);
    }
  }

  std::string operand_of(uint64_t size_bytes, std::string_view memory) {
    const uint64_t begin = choice_.below(options_.memory_bytes - size_bytes + 1);
    return fmt::format(" {}[{}:{}]", memory, begin, begin + size_bytes);
  }
  // Two rows of a byte or two.
  std::string rows_in(std::string_view memory) {
    const uint64_t width = 1 + choice_.below(2);
    const uint64_t pitch = width + choice_.below(3);
    const uint64_t begin = choice_.below(options_.memory_bytes - pitch - width + 1);
    return fmt::format(" {}[{}:{} rows 2 pitch {} width {}]", memory, begin, begin + pitch + width,
                       pitch, width);
  }

  std::string operand_in(std::string_view memory, uint64_t size_bytes_max) {
    if (has_rows_ && has(1, 4)) return rows_in(memory);
    const uint64_t size_bytes = 1 + choice_.below(size_bytes_max);
    return operand_of(size_bytes, memory);
  }
  std::string operand(uint64_t size_bytes_max = 3) {
    const std::string_view memory = one_of(memories_);
    return operand_in(memory, size_bytes_max);
  }

  // Clauses in their order. At least one.
  std::string opaque_operands() {
    std::string clauses;
    const bool has_atomic = has_atomics_ && has(1, 3);
    while (clauses.empty()) {
      if (has_indirect_ && has(1, 3)) clauses += " indirect" + operand();
      if (has_uniforms_ && has(1, 3)) clauses += " uniform" + operand();
      if (has(1, 2)) clauses += " reads" + operand();
      if (has(1, 2)) clauses += " writes" + operand();
      if (has(1, 5)) clauses += " updates" + operand();
      if (has_atomic) clauses += " atomics" + operand();
    }
    if (has_atomic) clauses += has(1, 2) ? " atomic=add" : " atomic=max";
    return clauses;
  }

  std::string edges() {
    std::string text;
    for (const std::string& node : nodes_) {
      if (has(1, 2)) text += " " + node;
    }
    if (text.empty()) return text;
    return " after" + text + (has(1, 4) ? " programmatic" : "");
  }

  void add_access() {
    const std::string label = fmt::format("d{}", access_count_++);
    if (has_host_ && has(1, 3)) {
      const std::string_view word = has(1, 2) ? "reads" : "writes";
      text_ += fmt::format("{}: host {}{}\n", label, word, operand());
      return;
    }
    const size_t queue = choice_.below(queue_count_);
    text_ += label + ": dispatch ";
    if (has_copies_ && has(1, 2)) {
      const uint64_t size_bytes = 1 + choice_.below(3);
      if (has(1, 2)) {
        text_ += "copy reads" + operand_of(size_bytes, one_of(memories_));
        text_ += " writes" + operand_of(size_bytes, one_of(memories_));
      } else {
        text_ += "fill writes" + operand_of(size_bytes, one_of(memories_)) + " value=7";
      }
    } else if (has_images_ && has(1, 4)) {
      text_ += "Blit in copy reads" + operand() + " writes" + operand();
    } else {
      text_ += has_images_ && has(1, 2) ? "Draw in graphics" : "Work";
      text_ += opaque_operands();
    }
    if (is_graph_[queue]) text_ += edges();
    text_ += fmt::format(" on q{}\n", queue);
    if (is_graph_[queue]) nodes_.push_back(label);
  }

  std::string scope() {
    const bool is_of_images = has_images_ && has(1, 2);
    if (has(1, 2)) {
      return std::string(is_of_images ? one_of(kWideScopesOfImages) : one_of(kWideScopes));
    }
    const auto word = [&] {
      return is_of_images ? one_of(kScopeWordsOfImages) : one_of(kScopeWordsOfQueues);
    };
    std::string text(word());
    while (has(1, 2)) text += fmt::format("|{}", word());
    return text;
  }

  // What stands after `barrier` or `set e`.
  std::string dependencies(bool is_barrier) {
    if (!has_scopes_ || has(1, 3)) return has(1, 4) ? " execution" : "";
    std::string text;
    do {
      const std::string source = scope();
      text += fmt::format("{} {} -> {}", text.empty() ? "" : ",", source, scope());
      if (is_barrier && has_images_ && has(1, 2)) {
        text += (has(3, 4) ? " transitions" : " discards") + operand(6);
      }
      while (has_operands_ && has(1, 2)) text += operand(6);
    } while (has(1, 4));
    return text;
  }

  std::string stages(std::string_view word) {
    return has_stages_ && has(1, 2) ? fmt::format(" {} {}", word, one_of(kStageLists)) : "";
  }

  void add_signal() {
    SemaphoreSketch& first = semaphores_[choice_.below(semaphores_.size())];
    if (!first.may_be_signaled()) return;
    const size_t owner = first.owner;
    if (owner == queue_count_) {
      text_ += fmt::format("host signals {}\n", first.next_signal(queue_count_));
      return;
    }
    // After the wait for the one before, whatever that holds back.
    const auto stages_of = [&](const SemaphoreSketch& semaphore) {
      const bool is_again = semaphore.is_binary && semaphore.signal_count > 1;
      return is_again ? std::string() : stages("after");
    };
    text_ += "signal " + first.next_signal(queue_count_);
    text_ += stages_of(first);
    for (SemaphoreSketch& other : semaphores_) {
      const bool joins = &other != &first && other.owner == owner && other.may_be_signaled();
      if (!joins || !has(1, 2)) continue;
      text_ += ", " + other.next_signal(queue_count_);
      text_ += stages_of(other);
    }
    text_ += fmt::format(" on q{}\n", owner);
  }

  void add_wait() {
    SemaphoreSketch& semaphore = semaphores_[choice_.below(semaphores_.size())];
    if (has_outside_ && has(1, 3)) return add_wait_from_outside(semaphore);
    // Mostly what is signaled already.
    if (semaphore.signal_count == 0 && has(2, 3)) return add_signal();
    if (!semaphore.may_be_waited_for()) return add_signal();
    std::string use = semaphore.name;
    const bool is_again = semaphore.is_binary && semaphore.wait_value_max > 0;
    if (semaphore.is_binary) {
      ++semaphore.wait_value_max;
    } else {
      const uint64_t value = 1 + choice_.below(semaphore.signal_count + (has(1, 6) ? 1 : 0) +
                                               (semaphore.signal_count == 0 ? 1 : 0));
      semaphore.wait_value_max = std::max(semaphore.wait_value_max, value);
      use += fmt::format("={}", value);
    }
    size_t place = has_host_ && has(1, 3) ? queue_count_ : choice_.below(queue_count_);
    if (is_again && semaphore.taker != queue_count_) place = semaphore.taker;
    semaphore.taker = place;
    semaphore.hand_on(queue_count_);
    if (place == queue_count_) {
      text_ += fmt::format("host waits {}\n", use);
    } else {
      text_ += fmt::format("wait {}{} on q{}\n", use, stages("before"), place);
    }
  }

  void add_wait_from_outside(const SemaphoreSketch& semaphore) {
    const std::string value = semaphore.is_binary ? "" : "=1";
    if (has_host_ && has(1, 3)) {
      text_ += fmt::format("host waits {}{} from outside\n", semaphore.name, value);
    } else {
      const size_t queue = choice_.below(queue_count_);
      text_ += fmt::format("wait {}{} from outside{} on q{}\n", semaphore.name, value,
                           stages("before"), queue);
    }
  }

  void add_event() {
    const size_t queue = choice_.below(queue_count_);
    if (is_graph_[queue]) return;
    std::vector<std::string>& events = events_[queue];
    if (!events.empty() && has(1, 2)) {
      text_ += fmt::format("await {} on q{}\n", one_of(events), queue);
      return;
    }
    // Some names come again.
    events.push_back(events.empty() || has(1, 2) ? fmt::format("e{}_{}", queue, events.size())
                                                 : events.back());
    text_ += fmt::format("set {}{} on q{}\n", events.back(), dependencies(false), queue);
  }

  void add_host_sync() {
    const uint64_t sort = choice_.below(has_noncoherent_ ? 4 : 1);
    if (sort == 0) {
      text_ += has(1, 2) ? "host idle\n"
                         : fmt::format("host idle on q{}\n", choice_.below(queue_count_));
    } else {
      text_ += sort == 1 ? "host invalidates" : "host flushes";
      do {
        text_ += operand_in("n", 6);
      } while (has(1, 3));
      text_ += "\n";
    }
  }

  void add_sync() {
    const size_t queue = choice_.below(queue_count_);
    const uint64_t sort = choice_.below(16);
    if (has_host_ && sort < 3) return add_host_sync();
    if (has_submits_ && sort < 5) {
      text_ += fmt::format("{} on q{}\n", has(1, 4) ? "split" : "submit", queue);
    } else if (has_events_ && sort < 8) {
      add_event();
    } else if (sort < 10) {
      if (is_graph_[queue]) return;
      text_ += fmt::format("b{}: barrier{} on q{}\n", barrier_count_++, dependencies(true), queue);
    } else if (sort < 13) {
      add_signal();
    } else {
      add_wait();
    }
  }

  // Somebody has to signal what is waited for.
  void add_missing_signals() {
    for (SemaphoreSketch& semaphore : semaphores_) {
      while (semaphore.signal_count < semaphore.wait_value_max) {
        const size_t owner = semaphore.owner;
        const std::string signal = semaphore.next_signal(queue_count_);
        if (owner == queue_count_) {
          text_ += fmt::format("host signals {}\n", signal);
        } else {
          text_ += fmt::format("signal {} on q{}\n", signal, owner);
        }
      }
    }
  }

  Choice& choice_;
  const RandomQueueProgramOptions& options_;
  std::string text_;
  bool has_copies_ = false;
  bool has_uniforms_ = false;
  bool has_indirect_ = false;
  bool has_atomics_ = false;
  bool has_host_ = false;
  bool has_operands_ = false;  // Of dependencies.
  bool has_scopes_ = false;
  bool has_stages_ = false;  // Of signals and waits.
  bool has_events_ = false;
  bool has_submits_ = false;
  bool has_rows_ = false;
  bool has_images_ = false;   // Graphics, copies of images, and transitions.
  bool has_outside_ = false;  // Waits from outside.
  bool has_noncoherent_ = false;
  std::vector<std::string> memories_;
  size_t queue_count_ = 0;
  std::vector<bool> is_graph_;                    // By queue.
  std::vector<std::vector<std::string>> events_;  // That were set, by queue.
  std::vector<SemaphoreSketch> semaphores_;
  std::vector<std::string> nodes_;  // Of graph queues.
  uint64_t access_count_ = 0;
  uint64_t barrier_count_ = 0;
};

}  // namespace

std::string random_queue_program(Choice& choice, const RandomQueueProgramOptions& options) {
  return QueueProgramSketch(choice, options).text();
}

}  // namespace interlock
