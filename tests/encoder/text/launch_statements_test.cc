// Replays on serial queues of what was recorded with edges: which names they take, and what is no
// launch.
#include <gtest/gtest.h>

#include <string>

#include "encoder/text/parser.h"

namespace interlock::launch_statements_test {
namespace {

Result<Program> read(const std::string& statements) {
  ParseOptions options;
  options.reads_every_queue = true;
  return parse("interlock 1\n" + statements, "q.ilk", options);
}

std::string error_of(const std::string& statements) {
  const Result<Program> program = read(statements);
  return program ? "" : program.error().message.substr(std::string("q.ilk:").size());
}

const std::string kStreams = "s: queue serial\n";
const std::string kEdges = "capture c\na: dispatch K\ndispatch K after a\nend\n";
const std::string kLaunch = kStreams + kEdges + "replay c on s\n";

TEST(LaunchStatements, KeepTheirQueueApart) {
  EXPECT_EQ(error_of(kLaunch), "");
  EXPECT_EQ(error_of(kLaunch + "dispatch K on s.launches\n"),
            "8:15: error: queue 's.launches' is that of what replays on 's' execute, and of no "
            "other statement.\n  - While adding 'K' as dispatch 2.");
  EXPECT_EQ(error_of(kLaunch + "wait s.launches=1\n"),
            "8:6: error: semaphore 's.launches' is that of replays on a serial queue; expected "
            "another name.");
  EXPECT_EQ(error_of(kLaunch + "late: queue serial\n"),
            "8:1: error: queue 'late' is declared after a replay on a serial queue, which has a "
            "queue of its own; expected it before.");
}

TEST(LaunchStatements, TakeNoNameThatIsThere) {
  EXPECT_EQ(error_of("s.launches: queue serial\n" + kLaunch),
            "8:13: error: queue 's.launches' stands before this line; the replay gives this name "
            "to what 's' launches.\n  - While adding replay 1 of capture 'c'.");
  EXPECT_EQ(error_of("signal s.launches=1\n" + kLaunch),
            "8:13: error: semaphore 's.launches' stands before this line; the replay gives this "
            "name to what 's' launches.\n  - While adding replay 1 of capture 'c'.");
}

TEST(LaunchStatements, HaveNoBarriers) {
  const std::string capture = "capture c\na: dispatch K\nbarrier\ndispatch K after a\nend\n";
  EXPECT_EQ(error_of(kStreams + capture + "replay c on s\n"),
            "8:13: error: the capture records a barrier beside edges, which are those of a graph: "
            "queue 's' launches it as a whole, and edges alone order what is in it.\n"
            "  - While adding replay 1 of capture 'c'.");
}

}  // namespace
}  // namespace interlock::launch_statements_test
