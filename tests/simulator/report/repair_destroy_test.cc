// The repairs of destroys that reports name: each is made in the text of the program, and the
// search of chains says what is pending then. And which one is named. Fixed seeds.
#include "simulator/report/repair_destroy.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "encoder/kernel/kernel_table.h"
#include "encoder/text/printer.h"
#include "simulator/bytes/access_ref.h"
#include "simulator/chains/chain_destroys.h"
#include "simulator/chains/chain_hazards.h"
#include "simulator/order/queue_order.h"
#include "simulator/report/check.h"
#include "simulator/report/read_every_queue.h"
#include "simulator/report/text_repair.h"
#include "tests/program_count.h"
#include "tests/simulator/judges/repair_lines.h"
#include "tests/simulator/programs/queue_texts.h"
#include "tests/simulator/programs/random_destroys.h"

namespace interlock::repair_destroy_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kHead =
    "interlock 1\nmemory p 64\nmemory o 64\ntensor a u8[64] at p+0\nq1: queue serial\n"
    "q2: queue serial\nc: queue concurrent\ng: queue graph\n";

std::vector<std::string> destroy_fixes_of(const std::string& body) {
  std::vector<std::string> fixes;
  for (const Finding& finding : check(program_with_queues(kHead + body)).findings) {
    if (finding.pending_at.is_some()) fixes.push_back(finding.fix);
  }
  return fixes;
}

Result<TextRepair> text_repair_of(const std::string& text) {
  ParseOptions options;
  read_every_queue(options);
  return repair_text(text, "test", options);
}

// Chains find nothing pending afterwards, and the check nothing at all.
void expect_all_repaired(const std::string& text) {
  SCOPED_TRACE(text);
  const Result<TextRepair> repair = text_repair_of(text);
  ASSERT_TRUE(repair.has_value()) << repair.error().message;
  EXPECT_GT(repair->destroy_count_before, 0);
  EXPECT_EQ(repair->destroy_count, 0) << repair->text;
  EXPECT_GT(repair->added_count, 0);
  if (needs_queue_order(repair->program)) {
    EXPECT_THAT(chain_destroys_of(repair->program), IsEmpty()) << repair->text;
  }
  EXPECT_THAT(check(repair->program).findings, IsEmpty()) << repair->text;
}

TEST(FindDestroyRepair, IsWhatFixDoes) {
  const std::string write = "a: dispatch A writes a on q1\n";
  const std::string read =
      "dispatch A writes a on q1\nsignal s=1 on q1\nwait s=1 on q2\n"
      "b: dispatch R reads a writes o on q2\n";
  expect_all_repaired(kHead + write + "submit on q1\ndestroy a\n");
  expect_all_repaired(kHead + write + "destroy a\nsubmit on q1\n");
  expect_all_repaired(kHead + write + "destroy a on q2\n");
  expect_all_repaired(kHead + read + "destroy a on q1\n");
  expect_all_repaired(kHead + read + "host waits s=1\ndestroy a\n");
  expect_all_repaired(kHead + read + "signal t=1 on q2\ndestroy a\n");
  expect_all_repaired(kHead + std::string("a: dispatch A writes a on c\ndestroy a on c\n"));
  expect_all_repaired(kHead + std::string("a: dispatch A writes a on g\ndestroy a on c\n"));
  // One queue, also where a pin keeps the destroy waiting.
  const std::string one = "interlock 1\nmemory p 64\ntensor a u8[64] at p+0\ndispatch A writes a\n";
  expect_all_repaired(one + "destroy a\n");
  expect_all_repaired(one + "pin a\ndestroy a\nbarrier\ndispatch B reads a\nunpin a\n");
  expect_all_repaired(one +
                      "barrier compute.write -> compute.read\ndispatch B reads a\ndestroy a\n");
}

