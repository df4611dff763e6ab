// `events` against the simulator's checks, and against a search of chains: it leaves no hazard, has
// as much sync as `interlock` has barriers, nothing of it can go, and no event can be set earlier.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "encoder/queues/queue_encoder.h"
#include "encoder/sync/encoder.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/testing/programs.h"
#include "simulator/barriers/sync_pieces.h"
#include "simulator/chains/chain_hazards.h"
#include "simulator/facts/find_facts.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/staged_texts.h"

namespace interlock::events_encoder_test {
namespace {

using testing::IsEmpty;

const std::string kHead = "interlock 1\nmemory a 64\nmemory b 64\nmemory c 64\n";

Program parsed(const std::string& text) {
  return value_or_fail(parse(text, "test.ilk", {.reads_every_queue = true}));
}

Program encoded(const Program& program) {
  return value_or_fail(find_queue_encoder("events")->encode(program, 0));
}

// What it makes of the statements, without what declares.
std::string statements_of(const std::string& statements) {
  return print(encoded(parsed(kHead + statements))).substr(kHead.size());
}

TEST(EventsEncoder, SetsAnEventWhereWorkStandsBetween) {
  EXPECT_EQ(statements_of("dispatch A writes a\ndispatch B writes b\ndispatch C reads a\n"),
            "dispatch A writes a\nset e1 compute.write -> compute.read\ndispatch B writes b\n"
            "await e1\ndispatch C reads a\n");
  EXPECT_EQ(statements_of("dispatch A writes a\ndispatch C reads a\n"),
            "dispatch A writes a\nbarrier compute.write -> compute.read\ndispatch C reads a\n");
}

// B's read of c comes after the wait for A, and waits for it, too: so no later event does.
TEST(EventsEncoder, WaitsForTheLastThatAnyOfThoseAfterNeeds) {
  EXPECT_EQ(
      statements_of("dispatch A writes a\ndispatch B writes b\ndispatch copy reads c[0:8] writes "
                    "c[8:16]\ndispatch C reads a\ndispatch D reads b\n"),
      "dispatch A writes a\ndispatch B writes b\nset e1 compute.write -> compute.read\n"
      "dispatch copy reads c[0:8] writes c[8:16]\nawait e1\ndispatch C reads a\n"
      "dispatch D reads b\n");
}

TEST(EventsEncoder, SetsTheNextEventAfterTheLastWasAwaited) {
  EXPECT_EQ(
      statements_of("dispatch A writes a\ndispatch X writes c[0:4]\ndispatch B reads a writes "
                    "b\ndispatch X writes c[4:8]\ndispatch C reads b\n"),
      "dispatch A writes a\nset e1 compute.write -> compute.read\n"
      "dispatch X writes c[0:4]\nawait e1\ndispatch B reads a writes b\n"
      "set e2 compute.write -> compute.read\ndispatch X writes c[4:8]\nawait e2\n"
      "dispatch C reads b\n");
}

TEST(EventsEncoder, LetsTheHostWaitForAllAndKeepsWhatStandsBetween) {
  EXPECT_EQ(statements_of("tensor t f32[2] at a+0\ntensor u f32[2] at a+32\ndispatch A writes t\n"
                          "split\ndispatch B writes b\nfree t\ndispatch C writes c\nhost reads b\n"
                          "dispatch D reads b writes u\ndestroy u\n"),
            "tensor t f32[2] at a+0\ntensor u f32[2] at a+32\ndispatch A writes t\nsplit\n"
            "dispatch B writes b\nfree t\ndispatch C writes c\nbarrier\nsignal s1=1\n"
            "host waits s1=1\nhost reads b\ndispatch D reads b writes u\nsignal s1=2\n"
            "host waits s1=2\ndestroy u\n");
}

TEST(EventsEncoder, LetsTheHostWaitOnlyForWhatItConflictsWith) {
  EXPECT_EQ(statements_of("dispatch A writes a\nhost reads b\nhost writes c\n"
                          "dispatch B reads c\nhost writes c\nhost reads c\nhost reads a\n"),
            "dispatch A writes a\nhost reads b\nhost writes c\ndispatch B reads c\nsignal s1=1\n"
            "host waits s1=1\nhost writes c\nhost reads c\nbarrier\nsignal s1=2\n"
            "host waits s1=2\nhost reads a\n");
}

// Two memories, in one of which the host may see writes without a barrier.
std::string random_host_text(Choice& choice) {
  std::string text = "interlock 1\nmemory a 8\nmemory b 8";
  text += choice.below(2) == 0 ? " unified\n" : "\n";
  const auto bytes = [&] {
    const uint64_t begin = choice.below(6);
    return fmt::format("{}[{}:{}]", choice.below(2) == 0 ? "a" : "b", begin, begin + 2);
  };
  for (uint64_t left = 3 + choice.below(7); left > 0; --left) {
    const uint64_t sort = choice.below(5);
    if (sort == 0) text += fmt::format("host reads {}\n", bytes());
    if (sort == 1) text += fmt::format("host writes {}\n", bytes());
    if (sort == 2) text += fmt::format("dispatch Work reads {}\n", bytes());
    if (sort == 3) text += fmt::format("dispatch Work in copy writes {}\n", bytes());
    if (sort == 4) text += fmt::format("dispatch Count atomics {} atomic=add\n", bytes());
  }
  return text;
}

// What came before is visible to all that is submitted after it: only D's write is flushed.
TEST(EventsEncoder, NeedsNothingOfWhatTheHostHasWaitedFor) {
  EXPECT_EQ(statements_of("dispatch B writes b\nhost reads b\ndispatch D writes c\n"
                          "dispatch E uniform b[0:16] reads c\n"),
            "dispatch B writes b\nbarrier\nsignal s1=1\nhost waits s1=1\nhost reads b\n"
            "dispatch D writes c\nbarrier compute.write -> compute.read\n"
            "dispatch E uniform b[0:16] reads c\n");
}

bool has_hazard(const Program& program) {
  return std::ranges::any_of(find_facts(program, {.group = FactGroup::kAccesses}).facts,
                             [](const Fact& fact) { return std::holds_alternative<Hazard>(fact); });
}

// The text with the line one higher, if that is a dispatch.
bool move_up(std::vector<std::string>& lines, size_t line) {
  if (!lines[line - 1].starts_with("dispatch")) return false;
  std::swap(lines[line - 1], lines[line]);
  return true;
}

// Returns how many of the events cannot be set before the dispatch above them.
template <typename IsWrong>
int expect_no_set_can_move(const std::string& text, IsWrong is_wrong) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    lines.push_back(text.substr(at, text.find('\n', at) - at));
  }
  int count = 0;
  for (size_t i = 1; i < lines.size(); ++i) {
    if (!lines[i].starts_with("set ")) continue;
    std::vector<std::string> moved = lines;
    if (!move_up(moved, i)) ADD_FAILURE() << "an event right after other sync\n" << text;
    EXPECT_TRUE(is_wrong(parsed(fmt::format("{}\n", fmt::join(moved, "\n")))))
        << lines[i] << " can be earlier in\n"
        << text;
    ++count;
  }
  return count;
}

