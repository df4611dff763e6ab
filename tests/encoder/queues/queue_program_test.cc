// What the encoders for several queues write, and what they refuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "encoder/queues/queue_encoder.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/testing/programs.h"

namespace interlock::queue_program_test {
namespace {

using testing::HasSubstr;

const std::string kMemories = "memory a 8\nmemory b 8\nmemory c 8\nmemory d 8\n";

Program parsed(const std::string& body) {
  ParseOptions options;
  options.reads_every_queue = true;
  return value_or_fail(parse("interlock 1\n" + kMemories + body, "test.ilk", options));
}

// Without the memories.
std::string encoded(std::string_view encoder, const std::string& body, uint32_t queue_count = 0) {
  const Program program =
      value_or_fail(find_queue_encoder(encoder)->encode(parsed(body), queue_count));
  const std::string text = print(program);
  const std::string start = "interlock 1\n" + kMemories;
  EXPECT_TRUE(text.starts_with(start));
  return text.substr(start.size());
}

std::string error_of(std::string_view encoder, const std::string& body, uint32_t queue_count = 0) {
  const auto program = find_queue_encoder(encoder)->encode(parsed(body), queue_count);
  return program ? "no error" : program.error().message;
}

TEST(EncodeSemaphores, SharesASignalAndLeavesOutWhatAnotherWaitBrings) {
  EXPECT_EQ(encoded("semaphores", R"(x: queue serial
y: queue serial
z: queue serial
first: dispatch K writes a b on x
dispatch K reads a writes c on y
dispatch K reads b on z
last: dispatch K reads a c on z
)"),
            R"(x: queue serial
y: queue serial
z: queue serial
first: dispatch K writes a b on x
signal s1=1 on x
wait s1=1 on y
dispatch K reads a writes c on y
signal s2=1 on y
wait s1=1 on z
dispatch K reads b on z
wait s2=1 on z
last: dispatch K reads a c on z
)");
}

TEST(EncodeSemaphores, ReplacesTheSyncAndTheQueuesThatAreNotUsed) {
  EXPECT_EQ(encoded("semaphores", R"(x: queue serial
y: queue serial
unused: queue concurrent
t: semaphore = 4
dispatch K writes a on x
signal t=5 on x
wait t=5 on y
barrier on y
dispatch K writes b on y
expect clean
)"),
            R"(x: queue serial
y: queue serial
dispatch K writes a on x
dispatch K writes b on y
)");
}

TEST(EncodeSemaphores, SaysTheOrderThatWasMeantWhereItIssuesAnother) {
  EXPECT_EQ(encoded("semaphores", R"(dispatch A1 writes a
dispatch A2 updates a
dispatch B1 writes b
dispatch C1 writes c
dispatch C2 updates c
dispatch D1 writes d
)",
                    2),
            R"(q1: queue serial
q2: queue serial
dispatch A1 order=0 writes a on q1
dispatch B1 order=2 writes b on q2
dispatch A2 order=1 updates a on q1
dispatch C1 order=3 writes c on q2
dispatch C2 order=4 updates c on q2
dispatch D1 order=5 writes d on q1
)");
}

TEST(EncodeSemaphores, DoesNotKnowWhatIsNotDeclared) {
  EXPECT_EQ(encoded("semaphores", "dispatch K writes a\ndispatch K writes b actual reads a\n", 2),
            "q1: queue serial\nq2: queue serial\ndispatch K writes a on q1\n"
            "dispatch K writes b actual reads a on q2\n");
}

TEST(EncodeEdges, NamesDispatchesByLabelOrNumber) {
  EXPECT_EQ(encoded("edges", R"(first: dispatch K writes a
barrier
dispatch K reads a writes b
dispatch K reads a writes c
dispatch K reads a b c writes d
)"),
            R"(q1: queue graph
first: dispatch K writes a on q1
dispatch K reads a writes b after first on q1
dispatch K reads a writes c after first on q1
dispatch K reads a b c writes d after 1 2 on q1
)");
}

TEST(EncodeSemaphores, WantsSerialQueuesOrNone) {
  EXPECT_THAT(error_of("semaphores", "x: queue serial\ndispatch K writes a\n"),
              HasSubstr("queue 'q0' is concurrent"));
  EXPECT_THAT(error_of("semaphores", "x: queue graph\ndispatch K writes a on x\n"),
              HasSubstr("queue 'x' is graph"));
  EXPECT_THAT(error_of("semaphores", "x: queue serial\ndispatch K writes a on x\n", 2),
              HasSubstr("--queues asks to choose"));
}

TEST(EncodeSemaphores, NamesTheStreamThatLaunchesAGraph) {
  const std::string body =
      "x: queue serial\ncapture g\nfirst: dispatch K writes a\n"
      "dispatch K reads a writes b after first\nend\nreplay g on x\n";
  for (const char* encoder : {"semaphores", "streams"}) {
    EXPECT_THAT(error_of(encoder, body), HasSubstr("'x' replays a capture as a graph")) << encoder;
  }
  EXPECT_EQ(error_of("edges", body), "no error");
  const std::string without_edges =
      "x: queue serial\ncapture g\ndispatch K writes a\ndispatch K reads a writes b\nend\n"
      "replay g on x\n";
  EXPECT_EQ(error_of("semaphores", without_edges), "no error");
}

TEST(QueueEncoders, TakeWhatTheHostDoesAndTheEndsOfValues) {
  for (const QueueEncoderEntry& entry : queue_encoder_registry()) {
    EXPECT_TRUE(entry.takes_host_work) << entry.name;
    for (const char* body : {"tensor t f32[2] at a+0\ndispatch K writes t\nfree t\n",
                             "host writes a\ndispatch K reads a\nsplit\ndispatch K writes a\n",
                             "dispatch K reads a\nhost idle\nhost writes a\n", "host reads a\n"}) {
      EXPECT_EQ(error_of(entry.name, body), "no error") << entry.name << "\n" << body;
    }
    EXPECT_THAT(error_of(entry.name,
                         "barrier compute.write -> compute.read transitions a\n"
                         "dispatch K reads a\n"),
                HasSubstr("does something to its operands"))
        << entry.name;
    EXPECT_THAT(error_of(entry.name, "memory n 8 noncoherent=4\nhost reads n\n"),
                HasSubstr("'n', which is not coherent"))
        << entry.name;
    EXPECT_THAT(error_of(entry.name,
                         "tensor t f32[2] at a+0\nx: queue serial\ndispatch K writes t on x\n"
                         "free t on x\n"),
                entry.takes_given_queues ? HasSubstr("no error")
                                         : HasSubstr("'free t' acts in the order of a queue"))
        << entry.name;
  }
}

TEST(QueueEncoders, TakeNothingToo) {
  for (const QueueEncoderEntry& entry : queue_encoder_registry()) {
    EXPECT_EQ(error_of(entry.name, ""), "no error") << entry.name;
  }
}

TEST(EncodeEdges, SaysThatADispatchCannotHaveSoManyEdges) {
  std::string body;
  for (int i = 0; i < 1025; ++i) body += "dispatch K reads a\n";
  EXPECT_THAT(error_of("edges", body + "dispatch K writes a\n"), HasSubstr("1024"));
  EXPECT_THAT(error_of("semaphores", body + "dispatch K writes a\n"), HasSubstr("1023"));
  EXPECT_EQ(error_of("semaphores", body + "dispatch K writes a\n", 3), "no error");
}

}  // namespace
}  // namespace interlock::queue_program_test