TEST(FindDestroyRepair, NamesWhatIsThereFirst) {
  const std::string write = "wa: dispatch A writes a on q1\n";
  EXPECT_THAT(destroy_fixes_of(write + "signal s=1 on q1\ndestroy a\n"),
              ElementsAre("`host waits s=1` before 'destroy a'."));
  EXPECT_THAT(destroy_fixes_of(write + "signal s=1 on q1\ndestroy a on q2\n"),
              ElementsAre("`wait s=1 on q2` before 'destroy a'."));
  EXPECT_THAT(destroy_fixes_of(write + "destroy a\n"),
              ElementsAre("a signal on q1 after wa (dispatch 0) that the host waits for before "
                          "'destroy a'."));
  EXPECT_THAT(destroy_fixes_of(write + "destroy a\nsubmit on q1\n"),
              ElementsAre("a signal on q1 after wa (dispatch 0), submitted there, that the host "
                          "waits for before 'destroy a'."));
  EXPECT_THAT(destroy_fixes_of("wa: dispatch A writes a on c\ndestroy a on c\n"),
              ElementsAre("`barrier execution on c` between wa (dispatch 0) and 'destroy a'."));
}

// A signal after the destroy lets the access go on: to wait for that before would be a deadlock.
TEST(FindDestroyRepair, SaysWhereNoSyncDoes) {
  const std::string held = "wait s=1 on q1\nwa: dispatch A writes a on q1\n";
  EXPECT_THAT(destroy_fixes_of(held + "submit on q1\ndestroy a\nhost signals s=1\n"),
              ElementsAre("put 'destroy a' after a wait for wa (dispatch 0). No small change of "
                          "sync that was tried lets it wait."));
  EXPECT_THAT(destroy_fixes_of(held + "destroy a on q2\nsignal s=1 on q2\n"),
              ElementsAre(HasSubstr("No small change of sync that was tried lets it wait.")));
  const Result<TextRepair> repair =
      text_repair_of(kHead + held + "destroy a on q2\nsignal s=1 on q2\n");
  ASSERT_TRUE(repair.has_value());
  EXPECT_EQ(repair->destroy_count_before, 1);
  EXPECT_EQ(repair->destroy_count, 1);
  EXPECT_EQ(repair->added_count, 0);
  // The signal is of another queue, which does not wait.
  EXPECT_THAT(destroy_fixes_of(held + "destroy a on q2\nsignal s=1 on c\n"),
              ElementsAre("a signal on q1 after wa (dispatch 0), and a wait for it on q2 before "
                          "'destroy a'."));
}

TEST(FindDestroyRepair, LetsTheDestroyWaitInRandomPrograms) {
  const int count = share_count(4'000, 10);
  int made = 0;
  int not_made = 0;
  for (int seed = 0; seed < count; ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed) + 900'000);
    const std::string text = print(draft_with_destroys(choice));
    const std::optional<Program> program = parse_queues(text);
    if (!program || !needs_queue_order(*program)) continue;
    const auto before = chain_hazards_of(*program);
    if (!before) continue;  // A deadlock.
    for (const Finding& finding : check(*program, {.redundancy_budget = 0}).findings) {
      if (!finding.pending_at.is_some()) continue;
      if (finding.repair.empty()) {
        ++not_made;
        continue;
      }
      ++made;
      const std::string repaired_text = with_repair(text, *program, finding.repair);
      SCOPED_TRACE(fmt::format("seed {}\n{}\n{}\n{}", seed, text, finding.fix, repaired_text));
      const std::optional<Program> repaired = parse_queues(repaired_text);
      ASSERT_TRUE(repaired.has_value());
      const auto after = chain_hazards_of(*repaired);
      ASSERT_TRUE(after.has_value()) << "a deadlock";
      const DispatchId user = finding.first.dispatch;
      const ChainDestroy named{
          finding.lifetime, user,
          stage_of(program->dispatch(user), access_of(*program, finding.first))};
      for (const ChainDestroy& pending : chain_destroys_of(*repaired)) {
        ASSERT_FALSE(pending == named);
      }
    }
  }
  EXPECT_GT(made, count / 20);
  EXPECT_GT(not_made, 0);
}

}  // namespace
}  // namespace interlock::repair_destroy_test