TEST(EventsEncoder, IsCleanWithAsMuchSyncAsInterlockAndNothingCanGoOrBeSetEarlier) {
  SeededChoice choice(94);
  const int count = proof_count(100'000, 1'000);
  int piece_count = 0;
  int set_count = 0;
  for (int i = 0; i < count && !HasFailure(); ++i) {
    const Program program = parsed(random_staged_text(choice, 9));
    const Program result = encoded(program);
    const std::string text = print(result);
    EXPECT_FALSE(has_hazard(result)) << text;
    const auto awaits = std::ranges::count(result.syncs, SyncKind::kAwait, &SyncStep::kind);
    EXPECT_EQ(result.barriers.size() + static_cast<size_t>(awaits),
              encode(program, *find_encoder("interlock")->create()).barriers.size())
        << text;
    for (const SyncPiece& piece : sync_pieces_of(result)) {
      EXPECT_TRUE(has_hazard(without_pieces(result, {&piece, 1})))
          << word_of(piece.kind) << " can go from\n"
          << text;
      ++piece_count;
    }
    set_count += expect_no_set_can_move(text, has_hazard);
  }
  EXPECT_GT(piece_count, 3 * count);
  EXPECT_GT(set_count, count / 4);
  if (!HasFailure()) {
    print_proof(count,
                "scoped barriers and events of the encoder are as few as full barriers, leave no "
                "hazard, no piece of them can go, and no event can be set earlier");
  }
}

TEST(EventsEncoder, IsCleanBesideTheHostAndNothingCanGo) {
  SeededChoice choice(96);
  int64_t wait_count = 0;
  int64_t piece_count = 0;
  const int count = program_count(2'000);
  for (int i = 0; i < count && !HasFailure(); ++i) {
    const Program result = encoded(parsed(random_host_text(choice)));
    const std::string text = print(result);
    const auto hazards = chain_hazards_of(result);
    ASSERT_TRUE(hazards.has_value());
    EXPECT_THAT(*hazards, IsEmpty()) << text;
    EXPECT_FALSE(has_hazard(result)) << text;
    for (const SyncPiece& piece : sync_pieces_of(result)) {
      EXPECT_TRUE(has_hazard(without_pieces(result, {&piece, 1})))
          << word_of(piece.kind) << " can go from\n"
          << text;
      ++piece_count;
    }
    wait_count += std::ranges::count(result.syncs, SyncKind::kHostWaits, &SyncStep::kind);
  }
  EXPECT_GT(wait_count, count / 4);
  EXPECT_GT(piece_count, wait_count + count / 2);
}

// By a search of chains, byte by byte, which knows no clocks.
TEST(EventsEncoder, LeavesNoPairOfBytesWithoutAChain) {
  SeededChoice choice(95);
  const auto is_wrong = [](const Program& program) { return !chain_hazards_of(program)->empty(); };
  for (int i = 0; i < program_count(200) && !HasFailure(); ++i) {
    const std::string text = print(encoded(parsed(random_staged_text(choice, 7))));
    const auto hazards = chain_hazards_of(parsed(text));
    ASSERT_TRUE(hazards.has_value());
    EXPECT_THAT(*hazards, IsEmpty()) << text;
    if (i % 8 == 0) expect_no_set_can_move(text, is_wrong);
  }
}

}  // namespace
}  // namespace interlock::events_encoder_test
