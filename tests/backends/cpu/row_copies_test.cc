// Copies and fills of rows on the CPU, against what they are by definition, byte by byte.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "backends/cpu/instrumented.h"
#include "encoder/text/parser.h"
#include "simulator/facts/find_facts.h"
#include "simulator/order/happens_before.h"
#include "simulator/schedules/choice.h"
#include "simulator/schedules/strategy_three.h"
#include "tests/backends/dispatch_steps.h"
#include "tests/backends/kernels/kernel_case.h"
#include "tests/backends/row_copies.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/queue_texts.h"

namespace interlock::row_copies_test {
namespace {

// At once, late and in other orders; and no body touches what it does not declare.
TEST(RowCopies, MoveTheBytesThatTheirDefinitionSays) {
  SeededChoice choice(1);
  int several_count = 0;
  const int count = program_count(500);
  for (int i = 0; i < count && !testing::Test::HasFailure(); ++i) {
    const RowCopyCase c = random_row_copy(choice);
    several_count += c.has_several_parts;
    const Program program = program_with_queues(c.text);
    ASSERT_TRUE(find_facts(program, {}).facts.empty()) << c.text;
    const HappensBefore order(program);
    for (const Schedule& schedule :
         {reference_order_schedule(program), epoch_reversed_schedule(program, order),
          lazy_schedule(program, order)}) {
      const MemoryImage image = image_after(program, schedule);
      ASSERT_EQ(image.memories[0], c.m) << c.text;
      ASSERT_EQ(image.memories[1], c.out) << c.text;
    }
    EXPECT_TRUE(find_undeclared(program, {}).value().empty()) << c.text;
  }
  EXPECT_GT(several_count, count / 4);
}

// Where the rows of the two sides share bytes it depends on the order of the bytes what is left.
TEST(RowCopies, MayNotShareBytesWithWhatTheyRead) {
  const auto finds_alias = [](const char* written) {
    const Program program = program_with_queues(fmt::format(
        "interlock 1\nmemory m 64\ndispatch copy reads m[0:64 rows 2 pitch 32 width 8] writes {}\n",
        written));
    return !find_facts(program, {}).facts.empty();
  };
  EXPECT_FALSE(finds_alias("m[8:64 rows 2 pitch 32 width 8]"));
  EXPECT_TRUE(finds_alias("m[7:64 rows 2 pitch 32 width 8]"));
  EXPECT_FALSE(finds_alias("m[8:24]"));
  EXPECT_TRUE(finds_alias("m[17:33]"));
}

std::string error_of_operands(const char* operands) {
  ParseOptions options;
  options.reads_every_queue = true;
  const Result<Program> program =
      parse(fmt::format("interlock 1\nmemory m 64\nmemory o 64\ntensor x f32[4] at m+0\n"
                        "dispatch {}\n",
                        operands),
            "rows.ilk", options);
  return program ? "" : program.error().message;
}

TEST(RowCopies, HaveAsManyBytesOnBothSides) {
  EXPECT_EQ(error_of_operands("copy reads m[0:64 rows 4 pitch 16 width 4] writes o[0:16]"), "");
  EXPECT_THAT(error_of_operands("copy reads m[0:64 rows 4 pitch 16 width 4] writes o[0:17]"),
              testing::HasSubstr("has 17 bytes"));
  EXPECT_THAT(error_of_operands("copy reads m[0:8] o[0:64 rows 2 pitch 8 width 4] writes o[0:8]"),
              testing::HasSubstr("reads 2"));
  EXPECT_THAT(error_of_operands("silu reads x[0:16 rows 2 pitch 8 width 8] writes o"),
              testing::HasSubstr("rows"));
}

}  // namespace
}  // namespace interlock::row_copies_test
