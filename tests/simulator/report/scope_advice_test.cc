// What would do in place of `all`: hand-written programs; and random ones, in whose text the advice
// is written down: a search of chains finds what it found before, and more without any word of it.
#include "simulator/report/scope_advice.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "simulator/barriers/sync_words.h"
#include "simulator/report/check.h"
#include "simulator/schedules/choice.h"
#include "tests/corpus_files.h"
#include "tests/program_count.h"
#include "tests/simulator/judges/chain_wrongs.h"
#include "tests/simulator/programs/queue_texts.h"
#include "tests/simulator/programs/random_queue_programs.h"

namespace interlock::scope_advice_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::string_view kMemories =
    "interlock 1\nmemory x 64\nmemory y 64\nmemory z 64\nq1: queue concurrent\n";

ScopeAdvice advice_on(const Program& program) {
  return find_scope_advice(program, check(program, {.counts_possible = true}));
}

std::vector<std::string> texts_of(const std::string& body) {
  std::vector<std::string> texts;
  const Program program = program_with_queues(std::string(kMemories) + body);
  for (const NarrowerStatement& narrower : advice_on(program).narrower) {
    texts.push_back(narrower.instead);
  }
  return texts;
}

TEST(ScopeAdvice, NamesTheStageThatWouldDo) {
  EXPECT_THAT(texts_of("dispatch A writes x\nbarrier all.write -> all.read\ndispatch B reads x\n"),
              ElementsAre("barrier compute.write -> compute.read"));
  EXPECT_THAT(
      texts_of("dispatch A reads x\nbarrier device -> compute x\ndispatch fill writes x value=0\n"),
      IsEmpty());  // It fails to order the hazard.
  EXPECT_THAT(texts_of("dispatch A reads x\nfence: barrier device -> all\n"
                       "dispatch fill writes x value=0\n"),
              ElementsAre("barrier compute -> copy"));
}

TEST(ScopeAdvice, KeepsAllThatIsNeeded) {
  EXPECT_THAT(texts_of("dispatch A writes x\ndispatch fill writes y value=0\n"
                       "barrier all.write -> all.read\ndispatch B reads x y\n"),
              ElementsAre("barrier compute.write|copy.write -> compute.read"));
}

// Either of two stages joins the two barriers, and one of them has to.
TEST(ScopeAdvice, KeepsOneOfTheStagesThatTwoBarriersMeetIn) {
  EXPECT_THAT(texts_of("dispatch fill writes x value=0\ndispatch A reads y\n"
                       "barrier copy.write -> all\nbarrier all -> compute.read\n"
                       "dispatch B reads x\n"),
              ElementsAre("barrier copy.write -> copy", "barrier copy -> compute.read"));
}

TEST(ScopeAdvice, IsSilentOnWhatNamesNoScope) {
  EXPECT_THAT(texts_of("dispatch A writes x\nbarrier\ndispatch B reads x writes y\n"
                       "signal s=1\nwait s=1 on q1\ndispatch C reads y on q1\n"),
              IsEmpty());
}

TEST(ScopeAdvice, AsksSignalsAndWaitsWhereOthersNameStages) {
  const std::string first =
      "dispatch A writes x\nsignal s=1\nwait s=1 on q1\ndispatch B reads x on q1\n";
  EXPECT_THAT(texts_of(first), IsEmpty());
  EXPECT_THAT(
      texts_of(first + "dispatch C writes y on q1\nsignal t=1 after compute on q1\nwait t=1\n"
                       "dispatch fill writes y value=0\n"),
      ElementsAre("signal s=1 after compute"));
  EXPECT_THAT(texts_of(first + "dispatch C writes y on q1\nsignal t=1 on q1\nwait t=1 before copy\n"
                               "dispatch fill writes y value=0\n"),
              ElementsAre("wait s=1 before compute on q1"));
}

// A replay executes what was recorded, statement by statement: each may need another scope.
TEST(ScopeAdvice, IsAboutWhatReplaysExecute) {
  EXPECT_THAT(texts_of("capture step\nrun: dispatch Run reads x writes y\n"
                       "fence: barrier all.write -> all.read\ndispatch Use reads y writes x\nend\n"
                       "replay step\nbarrier all.write -> all.read|all.write\nreplay step\n"),
              ElementsAre("barrier compute.write -> compute.read",
                          "barrier compute.write -> compute.read|compute.write",
                          "barrier compute.write -> compute.read"));
  // On a serial queue, where the graph that it launches has no barriers.
  EXPECT_THAT(
      texts_of("s: queue serial\ncapture step\na: dispatch Run reads x writes y\n"
               "dispatch Use reads y writes z after a\nend\n"
               "dispatch A writes z\nbarrier all.write -> all.read\ndispatch B reads z writes x\n"
               "signal t=1\nwait t=1 before compute on s\nreplay step on s\n"),
      ElementsAre("barrier compute.write -> compute.read"));
}

