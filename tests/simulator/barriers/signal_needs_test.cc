// Timelines that several queues signal, or the host does too: which sync can go, asked of chains
// and of the order of signals, against a check without each piece. Fixed seeds.
#include "simulator/barriers/signal_needs.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/barriers/queue_cuts.h"
#include "simulator/barriers/sync_redundancy.h"
#include "simulator/chains/chain_hazards.h"
#include "simulator/order/reference_order.h"
#include "simulator/order/signal_order.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/queue_texts.h"

namespace interlock::signal_needs_test {
namespace {

using testing::ElementsAre;

// Queues that take turns at one or two timelines, beside semaphores of their own, barriers and
// events, each of them in stages that are drawn. Signals are mostly in order by waits for the one
// before, and now and then by way of others.
class Turns {
 public:
  explicit Turns(uint64_t seed) : choice_(seed) {}

  std::string text() {
    text_ = "interlock 1\nmemory m 4\n";
    queue_count_ = 2 + choice_.below(2);
    constexpr std::string_view kKinds[] = {"concurrent", "concurrent", "serial", "serial blocking",
                                           "legacy-default"};
    for (uint64_t q = 0; q < queue_count_; ++q) line("q{}: queue {}", q, kKinds[choice_.below(5)]);
    const uint64_t timeline_count = 1 + choice_.below(2);
    for (uint64_t left = 3 + choice_.below(8); left > 0; --left) {
      const uint64_t queue = choice_.below(queue_count_);
      add_noise(queue);
      if (choice_.chance(1, 2)) access(queue);
      if (choice_.chance(2, 3)) signal(choice_.below(timeline_count), queue);
    }
    return text_;
  }

 private:
  template <typename... Parts>
  void line(fmt::format_string<const Parts&...> form, const Parts&... parts) {
    text_ += fmt::format(form, parts...) + "\n";
  }

  std::string stages(std::string_view word) {
    constexpr std::array<std::string_view, 6> kStages = {"",    "", "", "compute", "compute|copy",
                                                         "copy"};
    const std::string_view drawn = kStages[choice_.below(kStages.size())];
    return drawn.empty() ? "" : fmt::format(" {} {}", word, drawn);
  }

  void access(uint64_t queue) {
    const uint64_t begin = choice_.below(3);
    line("dispatch {} {} m[{}:{}] on q{}", choice_.chance(3, 4) ? "Work" : "copy",
         choice_.chance(1, 3) ? "reads" : "writes", begin, begin + 1 + choice_.below(4 - begin),
         queue);
  }

  void signal(uint64_t timeline, uint64_t queue) {
    Timeline& t = timelines_[timeline];
    const bool is_of_host = choice_.chance(1, 10);
    if (t.value > 0 && (t.queue != queue || is_of_host) && choice_.chance(19, 20)) {
      if (is_of_host) {
        line("host waits t{}={}", timeline, t.value);
      } else {
        line("wait t{}={}{} on q{}", timeline, t.value, stages("before"), queue);
      }
    }
    if (choice_.chance(1, 3)) add_noise(queue);
    ++t.value;
    if (is_of_host) {
      line("host signals t{}={}", timeline, t.value);
    } else {
      line("signal t{}={}{} on q{}", timeline, t.value, stages("after"), queue);
    }
    t.queue = is_of_host ? queue_count_ : queue;
  }

  void add_noise(uint64_t queue) {
    switch (choice_.below(7)) {
      case 0:
        return line("barrier{} on q{}", choice_.chance(1, 2) ? "" : " all -> all|copy.write",
                    queue);
      case 1:
        return line("barrier compute.write|copy.write -> compute|copy on q{}", queue);
      case 2: {
        Timeline& own = own_[queue];
        line("signal s{}={}{} on q{}", queue, ++own.value, stages("after"), queue);
        return line("wait s{}={}{} on q{}", queue, 1 + choice_.below(own.value), stages("before"),
                    choice_.below(queue_count_));
      }
      case 3: {
        const uint64_t event = event_count_++;
        line("set e{} on q{}", event, queue);
        if (choice_.chance(1, 2)) signal(0, choice_.below(queue_count_));
        return line("await e{} on q{}", event, queue);
      }
      case 4: {
        const uint64_t timeline = choice_.below(timelines_.size());
        const uint64_t value = timelines_[timeline].value;
        if (value == 0) return;
        return line("wait t{}={}{} on q{}", timeline, 1 + choice_.below(value), stages("before"),
                    queue);
      }
      case 5:
        if (choice_.chance(1, 4)) line("host idle{}", choice_.chance(1, 2) ? "" : " on q0");
        return;
      default:
        return;
    }
  }

  struct Timeline {
    uint64_t value = 0;
    uint64_t queue = 0;  // That signaled it last.
  };

