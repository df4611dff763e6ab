// Serial queues beside the host: what the encoders place there, judged by the exact check, by a
// search for paths, and by what can go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <variant>

#include "encoder/assemble/build.h"
#include "encoder/program/draft.h"
#include "encoder/queues/queue_encoder.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/generate/generator.h"
#include "fuzz/generate/program_host.h"
#include "fuzz/generate/program_queues.h"
#include "fuzz/generate/program_splits.h"
#include "fuzz/judge/queue_oracle.h"
#include "fuzz/testing/programs.h"
#include "simulator/barriers/sync_redundancy.h"
#include "simulator/facts/find_facts.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"

namespace interlock::host_work_test {
namespace {

using testing::HasSubstr;

const std::string kHead =
    "interlock 1\nmemory a 8\nmemory b 8\nmemory c 8 noncoherent=4\n"
    "tensor t f32[2] at a+0\nx: queue serial\ny: queue serial\n";

Program parsed_text(const std::string& text) {
  ParseOptions options;
  options.reads_every_queue = true;
  return value_or_fail(parse(text, "test.ilk", options));
}

Program parsed(const std::string& body) { return parsed_text(kHead + body); }

std::string encoded(std::string_view encoder, const std::string& body) {
  const auto program = find_queue_encoder(encoder)->encode(parsed(body), 0);
  if (!program) return program.error().message;
  const std::string text = print(*program);
  const std::string last = ": queue serial\n";
  return text.substr(text.rfind(last) + last.size());
}

TEST(EncodeSemaphores, LetsTheHostWaitForWhatItReads) {
  EXPECT_EQ(encoded("semaphores", R"(dispatch K writes a on x
dispatch K writes b on y
host idle
host reads a
dispatch K reads a writes b on x
)"),
            R"(dispatch K writes a on x
signal s1=1 on x
dispatch K writes b on y
signal s2=1 on y
host waits s1=1
host reads a
wait s2=1 on x
dispatch K reads a writes b on x
)");
}

// What is submitted after a statement of the host comes after it, and after what it has waited for.
TEST(EncodeSemaphores, NeedsNoWaitForWhatTheHostHasWaitedFor) {
  EXPECT_EQ(encoded("semaphores", R"(dispatch K reads a on x
host writes a
dispatch K reads a on y
dispatch K writes a on x
)"),
            R"(dispatch K reads a on x
signal s1=1 on x
host waits s1=1
host writes a
dispatch K reads a on y
signal s2=1 on y
wait s2=1 on x
dispatch K writes a on x
)");
}

TEST(EncodeSemaphores, WaitsWhereAValueIsDestroyedAndNotWhereItIsFreed) {
  const std::string uses = "dispatch K writes t on x\ndispatch K reads b on y\n";
  EXPECT_EQ(encoded("semaphores", uses + "free t\n"), uses + "free t\n");
  EXPECT_EQ(encoded("semaphores", uses + "destroy t\n"),
            "dispatch K writes t on x\nsignal s1=1 on x\ndispatch K reads b on y\n"
            "host waits s1=1\ndestroy t\n");
  EXPECT_EQ(encoded("semaphores", uses + "destroy t on y\n"),
            "dispatch K writes t on x\nsignal s1=1 on x\ndispatch K reads b on y\n"
            "wait s1=1 on y\ndestroy t on y\n");
}

TEST(EncodeStreams, SignalsAfterEachDispatchBesideTheHostAsWell) {
  EXPECT_EQ(encoded("streams", "dispatch K writes a on x\nsplit on x\nhost reads a\nfree t\n"),
            "dispatch K writes a on x\nsignal s1=1 on x\nsplit on x\nhost waits s1=1\n"
            "host reads a\nfree t\n");
}

std::string encoded_as_a_graph(const std::string& body) {
  const std::string head =
      "interlock 1\nmemory a 8\nmemory b 8\nmemory u 8 unified\n"
      "tensor t f32[2] at a+0\n";
  const Program program =
      value_or_fail(find_queue_encoder("edges")->encode(parsed_text(head + body), 0));
  return print(program).substr(head.size());
}

// A signal of a graph covers all before it, and makes nothing visible to the host.
TEST(EncodeEdges, LetsTheHostWaitForTheGraphByWayOfASerialQueue) {
  EXPECT_EQ(encoded_as_a_graph(R"(dispatch K writes a
dispatch K reads a writes b
host reads a
dispatch K updates a
)"),
            R"(q1: queue graph
q2: queue serial
dispatch K writes a on q1
signal s1=1 on q1
dispatch K reads a writes b after 0 on q1
wait s1=1 on q2
signal s2=1 on q2
host waits s2=1
host reads a
dispatch K updates a after 1 on q1
)");
}

TEST(EncodeEdges, LetsTheHostWaitForTheGraphItselfWhereMemoryIsUnified) {
  EXPECT_EQ(encoded_as_a_graph("dispatch K writes u\nhost reads u\n"),
            "q1: queue graph\ndispatch K writes u on q1\nsignal s1=1 on q1\nhost waits s1=1\n"
            "host reads u\n");
}

// What is submitted after a statement of the host comes after what that has waited for.
TEST(EncodeEdges, NeedsNoEdgeFromWhatTheHostHasWaitedFor) {
  EXPECT_EQ(encoded_as_a_graph(R"(dispatch K writes u[0:4]
dispatch K writes u[4:8]
dispatch K reads b
host writes u
dispatch K reads u writes b
free t
)"),
            R"(q1: queue graph
dispatch K writes u[0:4] on q1
dispatch K writes u[4:8] on q1
signal s1=1 on q1
dispatch K reads b on q1
host waits s1=1
host writes u
dispatch K reads u writes b after 2 on q1
free t
)");
}

TEST(EncodeEdges, LetsTheHostWaitBeforeItDestroys) {
  EXPECT_EQ(encoded_as_a_graph("dispatch K writes t\ndispatch K reads b\ndestroy t\n"
                               "dispatch K writes a\n"),
            "q1: queue graph\ndispatch K writes t on q1\nsignal s1=1 on q1\n"
            "dispatch K reads b on q1\nhost waits s1=1\ndestroy t\ndispatch K writes a on q1\n");
}

TEST(EncodeEdges, LeavesCommandBuffersOutBesideTheHost) {
  const std::string text =
      "interlock 1\nmemory u 8 unified\nq1: queue serial\n"
      "dispatch K writes u on q1\nsplit on q1\nhost reads u\n";
  const Program program = value_or_fail(find_queue_encoder("edges")->encode(parsed_text(text), 0));
  EXPECT_EQ(print(program),
            "interlock 1\nmemory u 8 unified\nq1: queue graph\n"
            "dispatch K writes u on q1\nsignal s1=1 on q1\nhost waits s1=1\nhost reads u\n");
}

TEST(HostWork, IsRefusedWhereItCannotBeOrdered) {
  for (const char* encoder : {"semaphores", "streams", "edges"}) {
    EXPECT_THAT(encoded(encoder, "dispatch K writes c on x\nhost reads c\n"),
                HasSubstr("'c', which is not coherent"));
    EXPECT_THAT(encoded(encoder,
                        "barrier compute.write -> compute.read transitions a on x\n"
                        "dispatch K reads a on x\n"),
                HasSubstr("does something to its operands"));
    EXPECT_THAT(encoded(encoder, "dispatch K writes t on x\npin t\ndestroy t\nunpin t\n"),
                HasSubstr("pins and destroys"));
    const std::string text = "interlock 1\ntensor t f32[2]\ndispatch K writes t\nfree t on q0\n";
    const auto chosen = find_queue_encoder(encoder)->encode(parsed_text(text), 0);
    ASSERT_FALSE(chosen.has_value());
    EXPECT_THAT(chosen.error().message, HasSubstr("'free t' acts in the order of a queue"));
  }
}

TEST(HostWork, StaysAmongTheDispatchesOfTheTextWhereTheEncoderChooses) {
  const std::string text =
      "interlock 1\nmemory a 8\nmemory b 8\ndispatch A writes a\ndispatch B writes b\n"
      "host reads b\ndispatch A updates a\n";
  const Program program =
      value_or_fail(find_queue_encoder("semaphores")->encode(parsed_text(text), 0));
  EXPECT_EQ(print(program),
            "interlock 1\nmemory a 8\nmemory b 8\nq1: queue serial\nq2: queue serial\n"
            "dispatch A writes a on q1\ndispatch B writes b on q2\nsignal s2=1 on q2\n"
            "host waits s2=1\nhost reads b\ndispatch A updates a on q1\n");
  const std::string many =
      "interlock 1\nmemory a 8\nmemory b 8\nmemory c 8\ndispatch A writes a\n"
      "dispatch A updates a\ndispatch B writes b\ndispatch C writes c\nhost reads c\n";
  const Program few = value_or_fail(find_queue_encoder("semaphores")->encode(parsed_text(many), 2));
  EXPECT_FALSE(few.has_program_order) << print(few);
}

// What is destroyed on a queue is waited for as what is overwritten.
bool ends_on_queues(const Program& program) {
  return std::ranges::any_of(program.lifetimes, [&](const Lifetime& lifetime) {
    return program.statements[lifetime.statement.index].queue != kNoQueue;
  });
}

void expect_needed_waits(const Program& program) {
  for (const SyncPiece& piece : find_redundant_sync(program).redundant) {
    ASSERT_NE(piece.kind, SyncPieceKind::kWait) << print(program);
    ASSERT_NE(piece.kind, SyncPieceKind::kEdge) << print(program);
  }
}

struct HostWorkCounts {
  uint64_t host_wait_count = 0;
  uint64_t edge_count = 0;
  uint64_t end_count = 0;
};

void expect_ordered(const Program& program, HostWorkCounts& counts) {
  for (const Fact& fact : find_facts(program).facts) {
    ASSERT_FALSE(is_hazard(kind_of(fact)) || kind_of(fact) == FindingKind::kUseAfterFree)
        << print(program);
  }
  ASSERT_FALSE(has_unordered_conflict(program)) << print(program);
  if (!ends_on_queues(program)) expect_needed_waits(program);
  counts.host_wait_count += static_cast<uint64_t>(
      std::ranges::count(program.syncs, SyncKind::kHostWaits, &SyncStep::kind));
  counts.edge_count += program.edges.size();
  counts.end_count += program.lifetimes.size();
  const Result<Program> again = parse(print(program), "again.ilk", {.reads_every_queue = true});
  ASSERT_TRUE(again.has_value());
  ASSERT_EQ(print(*again), print(program));
}

void expect_orders(std::string_view encoder, const ProgramDraft& draft, HostWorkCounts& counts) {
  const Result<Program> given = build(draft);
  ASSERT_TRUE(given.has_value()) << given.error().message;
  const Result<Program> program = find_queue_encoder(encoder)->encode(*given, 0);
  ASSERT_TRUE(program.has_value()) << program.error().message;
  expect_ordered(*program, counts);
}

void give_unified_memory(ProgramDraft& draft, Choice& choice) {
  for (ItemDraft& item : draft.items) {
    auto* const memory = std::get_if<MemoryDraft>(&item);
    if (memory != nullptr) memory->is_unified = choice.chance(1, 2);
  }
}

TEST(HostWork, IsOrderedAndNoWaitCanGo) {
  SeededChoice choice(193);
  const int count = share_count(600, 5);
  HostWorkCounts counts;
  for (int i = 0; i < count && !HasFailure(); ++i) {
    ProgramDraft draft = generate(choice, {});
    if (choice.chance(1, 2)) give_splits(draft, choice);
    give_host_work(draft, choice);
    give_queues(draft, choice);
    for (const char* name : {"semaphores", "streams"}) expect_orders(name, draft, counts);
  }
  EXPECT_GT(counts.end_count, static_cast<uint64_t>(count / 4));
  EXPECT_GT(counts.host_wait_count, static_cast<uint64_t>(count / 8));
}

TEST(HostWork, IsOrderedBesideAGraphAndNoEdgeCanGo) {
  SeededChoice choice(194);
  const int count = share_count(600, 3);
  HostWorkCounts counts;
  for (int i = 0; i < count && !HasFailure(); ++i) {
    ProgramDraft draft = generate(choice, {});
    give_unified_memory(draft, choice);
    give_host_work(draft, choice);
    expect_orders("edges", draft, counts);
  }
  EXPECT_GT(counts.end_count, static_cast<uint64_t>(count / 8));
  EXPECT_GT(counts.host_wait_count, static_cast<uint64_t>(count / 8));
  EXPECT_GT(counts.edge_count, static_cast<uint64_t>(count));
}

}  // namespace
}  // namespace interlock::host_work_test
