// Which sync can go beside a hazard: what an access is separated from stays so.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "simulator/barriers/queue_cuts.h"
#include "simulator/barriers/sync_redundancy.h"
#include "tests/simulator/programs/queue_texts.h"

namespace interlock::separated_firsts_test {
namespace {

// Whether the statement labelled `sync` can go, one by one as by chains. Requires: there is one.
bool can_go(const std::string& text) {
  const Program program = program_with_queues(text);
  EXPECT_TRUE(QueueCuts::can_judge(program));
  const SyncRedundancy alone =
      find_redundant_sync(program, {.alone_max = SIZE_MAX, .asks_chains = false});
  const SyncRedundancy by_chains = find_redundant_sync(program, {.alone_max = 0});
  EXPECT_EQ(alone.redundant, by_chains.redundant) << text;
  for (const SyncPiece& piece : by_chains.redundant) {
    const NameId label = program.statements[piece.statement.index].label;
    if (label.is_some() && program.name(label) == "sync") return true;
  }
  return false;
}

// The latest write is a hazard; the one before it is not, and only by that wait.
TEST(FindRedundantSync, LooksPastAFirstThatHasAHazard) {
  constexpr std::string_view kText =
      "interlock 1\nmemory x 64\nmemory y 64\nmemory z 64\na: queue serial\nb: queue serial\n"
      "dispatch Make writes {} on a\nsignal s=1 on a\nsync: wait s=1 on b\n"
      "dispatch Make writes x on a\ndispatch Use reads x writes y on b\n";
  EXPECT_FALSE(can_go(fmt::format(kText, "x")));
  EXPECT_FALSE(can_go(fmt::format(kText, "x[60:64]")));
  EXPECT_TRUE(can_go(fmt::format(kText, "z")));
}

// On the other bytes of an access with a hazard another one is the latest.
TEST(FindRedundantSync, LooksAtTheBytesBesideAHazard) {
  constexpr std::string_view kText =
      "interlock 1\nmemory x 64\nmemory y 64\na: queue concurrent\nb: queue serial\n"
      "dispatch Make writes x[{}] on a\nsignal s=1 on a\nsync: wait s=1 on b\n"
      "dispatch Make writes x[32:64] on a\ndispatch Use reads x[16:64] writes y on b\n";
  EXPECT_FALSE(can_go(fmt::format(kText, "0:32")));
  EXPECT_TRUE(can_go(fmt::format(kText, "0:16")));
}

// The barrier in the middle is meant for neither, and what they have is its order.
TEST(FindRedundantSync, KeepsTheOrderOfWhatIsNotVisible) {
  const std::string begin =
      "interlock 1\nmemory x 64\nmemory y 64\na: queue concurrent\n"
      "dispatch Make writes x on a\nbarrier compute -> copy on a\n";
  const std::string end =
      "barrier indirect -> graphics on a\ndispatch Use in graphics reads x writes y on a\n";
  EXPECT_FALSE(can_go(begin + "sync: barrier copy -> indirect on a\n" + end));
  EXPECT_TRUE(can_go(begin + "barrier copy -> indirect on a\n" +
                     "sync: barrier copy -> indirect on a\n" + end));
}

// Two queues that take turns, with four slots between them; one wait is missing.
TEST(FindRedundantSync, TakesLittleMoreWorkWithAHazard) {
  for (const int count : {64, 256}) {
    std::string text = "interlock 1\nmemory x 256\na: queue serial\nb: queue serial\n";
    for (int i = 1; i <= count; ++i) {
      const std::string slot = fmt::format("x[{}:{}]", i % 4 * 64, i % 4 * 64 + 64);
      if (i > 4 && i != count / 2) text += fmt::format("wait t={} on a\n", i - 4);
      text += fmt::format("dispatch Make writes {} on a\nsignal s={} on a\n", slot, i);
      text +=
          fmt::format("wait s={0} on b\ndispatch Use reads {1} on b\nsignal t={0} on b\n", i, slot);
    }
    const Program program = program_with_queues(text);
    const SyncRedundancy found =
        find_redundant_sync(program, {.work_limit = 300 * program.statements.size()});
    EXPECT_EQ(found.unjudged_count, 0) << count;
  }
}

}  // namespace
}  // namespace interlock::separated_firsts_test
