// The models of MLX's fences between Metal encoders: what each waits for.

#include "encoder/queues/mlx_fences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "encoder/queues/queue_encoder.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"

namespace interlock::mlx_fences_test {
namespace {

using testing::HasSubstr;

Result<Program> encoded(std::string_view encoder, const std::string& body) {
  ParseOptions options;
  options.reads_every_queue = true;
  const Result<Program> program = parse("interlock 1\n" + body, "test.ilk", options);
  EXPECT_TRUE(program.has_value()) << (program ? "" : program.error().message);
  return find_queue_encoder(encoder)->encode(*program, 0);
}

// The statements, without what declares.
std::string statements(std::string_view encoder, const std::string& body) {
  const Result<Program> program = encoded(encoder, body);
  if (!program) return program.error().message;
  const std::string text = print(*program);
  const size_t queues = text.rfind(": queue concurrent\n");
  return text.substr(text.find('\n', queues) + 1);
}

// MLX #4099: the offset takes over the buffer of the index, in another command buffer.
constexpr char kDonatedOffset[] = R"(
memory target 64
tensor data f32[16] = random(1)
tensor idx u8[4]
tensor off u8[4] donates idx
dispatch ArgMax reads data writes idx
split
dispatch Offset reads idx writes off
dispatch Update reads off updates target
)";

TEST(MlxFences, OfADonatedTemporaryAreLostBefore4099) {
  EXPECT_EQ(statements("mlx-fences-4099", kDonatedOffset),
            R"(dispatch ArgMax reads data writes idx on q1
signal s1=1 on q1
dispatch Offset reads idx writes off on q2
barrier on q2
dispatch Update reads off updates target on q2
signal s2=1 on q2
)");
  EXPECT_EQ(statements("mlx-fences-2026", kDonatedOffset),
            R"(dispatch ArgMax reads data writes idx on q1
signal s1=1 on q1
wait s1=1 on q2
dispatch Offset reads idx writes off on q2
barrier on q2
dispatch Update reads off updates target on q2
signal s2=1 on q2
)");
}

// MLX would not hand a buffer on that others use, too.
TEST(MlxFences, OfADonationBesideOthersAreKept) {
  std::string body = kDonatedOffset;
  body.replace(body.find("tensor idx u8[4]"), 16,
               "memory pool 64\ntensor idx u8[4] at pool+0\ntensor near u8[4] at pool+32");
  body.replace(body.find("writes idx"), 10, "writes idx near");
  body.replace(body.find("reads off"), 9, "reads off near");
  EXPECT_EQ(statements("mlx-fences-4099", body), statements("mlx-fences-2026", body));
  EXPECT_THAT(statements("mlx-fences-4099", body), HasSubstr("wait s1=1 on q2"));
}

// Without the command buffer between there is one Metal encoder, and a barrier.
TEST(MlxFences, AreNotNeededWithinOneMetalEncoder) {
  std::string body = kDonatedOffset;
  body.erase(body.find("split\n"), 6);
  EXPECT_EQ(statements("mlx-fences-4099", body), statements("mlx-fences", body));
  EXPECT_THAT(statements("mlx-fences-4099", body), HasSubstr("barrier on q1\ndispatch Offset"));
}

TEST(MlxFences, KnowWritersAndAfterTheRepairReaders) {
  const std::string body =
      "memory a 64\nmemory b 64\ndispatch A reads a writes b\nsplit\ndispatch B writes a\n";
  EXPECT_EQ(statements("mlx-fences-2026", body),
            "dispatch A reads a writes b on q1\nsignal s1=1 on q1\n"
            "dispatch B writes a on q2\nsignal s2=1 on q2\n");
  EXPECT_EQ(statements("mlx-fences", body),
            "dispatch A reads a writes b on q1\nsignal s1=1 on q1\n"
            "wait s1=1 on q2\ndispatch B writes a on q2\nsignal s2=1 on q2\n");
}

TEST(MlxFences, OfAllReadersSinceTheLastWriteAreWaitedFor) {
  EXPECT_EQ(statements("mlx-fences",
                       "memory a 64\ndispatch A reads a\nsplit\ndispatch B reads a\nsplit\n"
                       "dispatch C writes a\nsplit\ndispatch D writes a\n"),
            "dispatch A reads a on q1\nsignal s1=1 on q1\n"
            "dispatch B reads a on q2\nsignal s2=1 on q2\n"
            "wait s1=1 on q3\nwait s2=1 on q3\ndispatch C writes a on q3\nsignal s3=1 on q3\n"
            "wait s3=1 on q4\ndispatch D writes a on q4\nsignal s4=1 on q4\n");
}

TEST(MlxFences, WaitOnceForEachEncoderWhoseOutputsAreUsed) {
  const std::string body =
      "memory a 64\nmemory b 64\nmemory c 64\ndispatch A writes a b\nsplit\nsplit\n"
      "dispatch B reads a writes c\nsplit\ndispatch C reads a b c\n";
  EXPECT_EQ(statements("mlx-fences", body),
            "dispatch A writes a b on q1\nsignal s1=1 on q1\n"
            "wait s1=1 on q2\ndispatch B reads a writes c on q2\nsignal s2=1 on q2\n"
            "wait s1=1 on q3\nwait s2=1 on q3\ndispatch C reads a b c on q3\nsignal s3=1 on q3\n");
}

TEST(MlxFences, HaveAQueueForEachMetalEncoderAndSoALimit) {
  std::string body = "memory a 64\n";
  for (int i = 0; i < 1023; ++i) body += "dispatch A writes a\nsplit\n";
  EXPECT_TRUE(encoded("mlx-fences", body).has_value());
  const Result<Program> program = encoded("mlx-fences", body + "dispatch A writes a\n");
  ASSERT_FALSE(program.has_value());
  EXPECT_EQ(program.error().message,
            "the program has 1024 Metal encoders; the models of MLX's fences take at most 1023, as "
            "they give each a queue.");
}

}  // namespace
}  // namespace interlock::mlx_fences_test
