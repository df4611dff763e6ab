// The basic idea: statements of all sorts in random places of a list. Signals then count up in the
// order of the list, so that waits find a value, often one that comes too late.
#include "tests/simulator/programs/random_machine_programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace interlock {
namespace {

constexpr int kSemaphoreCount = 3;
constexpr int kHost = -1;

class QueueProgramText {
 public:
  QueueProgramText(Choice& choice, const RandomMachineProgramOptions& options)
      : choice_(choice), options_(options) {}

  std::string make() {
    declare();
    const int dispatch_count = 2 + below(options_.dispatch_count_max - 1);
    for (int k = 0; k < dispatch_count; ++k) add_operation(k);
    const int sync_count = below(options_.sync_count_max + 1);
    for (int k = 0; k < sync_count; ++k) add_sync();
    add_submissions();
    std::string text = header_;
    for (const Line& line : lines_) text += text_of(line) + "\n";
    return text;
  }

 private:
  enum class Kind { kText, kDispatch, kSignal, kHostSignal, kWait, kHostWait };
  struct Line {
    Kind kind = Kind::kText;
    int queue = 0;
    std::string text = {};
    std::vector<int> semaphores = {};
    std::vector<std::string> stages = {};
  };

  int below(int n) { return static_cast<int>(choice_.below(static_cast<uint64_t>(n))); }

  template <size_t kCount>
  std::string_view any_of(const std::array<std::string_view, kCount>& words) {
    return words[static_cast<size_t>(below(kCount))];
  }

  void declare() {
    static constexpr std::array<std::string_view, 7> kKinds = {
        "concurrent", "concurrent",      "concurrent",    "serial",
        "graph",      "serial blocking", "legacy-default"};
    header_ = "interlock 1\nmemory m 16\n";
    const int queue_count = 2 + below(2);
    for (int q = 0; q < queue_count; ++q) {
      kinds_.push_back(options_.is_serial ? "serial" : any_of(kKinds));
      header_ += fmt::format("q{}: queue {}\n", q, kinds_.back());
    }
    for (int& signaller : signaller_) signaller = below(queue_count + 1) - 1;
    for (size_t k = 0; options_.has_binary && k < kSemaphoreCount; ++k) {
      is_binary_[k] = below(2) == 0;
      if (is_binary_[k]) header_ += fmt::format("s{}: semaphore binary\n", k);
    }
  }

  int any_queue() { return below(static_cast<int>(kinds_.size())); }
  bool is_graph(int queue) const { return kinds_[static_cast<size_t>(queue)] == "graph"; }

  void insert(Line line) {
    const auto at = below(static_cast<int>(lines_.size()) + 1);
    lines_.insert(lines_.begin() + at, std::move(line));
  }

  std::string any_bytes() {
    const int begin = below(12);
    return fmt::format("m[{}:{}]", begin, begin + 1 + below(4));
  }

  // At the end, so that what edges come from stands before.
  void add_operation(int index) {
    if (below(8) == 0) {
      lines_.push_back(
          {Kind::kText, 0,
           fmt::format("host {} {}", below(2) == 0 ? "reads" : "writes", any_bytes())});
      return;
    }
    const int queue = any_queue();
    const int what = below(6);
    std::string text = fmt::format("d{}: dispatch ", index);
    if (what < 2) {
      const int from = below(4);
      const int to = 8 + below(5);
      const bool turns = below(2) == 0;
      text += fmt::format("copy reads m[{}:{}] writes m[{}:{}]", turns ? to : from,
                          (turns ? to : from) + 4, turns ? from : to, (turns ? from : to) + 4);
    } else {
      text += fmt::format("Work {}reads {} writes {}",
                          what == 2 ? fmt::format("indirect {} ", any_bytes()) : std::string(),
                          any_bytes(), any_bytes());
    }
    if (is_graph(queue)) {
      std::string edges;
      for (const int earlier : graph_operations_) {
        if (below(2) == 0) edges += fmt::format(" d{}", earlier);
      }
      if (!edges.empty())
        text += fmt::format(" after{}{}", edges, below(4) == 0 ? " programmatic" : "");
      graph_operations_.push_back(index);
    }
    lines_.push_back({Kind::kDispatch, queue, text});
  }

  std::string any_stages() {
    static constexpr std::array<std::string_view, 6> kStageTexts = {
        "compute", "copy", "indirect", "compute|copy", "compute|indirect", "all"};
    return std::string(any_of(kStageTexts));
  }

  std::string any_scopes() {
    std::string text = fmt::format("{} -> {}", any_stages(), any_stages());
    if (below(4) == 0) text += fmt::format(", {} -> {}", any_stages(), any_stages());
    return text;
  }

  std::string any_barrier() {
    const int what = below(5);
    if (what == 0) return "";
    return what == 1 ? " execution" : " " + any_scopes();
  }

  int any_semaphore() { return below(kSemaphoreCount); }

  void add_sync() {
    const int queue = any_queue();
    const int what = below(12);
    if (what < 3 && !is_graph(queue)) {
      insert({Kind::kText, queue, fmt::format("barrier{} on q{}", any_barrier(), queue)});
    } else if (what == 3 && !is_graph(queue)) {
      add_event(queue);
    } else if (what == 4) {
      insert({Kind::kText, queue,
              below(2) == 0 ? std::string("host idle") : fmt::format("host idle on q{}", queue)});
    } else if (what == 5) {
      insert({Kind::kText, queue, fmt::format("split on q{}", queue)});
    } else {
      add_signal();
      const int wait_count = 1 + below(2);
      for (int k = 0; k < wait_count; ++k) add_wait();
    }
  }

