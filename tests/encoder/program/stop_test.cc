// How work is asked to end.
#include "encoder/program/stop.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "encoder/assemble/build.h"
#include "encoder/text/files.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"

namespace interlock::stop_test {
namespace {

TEST(Stop, IsAskedForOnceAndForAll) {
  Stop stop;
  EXPECT_FALSE(stop.poll());
  EXPECT_FALSE(stop.is_requested());
  stop.request();
  EXPECT_TRUE(stop.is_requested());
  EXPECT_TRUE(stop.poll());
  EXPECT_TRUE(stop.poll());
}

TEST(Stop, IsAskedForAtAPollThatATestChooses) {
  Stop stop;
  stop.request_at_poll(3);
  EXPECT_FALSE(stop.poll());
  EXPECT_FALSE(stop.is_requested());  // No poll.
  EXPECT_FALSE(stop.poll());
  EXPECT_TRUE(stop.poll());
  EXPECT_TRUE(stop.poll());
  EXPECT_EQ(stop.poll_count(), 4u);
}

TEST(Stop, IsOfTheScopeAndTheThreadThatInstallIt) {
  EXPECT_FALSE(is_stopped());
  Stop stop;
  stop.request();
  {
    const StopScope scope(&stop);
    EXPECT_EQ(installed_stop(), &stop);
    EXPECT_TRUE(is_stopped());
    {
      const StopScope to_the_end(nullptr);
      EXPECT_FALSE(is_stopped());
    }
    EXPECT_TRUE(is_stopped());
    std::thread([] { EXPECT_FALSE(is_stopped()); }).join();
  }
  EXPECT_FALSE(is_stopped());
}

TEST(Stop, EndsParsingInTheMiddle) {
  std::string text = "interlock 1\nmemory m 16\n";
  for (int i = 0; i < 1000; ++i) text += "dispatch A reads m\n";
  Stop stop;
  stop.request_at_poll(500);
  const StopScope scope(&stop);
  EXPECT_EQ(parse(text).error().message, "<text>:500:1: error: reading was stopped here.");
  EXPECT_EQ(stop.poll_count(), 500u);
}

// A draft that is built is whole, or has an error of its own: minimizations build on that.
TEST(Stop, EndsNoBuild) {
  const auto program =
      parse("interlock 1\nmemory m 16\ncapture c\ndispatch A reads m\nend\nreplay c\n");
  ASSERT_TRUE(program);
  Stop stop;
  stop.request();
  const StopScope scope(&stop);
  const auto built = build(draft_of(*program));
  ASSERT_TRUE(built);
  EXPECT_EQ(print(*built), print(*program));
}

TEST(Stop, LetsNothingBeWrittenThatMayBeWrong) {
  const std::string path = testing::TempDir() + "interlock_stop_test.ilk";
  ASSERT_TRUE(write_file(path, "whole"));
  Stop stop;
  stop.request();
  const StopScope scope(&stop);
  EXPECT_FALSE(write_file(path, "half"));
  const StopScope to_the_end(nullptr);
  EXPECT_TRUE(write_file(path, "what was found"));
}

}  // namespace
}  // namespace interlock::stop_test
