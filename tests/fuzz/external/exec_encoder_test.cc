// External encoders: what they answer is what an encoder of this build would, or a failure that
// says what they did.
#include "fuzz/external/exec_encoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "encoder/sync/encoder.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/external/external_program.h"
#include "fuzz/external/opened_encoder.h"
#include "fuzz/generate/generator.h"
#include "fuzz/judge/findings.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"

namespace interlock::exec_encoder_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kAdds = R"(interlock 1
memory a 64
memory b 64
first: dispatch K writes a
dispatch K atomics b atomic=add
dispatch K reads a writes b
)";

Program program_of(const std::string& text) {
  ParseOptions options;
  options.reads_one_queue = true;
  auto program = parse(text, "<test>", options);
  EXPECT_TRUE(program) << (program ? "" : program.error().message);
  return program ? std::move(*program) : Program{};
}

std::unique_ptr<ExecEncoder> opened(const std::string& arguments, double timeout_seconds = 30,
                                    const Stop* stop = nullptr) {
  auto encoder = ExecEncoder::open({.command = FAULTY_ENCODER " " + arguments,
                                    .timeout_seconds = timeout_seconds,
                                    .stop = stop});
  EXPECT_TRUE(encoder) << (encoder ? "" : encoder.error().message);
  return encoder ? std::move(*encoder) : nullptr;
}

// A process that has nothing in common with our encoder places the same barriers.
TEST(ExecEncoder, EncodesAsOneOfThisBuildDoes) {
  const auto encoder = opened("none");
  const EncoderEntry& ours = *find_encoder("interlock");
  const int program_count = is_slow_build() ? 100 : 1000;
  int barrier_count = 0;
  for (int i = 0; i < program_count; ++i) {
    SeededChoice choice(static_cast<uint64_t>(i));
    const Program program = generate_program(choice).value();
    const Encoding encoding = encoder->encode(program);
    ASSERT_FALSE(encoding.failure) << encoding.failure->message << print(program);
    EXPECT_EQ(print(encoding.program), print(encode(program, *ours.create())));
    barrier_count += static_cast<int>(encoding.program.barriers.size());
  }
  EXPECT_GT(barrier_count, program_count);
}

TEST(ExecEncoder, IsGivenTheAccessesInBytesAndNoSync) {
  const Program program = program_of(R"(interlock 1
memory a 64
tensor x f32[4] at a+16
tensor y f32[2] view x+8
dispatch K reads x updates a[0:4]
barrier
split
sum: dispatch K atomics y atomic=add
expect encoder=interlock clean
)");
  const std::string question = question_text(without_sync(program));
  EXPECT_THAT(question, HasSubstr("# read a 16 32, update a 0 4\nsplit\n"));
  EXPECT_THAT(question, HasSubstr("sum: dispatch K atomics y atomic=add  # atomic-add a 24 32\n"));
  EXPECT_THAT(question, Not(HasSubstr("barrier")));
  EXPECT_THAT(question, Not(HasSubstr("expect")));
}

struct Fault {
  const char* arguments;
  EncodeFailureKind kind;
  const char* message;
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.arguments; }

class Faults : public testing::TestWithParam<Fault> {};

TEST_P(Faults, AreToldAndThenTheEncoderIsStartedAgain) {
  const auto encoder = opened(GetParam().arguments, 0.3);
  for (int i = 0; i < 2; ++i) {
    const Encoding encoding = encoder->encode(program_of(kAdds));
    ASSERT_TRUE(encoding.failure);
    EXPECT_EQ(word_of(encoding.failure->kind), word_of(GetParam().kind));
    EXPECT_THAT(encoding.failure->message, HasSubstr(GetParam().message));
    EXPECT_THAT(encoding.program.dispatches, IsEmpty());
  }
}

INSTANTIATE_TEST_SUITE_P(
    ExecEncoder, Faults,
    testing::Values(
        Fault{"crash", EncodeFailureKind::kCrash, "was ended by signal 11"},
        Fault{"exit", EncodeFailureKind::kCrash, "ended with status 7 before it had answered"},
        Fault{"end", EncodeFailureKind::kEarlyEnd, "ended with status 0 before it had answered"},
        Fault{"hang", EncodeFailureKind::kHang, "did not answer within 0.3 s"},
        Fault{"deaf", EncodeFailureKind::kHang, "did not answer within 0.3 s"},
        Fault{"drop", EncodeFailureKind::kIllegal, "has 2 dispatches, and the program 3"},
        Fault{"rename", EncodeFailureKind::kIllegal,
              "has 'dispatch Other' where there was 'dispatch K reads a writes b'"},
        Fault{"garble", EncodeFailureKind::kIllegal, "<answer>:1:1: error"},
        Fault{"endless", EncodeFailureKind::kLongAnswer, "with 99999999999; at most"},
        Fault{"chatter", EncodeFailureKind::kIllegal, "begins with 'Encoding.'"},
        Fault{"echo-after", EncodeFailureKind::kIllegal, "wrote 'Done.'"}));

TEST(ExecEncoder, AnswersAgainAfterACrash) {
  const auto encoder = opened("crash");
  EXPECT_TRUE(encoder->encode(program_of(kAdds)).failure);
  const Encoding encoding =
      encoder->encode(program_of("interlock 1\nmemory a 64\ndispatch K writes a\n"));
  EXPECT_FALSE(encoding.failure);
  EXPECT_EQ(encoding.program.dispatches.size(), 1u);
}