  void add_event(int queue) {
    const int event = event_count_++;
    insert({Kind::kText, queue, fmt::format("set e{}{} on q{}", event, any_barrier(), queue)});
    const auto set = std::ranges::find_if(lines_, [&](const Line& line) {
      return line.text.starts_with(fmt::format("set e{}", event));
    });
    const int behind = static_cast<int>(lines_.end() - set);
    lines_.insert(set + 1 + below(behind),
                  {Kind::kText, queue, fmt::format("await e{} on q{}", event, queue)});
  }

  void add_signal() {
    const int semaphore = any_semaphore();
    const int signaller = options_.orders_signals ? signaller_[static_cast<size_t>(semaphore)]
                                                  : below(static_cast<int>(kinds_.size()) + 1) - 1;
    last_signaled_ = semaphore;
    if (signaller == kHost) {
      insert({Kind::kHostSignal, kHost, "", {semaphore}});
      return;
    }
    Line line{Kind::kSignal, signaller, "", {semaphore}, {any_stages()}};
    const int other = any_semaphore();
    const bool may_join =
        other != semaphore &&
        (!options_.orders_signals || signaller_[static_cast<size_t>(other)] == signaller);
    if (may_join && below(3) == 0) {
      line.semaphores.push_back(other);
      line.stages.push_back(any_stages());
    }
    insert(std::move(line));
  }

  // Most stand behind the signal that was added last.
  void add_wait() {
    Line line{Kind::kHostWait, kHost, "", {last_signaled_}};
    if (below(4) > 0) {
      line = {Kind::kWait, any_queue(), "", {last_signaled_}, {any_stages()}};
    }
    if (below(4) == 0) return insert(std::move(line));
    const auto signal = std::ranges::find_if(lines_, [this](const Line& other) {
      const bool is_signal = other.kind == Kind::kSignal || other.kind == Kind::kHostSignal;
      return is_signal && other.semaphores.front() == last_signaled_;
    });
    const int behind = static_cast<int>(lines_.end() - signal);
    lines_.insert(signal + 1 + below(behind), std::move(line));
  }

  void add_submissions() {
    const int count = below(3);
    for (int k = 0; k < count; ++k) {
      const int queue = any_queue();
      insert({Kind::kText, queue, fmt::format("submit on q{}", queue)});
    }
  }

  std::string point_of(int semaphore, int value) const {
    if (is_binary_[static_cast<size_t>(semaphore)]) return fmt::format("s{}", semaphore);
    return fmt::format("s{}={}", semaphore, value);
  }

  std::string text_of(const Line& line) {
    const auto count_of = [this](int semaphore) {
      return std::ranges::count_if(lines_, [&](const Line& other) {
        const bool is_signal = other.kind == Kind::kSignal || other.kind == Kind::kHostSignal;
        return is_signal && std::ranges::count(other.semaphores, semaphore) > 0;
      });
    };
    std::string text;
    switch (line.kind) {
      case Kind::kText:
        return line.text;
      case Kind::kDispatch:
        return fmt::format("{} on q{}", line.text, line.queue);
      case Kind::kSignal:
        for (size_t k = 0; k < line.semaphores.size(); ++k) {
          const int semaphore = line.semaphores[k];
          const int value = ++values_[static_cast<size_t>(semaphore)];
          text += fmt::format("{} {}", k == 0 ? "signal" : ",", point_of(semaphore, value));
          if (line.stages[k] != "all") text += " after " + line.stages[k];
        }
        return fmt::format("{} on q{}", text, line.queue);
      case Kind::kHostSignal: {
        const int semaphore = line.semaphores[0];
        const int value = ++values_[static_cast<size_t>(semaphore)];
        return fmt::format("host signals {}", point_of(semaphore, value));
      }
      case Kind::kWait: {
        const int semaphore = line.semaphores[0];
        const int value = 1 + below(static_cast<int>(count_of(semaphore)));
        text = fmt::format("wait {}", point_of(semaphore, value));
        if (line.stages[0] != "all") text += " before " + line.stages[0];
        return fmt::format("{} on q{}", text, line.queue);
      }
      case Kind::kHostWait: {
        const int semaphore = line.semaphores[0];
        const int value = 1 + below(static_cast<int>(count_of(semaphore)));
        return fmt::format("host waits {}", point_of(semaphore, value));
      }
    }
    return text;
  }

  Choice& choice_;
  const RandomMachineProgramOptions options_;
  std::string header_;
  std::vector<std::string_view> kinds_;  // By queue.
  std::vector<Line> lines_;
  std::vector<int> graph_operations_;
  std::array<int, kSemaphoreCount> signaller_ = {};
  std::array<int, kSemaphoreCount> values_ = {};
  std::array<bool, kSemaphoreCount> is_binary_ = {};
  int last_signaled_ = 0;
  int event_count_ = 0;
};

}  // namespace

std::string random_machine_program(Choice& choice, const RandomMachineProgramOptions& options) {
  return QueueProgramText(choice, options).make();
}

}  // namespace interlock
