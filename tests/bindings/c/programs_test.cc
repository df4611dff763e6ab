// Programs of the C library: read, built, and refused with the place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "bindings/c/interlock.h"
#include "tests/bindings/c/c_handles.h"
#include "tests/program_count.h"

namespace interlock::programs_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// What a C caller can pass: its enumerations hold any int. Not in C++, so that sanitizers end a
// test that does it: it is for builds without (is_slow_build()).
template <typename Enumeration>
Enumeration unknown_of(int value) {
  Enumeration unknown;
  static_assert(sizeof(unknown) == sizeof(value));
  std::memcpy(&unknown, &value, sizeof(value));
  return unknown;
}

constexpr const char* kUnordered = R"(interlock 1
# Kept.
memory a 4096
make: dispatch Produce writes a
add: dispatch Consume reads a[0:1024]
)";

TEST(CPrograms, KeepTheirSourceAndPrintACanonicalText) {
  const auto program = parsed(kUnordered);
  ASSERT_EQ(program.status, ILK_OK) << program.message();
  EXPECT_STREQ(ilk_program_source(program.made.get()), kUnordered);
  EXPECT_STREQ(ilk_program_name(program.made.get()), "given.ilk");
  EXPECT_EQ(ilk_program_dispatch_count(program.made.get()), 2u);
  const std::string text = ilk_program_text(program.made.get());
  EXPECT_THAT(text, testing::Not(HasSubstr("Kept")));
  const auto again = parsed(text);
  ASSERT_EQ(again.status, ILK_OK) << again.message();
  EXPECT_EQ(ilk_program_text(again.made.get()), text);
}

TEST(CPrograms, SayWhereTheTextIsWrong) {
  const auto program = parsed("interlock 1\nmemory a 4096\ndispatch Produce writes b\n");
  EXPECT_EQ(program.status, ILK_BAD_INPUT);
  EXPECT_EQ(program.made, nullptr);
  ASSERT_NE(program.error, nullptr);
  EXPECT_EQ(ilk_error_status(program.error.get()), ILK_BAD_INPUT);
  EXPECT_EQ(ilk_error_line(program.error.get()), 3u);
  EXPECT_EQ(ilk_error_column(program.error.get()), 25u);
  EXPECT_THAT(program.message(), StartsWith("given.ilk:3:25: error: "));
}

TEST(CPrograms, OfAFileThatIsNotThereHaveAnErrorWithoutAPlace) {
  const auto program = call<ilk_program>(ilk_program_read, "/nowhere/at.ilk", nullptr);
  EXPECT_EQ(program.status, ILK_BAD_INPUT);
  EXPECT_EQ(ilk_error_line(program.error.get()), 0u);
  EXPECT_THAT(program.message(), HasSubstr("/nowhere/at.ilk"));
}

TEST(CPrograms, ObeyTheLimitsOfTheOptions) {
  const Owned<ilk_options> options(ilk_options_create());
  ASSERT_EQ(ilk_options_set(options.get(), ILK_STATEMENT_COUNT, 1), ILK_OK);
  EXPECT_EQ(parsed(kUnordered, options.get()).status, ILK_BAD_INPUT);
  ASSERT_EQ(ilk_options_set(options.get(), ILK_STATEMENT_COUNT, 2), ILK_OK);
  EXPECT_EQ(parsed(kUnordered, options.get()).status, ILK_OK);
}

TEST(COptions, TakeWhatIsInRangeAndNothingElse) {
  const Owned<ilk_options> options(ilk_options_create());
  EXPECT_EQ(ilk_options_set(options.get(), ILK_ALL_PAIRS, 1), ILK_OK);
  EXPECT_EQ(ilk_options_set(options.get(), ILK_ALL_PAIRS, 2), ILK_BAD_ARGUMENT);
  EXPECT_EQ(ilk_options_set(options.get(), ILK_INPUT_BYTES, 0), ILK_BAD_ARGUMENT);
  if (!is_slow_build()) {
    EXPECT_EQ(ilk_options_set(options.get(), unknown_of<ilk_option>(9999), 1), ILK_BAD_ARGUMENT);
  }
  EXPECT_EQ(ilk_options_set(nullptr, ILK_SEED, 1), ILK_BAD_ARGUMENT);
}

