// Barriers after the last dispatch, as commands meet them: for what comes after the file; and
// scopes that are wider than needed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/cli/command.h"

namespace interlock::closing_barriers_test {
namespace {

using testing::HasSubstr;
using testing::Not;

// A recorder that ends each frame with a barrier: what comes after is in no file.
TEST(CheckCommand, DeniesNoBarrierAfterTheLastDispatch) {
  const std::string frame =
      "interlock 1\nmemory a 64\ndispatch Make writes a\nbarrier\ndispatch Use reads a\nbarrier\n";
  const CommandResult result = run_interlock({"check", "--deny=redundant", "-"}, frame);
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(
      result.out,
      "1 barrier stands after the last dispatch: for what comes after this text, and no advice.\n"
      "2 dispatches, 2 accesses, 2 barriers (1 after the last dispatch); fewest for this order 1, longest chain 1; no findings. As few barriers as there can be; proven.\n");
  EXPECT_THAT(run_interlock({"check", "-"}, frame).out, Not(HasSubstr("can go")));
  EXPECT_THAT(run_interlock({"check", "--format=sarif", "--deny=redundant", "-"}, frame).out,
              HasSubstr("\"results\":[]"));
  EXPECT_EQ(
      run_interlock({"check", "--deny=redundant", "-"}, frame + "expect redundant 1\n").status, 0);
  // Two at its end, and one that is too many within it.
  const std::string more =
      "interlock 1\nmemory a 64\ndispatch Make writes a\nbarrier\nbarrier\ndispatch Use reads a\n"
      "barrier\n";
  EXPECT_EQ(run_interlock({"check", "--deny=redundant", "-"}, more).status, 1);
}

// Command buffers of one queue: what ends one guards the next, and what ends the last one is
// closing.
TEST(CheckCommand, DeniesNoBarrierAtTheEndOfACommandBuffer) {
  const std::string buffers =
      "interlock 1\nmemory a 64\ndispatch Make writes a\nbarrier\nsplit\ndispatch Use reads a\n"
      "barrier\nsplit\n";
  const CommandResult result = run_interlock({"check", "--deny=redundant", "-"}, buffers);
  EXPECT_EQ(result.status, 0) << result.out;
  EXPECT_THAT(result.out, HasSubstr("2 barriers (1 after the last dispatch)"));
}

// What repairs a file, and what shrinks one, leave alone or leave out what closes it.
TEST(FixCommand, LeavesABarrierAfterTheLastDispatch) {
  const std::string path = temporary_file(
      "frame.ilk",
      "interlock 1\nmemory a 64\ndispatch Make writes a\ndispatch Use reads a\nbarrier\n");
  const CommandResult fixed = run_interlock({"fix", path});
  EXPECT_THAT(fixed.out, HasSubstr("+barrier"));
  EXPECT_THAT(fixed.out, Not(HasSubstr("-barrier")));
  const CommandResult small = run_interlock({"minimize", path, "-o", "-"});
  EXPECT_EQ(small.out.find("\nbarrier"), std::string::npos) << small.out;
  EXPECT_THAT(small.out, HasSubstr("dispatch Use reads a"));
}

TEST(ScopeAdviceCommand, SaysWhatWouldDoInPlaceOfAll) {
  const std::string file = temporary_file(
      "wide-scope.ilk",
      "interlock 1\nmemory x 64\ndispatch A writes x\nbarrier all.write -> all.read\n"
      "dispatch B reads x\n");
  const CommandResult result = run_interlock({"check", "--advice", file});
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.out, HasSubstr("wider than needed: statement 1 could be `barrier "
                                    "compute.write -> compute.read`.\n"));
  EXPECT_THAT(run_interlock({"check", file}).out, Not(HasSubstr("wider than needed")));
}

}  // namespace
}  // namespace interlock::closing_barriers_test
