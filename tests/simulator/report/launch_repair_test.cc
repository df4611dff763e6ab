// Repairs of programs that launch captured graphs: what is missing around a launch is put there,
// and what is missing within spells it out.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "encoder/text/printer.h"
#include "fuzz/generate/queue_generator.h"
#include "fuzz/generate/queue_launches.h"
#include "simulator/chains/chain_hazards.h"
#include "simulator/report/read_every_queue.h"
#include "simulator/report/text_repair.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/queue_texts.h"

namespace interlock::launch_repair_test {
namespace {

using ::testing::HasSubstr;

Result<TextRepair> repair_of(const std::string& text) {
  ParseOptions options;
  read_every_queue(options);
  return repair_text(text, "test", options);
}

// By a search of chains; a program with a deadlock is not.
bool is_clean(const std::string& text) {
  const std::optional<Program> program = parse_queues(text);
  if (!program) return false;
  const auto hazards = chain_hazards_of(*program);
  return hazards && hazards->empty();
}

constexpr std::string_view kLaunched =
    "interlock 1\nmemory x 16\nmemory y 16\nmemory z 16\nmemory out 16\n"
    "work: queue serial\ncopies: queue serial\ncapture step\n"
    "make: dispatch Make reads x writes y\nuse: dispatch Use reads {} writes z after make\n"
    "side: dispatch Side reads y updates x{}\nend\n"
    "replay step on work  # the first\nreplay step on work\n{}"
    "fetch: dispatch Fetch reads z writes out on copies\n";

// What is missing stands around the launches: the stream that reads has to wait for them.
TEST(LaunchRepair, KeepsALaunchInWhichNothingChanges) {
  const std::string text = fmt::format(fmt::runtime(kLaunched), "y", " after make", "");
  const auto repair = repair_of(text);
  ASSERT_TRUE(repair.has_value()) << repair.error().message;
  EXPECT_FALSE(repair->is_spelled_out);
  EXPECT_EQ(repair->hazard_count, 0u);
  EXPECT_EQ(repair->text,
            fmt::format(fmt::runtime(kLaunched), "y", " after make",
                        "signal repaired.2=1 on work\nwait repaired.2=1 on copies\n"));
}

TEST(LaunchRepair, SpellsALaunchOutInWhichSomethingChanges) {
  const auto repair = repair_of(fmt::format(fmt::runtime(kLaunched), "y", "", ""));
  ASSERT_TRUE(repair.has_value()) << repair.error().message;
  EXPECT_TRUE(repair->is_spelled_out);
  EXPECT_EQ(repair->hazard_count, 0u);
  EXPECT_THAT(repair->text, HasSubstr("side@1: dispatch Side reads y updates x after "));
}

// With edges left out within, and signals and waits without.
TEST(LaunchRepair, KeepsOrSpellsOutLaunchesOfRandomPrograms) {
  const int count = share_count(150, 3);
  int kept_count = 0;
  int spelled_out_count = 0;
  for (int seed = 0; seed < count; ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    QueueGeneratorOptions options;
    options.ends_values = false;
    ProgramDraft draft = generate_queues(choice, options);
    add_queue_launches(draft, choice);
    const std::string text = print(draft);
    const std::optional<Program> program = parse_queues(text);
    if (!program || program->replays.empty() || is_clean(text)) continue;
    // What may be a hazard is none to a repair.
    if (std::ranges::any_of(program->dispatches, &Dispatch::is_approximate)) continue;
    const Result<TextRepair> repair = repair_of(text);
    if (!repair || repair->hazard_count > 0 || repair->has_deadlock) continue;
    SCOPED_TRACE(text);
    EXPECT_TRUE(is_clean(repair->text)) << repair->text;
    (repair->is_spelled_out ? spelled_out_count : kept_count) += 1;
    EXPECT_EQ(repair->program.replays.size(), repair->is_spelled_out ? 0 : program->replays.size());
  }
  EXPECT_GT(kept_count, count / 20);
  EXPECT_GE(spelled_out_count, count / 20);
}

}  // namespace
}  // namespace interlock::launch_repair_test
