#include <gtest/gtest.h>

#include <string>

#include "encoder/text/parser.h"

namespace interlock::parse_order_errors_test {
namespace {

TEST(ParseErrorOfOrder, RejectsTheSameNumberTwiceWhereverItStands) {
  const std::string text =
      "interlock 1\ndispatch A order=5\ndispatch B order=7\ndispatch C order=6\n";
  EXPECT_TRUE(parse(text + "dispatch D order=4\n"));
  for (const char* number : {"5", "6", "7"}) {
    EXPECT_EQ(parse(text + "dispatch D order=" + number + "\n", "p.ilk").error().message,
              std::string("p.ilk:5:12: error: order=") + number +
                  " stands on two dispatches; the numbers must differ.\n"
                  "  - While adding 'D' as dispatch 3.");
  }
}

TEST(ParseErrorOfOrder, RejectsADispatchWithoutItBehindOneWithIt) {
  EXPECT_EQ(
      parse("interlock 1\ndispatch A order=5\ndispatch B\n", "p.ilk").error().message,
      "p.ilk:3:1: error: this dispatch has no 'order=' and earlier ones have it; it stands on all dispatches or on none.\n"
      "  - While adding 'B' as dispatch 1.");
}

}  // namespace
}  // namespace interlock::parse_order_errors_test
