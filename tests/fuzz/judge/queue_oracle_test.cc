// The search for paths, on programs that it can be told of in a line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "encoder/text/parser.h"
#include "fuzz/judge/queue_oracle.h"
#include "fuzz/testing/programs.h"

namespace interlock::queue_oracle_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Program parsed(const std::string& body) {
  ParseOptions options;
  options.reads_every_queue = true;
  return value_or_fail(
      parse("interlock 1\nmemory a 8\nmemory b 8\nx: queue serial\n"
            "y: queue serial\nz: queue serial\ng: queue graph\n" +
                body,
            "test.ilk", options));
}

TEST(HasUnorderedConflict, FollowsQueuesSignalsAndEdges) {
  const std::string pair = "dispatch K writes a on x\ndispatch K reads a on y\n";
  EXPECT_TRUE(has_unordered_conflict(parsed(pair)));
  EXPECT_FALSE(
      has_unordered_conflict(parsed("dispatch K writes a on x\nsignal s=1 on x\n"
                                    "wait s=1 on y\ndispatch K reads a on y\n")));
  EXPECT_TRUE(
      has_unordered_conflict(parsed("signal s=1 on x\ndispatch K writes a on x\n"
                                    "wait s=1 on y\ndispatch K reads a on y\n")));
  EXPECT_TRUE(
      has_unordered_conflict(parsed("dispatch K writes a on x\nsignal s=1 on x\n"
                                    "dispatch K reads a on y\nwait s=1 on y\n")));
  EXPECT_FALSE(has_unordered_conflict(
      parsed("dispatch K writes a on x\nsignal s=1 on x\nwait s=1 on z\nsignal t=1 on z\n"
             "wait t=1 on y\ndispatch K reads a on y\n")));
  EXPECT_TRUE(
      has_unordered_conflict(parsed("dispatch K writes a on g\ndispatch K reads a on g\n")));
  EXPECT_FALSE(has_unordered_conflict(parsed(
      "dispatch K writes a on g\ndispatch K after 0 on g\ndispatch K reads a after 1 on g\n")));
}

// Within one nothing is ordered but by barriers; a signal covers what comes before it, and a wait
// holds back what comes after it.
TEST(HasUnorderedConflict, FollowsTheBarriersOfConcurrentQueues) {
  const auto is_unordered = [](const std::string& body) {
    return has_unordered_conflict(parsed("p: queue concurrent\nq: queue concurrent\n" + body));
  };
  const std::string write = "dispatch K writes a on p\n";
  EXPECT_TRUE(is_unordered(write + "dispatch K reads a on p\n"));
  EXPECT_FALSE(is_unordered(write + "barrier on p\ndispatch K reads a on p\n"));
  EXPECT_TRUE(is_unordered(write + "barrier on q\ndispatch K reads a on p\n"));
  EXPECT_FALSE(is_unordered(write + "set e on p\nawait e on p\ndispatch K reads a on p\n"));
  EXPECT_TRUE(is_unordered("set e on p\n" + write + "await e on p\ndispatch K reads a on p\n"));
  EXPECT_TRUE(is_unordered(write + "set e on p\ndispatch K reads a on p\nawait e on p\n"));
  EXPECT_TRUE(is_unordered(write + "signal s=1 on p\ndispatch K reads a on p\n"));
  EXPECT_FALSE(is_unordered(write + "signal s=1 on p\nwait s=1 on q\ndispatch K reads a on q\n"));
  EXPECT_TRUE(
      is_unordered("signal s=1 on p\n" + write + "wait s=1 on q\ndispatch K reads a on q\n"));
  EXPECT_TRUE(is_unordered(write + "signal s=1 on p\ndispatch K reads a on q\nwait s=1 on q\n"));
  EXPECT_FALSE(is_unordered(write + "signal s=1 on p\nwait s=1 on q\nsignal t=1 on q\n"
                                    "wait t=1 on y\ndispatch K reads a on y\n"));
}

