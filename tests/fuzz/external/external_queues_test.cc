// What an encoder for several queues outside of this process is asked, and what it may answer.
#include "fuzz/external/external_queues.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "encoder/program/program.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "simulator/report/read_every_queue.h"

namespace interlock::external_queues_test {
namespace {

using testing::HasSubstr;

const std::string kMemories = "interlock 1\nmemory a 64\nmemory b 64\n";

Program program_of(const std::string& body) {
  ParseOptions options;
  read_every_queue(options);
  auto program = parse(kMemories + body, "<test>", options);
  EXPECT_TRUE(program) << (program ? "" : program.error().message);
  return program ? std::move(*program) : Program{};
}

// Three dispatches, the second and third of which conflict with the first.
const std::string kGiven =
    "make: dispatch Make writes a\ndispatch Use reads a writes b[0:8]\n"
    "dispatch Use reads a writes b[8:16]\n";

// The printed answer, or the error.
std::string answered(const std::string& body, QueueKind kind, uint32_t queue_count = 0) {
  const auto answer =
      queue_answer_of(program_of(kGiven), kMemories + body, QueuesAsked{kind, queue_count});
  return answer ? print(*answer) : answer.error().message;
}

TEST(ExternalQueues, TheQuestionSaysWhichQueuesAndHasNoSync) {
  const Program program = program_of(
      "p: queue serial\nmake: dispatch Make writes a on p\nsignal s=1 on p\nwait s=1\n"
      "barrier\ndispatch Use reads a writes b[0:8]\nexpect clean\n");
  EXPECT_EQ(queue_question_text(without_queues(program), {QueueKind::kGraph, 0}),
            "interlock 1\n# queues kind=graph most=0\nmemory a 64\nmemory b 64\n"
            "make: dispatch Make writes a  # write a 0 64\n"
            "dispatch Use reads a writes b[0:8]  # read a 0 64, write b 0 8\n");
  EXPECT_EQ(remark_of({QueueKind::kSerial, 4}), "queues kind=serial most=4");
}

TEST(ExternalQueues, TakeAllThatOrdersThem) {
  const std::string serial =
      "p: queue serial\nq: queue serial\nmake: dispatch Make writes a on p\nsignal s=1 on p\n"
      "wait s=1 on q\ndispatch Use reads a writes b[0:8] on q\n"
      "dispatch Use reads a writes b[8:16] on p\n";
  EXPECT_EQ(answered(serial, QueueKind::kSerial), kMemories + serial);
  EXPECT_EQ(answered(serial, QueueKind::kSerial, 2), kMemories + serial);
  const std::string concurrent =
      "q: queue concurrent\nmake: dispatch Make writes a\n"
      "set e compute.write -> compute.read a\nsignal s=1 after compute\nawait e\n"
      "dispatch Use reads a writes b[0:8]\nwait s=1 on q\nbarrier execution on q\n"
      "dispatch Use reads a writes b[8:16] on q\n";
  EXPECT_EQ(answered(concurrent, QueueKind::kConcurrent), kMemories + concurrent);
  const std::string graph =
      "g: queue graph\nmake: dispatch Make writes a on g\n"
      "dispatch Use reads a writes b[0:8] after make on g\n"
      "dispatch Use reads a writes b[8:16] after make programmatic on g\n";
  EXPECT_EQ(answered(graph, QueueKind::kGraph), kMemories + graph);
}

// Whether it runs, and in which order, is for the judges.
TEST(ExternalQueues, TakeWaitsBeforeTheirSignalsAndDeadlocks) {
  const std::string queues = "p: queue serial\nq: queue serial\n";
  const std::string crossed =
      "wait s=1 on p\nmake: dispatch Make writes a on p\nsignal t=1 on p\n"
      "wait t=1 on q\ndispatch Use reads a writes b[0:8] on q\nsignal s=1 on q\n"
      "dispatch Use reads a writes b[8:16] on q\n";
  EXPECT_EQ(answered(queues + crossed, QueueKind::kSerial), kMemories + queues + crossed);
}

TEST(ExternalQueues, TakeAnotherOrderIfItIsSaid) {
  const std::string queues = "p: queue serial\n";
  const std::string moved =
      "make: dispatch Make order=0 writes a on p\n"
      "dispatch Use order=2 reads a writes b[8:16] on p\n"
      "dispatch Use order=1 reads a writes b[0:8] on p\n";
  EXPECT_EQ(answered(queues + moved, QueueKind::kSerial), kMemories + queues + moved);
  EXPECT_THAT(answered(queues + "make: dispatch Make writes a on p\n"
                                "dispatch Use reads a writes b[8:16] on p\n"
                                "dispatch Use reads a writes b[0:8] on p\n",
                       QueueKind::kSerial),
              HasSubstr("Without its queues and sync the answer is another program"));
}

struct Answer {
  const char* body;
  const char* message;
};

TEST(ExternalQueues, RefuseWhatIsAnotherProgram) {
  const std::string queues = "p: queue serial\nq: queue serial\nr: queue concurrent\n";
  const std::string make = "make: dispatch Make writes a on p\n";
  const std::string use = "dispatch Use reads a writes b[0:8] on p\n";
  const std::string last = "dispatch Use reads a writes b[8:16] on p\n";
  const auto refused = [&](const std::string& body, const std::string& message) {
    EXPECT_THAT(answered(queues + body, QueueKind::kSerial, 2), HasSubstr(message)) << body;
  };
  refused(make + use, "The answer has 2 dispatches, and the program 3.");
  refused(make + use + last + last, "The answer has 4 dispatches, and the program 3.");
  refused(make + use + use, "it has 'dispatch Use reads a writes b[0:8]' where there was");
  refused(make + use + "dispatch Use reads a[0:32] writes b[8:16] on p\n", "another program");
  refused(make + use + "dispatch Other reads a writes b[8:16] on p\n", "another program");
  refused("dispatch Make writes a on p\n" + use + last, "another program");
  refused("memory c 8\n" + make + use + last, "another program");
  refused(make + use + "dispatch Use reads a writes b[8:16]\n",
          "Statement 2 of the answer is on the default queue, a concurrent queue, and the queues "
          "are to be serial.");
  refused(make + use + "dispatch Use reads a writes b[8:16] on r\n",
          "is on 'r', a concurrent queue");
  refused(make + use + last + "barrier\n", "Statement 3 of the answer is on the default queue");
  refused(make + use + last + "host idle\n", "Statement 3 of the answer is of the host");
  refused(make + use + "host reads a\n", "Statement 2 of the answer is of the host");
  refused(make + use + last + "submit on p\n", "is a `submit`, which is the host's");
  refused(make + use + last + "wait s=1 on p\n", "error");
  refused(make + use + last + "signal s=1 on nowhere\n", "error");
  refused("capture c\n" + make + "end\nreplay c\n" + use + last, "captures");
  refused("not a statement\n", "error");
  EXPECT_THAT(answered(queues + make + use + "dispatch Use reads a writes b[8:16] on q\n",
                       QueueKind::kSerial, 1),
              HasSubstr("The answer uses 2 queues, and at most 1 are asked for."));
  EXPECT_THAT(answered("", QueueKind::kGraph), HasSubstr("has 0 dispatches"));
}

// A barrier that does something to its operands is work of its own.
TEST(ExternalQueues, RefuseTransitions) {
  EXPECT_THAT(answered("make: dispatch Make writes a\n"
                       "barrier compute.write -> compute.read transitions a\n"
                       "dispatch Use reads a writes b[0:8]\ndispatch Use reads a writes "
                       "b[8:16]\n",
                       QueueKind::kConcurrent),
              HasSubstr("The answer has 4 dispatches"));
}

}  // namespace
}  // namespace interlock::external_queues_test
