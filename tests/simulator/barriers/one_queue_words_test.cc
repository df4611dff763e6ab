// Which words of barriers can go on one queue: each sort of word, and where hazards, destroys and
// limits have a say. A second judge cuts the word out of the text and lists all hazards and pending
// accesses once more, byte by byte.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "simulator/barriers/redundancy.h"
#include "simulator/barriers/sync_pieces.h"
#include "simulator/lifetimes/destroy_needs.h"
#include "simulator/report/check.h"
#include "simulator/report/shorter_text.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"
#include "tests/simulator/judges/removal_judge.h"
#include "tests/simulator/judges/value_ledger.h"
#include "tests/simulator/judges/word_removal.h"
#include "tests/simulator/programs/program_text.h"
#include "tests/simulator/programs/queue_texts.h"
#include "tests/simulator/programs/random_lifetime_programs.h"

namespace interlock::one_queue_words_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// What the statements are without the words that can go, one at a time.
std::vector<std::string> shorter_in(const Program& program) {
  std::vector<std::string> statements;
  for (const SyncPiece& word : check(program).redundant_sync) {
    statements.push_back(shorter_text_of(program, word));
  }
  return statements;
}

std::vector<std::string> shorter_on_abc(std::string_view body) {
  return shorter_in(program_on_abc(body));
}

TEST(OneQueueWords, OfABarrierAreStagesAndAccesses) {
  EXPECT_THAT(shorter_on_abc("dispatch A writes a\n"
                             "barrier compute.write|copy.write -> compute.read|host\n"
                             "dispatch B reads a"),
              ElementsAre("barrier compute.write -> compute.read|host",
                          "barrier compute.write|copy.write -> compute.read"));
  EXPECT_THAT(shorter_on_abc("dispatch A writes a\nbarrier compute.write -> compute.read\n"
                             "dispatch B reads a"),
              IsEmpty());
}

TEST(OneQueueWords, OfADependencyAreOperandsUpToTheLast) {
  EXPECT_THAT(shorter_on_abc("dispatch A writes a[0:8]\n"
                             "barrier compute.write -> compute.read a[0:8] b\n"
                             "dispatch B reads a[0:8]"),
              ElementsAre("barrier compute.write -> compute.read a[0:8]"));
}

TEST(OneQueueWords, OfABarrierAreWholeDependencies) {
  EXPECT_THAT(shorter_on_abc("dispatch A writes a\n"
                             "barrier compute.write -> compute.read, copy.write -> copy.read\n"
                             "dispatch B reads a"),
              ElementsAre("barrier compute.write -> compute.read"));
}

TEST(OneQueueWords, AreNotThoseOfALinkOfTheOnlyChain) {
  EXPECT_THAT(shorter_on_abc("dispatch A writes a\nbarrier compute.write -> copy\n"
                             "barrier copy -> compute.read\ndispatch B reads a"),
              IsEmpty());
  // Either way to `compute` is enough where there are two.
  EXPECT_THAT(shorter_on_abc("dispatch A writes a\nbarrier compute.write -> copy|host\n"
                             "barrier copy|host -> compute.read\ndispatch B reads a"),
              ElementsAre("barrier compute.write -> host", "barrier compute.write -> copy",
                          "barrier host -> compute.read", "barrier copy -> compute.read"));
}

TEST(OneQueueWords, AreTheMemoryOfAFullBarrierBesideOneThatOrders) {
  constexpr std::string_view kBody =
      "dispatch A reads a writes b\nbarrier\ndispatch B writes a\n{}\ndispatch C reads b writes c";
  EXPECT_THAT(shorter_on_abc(fmt::format(fmt::runtime(kBody), "barrier\nbarrier execution")),
              ElementsAre("barrier execution"));
  // With full barriers alone a program says nothing narrower.
  EXPECT_THAT(shorter_on_abc(fmt::format(fmt::runtime(kBody), "barrier")), IsEmpty());
  EXPECT_THAT(shorter_on_abc("dispatch A reads a writes b\nbarrier\ndispatch B writes a\n"
                             "barrier compute.write -> compute.read\ndispatch C reads b writes c"),
              ElementsAre("barrier execution"));
}

TEST(OneQueueWords, AreNotThoseOfABarrierThatCanGo) {
  const Program program = program_on_abc(
      "dispatch A writes a\nbarrier compute.write|copy.write -> compute.read\ndispatch B reads b");
  EXPECT_THAT(check(program).redundant, SizeIs(1));
  EXPECT_THAT(shorter_in(program), IsEmpty());
}

TEST(OneQueueWords, AreNotThoseOfSyncThatFailsToOrderAHazard) {
  EXPECT_THAT(shorter_on_abc("dispatch A writes a\nbarrier compute -> compute.read|copy.read\n"
                             "dispatch B reads a"),
              IsEmpty());
  // That of another hazard has a say only where it stands.
  EXPECT_THAT(shorter_on_abc("dispatch A writes a\ndispatch B reads a\n"
                             "barrier\n"
                             "dispatch C writes c\n"
                             "barrier compute.write|copy.write -> compute.read\n"
                             "dispatch D reads c"),
              ElementsAre("barrier compute.write -> compute.read"));
}

