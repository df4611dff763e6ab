// Which sync of random programs with several queues can go, against the removal of its text and a
// search of chains. Fixed seeds.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "encoder/text/parser.h"
#include "simulator/barriers/sync_redundancy.h"
#include "simulator/chains/chain_hazards.h"
#include "simulator/chains/counter_run.h"
#include "simulator/report/check.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"
#include "tests/simulator/judges/sync_removal_judge.h"
#include "tests/simulator/programs/queue_texts.h"
#include "tests/simulator/programs/random_queue_programs.h"

namespace interlock::sync_removal_test {
namespace {

// Few accesses and much sync, so that many programs are clean.
std::string random_text(uint64_t seed) {
  SeededChoice choice(seed);
  return random_queue_program(
      choice,
      {.queue_count_max = 3, .dispatch_count_max = 4, .sync_count_max = 12, .memory_bytes = 8});
}

// Some end of the piece, or of what it is paired with, stands between the two of a hazard.
class BetweenHazards {
 public:
  BetweenHazards(const Program& program, const std::set<ChainHazard>& hazards)
      : program_(program), hazards_(hazards), position_(program.statements.size()) {
    const std::vector<StatementId> run = run_by_counters(program);
    for (uint32_t i = 0; i < run.size(); ++i) position_[run[i].index] = i;
  }

  bool has(const SyncPiece& piece) const {
    return std::ranges::any_of(hazards_, [&](const ChainHazard& hazard) {
      const uint32_t begin = position_[program_.dispatch(hazard.first).statement.index];
      const uint32_t end = position_[program_.dispatch(hazard.second).statement.index];
      return std::ranges::any_of(statements_of(piece), [&](StatementId id) {
        return begin <= position_[id.index] && position_[id.index] <= end;
      });
    });
  }

 private:
  std::vector<StatementId> statements_of(const SyncPiece& piece) const {
    std::vector<StatementId> statements = {piece.statement};
    if (piece.partner.is_some()) statements.push_back(piece.partner);
    if (piece.is_word()) {
      append_partners(piece, statements);
      return statements;
    }
    if (piece.kind != SyncPieceKind::kWait && piece.kind != SyncPieceKind::kEvent) {
      return statements;
    }
    const SyncStep& step = program_.syncs[program_.statements[piece.statement.index].index];
    if (step.partner == SyncStep::kNoPartner) return statements;
    for (const SyncStep& other : program_.syncs) {
      const bool is_signal =
          other.kind == SyncKind::kSignal || other.kind == SyncKind::kHostSignals;
      if (is_signal && other.first <= step.partner && step.partner < other.first + other.count) {
        statements.push_back(other.statement);
      }
    }
    if (step.kind == SyncKind::kAwait) {
      statements.push_back(program_.syncs[step.partner].statement);
    }
    return statements;
  }

  // Of a word what its statement is paired with, or leads from.
  void append_partners(const SyncPiece& word, std::vector<StatementId>& statements) const {
    const Statement& statement = program_.statements[word.statement.index];
    if (statement.kind == StatementKind::kDispatch) {
      for (const Edge& edge : program_.edges_to(DispatchId(size_t{statement.index}))) {
        statements.push_back(program_.dispatch(edge.from).statement);
      }
    }
    if (statement.kind != StatementKind::kSync) return;
    const SyncStep& step = program_.syncs[statement.index];
    for (const SyncStep& other : program_.syncs) {
      const bool is_signal =
          other.kind == SyncKind::kSignal || other.kind == SyncKind::kHostSignals;
      const bool is_wait = step.kind == SyncKind::kWait || step.kind == SyncKind::kHostWaits;
      const bool is_signal_of_wait = is_wait && is_signal && other.first <= step.partner &&
                                     step.partner < other.first + other.count;
      const bool is_paired_wait =
          (other.kind == SyncKind::kWait || other.kind == SyncKind::kHostWaits) &&
          other.partner == word.part && word.part != SyncPiece::kNone;
      const bool is_await = other.kind == SyncKind::kAwait &&
                            program_.syncs[other.partner].statement == word.statement;
      if (is_signal_of_wait || is_paired_wait || is_await) statements.push_back(other.statement);
    }
  }