TEST(COptions, ThatAreStoppedStopAllWork) {
  const auto program = parsed(kUnordered);
  const Owned<ilk_options> options(ilk_options_create());
  ilk_options_stop(options.get());
  EXPECT_EQ(parsed(kUnordered, options.get()).status, ILK_STOPPED);
  const auto report = checked(program.made.get(), options.get());
  EXPECT_EQ(report.status, ILK_STOPPED);
  EXPECT_EQ(report.made, nullptr);
  EXPECT_EQ(call<ilk_program>(ilk_find, "mlx-2024", options.get()).status, ILK_STOPPED);
}

TEST(COptions, CanBeStoppedFromAnotherThread) {
  const Owned<ilk_options> options(ilk_options_create());
  // Hours of work, if nobody ends it.
  ASSERT_EQ(ilk_options_set(options.get(), ILK_RUN_COUNT, 1'000'000'000), ILK_OK);
  std::thread other([&] { ilk_options_stop(options.get()); });
  EXPECT_EQ(call<ilk_program>(ilk_find, "interlock", options.get()).status, ILK_STOPPED);
  other.join();
}

TEST(CBuilders, MakeTheProgramOfTheCalls) {
  const Owned<ilk_builder> builder(ilk_builder_create());
  ilk_builder* const b = builder.get();
  EXPECT_EQ(ilk_builder_memory(b, "a", 4096, nullptr), ILK_OK);
  EXPECT_EQ(ilk_builder_line(b, "tensor t f32[4] at a+0", nullptr), ILK_OK);
  EXPECT_EQ(ilk_builder_dispatch(b, "make", "Produce", nullptr), ILK_OK);
  EXPECT_EQ(ilk_builder_access(b, ILK_ATOMICS, "a", 64, 128, nullptr), ILK_OK);
  EXPECT_EQ(ilk_builder_access(b, ILK_WRITES, "t", 0, ILK_WHOLE, nullptr), ILK_OK);
  EXPECT_EQ(ilk_builder_attribute(b, "atomic", "add", nullptr), ILK_OK);
  EXPECT_EQ(ilk_builder_barrier(b, ILK_EXECUTION, nullptr), ILK_OK);
  EXPECT_EQ(ilk_builder_dispatch(b, nullptr, "Consume", nullptr), ILK_OK);
  EXPECT_EQ(ilk_builder_access(b, ILK_UPDATES, "a", 0, 16, nullptr), ILK_OK);
  EXPECT_STREQ(ilk_builder_text(b),
               "interlock 1\nmemory a 4096\ntensor t f32[4] at a+0\n"
               "make: dispatch Produce writes t atomics a[64:128] atomic=add\n"
               "barrier execution\ndispatch Consume updates a[0:16]\n");
  const auto program = call<ilk_program>(ilk_builder_finish, b, nullptr);
  ASSERT_EQ(program.status, ILK_OK) << program.message();
  EXPECT_EQ(ilk_program_dispatch_count(program.made.get()), 2u);
  // More can be added.
  EXPECT_EQ(ilk_builder_barrier(b, ILK_FULL, nullptr), ILK_OK);
  EXPECT_EQ(call<ilk_program>(ilk_builder_finish, b, nullptr).status, ILK_OK);
}

TEST(CBuilders, RefuseWhatIsNoStatementAndStayAsTheyWere) {
  const Owned<ilk_builder> builder(ilk_builder_create());
  ilk_builder* const b = builder.get();
  const std::string before = ilk_builder_text(b);
  EXPECT_EQ(ilk_builder_memory(b, "a b", 4096, nullptr), ILK_BAD_ARGUMENT);
  EXPECT_EQ(ilk_builder_memory(b, "a 1\nmemory b", 4096, nullptr), ILK_BAD_ARGUMENT);
  EXPECT_EQ(ilk_builder_memory(b, "reads", 4096, nullptr), ILK_BAD_ARGUMENT);
  EXPECT_EQ(ilk_builder_memory(b, nullptr, 4096, nullptr), ILK_BAD_ARGUMENT);
  EXPECT_EQ(ilk_builder_access(b, ILK_READS, "a", 0, 4, nullptr), ILK_BAD_ARGUMENT);
  EXPECT_EQ(ilk_builder_attribute(b, "eps", "1", nullptr), ILK_BAD_ARGUMENT);
  if (!is_slow_build()) {
    EXPECT_EQ(ilk_builder_barrier(b, unknown_of<ilk_barrier>(7), nullptr), ILK_BAD_ARGUMENT);
  }
  EXPECT_EQ(ilk_builder_line(b, "memory a 4096\nbarrier", nullptr), ILK_BAD_ARGUMENT);
  EXPECT_EQ(ilk_builder_text(b), before);
  EXPECT_EQ(ilk_builder_dispatch(b, nullptr, "Produce", nullptr), ILK_OK);
  EXPECT_EQ(ilk_builder_access(b, ILK_READS, "a", 8, 4, nullptr), ILK_BAD_ARGUMENT);
  EXPECT_EQ(ilk_builder_attribute(b, "eps", "a b", nullptr), ILK_BAD_ARGUMENT);
  if (!is_slow_build()) {
    EXPECT_EQ(ilk_builder_access(b, unknown_of<ilk_mode>(9), "a", 0, 4, nullptr), ILK_BAD_ARGUMENT);
  }
  EXPECT_EQ(ilk_builder_text(b), before + "dispatch Produce\n");
}

TEST(CBuilders, SayInWhichLineTheProgramIsWrong) {
  const Owned<ilk_builder> builder(ilk_builder_create());
  EXPECT_EQ(ilk_builder_dispatch(builder.get(), nullptr, "Produce", nullptr), ILK_OK);
  EXPECT_EQ(ilk_builder_access(builder.get(), ILK_WRITES, "a", 0, 4, nullptr), ILK_OK);
  const auto program = call<ilk_program>(ilk_builder_finish, builder.get(), nullptr);
  EXPECT_EQ(program.status, ILK_BAD_INPUT);
  EXPECT_EQ(ilk_error_line(program.error.get()), 2u);
}

TEST(CLibrary, TakesNullHandles) {
  EXPECT_EQ(parsed("", nullptr).status, ILK_BAD_INPUT);
  EXPECT_EQ(ilk_program_parse("", 0, nullptr, nullptr, nullptr, nullptr), ILK_BAD_ARGUMENT);
  EXPECT_EQ(call<ilk_program>(ilk_program_parse, nullptr, 7, nullptr, nullptr).status,
            ILK_BAD_ARGUMENT);
  EXPECT_EQ(call<ilk_program>(ilk_program_read, nullptr, nullptr).status, ILK_BAD_ARGUMENT);
  EXPECT_EQ(call<ilk_program>(ilk_builder_finish, nullptr, nullptr).status, ILK_BAD_ARGUMENT);
  EXPECT_EQ(checked(nullptr).status, ILK_BAD_ARGUMENT);
  EXPECT_EQ(call<ilk_program>(ilk_fix, nullptr, nullptr).status, ILK_BAD_ARGUMENT);
  EXPECT_EQ(call<ilk_program>(ilk_encode, nullptr, "interlock", nullptr).status, ILK_BAD_ARGUMENT);
  EXPECT_EQ(ilk_program_source(nullptr), nullptr);
  EXPECT_EQ(ilk_program_text(nullptr), nullptr);
  EXPECT_EQ(ilk_report_finding(nullptr, 0), nullptr);
  EXPECT_EQ(ilk_report_verdict(nullptr), ILK_NO_VERDICT);
  ilk_options_stop(nullptr);
  ilk_program_free(nullptr);
  ilk_report_free(nullptr);
  ilk_options_free(nullptr);
  ilk_builder_free(nullptr);
  ilk_error_free(nullptr);
  EXPECT_EQ(ilk_abi_version(), static_cast<uint32_t>(ILK_ABI_VERSION));
}

// Under the thread sanitizer this is a proof; elsewhere it would see a text torn.
TEST(CLibrary, LetsThreadsShareAHandle) {
  const auto program = parsed(kUnordered);
  const auto report = checked(program.made.get());
  ASSERT_EQ(report.status, ILK_OK);
  std::vector<std::thread> threads;
  std::vector<std::string> texts(4);
  for (std::string& text : texts) {
    threads.emplace_back([&] {
      const auto own = checked(program.made.get());
      text = std::string(ilk_program_text(program.made.get())) +
             ilk_report_text(report.made.get()) + ilk_report_json(own.made.get());
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& text : texts) EXPECT_EQ(text, texts.front());
}

}  // namespace
}  // namespace interlock::programs_test