TEST(OneQueueWords, KeepTheStageThatADestroyWaitsFor) {
  constexpr std::string_view kBody =
      "tensor x u8[64] at b+0\ntensor y u8[64] at c+0\n"
      "dispatch A reads x writes y\nbarrier compute|copy -> none\ndestroy {}\ndispatch C writes a";
  EXPECT_THAT(shorter_on_abc(fmt::format(fmt::runtime(kBody), "x")),
              ElementsAre("barrier compute -> none"));
}

TEST(OneQueueWords, AreCountedWhereTheyAreTooMuchWork) {
  const Program program = program_on_abc(
      "dispatch A writes a\nbarrier compute.write|copy.write -> compute.read\n"
      "dispatch B reads a writes b\nbarrier compute.write -> compute.read\ndispatch C reads b");
  EXPECT_EQ(check(program, {.redundancy_budget = 1}).unjudged_barrier_count, 2);
  bool has_open_words = false;
  for (uint64_t budget = 0; budget < 100; ++budget) {
    const CheckReport report = check(program, {.redundancy_budget = budget});
    // The first barrier is needed before it is known what the second conflict needs.
    has_open_words |= report.unjudged_barrier_count == 1 && report.unjudged_sync_count == 1;
    EXPECT_THAT(report.redundant, IsEmpty());
  }
  EXPECT_TRUE(has_open_words);
  EXPECT_EQ(check(program).unjudged_sync_count, 0);
  EXPECT_THAT(check(program).redundant_sync, SizeIs(1));
}

class RandomBarriers {
 public:
  explicit RandomBarriers(Choice& choice)
      : choice_(choice), has_operands_(has(1, 2)), has_words_of_others_(has(1, 4)) {}

  std::string barrier() {
    if (has(1, 6)) return "barrier";
    if (has(1, 8)) return "barrier execution";
    std::string text = "barrier";
    do {
      text += fmt::format("{} {} -> ", text.back() == 'r' ? "" : ",", scope());
      text += scope();
      while (has_operands_ && has(1, 2)) text += operand();
    } while (has(1, 3));
    return text;
  }

  // Of few bytes, in one row or in two.
  std::string operand() {
    const char memory = has(1, 2) ? 'm' : 'n';
    const uint64_t begin = choice_.below(5);
    if (has(1, 10))
      return fmt::format(" {}[{}:{} rows 2 pitch 2 width 1]", memory, begin, begin + 3);
    return fmt::format(" {}[{}:{}]", memory, begin, begin + 1 + choice_.below(8 - begin));
  }

  bool has(uint64_t numerator, uint64_t denominator) {
    return choice_.chance(numerator, denominator);
  }

 private:
  std::string scope() {
    constexpr std::string_view kWords[] = {"compute.read", "compute.write", "copy.read",
                                           "copy.write",   "compute",       "copy"};
    constexpr std::string_view kOthers[] = {
        "host", "indirect.read", "compute.uniform", "all.read", "all.write", "all", "host.read"};
    std::string text;
    do {
      const bool is_other = has_words_of_others_ && has(1, 3);
      if (!text.empty()) text += "|";
      text += is_other ? kOthers[choice_.below(std::size(kOthers))]
                       : kWords[choice_.below(std::size(kWords))];
    } while (has(1, 2) && !text.ends_with("all"));
    return text;
  }

  Choice& choice_;
  const bool has_operands_;
  const bool has_words_of_others_;
};

std::string random_text(uint64_t seed) {
  SeededChoice choice(seed);
  RandomBarriers random(choice);
  std::string text = "interlock 1\nmemory m 8\nmemory n 8\n";
  const uint64_t dispatch_count = 2 + choice.below(4);
  const bool has_copies = random.has(1, 2);
  const bool has_atomics = random.has(1, 5);
  uint64_t barriers_left = 5;
  for (uint64_t i = 0; i < dispatch_count; ++i) {
    while (i > 0 && barriers_left > 0 && random.has(3, 5)) {
      text += random.barrier() + "\n";
      --barriers_left;
    }
    const bool is_copy = has_copies && random.has(1, 2);
    text += is_copy ? "dispatch Move in copy" : "dispatch Work";
    const uint64_t sort = choice.below(3);
    if (has_atomics && !is_copy && random.has(1, 2)) {
      text += " atomics" + random.operand();
      text += fmt::format(" atomic={}", random.has(1, 2) ? "add" : "max");
    } else {
      if (sort != 1) text += " reads" + random.operand();
      if (sort != 0) text += " writes" + random.operand();
    }
    text += "\n";
  }
  return text;
}

