// What the host says of values while it holds work back: a free, a destroy, a reset or an adoption
// is about what was issued before it, whenever that executes. By hand, and against the ledger of
// bytes.
#include "simulator/lifetimes/held_back.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/text/printer.h"
#include "simulator/lifetimes/ended_bytes.h"
#include "simulator/lifetimes/issued_destroys.h"
#include "simulator/lifetimes/lifetimes.h"
#include "simulator/order/happens_before.h"
#include "simulator/order/in_reference_order.h"
#include "simulator/order/reference_order.h"
#include "tests/program_count.h"
#include "tests/simulator/judges/value_ledger.h"
#include "tests/simulator/lifetimes/lifetime_text.h"
#include "tests/simulator/programs/queue_texts.h"
#include "tests/simulator/programs/random_destroys.h"

namespace interlock::held_back_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::vector<std::string> findings_in(const std::string& statements) {
  const Program program = program_with_queues(
      "interlock 1\nq1: queue serial\nq2: queue serial\nmemory m 64\n"
      "tensor x f32[4] at m+0\ntensor y f32[4] at m+16\ntensor kept f32[4]\noutput y\n"
      "dispatch Make writes y\nhost idle\n" +
      statements);
  const Program run = in_reference_order(program, find_reference_order(program));
  const HappensBefore order(run);
  LifetimeOptions options;
  options.queues = &order.queues();
  std::vector<std::string> texts;
  for (const LifetimeFinding& finding : check_lifetimes(run, options).findings) {
    texts.push_back(text_of(run, finding));
  }
  return texts;
}

const std::string kHeld = "wait s=1 on q1\na: dispatch Make writes x on q1\n";
const std::string kUse = "b: dispatch Use reads x on q1\nsubmit on q1\n";

// The write executes after the end of its value, and the read after it finds what has ended.
TEST(HeldBack, WritesLeaveAValueThatHasEnded) {
  for (const std::string end : {"destroy x\n", "free x\n", "reset m\n"}) {
    const bool is_pending = end.starts_with("destroy");
    const std::vector<std::string> found =
        findings_in(kHeld + "submit on q1\n" + end + kUse + "host signals s=1\n");
    if (is_pending) {
      EXPECT_THAT(found, UnorderedElementsAre("use-after-free 0 a", "use-after-free 0 b")) << end;
    } else if (end.starts_with("free")) {
      EXPECT_THAT(found, ElementsAre("use-after-free 0 b")) << end;
    } else {
      EXPECT_THAT(found, UnorderedElementsAre("use-after-free 0 b", "use-after-free 0 end")) << end;
    }
  }
}

// An allocator may free what pending work uses, if nothing is issued later that does.
TEST(HeldBack, ReadsAreNotAboutAnEndThatIsIssuedAfterThem) {
  for (const std::string write : {"", "dispatch Make writes x\nhost idle\n"}) {
    const std::string held = write + "wait s=1 on q1\n" + (write.empty() ? kHeld : "");
    EXPECT_THAT(findings_in(held + kUse + "free x\nhost signals s=1\n"), IsEmpty());
  }
  EXPECT_THAT(findings_in("dispatch Make writes x\nhost idle\nwait s=1 on q1\n" + kUse +
                          "free x\nlate: dispatch Use reads x on q1\nhost signals s=1\n"),
              ElementsAre("use-after-free 0 late"));
}

TEST(HeldBack, WritesAreAdoptedAsTheyAreIssued) {
  const std::string text = kHeld + "submit on q1\nadopt kept = x\n" +
                           "b: dispatch Use reads kept on q1\nsubmit on q1\nhost signals s=1\n";
  EXPECT_THAT(findings_in(text), IsEmpty());
  // The other way round: what is adopted is what was written before.
  EXPECT_THAT(findings_in("adopt kept = x\n" + kHeld +
                          "b: dispatch Use reads kept on q1\nsubmit on q1\nhost signals s=1\n"),
              ElementsAre("clobber a b"));
}

// A statement of a queue takes place where its queue comes to it.
TEST(HeldBack, IsNotWhatAnotherQueueEnds) {
  EXPECT_THAT(findings_in("dispatch Make writes x\nhost idle\nwait s=1 on q1\n" + kUse +
                          "free x on q2\nhost signals s=1\n"),
              ElementsAre("use-after-free 0 b"));
}

