// Encoders in shared libraries: the example in C places our barriers, and what cannot be used says
// why.
#include "fuzz/external/library_encoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "encoder/sync/encoder.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/external/opened_encoder.h"
#include "fuzz/generate/generator.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"

namespace interlock::library_encoder_test {
namespace {

using testing::HasSubstr;

std::string faulty_library(const std::string& name) { return FAULTY_LIBRARIES "/" + name + ".so"; }

class ExampleLibraries : public testing::TestWithParam<const char*> {};

TEST_P(ExampleLibraries, EncodeAsOursDoes) {
  if (GetParam() == std::string_view()) GTEST_SKIP() << "There is no rustc here.";
  const auto encoder = LibraryEncoder::open(GetParam());
  ASSERT_TRUE(encoder) << encoder.error().message;
  const EncoderEntry& ours = *find_encoder("interlock");
  for (int i = 0; i < program_count(2000); ++i) {
    SeededChoice choice(static_cast<uint64_t>(i));
    const Program program = generate_program(choice).value();
    const Encoding encoding = (*encoder)->encode(program);
    ASSERT_FALSE(encoding.failure) << encoding.failure->message;
    ASSERT_EQ(print(encoding.program), print(encode(program, *ours.create())));
  }
}

INSTANTIATE_TEST_SUITE_P(CAndRust, ExampleLibraries,
                         testing::Values(LIBRARY_ENCODER_EXAMPLE, RUST_LIBRARY_EXAMPLE));

TEST(LibraryEncoder, WaitsBeforeADestroy) {
  const auto encoder = LibraryEncoder::open(LIBRARY_ENCODER_EXAMPLE);
  ASSERT_TRUE(encoder) << encoder.error().message;
  const Program program = parse(R"(interlock 1
memory m 64
tensor x f32[16] at m+0
dispatch K writes x
destroy x
)")
                              .value();
  EXPECT_THAT(print((*encoder)->encode(program).program), HasSubstr("barrier\ndestroy x\n"));
}

TEST(LibraryEncoder, SaysWhatCannotBeUsed) {
  const auto error_of_library = [](const std::string& path) {
    const auto encoder = LibraryEncoder::open(path);
    return encoder ? std::string("none") : encoder.error().message;
  };
  EXPECT_THAT(error_of_library("./there-is-no-such.so"),
              HasSubstr("cannot be loaded: ./there-is-no"));
  EXPECT_THAT(error_of_library("/etc/passwd"), HasSubstr("cannot be loaded: /etc/passwd"));
  EXPECT_THAT(error_of_library(faulty_library("faulty_library_no_destroy")),
              HasSubstr("has no function interlock_encoder_destroy()"));
  EXPECT_THAT(error_of_library(faulty_library("faulty_library_version")),
              HasSubstr("has version 999 of interlock_encoder.h; version 1 is read"));
}

TEST(LibraryEncoder, TellsWhatALibraryGetsWrong) {
  const Program program = parse("interlock 1\nmemory a 64\ndispatch K writes a\n").value();
  const auto message_of = [&](const std::string& name) {
    const auto encoder = LibraryEncoder::open(faulty_library(name));
    EXPECT_TRUE(encoder) << encoder.error().message;
    const Encoding encoding = (*encoder)->encode(program);
    EXPECT_TRUE(encoding.program.dispatches.empty());
    return encoding.failure ? encoding.failure->message : "none";
  };
  EXPECT_EQ(message_of("faulty_library_null"), "The library creates no encoder.");
  EXPECT_EQ(message_of("faulty_library_barrier"), "The library places a barrier of no known kind.");
}

TEST(LibraryEncoder, IsOpenedByName) {
  EXPECT_TRUE(is_external_name("lib:./mine.so"));
  const auto encoder = open_encoder("lib:" LIBRARY_ENCODER_EXAMPLE, {});
  ASSERT_TRUE(encoder) << encoder.error().message;
  EXPECT_NE((*encoder)->entry.external, nullptr);
}

}  // namespace
}  // namespace interlock::library_encoder_test