  SeededChoice choice_;
  std::string text_;
  uint64_t queue_count_ = 0;
  uint64_t event_count_ = 0;
  std::array<Timeline, 2> timelines_;
  std::array<Timeline, 3> own_;  // By queue.
};

bool has_crossing_signals(const Program& program) {
  for (const std::vector<StatementId>& signals : crossing_signals_of(program)) {
    if (!signals.empty()) return true;
  }
  return false;
}

std::vector<std::string> descriptions_of(const Program& program,
                                         const std::vector<SyncPiece>& pieces) {
  std::vector<std::string> descriptions;
  for (const SyncPiece& piece : pieces) descriptions.push_back(description_of(program, piece));
  return descriptions;
}

TEST(FindSignalNeeds, SaysOfTimelinesThatSeveralSignalWhatTheRemovalOfEachSays) {
  const int count = proof_count(100'000, 3000, 60);
  int program_count = 0;
  int goes_count = 0;
  int stays_count = 0;
  for (int seed = 0; seed < count; ++seed) {
    const std::string text = Turns(static_cast<uint64_t>(seed)).text();
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    const std::optional<Program> program = parse_queues(text);
    const bool is_asked = program && QueueCuts::can_judge(*program) &&
                          find_reference_order(*program).is_text_order &&
                          has_crossing_signals(*program) && chain_hazards_of(*program);
    if (!is_asked) continue;
    const SyncRedundancy alone =
        find_redundant_sync(*program, {.alone_max = SIZE_MAX, .asks_chains = false});
    const SyncRedundancy by_chains = find_redundant_sync(*program, {.alone_max = 0});
    ASSERT_EQ(descriptions_of(*program, alone.redundant),
              descriptions_of(*program, by_chains.redundant));
    ASSERT_EQ(alone.redundant, by_chains.redundant);
    ASSERT_EQ(by_chains.unjudged_count, 0);
    ++program_count;
    goes_count += static_cast<int>(alone.redundant.size());
    stays_count += static_cast<int>(sync_pieces_of(*program).size()) -
                   static_cast<int>(alone.redundant.size());
  }
  EXPECT_GT(program_count, count / 10);
  EXPECT_GT(goes_count, program_count);
  EXPECT_GT(stays_count, program_count);
  print_proof(count, "sync beside timelines of several queues, one by one and by chains");
}

// The barrier leads from what the wait holds back to what the signal covers; no access needs
// either.
TEST(FindSignalNeeds, NeedsWhatOrdersOneSignalAfterAnother) {
  const Program program = program_with_queues(R"(interlock 1
memory x 64
q1: queue concurrent
q2: queue concurrent
signal t=1 on q1
wait t=1 before compute on q2
barrier compute -> copy on q2
barrier compute -> copy on q1
signal t=2 after copy on q2
wait t=2 on q1
)");
  ASSERT_TRUE(QueueCuts::can_judge(program));
  EXPECT_THAT(
      descriptions_of(program, find_redundant_sync(program, {.alone_max = 0}).redundant),
      ElementsAre("the barrier on q1 (statement 3)", "the wait for t=2 on q1 (statement 5)"));
}

// Queues take turns at one timeline: what each removal says takes a check of all of it.
TEST(FindSignalNeeds, TakesWorkThatIsLinearInTheSignals) {
  for (const int block_count : {64, is_slow_build() ? 96 : 256}) {
    std::string text = "interlock 1\nmemory m 4096\nq1: queue concurrent\nq2: queue concurrent\n";
    for (int block = 0; block < block_count; ++block) {
      const int queue = 1 + block % 2;
      const int slot = block % 8 * 64;
      if (block >= 3) text += fmt::format("wait t={} on q{}\n", block - 2, queue);
      text += fmt::format("barrier compute.write -> compute.read on q{}\n", queue);
      text += fmt::format("dispatch Work reads m[{}:{}] writes m[{}:{}] on q{}\n",
                          2048 + (slot + 320) % 512, 2048 + (slot + 320) % 512 + 64, 2048 + slot,
                          2048 + slot + 64, queue);
      if (block > 0) text += fmt::format("wait t={} on q{}\n", block, queue);
      text += fmt::format("signal t={} on q{}\n", block + 1, queue);
    }
    const Program program = program_with_queues(text);
    ASSERT_TRUE(has_crossing_signals(program));
    const uint64_t work_limit = 400 * program.statements.size();
    const SyncRedundancy by_chains = find_redundant_sync(program, {.work_limit = work_limit});
    EXPECT_EQ(by_chains.unjudged_count, 0);
    const SyncRedundancy by_removal =
        find_redundant_sync(program, {.work_limit = work_limit, .asks_chains = false});
    EXPECT_GT(by_removal.unjudged_count, 0);
  }
}

}  // namespace
}  // namespace interlock::signal_needs_test