  const Program& program_;
  const std::set<ChainHazard>& hazards_;
  std::vector<uint32_t> position_;  // In the run, by statement.
};

// The removal of its text adds no hazard, no deadlock and no error.
bool removal_adds_nothing(const std::string& text, const Program& program, const SyncPiece& piece,
                          const std::set<ChainHazard>& hazards) {
  const std::string shorter = text_without(text, program, piece);
  const std::optional<Program> without = parse_queues(shorter);
  if (!without) {
    ADD_FAILURE() << "no program:\n" << shorter;
    return false;
  }
  const auto left = chain_hazards_of(*without);
  return left && std::ranges::includes(hazards, *left);
}

struct Counts {
  int clean = 0;
  int redundant = 0;
  int needed = 0;
  int redundant_words = 0;
  int needed_words = 0;
};

// The piece is a word of one that is `redundant`.
bool goes_with_another(const std::vector<SyncPiece>& pieces, const SyncPiece& piece,
                       const std::vector<SyncPiece>& redundant) {
  for (uint32_t at = piece.within; at != SyncPiece::kNone; at = pieces[at].within) {
    if (std::ranges::find(redundant, pieces[at]) != redundant.end()) return true;
  }
  return false;
}

void expect_same_verdicts(const std::string& text, const Program& program, Counts& counts) {
  const SyncRedundancy found = find_redundant_sync(program);
  ASSERT_EQ(found.unjudged_count, 0);
  const auto hazards = chain_hazards_of(program);
  if (!hazards) {
    ASSERT_TRUE(found.redundant.empty());
    return;
  }
  const BetweenHazards between(program, *hazards);
  counts.clean += hazards->empty();
  const std::vector<SyncPiece> pieces = sync_pieces_of(program);
  for (const SyncPiece& piece : pieces) {
    const bool is_redundant = std::ranges::find(found.redundant, piece) != found.redundant.end();
    if (goes_with_another(pieces, piece, found.redundant)) {
      ASSERT_FALSE(is_redundant) << description_of(program, piece);
      continue;
    }
    const bool can_go = removal_adds_nothing(text, program, piece, *hazards);
    int& count = piece.is_word() ? (is_redundant ? counts.redundant_words : counts.needed_words)
                                 : (is_redundant ? counts.redundant : counts.needed);
    count += hazards->empty();
    if (is_redundant != can_go) {
      ASSERT_TRUE(can_go && between.has(piece)) << description_of(program, piece);
    }
  }
}

TEST(FindRedundantSync, AgreesWithTheRemovalOfTheTextAndASearchOfChains) {
  const int count = proof_count(100'000, 8000);
  Counts counts;
  for (int seed = 0; seed < count; ++seed) {
    const std::string text = random_text(static_cast<uint64_t>(seed));
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    const std::optional<Program> program = parse_queues(text);
    if (!program) continue;
    expect_same_verdicts(text, *program, counts);
    if (HasFailure()) return;
  }
  EXPECT_GT(counts.clean, count / 5);
  EXPECT_GT(counts.redundant, count / 5);
  EXPECT_GT(counts.needed, count / 40);
  EXPECT_GT(counts.redundant_words, count / 200);
  EXPECT_GT(counts.needed_words, count / 200);
  print_proof(count, "sync of several queues can go iff chains order all without it");
}

TEST(FindRedundantSync, IsTheSameWhereManyAreLeftOutAtOnce) {
  const int count = proof_count(20000, 1500);
  int redundant_count = 0;
  for (int seed = 0; seed < count; ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    const std::string text =
        random_queue_program(choice, {.dispatch_count_max = 5, .sync_count_max = 24});
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    const std::optional<Program> program = parse_queues(text);
    if (!program) continue;
    const SyncRedundancy alone = find_redundant_sync(*program, {.alone_max = SIZE_MAX});
    const SyncRedundancy together =
        find_redundant_sync(*program, {.alone_max = 0, .stride = 2, .asks_chains = false});
    ASSERT_EQ(alone.redundant, together.redundant);
    redundant_count += !alone.redundant.empty();
  }
  EXPECT_GT(redundant_count, count / 10);
  print_proof(count, "sync of several queues that can go, one by one and many at once");
}

// Advice taken one at a time, with a check after each, ends with nothing to take, and clean.
TEST(FindRedundantSync, StaysCleanWhenAllAdviceIsTaken) {
  const int count = proof_count(4000, 600);
  int clean_count = 0;
  int taken_count = 0;
  for (int seed = 0; seed < count; ++seed) {
    std::string text = random_text(static_cast<uint64_t>(seed) + 100'000);
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    std::optional<Program> program = parse_queues(text);
    if (!program) continue;
    if (!chain_hazards_of(*program) || !chain_hazards_of(*program)->empty()) continue;
    ++clean_count;
    // A removal can make the signal that was waited for a piece of its own, and a wait can be for
    // each signal in turn.
    size_t left = sync_pieces_of(*program).size() + program->statements.size() +
                  program->signal_parts.size() * (1 + program->syncs.size());
    for (;;) {
      const SyncRedundancy found = find_redundant_sync(*program);
      if (found.redundant.empty()) break;
      ASSERT_GT(left--, 0);
      ++taken_count;
      text = text_without(text, *program, found.redundant.front());
      program = parse_queues(text);
      ASSERT_TRUE(program.has_value()) << text;
    }
    const auto hazards = chain_hazards_of(*program);
    ASSERT_TRUE(hazards && hazards->empty()) << text;
    for (const SyncPiece& piece : sync_pieces_of(*program)) {
      ASSERT_FALSE(removal_adds_nothing(text, *program, piece, *hazards)) << text;
    }
  }
  EXPECT_GT(clean_count, count / 5);
  EXPECT_GT(taken_count, count / 5);
}

}  // namespace
}  // namespace interlock::sync_removal_test