// Whether so much work is enough to follow the values of the program.
bool is_done_with(uint64_t work_limit, const std::string& statements) {
  const Program program = program_with_queues("interlock 1\n" + statements);
  const Program run = in_reference_order(program, find_reference_order(program));
  EXPECT_TRUE(HeldBack(run).is_any());
  const HappensBefore order(run);
  LifetimeOptions options;
  options.queues = &order.queues();
  options.work_limit = work_limit;
  return !check_lifetimes(run, options).is_truncated();
}

std::string times(int count, const std::function<std::string(int)>& statements) {
  std::string text;
  for (int i = 0; i < count; ++i) text += statements(i);
  return text;
}

// A batch is recorded, with the frees of its temporaries, before it is submitted. What a step
// reads is looked up among the statements about it, not among all that there were: 300 steps with
// 8 frees of other bytes each take as good as no work, of their own values or of what all share.
TEST(HeldBack, LooksAtNoStatementAboutOtherBytes) {
  const int count = 300;
  std::string text = "q1: queue serial\nmemory m 8192\nmemory k 64\ntensor w f32[4] at k+0\n";
  text += times(count, [](int i) {
    return "tensor x" + std::to_string(i) + " f32[4] at m+" + std::to_string(16 * (i % 100)) + "\n";
  });
  text += "tensor o f32[4] at m+4096\noutput o\ndispatch Make writes w on q1\n";
  text += times(count, [](int i) {
    const std::string x = "x" + std::to_string(i);
    return "dispatch Make writes " + x + " on q1\ndispatch Use reads w " + x +
           " writes o on q1\nfree " + x + "\n" + (i % 50 == 49 ? "submit on q1\n" : "");
  });
  EXPECT_TRUE(is_done_with(1'000, text));
}

const std::string kHeldBackMeanwhile =
    "wait s=1 on q1\ndispatch Make writes z on q1\nsubmit on q1\nfree z\nhost signals s=1\n";

// Pieces of one value that nothing changes in between are one run of bytes; others are paid for.
TEST(HeldBack, PaysForThePiecesOfWhatItReads) {
  const int count = 100;
  const std::string head =
      "q1: queue serial\nq2: queue serial\nmemory m 400\ntensor x f32[100] at m+0\n"
      "memory k 64\ntensor z f32[4] at k+0\ntensor kept f32[100]\n";
  const auto write = [](int i) {
    return "dispatch Make writes x[" + std::to_string(i) + ":" + std::to_string(i + 1) +
           "] on q2\n";
  };
  const std::string reads = times(count, [](int) { return "dispatch Use reads x on q2\n"; });
  EXPECT_TRUE(is_done_with(0, head + kHeldBackMeanwhile + times(count, write) + reads));
  const auto submit = [&](int i) { return write(i) + "submit on q2\nadopt kept = x\n"; };
  const std::string pieces = times(count, submit);
  const std::string held = pieces + "wait t=1 on q2\n" + reads + "submit on q2\nfree z\n";
  const std::string text = head + "dispatch Make writes z on q1\n" + held + "host signals t=1\n";
  EXPECT_FALSE(is_done_with(5'000, text));
  EXPECT_TRUE(is_done_with(50'000, text));
}

// A value that many hold costs the length of that list for each statement; many readers that find
// the same pay for it once.
TEST(HeldBack, PaysForTheListsOfHoldersThatItMakes) {
  const int count = 60;
  const auto text = [&](int reader_count) {
    return "q1: queue serial\nmemory m 64\ntensor x f32[4] at m+0\nmemory k 64\n"
           "tensor z f32[4] at k+0\n" +
           times(count, [](int i) { return "tensor h" + std::to_string(i) + " f32[4]\n"; }) +
           "dispatch Make writes x on q1\nsubmit on q1\nhost idle\n" +
           times(count, [](int i) { return "adopt h" + std::to_string(i) + " = x\n"; }) +
           "wait s=1 on q1\n" +
           times(reader_count, [](int) { return "dispatch Use reads x on q1\n"; }) +
           "submit on q1\nfree z\nhost signals s=1\n";
  };
  EXPECT_FALSE(is_done_with(1'000, text(1)));
  EXPECT_TRUE(is_done_with(4'000, text(1)));
  EXPECT_TRUE(is_done_with(4'000, text(100)));
}

// Whoever runs the program marks what is lost as a check says it: at the end, too.
TEST(HeldBack, LeavesWhatHasEndedToTheEndOfTheProgram) {
  const auto ended_in = [](const std::string& end) {
    const Program program = program_with_queues(
        "interlock 1\nq1: queue serial\nmemory m 64\ntensor x f32[4] at m+0\noutput x\n" + kHeld +
        "submit on q1\n" + end + "host signals s=1\nhost idle\n");
    return find_ended_bytes(in_reference_order(program, find_reference_order(program)));
  };
  EXPECT_THAT(ended_in(""), IsEmpty());
  for (const std::string end : {"free x\n", "reset m\n"}) {
    const std::vector<EndedBytes> ended = ended_in(end);
    ASSERT_EQ(ended.size(), 1) << end;
    EXPECT_FALSE(ended[0].reader.is_some());
    EXPECT_EQ(ended[0].bytes, (ByteRange{0, 16}));
  }
}

auto key_of(const LifetimeFinding& f) {
  return std::tuple(f.kind, f.reader, f.tensor, f.found, f.overwriter, f.ended_by, f.ended_at);
}

std::set<IssuedByte> issued_destroys_of(const Program& run) {
  std::set<IssuedByte> bytes;
  const IssuedDestroys issued(run, 1'000'000);
  for (size_t i = 0; i < run.lifetimes.size(); ++i) {
    const LifetimeId at(i);
    const Lifetime& lifetime = run.lifetimes[i];
    const bool may =
        lifetime.kind == LifetimeKind::kDestroy || lifetime.kind == LifetimeKind::kUnpin;
    if (!may || !issued.judges(at)) continue;
    for (const IssuedDestroys::Run& part : issued.at(at)) {
      for (uint64_t b = part.bytes.begin; b < part.bytes.end; ++b) {
        bytes.emplace(part.destroy, at, lifetime.memory, b);
      }
    }
  }
  return bytes;
}

TEST(HeldBack, AgreesWithTheLedger) {
  const int count = proof_count(40'000, 2000, 13);
  int held_back_count = 0;
  int finding_count = 0;
  for (int seed = 0; seed < count; ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed) + 51'000'000);
    const Result<Program> program = build(draft_held_back(choice));
    ASSERT_TRUE(program) << program.error().message;
    if (!find_reference_order(*program).cycle.empty()) continue;
    const Program run = reference_run(*program);
    const HappensBefore order(run);
    LifetimeOptions options;
    if (order.has_queues()) options.queues = &order.queues();
    std::set<decltype(key_of({}))> found;
    std::set<std::tuple<LifetimeId, LifetimeId, DispatchId>> pending;
    for (const LifetimeFinding& finding : check_lifetimes(run, options).findings) {
      if (finding.is_pending) {
        pending.emplace(finding.ended_by, finding.ended_at, finding.reader.dispatch);
      } else {
        found.insert(key_of(finding));
      }
    }
    std::set<decltype(key_of({}))> expected;
    for (const LifetimeFinding& finding : findings_by_ledger(run)) {
      // That what is pending at a destroy finds no value after it goes without saying.
      const bool is_known =
          pending.contains({finding.ended_by, finding.ended_at, finding.reader.dispatch});
      if (!finding.is_pending && !is_known) expected.insert(key_of(finding));
    }
    ASSERT_EQ(found, expected) << "seed " << seed << "\n" << print(*program);
    if (run.text_order) {
      const std::set<IssuedByte> by_ledger = issued_destroys_by_ledger(run);
      ASSERT_EQ(issued_destroys_of(run), by_ledger) << "seed " << seed << "\n" << print(*program);
      // What is pending at a `destroy` of the host is at one of these.
      for (const auto& [destroy, at, reader] : pending) {
        const bool is_of_host =
            run.statements[run.lifetimes[at.index].statement.index].queue == kNoQueue;
        if (!is_of_host || destroy != at) continue;
        ASSERT_TRUE(std::ranges::any_of(by_ledger,
                                        [at = at](const IssuedByte& byte) {
                                          return std::get<0>(byte) == at && std::get<1>(byte) == at;
                                        }))
            << "seed " << seed;
      }
    }
    held_back_count += HeldBack(run).is_any();
    finding_count += HeldBack(run).is_any() && !found.empty();
  }
  EXPECT_GE(held_back_count, count / 25);
  EXPECT_GE(finding_count, count / 100);
  print_proof(held_back_count, "what the host ends while it holds work back is that of a ledger");
}

}  // namespace
}  // namespace interlock::held_back_test