TEST(ScopeAdvice, SaysWhatALimitLeavesUnjudged) {
  const Program program = program_with_queues(
      std::string(kMemories) +
      "dispatch A writes x\nbarrier all.write -> all.read\ndispatch B reads x\n");
  const ScopeAdvice advice = find_scope_advice(program, check(program), 1);
  EXPECT_THAT(advice.narrower, IsEmpty());
  EXPECT_EQ(advice.unjudged_count, 2);
  EXPECT_EQ(text_of(program, advice, 20),
            "2 words of scopes not judged: whether they can go takes more work than the limit.\n");
}

TEST(ScopeAdvice, SaysTheStatementThatWouldDo) {
  const Program program = program_with_queues(
      std::string(kMemories) +
      "dispatch A writes x\nfence: barrier all.write -> all.read\ndispatch B reads x\n");
  EXPECT_EQ(text_of(program, advice_on(program), 20),
            "wider than needed: the barrier on q0 (fence, statement 1) could be `barrier "
            "compute.write -> compute.read`.\n"
            "1 statement is wider than needed: with its narrower text the program has the same "
            "findings.\n");
}

std::string text_with(const std::string& text, const Program& program,
                      const std::vector<uint64_t>& lines, const ScopeAdvice& advice) {
  std::vector<std::string> all = text_lines_of(text);
  for (const NarrowerStatement& narrower : advice.narrower) {
    const NameId label = program.statements[narrower.statement.index].label;
    all[lines[narrower.statement.index] - 1] =
        (label.is_some() ? std::string(program.name(label)) + ": " : "") + narrower.instead;
  }
  std::string result;
  for (const std::string& line : all) result += line + "\n";
  return result;
}

// The sync of `text`, with some scopes widened to `all`.
std::string widened(const std::string& text, Choice& choice) {
  constexpr std::string_view kScopes[] = {"all.write -> all.read",
                                          "all -> all.write",
                                          "device.write -> device.read|device.write",
                                          "all.write -> compute.read",
                                          "copy.write -> all.read",
                                          "all -> all",
                                          "all.write -> copy",
                                          "all -> compute.read"};
  std::string result;
  for (const std::string& line : text_lines_of(text)) {
    const size_t at = line.find("barrier");
    const bool is_barrier = at != std::string::npos && line.find("queue") == std::string::npos;
    if (!is_barrier || !choice.chance(2, 3)) {
      result += line + "\n";
      continue;
    }
    const size_t on = line.find(" on ");
    result += fmt::format("{}barrier {}{}\n", line.substr(0, at),
                          kScopes[choice.below(std::size(kScopes))],
                          on == std::string::npos ? "" : line.substr(on));
  }
  return result;
}

struct AdviceCounts {
  int narrowed = 0;
  int clean = 0;
  int words = 0;  // That cannot go.
};

StageMask stages_of_side(const Program& program, const SyncPiece& word) {
  if (word.dependency != SyncPiece::kNone) {
    const Dependency& dependency = program.dependencies[word.dependency];
    return (word.is_source ? dependency.source : dependency.destination).stages;
  }
  if (word.part != SyncPiece::kNone) return program.signal_parts[word.part].stages;
  return program.syncs[program.statements[word.statement.index].index].stages;
}

// Each word of what the advice says, cut out of the program by itself.
void expect_no_word_to_go(const Program& program, const ScopeAdvice& advice,
                          const ChainWrongs& wrongs, const Program& before, AdviceCounts& counts) {
  for (const NarrowerStatement& narrower : advice.narrower) {
    std::vector<SyncPiece> words;
    append_words(program, narrower.statement, words);
    for (const SyncPiece& word : words) {
      if (word.kind != SyncPieceKind::kScope) continue;
      const StageMask stages = stages_of_side(before, word);
      if ((stages & kDeviceStages) != kDeviceStages) continue;  // It is no list of ours.
      // Of a dependency that can go nothing is said.
      if (stages_of_side(program, word) == stages) continue;
      Program without = program;
      cut_words({&word, 1}, without);
      ASSERT_NE(chain_wrongs_of(without), wrongs)
          << narrower.instead << " without " << text_of(word.cut);
      ++counts.words;
    }
  }
}

