// The clause `actual`: what an opaque dispatch touches and does not declare. Text keeps it,
// encoders do not see it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "encoder/sync/encoder.h"
#include "encoder/sync/interlock_encoder.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "tests/encoder/text/round_trip.h"

namespace interlock::actual_clause_test {
namespace {

using testing::HasSubstr;

constexpr const char* kPreamble = "interlock 1\nmemory a 64\nmemory b 64\nmemory c 64\n";

Program parsed(const std::string& lines) {
  auto p = parse(kPreamble + lines, "p.ilk");
  EXPECT_TRUE(p) << p.error().message;
  return p ? std::move(p).value() : Program{};
}

std::string error_of(const std::string& line) {
  const auto p = parse(kPreamble + line, "p.ilk");
  return p ? "no error" : p.error().message;
}

TEST(ActualClause, RoundTripsBehindAllThatIsDeclared) {
  const std::string lines =
      "one: dispatch K reads a writes b actual reads c[0:4] updates b[8:16]\n"
      "dispatch K actual reads a\n"
      "dispatch K atomics a actual reads b atomics c partial atomic=add lr=1\n"
      "expect undeclared one\n";
  EXPECT_EQ(expect_round_trip(parsed(lines)), kPreamble + lines);
}

TEST(ActualClause, AddsAccessesThatAreNotDeclared) {
  const Program program = parsed("dispatch K reads a writes b actual reads c updates b");
  EXPECT_EQ(program.accesses_of(DispatchId(0)).size(), 4u);
  EXPECT_EQ(program.declared_accesses_of(DispatchId(0)).size(), 2u);
  EXPECT_EQ(parsed("dispatch K actual reads c").declared_accesses_of(DispatchId(0)).size(), 0u);
}

TEST(ActualClause, HasErrorsThatSayWhatIsWrong) {
  EXPECT_THAT(
      error_of("dispatch K reads a actual"),
      HasSubstr(
          "p.ilk:5:26: error: found the end of the line; expected reads, writes, updates or another clause after 'actual'"));
  EXPECT_THAT(error_of("dispatch K reads a actual b"), HasSubstr("5:27: error: found 'b'"));
  EXPECT_THAT(error_of("dispatch K actual reads a actual reads b"), HasSubstr("5:27: error:"));
  EXPECT_THAT(error_of("dispatch K actual writes a reads b"), HasSubstr("out of order"));
  EXPECT_THAT(error_of("dispatch K partial actual reads b"), HasSubstr("5:20: error:"));
  EXPECT_THAT(error_of("dispatch K reads actual reads b"),
              HasSubstr("expected an operand after 'reads'"));
  EXPECT_THAT(error_of("dispatch copy reads a writes b actual reads c"),
              HasSubstr("only opaque dispatches have 'actual' operands"));
}

// The smallest repair is to declare it.
TEST(ActualClause, IsHiddenFromEncoders) {
  InterlockEncoder encoder;
  const std::string writer = "dispatch K writes a\n";
  EXPECT_EQ(encode(parsed(writer + "dispatch K writes b actual reads a"), encoder).barriers.size(),
            0u);
  InterlockEncoder other;
  EXPECT_EQ(encode(parsed(writer + "dispatch K reads a writes b"), other).barriers.size(), 1u);
}

TEST(ActualClause, OutlivesEncoding) {
  InterlockEncoder encoder;
  const Program encoded = encode(parsed("one: dispatch K actual reads a"), encoder);
  EXPECT_THAT(print(encoded), HasSubstr("one: dispatch K actual reads a"));
}

}  // namespace
}  // namespace interlock::actual_clause_test
