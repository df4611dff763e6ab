// Queues, semaphores, events, the host and rows of bytes, as text: what is read is printed again,
// in canonical form, and what does not fit is an error with its position.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "tests/encoder/text/round_trip.h"

namespace interlock::queue_statements_test {
namespace {

using testing::ElementsAre;

constexpr std::string_view kDeclarations =
    "interlock 1\n"
    "memory a 4096\n"
    "memory b 4096\n"
    "tensor x f32[16] at a+0 = random(1)\n"
    "p: queue concurrent\n"
    "s: queue serial\n"
    "g: queue graph\n";

Result<Program> read(const std::string& statements) {
  ParseOptions options;
  options.reads_every_queue = true;
  return parse(std::string(kDeclarations) + statements, "q.ilk", options);
}

Program program_of(const std::string& statements) {
  const Result<Program> program = read(statements);
  EXPECT_TRUE(program) << program.error().message;
  return program ? *program : Program{};
}

// The canonical text after the declarations.
std::string canonical(const std::string& statements) {
  const std::string text = expect_round_trip(program_of(statements));
  EXPECT_EQ(text.substr(0, kDeclarations.size()), kDeclarations);
  return text.substr(std::min(kDeclarations.size(), text.size()));
}

// The error without the name of the file; line 8 is the first of `statements`.
std::string error_of(const std::string& statements) {
  const Result<Program> program = read(statements);
  EXPECT_FALSE(program) << print(*program);
  return program ? "" : program.error().message.substr(std::string_view("q.ilk:").size());
}

TEST(QueueStatements, ArePrintedAsTheyAreRead) {
  for (
      const char* const statements :
      {"dispatch K reads x on p\n",
       "late: dispatch K order=3 indirect b[0:12] uniform b[16:32] reads x partial c=1 on s\n",
       "barrier on p\n",
       "barrier execution on s\n",
       "barrier compute.write -> copy.read x, copy -> host.read on p\n",
       "signal t=3\nwait t=3 on p\n",
       "signal t=3 after compute, u after copy|host on p\nwait u before copy\n",
       "wait t=1 before indirect on p\nsignal t=1\n",
       "host signals t=1\nhost waits t=1\n",
       "host idle\nhost idle on q0\nhost idle on s\n",
       "l: host reads x b[0:8]\nhost writes x = random(3)\nhost writes b[4:8] = zeros\n",
       "host writes x b[0:8] approximate\nl: host reads x approximate\n",
       "host flushes x\nhost invalidates b[0:256] x\n",
       "set e compute.write -> copy.read x on p\nawait e on p\n",
       "set e\nawait e\nawait e\n",
       "set e execution on p\nset e\nawait e on p\n",
       "split\nsplit on p\nsubmit\nsubmit on p\n",
       "l: dispatch K on g\nm: dispatch K on g\ndispatch K after l m on g\n"
       "dispatch K after l 2 programmatic on g\n",
       "free x on p\ndestroy x on q0\nfree x\n",
       "dispatch K reads a[0:1024 rows 4 pitch 256 width 64] writes b[0:64 rows 1 pitch 64 width 64]\n",
       "capture c\ndispatch K reads x\nbarrier\nend\nreplay c on p\n",
       "capture c\nl: dispatch K reads x on g\ndispatch K after l on g\nend\nreplay c on s\n",
       "capture c\nl: dispatch K\ndispatch K after l on g\nend\nreplay c on g\n",
       "capture c\nl: dispatch K\ndispatch K after l\nend\nreplay c on s\nreplay c on g\n"
       "dispatch K on s\nreplay c on s\n",
       "l: wait t=1\nsignal t=1 on p\nexpect deadlock l\n",
       "wait t=1\nl: dispatch K on s\nsignal t=1 on p\nexpect deadlock @0 l @2\n",
       "dispatch K writes x\nhost reads x\nwitness @1 before 0\nexpect RAW 0 @1\n",
       "wait t=1 on p\nsignal t=1\nexpect redundant @0\n",
       "l: wait t=1 on p\nsignal t=1\nexpect redundant l\n"}) {
    EXPECT_EQ(canonical(statements), statements);
  }
}

TEST(QueueStatements, HaveACanonicalForm) {
  EXPECT_EQ(canonical("dispatch K on q0\n"), "dispatch K\n");
  EXPECT_EQ(canonical("wait t=1 before all\nsignal t=1 after device|host\n"),
            "wait t=1\nsignal t=1\n");
  EXPECT_EQ(canonical("u: semaphore\nsignal t=1\nb: semaphore binary\n"),
            "u: semaphore = 0\nb: semaphore binary\nsignal t=1\n");
  EXPECT_EQ(canonical("host writes x[0:8] = values(0.1,2)\n"),
            "host writes x[0:8] = values(0.1,2)\n");
  EXPECT_EQ(canonical("q0: queue concurrent\n"), "");
}

TEST(QueueStatements, DeclareTheDefaultQueueFirst) {
  ParseOptions options;
  options.reads_every_queue = true;
  const std::string text = "interlock 1\nq0: queue graph\ndispatch K\ndispatch K after 0 on q0\n";
  const Result<Program> program = parse(text, "q.ilk", options);
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(program->kind_of(kDefaultQueue), QueueKind::kGraph);
  EXPECT_EQ(print(*program), text);
  // What says nothing is not there.
  const Result<Program> plain = parse("interlock 1\nq0: queue concurrent\n", "q.ilk", options);
  ASSERT_TRUE(plain);
  EXPECT_TRUE(plain->queues.empty());
}

TEST(QueueStatements, HaveTheKindsOfStreams) {
  const Program program = program_of(
      "c: queue serial blocking\nd: queue legacy-default\n"
      "dispatch K on d\nwait t=1 on c\nsignal t=1 on d\n");
  EXPECT_EQ(program.kind_of(4), QueueKind::kSerialBlocking);
  EXPECT_EQ(program.kind_of(5), QueueKind::kLegacyDefault);
  EXPECT_EQ(program.name_of(5), "d");
  EXPECT_EQ(program.queue_of(program.dispatches[0]), 5);
}

TEST(QueueStatements, PairEachWaitWithTheWeakestSignal) {
  const Program program = program_of(
      "signal t=2\nsignal t=5\nwait t=1 on p\nwait t=2 on p\nwait t=3 on p\nwait t=0 on p\n"
      "wait b on p\nsignal b\nsignal b\nhost waits b\n");
  std::vector<uint64_t> met;
  for (const SyncStep& step : program.syncs) {
    if (!step.semaphore.is_some()) continue;
    met.push_back(step.partner == SyncStep::kNoPartner ? 0
                                                       : program.signal_parts[step.partner].value);
  }
  EXPECT_THAT(met, ElementsAre(2, 2, 5, 0, 1, 2));
}

TEST(QueueStatements, LetTheInitialValueMeetWaits) {
  const Program program = program_of("t: semaphore = 4\nwait t=4\nwait t=5\nsignal t=7\n");
  EXPECT_EQ(program.syncs[0].partner, SyncStep::kNoPartner);
  EXPECT_EQ(program.syncs[1].partner, 0);
}

TEST(QueueStatements, NumberDispatchesWithoutTheHost) {
  const Program program = program_of(
      "host writes x\ndispatch A\nl: host reads x\ndispatch B\nhost reads b\ndispatch C\n"
      "witness 2 before 0\nexpect RAW l 1\n");
  ASSERT_EQ(program.dispatches.size(), 6);
  EXPECT_THAT(program.host_dispatches, ElementsAre(DispatchId(0), DispatchId(2), DispatchId(4)));
  EXPECT_EQ(program.witness[0].moved, DispatchId(5));
  EXPECT_EQ(program.witness[0].anchor, DispatchId(1));
  EXPECT_EQ(program.expectations[0].first, DispatchId(2));
  EXPECT_EQ(program.expectations[0].second, DispatchId(3));
  EXPECT_EQ(program.description_of(DispatchId(3)), "B (dispatch 1)");
  EXPECT_EQ(program.description_of(DispatchId(2)), "l (host reads)");
}

TEST(QueueStatements, MakeAnAccessOfEachRow) {
  const Program program = program_of("dispatch K reads a[64:1024 rows 3 pitch 256 width 16] x\n");
  ASSERT_EQ(program.accesses.size(), 4);
  EXPECT_EQ(program.accesses[0].range, (ByteRange{64, 80}));
  EXPECT_EQ(program.accesses[1].range, (ByteRange{320, 336}));
  EXPECT_EQ(program.accesses[2].range, (ByteRange{576, 592}));
  EXPECT_EQ(program.dispatches[0].access_count, 4);
}

// By label or index where there is one, as without the number.
TEST(QueueStatements, AreReferredToByNumber) {
  EXPECT_EQ(canonical("l: dispatch K writes x\nhost reads x\nexpect RAW @0 @1\n"),
            "l: dispatch K writes x\nhost reads x\nexpect RAW l @1\n");
  const std::string barrier = "barrier all -> all discards x, all -> none transitions x\n";
  EXPECT_EQ(canonical(barrier + "split\ndispatch K reads x\n"
                                "expect RAW @0@2 @2\nexpect WAW @0@1 @0@2\n"),
            barrier + "split\ndispatch K reads x\nexpect RAW @0@2 0\nexpect WAW @0 @0@2\n");
  EXPECT_EQ(error_of("dispatch K writes x\nhost reads x\nexpect RAW 0 @2\n"),
            "10:14: error: there is no statement '@2'; 2 stand before this line.");
  EXPECT_EQ(error_of("barrier all -> all discards x\nsplit\nexpect RAW @0 @0@2\n"),
            "10:15: error: statement '@0' does not do so many things to operands.");
  EXPECT_EQ(error_of("split\ndispatch K\nexpect RAW 0 @0\n"),
            "10:14: error: '@0' stands on a sync statement; expected a dispatch.");
  EXPECT_EQ(error_of("split\ndispatch K\nexpect RAW 0 @ 0\n"),
            "10:16: error: found '0'; expected the number of a statement.");
  EXPECT_EQ(
      error_of("split\ndispatch K\nexpect RAW 0 @18446744073709551616\n"),
      "10:14: error: there is no statement '@18446744073709551616'; 2 stand before this line.");
}

// Files of before have such names.
TEST(QueueStatements, LeaveTheirWordsToNames) {
  const std::string text =
      "interlock 1\nmemory after 64\nmemory host 64\ntensor queue f32[4] at host+0\n"
      "signal: dispatch K reads after host writes queue\nwait: barrier\n"
      "programmatic: dispatch K reads after\nexpect redundant wait\n";
  const Result<Program> program = parse(text);
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(print(*program), text);
}

TEST(QueueStatements, AreForThoseWhoAskForThem) {
  for (const char* const line :
       {"p: queue serial", "t: semaphore", "q0: queue serial", "split", "submit", "signal t=1",
        "wait t=0", "host idle", "host reads a", "memory c 4 unified", "memory c 512 noncoherent",
        "dispatch K indirect a[0:12]", "free y on q0",
        "dispatch K reads a[0:8 rows 1 pitch 4 width 4]",
        "barrier all -> all a[0:8 rows 1 pitch 4 width 4]", "expect deadlock 0"}) {
    const std::string text =
        "interlock 1\nmemory a 64\ntensor y u8[4] at a+0\ncapture c\nend\ndispatch A\n" +
        std::string(line) + "\n";
    const Result<Program> program = parse(text, "q.ilk");
    ASSERT_FALSE(program) << line;
    EXPECT_THAT(program.error().message, testing::StartsWith("q.ilk:7:1: error: the statement is "
                                                             "about several queues"));
    ParseOptions lenient;
    lenient.skips_invalid_lines = true;
    EXPECT_EQ(parse(text, "q.ilk", lenient)->statements.size(), 1) << line;
    lenient.reads_every_queue = true;
    EXPECT_TRUE(parse(text, "q.ilk", lenient)) << line;
  }
}

TEST(QueueStatementErrors, NameWhatIsNotDeclared) {
  EXPECT_EQ(error_of("dispatch K on pp\n"),
            "8:15: error: no queue 'pp' is declared before this line.\n"
            "  - While adding 'K' as dispatch 0.");
  EXPECT_EQ(error_of("wait t=1 on r\nsignal t=1\n"),
            "8:13: error: no queue 'r' is declared before this line.");
  EXPECT_EQ(error_of("await e on p\n"),
            "8:7: error: nothing sets the event 'e' on queue 'p' before this line.");
  EXPECT_EQ(error_of("set e on p\nawait e on s\n"),
            "9:7: error: the event 'e' is set on queue 'p' and awaited on 's'; an event is of one "
            "queue, and semaphores are for several.");
  EXPECT_EQ(error_of("host idle on r\n"),
            "8:14: error: no queue 'r' is declared before this line.");
}

TEST(QueueStatementErrors, SayWhatNobodySignals) {
  EXPECT_EQ(error_of("wait t=1\n"), "8:1: error: nothing signals semaphore 't'.");
  EXPECT_EQ(error_of("dispatch K\nsignal t=1\n  wait t=2 on p\n"),
            "10:3: error: nothing signals semaphore 't' with 2 or more; the highest value is 1.");
  EXPECT_EQ(error_of("host waits t=1\n"), "8:1: error: nothing signals semaphore 't'.");
  EXPECT_EQ(error_of("wait b\n"), "8:1: error: nothing signals the binary semaphore 'b'.");
  EXPECT_EQ(error_of("signal b\nwait b on p\nwait b on s\n"),
            "10:1: error: the binary semaphore 'b' is waited for 2 times and signaled 1 time; each "
            "signal meets one wait.");
}

TEST(QueueStatementErrors, SayWhichValuesDoNotRise) {
  EXPECT_EQ(error_of("signal t=1\nsignal t=1 on p\n"),
            "9:8: error: semaphore 't' is signaled with 1 twice; its values must rise.");
  EXPECT_EQ(error_of("t: semaphore = 3\nsignal t=3\n"),
            "9:8: error: semaphore 't' is signaled with 3, and has 3 at first; its values must "
            "rise.");
  // Of a batch the part, and of several faults the first of the text.
  EXPECT_EQ(error_of("signal a=1, z=2\r\n  signal c=1 after copy, z=2\r\n"),
            "9:26: error: semaphore 'z' is signaled with 2 twice; its values must rise.");
  EXPECT_EQ(error_of("signal z=1\nsignal z=1\nsignal a=1\nsignal a=1\n"),
            "9:8: error: semaphore 'z' is signaled with 1 twice; its values must rise.");
  EXPECT_EQ(error_of("wait n=1\nsignal a=1\nsignal a=1\n"),
            "8:1: error: nothing signals semaphore 'n'.");
  EXPECT_EQ(error_of("signal a=1\nsignal a=1\nwait n=1\n"),
            "9:8: error: semaphore 'a' is signaled with 1 twice; its values must rise.");
  EXPECT_EQ(error_of("signal t=1\nwait t on p\n"),
            "9:6: error: semaphore 't' has values, and none stands here; expected t=N.");
  EXPECT_EQ(error_of("signal t\nwait t=1 on p\n"),
            "9:6: error: semaphore 't' is binary and has no values; found 1.");
  EXPECT_EQ(error_of("signal t=1, t=2\n"),
            "8:13: error: semaphore 't' stands twice in one signal; at most once is allowed.");
  EXPECT_EQ(error_of("signal t=18446744073709551616\n"),
            "8:10: error: '18446744073709551616' is not a decimal number of at most 64 bits; "
            "expected a value.");
}

TEST(QueueStatementErrors, KeepEdgesOnGraphs) {
  EXPECT_EQ(error_of("l: dispatch K on g\ndispatch K after l on p\n"),
            "9:23: error: queue 'p' is concurrent, and edges order the operations of graph queues "
            "alone.\n  - While adding 'K' as dispatch 1.");
  EXPECT_EQ(error_of("l: dispatch K\ndispatch K after l on g\n"),
            "9:18: error: l (dispatch 0) is no operation of a graph queue; edges are among those.\n"
            "  - While adding 'K' as dispatch 1.");
  EXPECT_EQ(error_of("dispatch K after l on g\nl: dispatch K on g\n"),
            "8:18: error: no dispatch before this line has the label 'l'.\n"
            "  - While adding 'K' as dispatch 0.");
  EXPECT_EQ(error_of("dispatch K after 1 on g\n"),
            "8:18: error: there is no dispatch '1'; 0 stand before this line.\n"
            "  - While adding 'K' as dispatch 0.");
  EXPECT_EQ(error_of("barrier on g\n"),
            "8:12: error: a barrier stands on the graph queue 'g', whose operations edges order.");
  EXPECT_EQ(error_of("capture c\nl: dispatch K\ndispatch K after l on g\nend\ncapture d\n"
                     "barrier\nend\nreplay d on g\n"),
            "15:13: error: a recorded barrier stands on the graph queue 'g', whose operations "
            "edges order.\n  - While adding replay 1 of capture 'd'.");
}

TEST(QueueStatementErrors, BoundRows) {
  EXPECT_EQ(error_of("dispatch K reads a[0:64 rows 2 pitch 16 width 32]\n"),
            "8:18: error: the rows of 'a' are 32 bytes wide, more than their pitch of 16.\n"
            "  - While adding 'K' as dispatch 0.");
  EXPECT_EQ(error_of("dispatch K reads a[0:64 rows 3 pitch 32 width 16]\n"),
            "8:18: error: 3 rows of 'a', 32 bytes apart, end past the range [0:64].\n"
            "  - While adding 'K' as dispatch 0.");
  EXPECT_EQ(error_of("dispatch K reads a[0:64 rows 18446744073709551615 pitch 1 width 1]\n"),
            "8:18: error: 18446744073709551615 rows of 'a', 1 bytes apart, end past the range "
            "[0:64].\n  - While adding 'K' as dispatch 0.");
  EXPECT_EQ(
      error_of("memory c 281474976710656\n"
               "dispatch K reads c[0:281474976710656 rows 4294967296 pitch 1 width 1]\n"),
      "9:18: error: the rows of 'c' are 4294967296, and with what rows, replays and backward "
      "passes add so far more than the limit of 1048576.\n  - While adding 'K' as dispatch 0.");
}

TEST(QueueStatementErrors, KeepMemoriesCoherentOrInAtoms) {
  for (const std::string atoms : {"48", "9223372036854775808"}) {
    EXPECT_EQ(error_of("memory c 512 noncoherent=" + atoms + "\n"),
              "8:26: error: memory 'c' has atoms of " + atoms +
                  " bytes; expected a power of two of at most 1048576.");
  }
  EXPECT_EQ(error_of("memory c 512 unified noncoherent\n"),
            "8:22: error: found 'noncoherent'; expected the end of the line. 'noncoherent' stands "
            "after the bytes of a memory.");
}

TEST(QueueStatementErrors, KeepRecordedStatementsReplayable) {
  const std::string open = "capture c\n";
  for (const char* const recorded :
       {"barrier on g\n", "a: dispatch K on g\ndispatch K after a a on g\n",
        "b: barrier\ndispatch K after b on g\n",
        "a: dispatch K on q0\ndispatch K after a on g\n"}) {
    EXPECT_FALSE(read(open + recorded + "end\n")) << recorded;
  }
  // Of the queue of the replay, so that only some queues do.
  const std::string edges = open + "a: dispatch K\ndispatch K after a on g\nend\n";
  EXPECT_TRUE(read(edges + "replay c on g\n"));
  EXPECT_EQ(
      error_of(edges + "replay c\n"),
      "12:1: error: queue 'q0' is concurrent, and what the capture records has edges; expected "
      "'on' a graph queue, or a serial one that launches it, here or on these dispatches.\n  - "
      "While adding replay 1 of capture 'c'.");
}

TEST(QueueStatementErrors, DeclareTheDefaultQueueBeforeWhatIsRecorded) {
  ParseOptions options;
  options.reads_every_queue = true;
  EXPECT_FALSE(
      parse("interlock 1\ncapture c\nbarrier\nend\nq0: queue graph\nreplay c\n", "q.ilk", options));
}

// A wait may stand before its signal where a pass looks at the statements so far.
TEST(QueueStatements, MayWaitAcrossABackwardPass) {
  EXPECT_TRUE(
      read("tensor y f32[16] at a+64\ntensor v f32[16]\ntensor l f32[16] at a+128\n"
           "wait t=1\nadopt v = x\ndispatch mul reads v y writes l\n"
           "backward l wrt y\nsignal t=1\n"));
}

TEST(QueueStatementErrors, BoundTheRowsOfReplays) {
  const std::string text =
      "memory big 100000000\ncapture c\n"
      "dispatch K reads big[0:100000000 rows 600000 pitch 2 width 1]\nend\nreplay c\n";
  EXPECT_TRUE(read(text));
  EXPECT_FALSE(read(text + "replay c\n"));
}

TEST(QueueStatements, NameNoEdgeByAWordOfTheClause) {
  EXPECT_EQ(canonical("programmatic: dispatch K on g\na: dispatch K on g\n"
                      "dispatch K after 1 0 on g\n"),
            "programmatic: dispatch K on g\na: dispatch K on g\ndispatch K after a 0 on g\n");
}

TEST(QueueStatements, HaveEdgesWithoutAQueueWhereNothingIsNamedAfter) {
  ParseOptions options;
  options.reads_every_queue = true;
  const std::string text = "interlock 1\nq0: queue graph\ndispatch K\ndispatch K after 0\n";
  const Result<Program> program = parse(text, "q.ilk", options);
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(program->edges.size(), 1);
  expect_round_trip(*program);
  const Result<Program> named = parse(
      "interlock 1\nmemory after 4\nq0: queue graph\ndispatch K reads after\n", "q.ilk", options);
  ASSERT_TRUE(named) << named.error().message;
  EXPECT_TRUE(named->edges.empty());
}

// What a sloppy text leaves out has to leave a program behind.
TEST(QueueStatements, BecomeSplitsWhereNothingMeetsThem) {
  ParseOptions lenient;
  lenient.skips_invalid_lines = true;
  lenient.reads_every_queue = true;
  const Result<Program> program = parse(
      "interlock 1\nl: wait t=1\nsignal b, u=1\nsignal u=1, b\nwait b\nhost waits b\n"
      "expect redundant l\n",
      "q.ilk", lenient);
  ASSERT_TRUE(program);
  EXPECT_EQ(expect_round_trip(*program),
            "interlock 1\nl: split\nsignal b, u=1\nsplit\nwait b\nsplit\nexpect redundant l\n");
}

}  // namespace
}  // namespace interlock::queue_statements_test