TEST(ExecEncoder, MayReorderAndGiveBarriersScopes) {
  const Program program = program_of(kAdds);
  const Encoding reversed = opened("reverse")->encode(program);
  ASSERT_FALSE(reversed.failure) << reversed.failure->message;
  EXPECT_THAT(print(reversed.program), HasSubstr("dispatch K order=2 reads a writes b\nbarrier\n"));
  EXPECT_THAT(find_exactly(reversed.program), Not(IsEmpty()));
  const Encoding scoped = opened("scoped")->encode(program);
  ASSERT_FALSE(scoped.failure) << scoped.failure->message;
  EXPECT_THAT(print(scoped.program), HasSubstr("barrier compute -> compute.write\n"));
}

// Both write at once: neither end waits for room that the other one would have to make.
TEST(ExecEncoder, SendsAndReceivesMuch) {
  std::string text = "interlock 1\nmemory a 64\n";
  for (int i = 0; i < 20'000; ++i) text += "dispatch K updates a\n";
  const Encoding encoding = opened("none")->encode(program_of(text));
  ASSERT_FALSE(encoding.failure) << encoding.failure->message;
  EXPECT_EQ(encoding.program.barriers.size(), 19'999u);
}

TEST(ExecEncoder, EndsWithinASecondOfAStop) {
  Stop stop;
  const auto encoder = opened("hang", 60, &stop);
  const auto start = std::chrono::steady_clock::now();
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    stop.request();
  });
  const Encoding encoding = encoder->encode(program_of(kAdds));
  stopper.join();
  ASSERT_TRUE(encoding.failure);
  EXPECT_EQ(encoding.failure->kind, EncodeFailureKind::kStopped);
  EXPECT_EQ(encoder->encode(program_of(kAdds)).failure->kind, EncodeFailureKind::kStopped);
  // The deadline is a minute.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(ExecEncoder, IsNotAskedAgainAfterManyHangs) {
  const auto encoder = opened("deaf", 0.02);
  for (uint64_t i = 0; i < kHangsInARowMax; ++i) {
    EXPECT_THAT(encoder->encode(program_of(kAdds)).failure->message, HasSubstr("within 0.02 s"));
  }
  EXPECT_THAT(encoder->encode(program_of(kAdds)).failure->message,
              HasSubstr("did not answer 16 times in a row"));
}

TEST(ExecEncoder, SaysWhatCannotBeStarted) {
  const auto error_of_command = [](const std::string& command) {
    const auto encoder = ExecEncoder::open({.command = command});
    return encoder ? std::string("none") : encoder.error().message;
  };
  EXPECT_THAT(error_of_command("./there-is-no-such-encoder"), HasSubstr("with status 127"));
  EXPECT_THAT(error_of_command("/"), HasSubstr("with status 126"));
  EXPECT_THAT(error_of_command(" "), HasSubstr("names no command"));
  EXPECT_THAT(error_of_command("a\nb"), HasSubstr("control character"));
}

TEST(ExecEncoder, IsACommandOfTheShell) {
  const auto encoder = opened("'none' \"$INTERLOCK_NO_SUCH_VARIABLE\" 2>/dev/null");
  EXPECT_FALSE(encoder->encode(program_of(kAdds)).failure);
}

TEST(AnswerOf, ComparesAllButSync) {
  const Program given = without_sync(program_of(kAdds));
  const auto error_of_answer = [&](const std::string& text) {
    const auto answer = answer_of(given, text);
    return answer ? std::string() : answer.error().message;
  };
  const std::string head = "interlock 1\nmemory a 64\nmemory b 64\n";
  EXPECT_EQ(error_of_answer(print(given)), "");
  EXPECT_EQ(error_of_answer(head + "first: dispatch K writes a\nbarrier execution\n# words\n"
                                   "dispatch K atomics b atomic=add\nbarrier\n\n"
                                   "dispatch K reads a writes b\nbarrier\n"),
            "");
  EXPECT_THAT(error_of_answer(head + "dispatch K writes a\ndispatch K atomics b atomic=add\n"
                                     "dispatch K reads a writes b\n"),
              HasSubstr("where there was 'first: dispatch K writes a'"));
  EXPECT_THAT(error_of_answer(head + "first: dispatch K order=1 writes a\n"
                                     "dispatch K order=0 atomics b atomic=add\n"
                                     "dispatch K order=2 reads a writes b\n"),
              HasSubstr("another program"));
  EXPECT_THAT(error_of_answer(print(given) + "memory c 64\n"), HasSubstr("another program"));
}

TEST(OpenEncoder, TakesNamesWithAColonAlone) {
  EXPECT_TRUE(is_external_name("exec:./mine"));
  EXPECT_FALSE(is_external_name("exec"));
  EXPECT_FALSE(is_external_name("interlock"));
  const auto encoder = open_encoder("exec:" FAULTY_ENCODER " none", {});
  ASSERT_TRUE(encoder) << encoder.error().message;
  EXPECT_EQ((*encoder)->entry.name, "exec:" FAULTY_ENCODER " none");
  EXPECT_FALSE(encode_by(program_of(kAdds), (*encoder)->entry).failure);
}

}  // namespace
}  // namespace interlock::exec_encoder_test