// The line of each barrier of printed text, or of a random one.
std::vector<size_t> barrier_lines(const std::vector<std::string>& lines) {
  std::vector<size_t> found;
  for (size_t i = 0; i < lines.size(); ++i) {
    const bool is_one =
        lines[i].starts_with("barrier") || lines[i].find(": barrier") < lines[i].find(" # ");
    if (is_one) found.push_back(i);
  }
  return found;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

struct Counts {
  int clean = 0;
  int redundant = 0;  // Words.
  int needed = 0;
  int of_hazards = 0;   // Words that can go in programs with hazards.
  int of_destroys = 0;  // Words that destroys alone need.
};

// Without the word the same bytes have the same hazards, and the same accesses are pending.
bool can_go(const std::string& text, const Program& program, BarrierId barrier,
            const SyncPiece& word, Counts& counts) {
  const std::set<ByteHazard> hazards = byte_hazards_of(program);
  std::vector<std::string> lines = text_lines_of(text);
  std::string& line = lines[barrier_lines(lines).at(barrier.index)];
  line = line_without_word(line, program, word);
  const std::optional<Program> without = parse_queues(joined(lines));
  if (!without) {
    ADD_FAILURE() << "no program:\n" << joined(lines);
    return false;
  }
  const bool adds_pending = pending_by_ledger(*without) != pending_by_ledger(program);
  const bool adds_hazard =
      byte_hazards_of(*without) != hazards || fails_to_order(program, barrier, hazards);
  counts.of_destroys += adds_pending && !adds_hazard;
  return !adds_pending && !adds_hazard;
}

void expect_same_verdicts(const std::string& text, Counts& counts) {
  const std::optional<Program> program = parse_queues(text);
  ASSERT_TRUE(program.has_value()) << text;
  const auto is_narrow = [](const Barrier& barrier) { return barrier.kind != BarrierKind::kFull; };
  if (std::ranges::none_of(program->barriers, is_narrow)) return;
  const BarrierRedundancy found = find_redundant(
      *program, HappensBefore(*program), ByteSegments(*program), find_destroy_needs(*program));
  ASSERT_EQ(found.unjudged_count + found.unjudged_word_count, 0);
  const bool is_clean = byte_hazards_of(*program).empty();
  counts.clean += is_clean;
  const std::vector<SyncPiece> pieces = sync_pieces_of(*program);
  std::vector<bool> goes(pieces.size());
  for (size_t i = 0; i < pieces.size(); ++i) {
    const SyncPiece& word = pieces[i];
    const BarrierId barrier(program->statements[word.statement.index].index);
    if (!word.is_word()) {
      goes[i] =
          std::ranges::binary_search(found.redundant, barrier, {}, &RedundantBarrier::barrier);
      continue;
    }
    const bool is_redundant = std::ranges::find(found.words, word) != found.words.end();
    ASSERT_NE(word.within, SyncPiece::kNone);
    goes[i] = is_redundant || goes[word.within];
    if (goes[word.within]) {
      ASSERT_FALSE(is_redundant) << description_of(*program, word);
      continue;
    }
    ASSERT_EQ(is_redundant, can_go(text, *program, barrier, word, counts))
        << description_of(*program, word);
    ++(is_redundant ? counts.redundant : counts.needed);
    counts.of_hazards += is_redundant && !is_clean;
  }
}

// All that a word is needed for, by judges that have nothing in common with the search: about one
// program in five is clean, and has a word of either sort.
TEST(OneQueueWords, AgreeWithTheRemovalOfTheTextAndAJudgeOfBytes) {
  const int count = proof_count(100'000, 800, 4);
  Counts counts;
  for (int seed = 0; seed < count; ++seed) {
    const std::string text = print(program_with_queues(random_text(static_cast<uint64_t>(seed))));
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    expect_same_verdicts(text, counts);
    if (HasFailure()) return;
  }
  EXPECT_GT(counts.clean, count / 5);
  EXPECT_GT(counts.redundant, count / 5);
  EXPECT_GT(counts.needed, count / 5);
  EXPECT_GT(counts.of_hazards, count / 20);
  print_proof(count, "a word of a barrier on one queue can go iff no byte of a hazard comes of it");
}

// Programs that destroy, whose barriers are given scopes.
TEST(OneQueueWords, AgreeWithTheLedgerOfPendingAccesses) {
  const int count = proof_count(20'000, 800, 4);
  Counts counts;
  for (int seed = 0; seed < count; ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed) + 9'000'000);
    const std::string plain =
        print(seed % 2 == 0
                  ? random_pinned_program(choice, 6 + choice.below(14), false)
                  : random_lifetime_program(choice, {.statement_count_max = 6 + choice.below(9)}));
    std::vector<std::string> lines = text_lines_of(plain);
    constexpr std::string_view kBarriers[] = {"barrier compute|copy -> none",
                                              "barrier compute.write|copy -> compute.read|host",
                                              "barrier copy|compute.write -> compute.write"};
    for (const size_t i : barrier_lines(lines)) {
      if (choice.chance(2, 3) && lines[i].starts_with("barrier")) {
        lines[i] = kBarriers[choice.below(3)];
      }
    }
    const std::string text = joined(lines);
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    expect_same_verdicts(text, counts);
    if (HasFailure()) return;
  }
  EXPECT_GT(counts.of_destroys, count / 50);
  EXPECT_GT(counts.redundant, count / 12);
  print_proof(count, "a word of a barrier stays iff hazards or pending accesses come without it");
}

}  // namespace
}  // namespace interlock::one_queue_words_test