// What is submitted after a statement of the host comes after it; the host comes after what it
// waits for.
TEST(HasUnorderedConflict, FollowsTheHost) {
  const std::string write = "dispatch K writes a on x\nsignal s=1 on x\n";
  EXPECT_TRUE(has_unordered_conflict(parsed(write + "host reads a\n")));
  EXPECT_FALSE(has_unordered_conflict(parsed(write + "host waits s=1\nhost reads a\n")));
  EXPECT_FALSE(has_unordered_conflict(parsed("host writes a\ndispatch K reads a on x\n")));
  EXPECT_FALSE(has_unordered_conflict(parsed(write + "host waits s=1\ndispatch K reads a on y\n")));
  EXPECT_TRUE(has_unordered_conflict(parsed(write + "dispatch K reads a on y\nhost waits s=1\n")));
}

// A signal covers all of a graph before it, and a wait holds back all after it.
TEST(HasUnorderedConflict, FollowsSignalsAndWaitsOfGraphs) {
  const std::string write = "dispatch K writes a on g\n";
  EXPECT_FALSE(has_unordered_conflict(
      parsed(write + "signal s=1 on g\nwait s=1 on x\ndispatch K reads a on x\n")));
  EXPECT_TRUE(has_unordered_conflict(
      parsed("signal s=1 on g\n" + write + "wait s=1 on x\ndispatch K reads a on x\n")));
  EXPECT_FALSE(has_unordered_conflict(parsed(
      "dispatch K writes a on x\nsignal s=1 on x\nwait s=1 on g\ndispatch K reads a on g\n")));
  EXPECT_TRUE(has_unordered_conflict(parsed(
      "dispatch K writes a on x\nsignal s=1 on x\ndispatch K reads a on g\nwait s=1 on g\n")));
}

// What a graph or a concurrent queue wrote is in a copy that the host has not, until it is handed
// on: by an edge, a barrier or a serial queue, if memory is not unified.
TEST(HasUnorderedConflict, HandsOnToTheHostWhatWasWritten) {
  const std::string write = "dispatch K writes a on g\n";
  const std::string wait = "signal s=1 on g\nhost waits s=1\n";
  EXPECT_TRUE(has_unordered_conflict(parsed(write + wait + "host reads a\n")));
  EXPECT_TRUE(has_unordered_conflict(parsed(write + wait + "host writes a\n")));
  EXPECT_FALSE(has_unordered_conflict(
      parsed("memory u 8 unified\ndispatch K writes u on g\n" + wait + "host reads u\n")));
  EXPECT_FALSE(
      has_unordered_conflict(parsed("dispatch K reads a on g\n" + wait + "host writes a\n")));
  EXPECT_FALSE(has_unordered_conflict(
      parsed(write + "dispatch K after 0 on g\n" + wait + "host reads a\n")));
  EXPECT_FALSE(has_unordered_conflict(
      parsed(write + "signal s=1 on g\nwait s=1 on x\nsignal t=1 on x\nhost waits t=1\n"
                     "host reads a\n")));
  const std::string concurrent = "p: queue concurrent\ndispatch K writes a on p\n";
  const std::string fence = "signal s=1 on p\nhost waits s=1\nhost reads a\n";
  EXPECT_TRUE(has_unordered_conflict(parsed(concurrent + fence)));
  EXPECT_FALSE(has_unordered_conflict(parsed(concurrent + "barrier on p\n" + fence)));
}

TEST(HasUnorderedConflict, KnowsWhatConflicts) {
  EXPECT_FALSE(has_unordered_conflict(
      parsed("dispatch K reads a on x\ndispatch K reads a on y\n"
             "dispatch K writes b[0:4] on x\ndispatch K writes b[4:8] on y\n")));
  EXPECT_FALSE(has_unordered_conflict(
      parsed("dispatch K atomics a atomic=add on x\ndispatch K atomics a atomic=add on y\n")));
  EXPECT_TRUE(has_unordered_conflict(
      parsed("dispatch K atomics a atomic=add on x\ndispatch K atomics a atomic=min on y\n")));
}

constexpr const char* kPair =
    "memory a 8\ndispatch K writes a\ndispatch K reads a\ndispatch K writes a\n";

Result<Program> encode_refusing(const Program& /*program*/, uint32_t /*queue_count*/) {
  return Error{"no."};
}