void expect_same_findings(const std::string& text, AdviceCounts& counts) {
  std::vector<uint64_t> lines;
  ParseOptions options;
  options.reads_every_queue = true;
  options.statement_lines = &lines;
  const Result<Program> program = parse(text, "test", options);
  if (!program) return;
  const auto wrongs = chain_wrongs_of(*program);
  if (!wrongs) return;
  const ScopeAdvice advice = advice_on(*program);
  ASSERT_EQ(advice.unjudged_count, 0);
  if (advice.narrower.empty()) return;
  ++counts.narrowed;
  const std::string narrow = text_with(text, *program, lines, advice);
  SCOPED_TRACE(narrow);
  const std::optional<Program> applied = parse_queues(narrow);
  ASSERT_TRUE(applied.has_value());
  ASSERT_EQ(chain_wrongs_of(*applied), wrongs);
  if (!wrongs->hazards.empty() || !wrongs->destroys.empty() || host_moves_memory(*program)) return;
  ++counts.clean;
  expect_no_word_to_go(*applied, advice, *wrongs, *program, counts);
}

TEST(ScopeAdvice, ChangesNoFindingAndHasNoWordThatCanGo) {
  const int count = share_count(8000, 4, 120);
  AdviceCounts counts;
  for (int seed = 0; seed < count; ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    std::string text = random_queue_program(
        choice,
        {.queue_count_max = 3, .dispatch_count_max = 5, .sync_count_max = 14, .memory_bytes = 8});
    text = widened(text, choice);
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    expect_same_findings(text, counts);
    if (HasFailure()) return;
  }
  EXPECT_GT(counts.narrowed, count / 50);
  EXPECT_GT(counts.clean, count / 150);
}

// What was captured, imported, reported and written by hand, as replays execute it, with scopes
// that are wider than they were.
TEST(ScopeAdvice, ChangesNoFindingOnProgramsOfTheCorpus) {
  const auto files = fewer_if_slow(corpus_files({"captured", "graphs", "queues", "bugs"}));
  AdviceCounts counts;
  for (const auto& path : files) {
    Program program = corpus_program(path);
    if (program.dispatches.size() > 60) continue;
    program.expectations.clear();
    program.witness.clear();
    SeededChoice choice(7);
    const std::string text = widened(print(program), choice);
    SCOPED_TRACE(path.string() + "\n" + text);
    expect_same_findings(text, counts);
    if (HasFailure()) return;
  }
  EXPECT_GT(counts.narrowed, static_cast<int>(files.size()) / 20);
  EXPECT_GT(counts.words, 0);
}

// Copies and other work on one queue, with wide barriers in many slots, two in some: what one of
// them does the next one may pass on.
std::string text_of_wide_barriers(Choice& choice) {
  constexpr std::string_view kSources[] = {"all.write",     "all",  "device.read|device.write",
                                           "compute.write", "copy", "copy.write"};
  constexpr std::string_view kDestinations[] = {
      "all.read|all.write", "device.read|device.write", "all", "all.read", "copy",
      "compute.uniform"};
  constexpr std::string_view kPieces[] = {"m[0:2]", "m[2:4]", "m[4:6]"};
  std::string text = "interlock 1\nmemory m 8\nmemory n 8\n";
  const uint64_t count = 2 + choice.below(3);
  for (uint64_t i = 0; i < count; ++i) {
    const std::string_view piece = kPieces[choice.below(std::size(kPieces))];
    switch (choice.below(4)) {
      case 0:
        text += fmt::format("dispatch D{} writes {}\n", i, piece);
        break;
      case 1:
        text += fmt::format("dispatch fill writes {} value=1\n", piece);
        break;
      case 2:
        text += fmt::format("dispatch D{} reads {} writes n[{}:{}]\n", i, piece, i, i + 1);
        break;
      default:
        text += fmt::format("dispatch D{} uniform {} writes n[{}:{}]\n", i, piece, i, i + 1);
        break;
    }
    for (uint64_t n = choice.below(3); n > 0; --n) {
      text += fmt::format("barrier {} -> {}\n", kSources[choice.below(std::size(kSources))],
                          kDestinations[choice.below(std::size(kDestinations))]);
    }
  }
  return text;
}

TEST(ScopeAdvice, HasNoWordThatCanGoOnOneQueue) {
  const int count = share_count(4000, 2, 60);
  AdviceCounts counts;
  for (int seed = 0; seed < count; ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    const std::string text = text_of_wide_barriers(choice);
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    expect_same_findings(text, counts);
    if (HasFailure()) return;
  }
  EXPECT_GT(counts.narrowed, count / 20);
  EXPECT_GT(counts.clean, count / 20);
  EXPECT_GT(counts.words, counts.clean / 2);
}

}  // namespace
}  // namespace interlock::scope_advice_test