TEST(JudgeOnQueues, KeepsWhatWasEncodedAndItsHazards) {
  const QueueReport broken = judge_on_queues(program_of(kPair), *find_queue_encoder("mlx-cuda"), 0);
  EXPECT_THAT(broken.disagreements, IsEmpty());
  EXPECT_EQ(broken.facts.size(), 1u);
  EXPECT_EQ(broken.program.edges.size(), 2u);
  EXPECT_THAT(judge_on_queues(program_of(kPair), *find_queue_encoder("edges"), 0).facts, IsEmpty());
}

TEST(JudgeOnQueues, ReportsAnEncoderThatRefuses) {
  const QueueEncoderEntry entry{"refusing", "", false, false, &encode_refusing};
  const QueueReport report = judge_on_queues(program_of(kPair), entry, 0);
  ASSERT_EQ(report.disagreements.size(), 1u);
  EXPECT_EQ(report.disagreements[0].stage, OracleStage::kEncode);
  EXPECT_THAT(report.disagreements[0].message, HasSubstr("'refusing' refuses the program: no."));
}

std::vector<std::string> said_if_fewest(std::string_view encoder, const char* text) {
  QueueEncoderEntry entry = *find_queue_encoder(encoder);
  entry.places_fewest = true;
  std::vector<std::string> said;
  for (const auto& disagreement : judge_on_queues(program_of(text), entry, 0).disagreements) {
    EXPECT_EQ(disagreement.stage, OracleStage::kCrossCheck);
    said.push_back(disagreement.message);
  }
  return said;
}

// One program in 64 is judged as it stands then, on the CPU, too.
TEST(JudgeOnQueues, ExecutesWhatWasEncoded) {
  const QueueEncoderEntry& semaphores = *find_queue_encoder("semaphores");
  const QueueJudgeOptions judges;
  EXPECT_TRUE(judge_on_queues(program_of(kPair), semaphores, 0, &judges).ran_on_cpu);
  EXPECT_FALSE(judge_on_queues(program_of(kPair), semaphores, 32, &judges).ran_on_cpu);
  EXPECT_FALSE(judge_on_queues(program_of(kPair), semaphores, 0).ran_on_cpu);
}

OrderFindings find_no_hazard(const Program& text, HazardsListed listed, uint64_t& work_left) {
  OrderFindings findings = find_order_findings(text, listed, work_left);
  findings.hazards.clear();
  return findings;
}

TEST(JudgeOnQueues, HearsWhereTheOtherJudgesContradict) {
  QueueJudgeOptions judges;
  judges.methods.find_order = find_no_hazard;
  const QueueReport report =
      judge_on_queues(program_of(kPair), *find_queue_encoder("mlx-cuda"), 0, &judges);
  ASSERT_FALSE(report.disagreements.empty());
  EXPECT_EQ(report.disagreements[0].stage, OracleStage::kChains);
  EXPECT_THAT(report.disagreements[0].message, HasSubstr("The search of chains finds the WAR"));
}

TEST(JudgeOnQueues, HoldsAnEncoderToTheFewestThatItClaims) {
  EXPECT_THAT(said_if_fewest("edges", kPair), IsEmpty());
  EXPECT_THAT(said_if_fewest("semaphores", kPair), IsEmpty());
  EXPECT_THAT(said_if_fewest("streams", kPair), IsEmpty());
  EXPECT_THAT(said_if_fewest("mlx-cuda-readers", kPair),
              ElementsAre("Encoder 'mlx-cuda-readers' places 3 waits or edges, and 2 would do."));
  EXPECT_THAT(said_if_fewest("mlx-cuda-readers",
                             "memory a 8\ndispatch K writes a[0:4]\ndispatch K reads a[4:8]\n"),
              ElementsAre("Encoder 'mlx-cuda-readers' adds order to what conflicts."));
}

// Mutants of a corpus may have them: of what is perhaps touched no fewest is known.
TEST(JudgeOnQueues, AsksForNoFewestOfApproximateDispatches) {
  constexpr char kApproximate[] =
      "memory a 8\ndispatch K writes a\ndispatch K reads a approximate\n";
  for (const char* encoder : {"semaphores", "streams", "edges"}) {
    EXPECT_THAT(said_if_fewest(encoder, kApproximate), IsEmpty()) << encoder;
  }
}

}  // namespace
}  // namespace interlock::queue_oracle_test
