// Which sync of random programs with several queues can go, against the removal of its text and a
// search of chains. Fixed seeds.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encoder/text/parser.h"
#include "simulator/barriers/queue_cuts.h"
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
  const int count = proof_count(100'000, 1000, 5);
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
  const int count = proof_count(20000, 500, 27);
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

// One to three queues, concurrent or serial, with barriers of scopes, signals and waits for them:
// what the chains of conflicts can judge. Signals stand before their waits.
std::string plain_text(uint64_t seed) {
  SeededChoice choice(seed);
  const auto has = [&](uint64_t numerator, uint64_t denominator) {
    return choice.chance(numerator, denominator);
  };
  const uint64_t queue_count = 1 + choice.below(3);
  const auto queue = [&] { return fmt::format(" on p{}", choice.below(queue_count)); };
  constexpr std::string_view kScopes[] = {"compute.read",  "compute.write",
                                          "copy.write",    "copy",
                                          "compute|copy",  "compute.read|compute.write",
                                          "all.write|all", "all.read|all.write",
                                          "host.read",     "compute.write|copy.read"};
  constexpr std::string_view kStages[] = {"compute", "copy", "compute|copy", "all", "host|compute"};
  const auto scope = [&] { return kScopes[choice.below(std::size(kScopes))]; };
  const auto stages = [&] { return kStages[choice.below(std::size(kStages))]; };
  const auto operand = [&] {
    const uint64_t begin = choice.below(6);
    return fmt::format(" m[{}:{}]", begin, begin + 1 + choice.below(3));
  };
  std::string text = "interlock 1\nmemory m 8\n";
  for (uint64_t q = 0; q < queue_count; ++q) {
    text += fmt::format("p{}: queue {}\n", q, has(2, 3) ? "concurrent" : "serial");
  }
  std::vector<uint64_t> values(queue_count);
  std::vector<uint64_t> others(queue_count);  // Of second semaphores, which batches signal too.
  const bool has_scopes = has(2, 3);
  uint64_t dispatches_left = 2 + choice.below(5);
  while (dispatches_left > 0) {
    const uint64_t sort = choice.below(8);
    const uint64_t q = choice.below(queue_count);
    if (sort < 2) {
      --dispatches_left;
      text += has(1, 4) ? "dispatch Move in copy" : "dispatch Work";
      if (has(2, 3)) text += " reads" + operand();
      text += " writes" + operand() + queue() + "\n";
    } else if (sort < 4) {
      text += "barrier";
      if (has_scopes && has(2, 3)) {
        text += fmt::format(" {}", scope());
        text += fmt::format(" -> {}", scope());
        if (has(1, 2)) {
          text += fmt::format(", {}", scope());
          text += fmt::format(" -> {}", scope());
        }
      } else if (has(1, 3)) {
        text += " execution";
      }
      text += queue() + "\n";
    } else if (sort < 6) {
      text += fmt::format("signal s{}={}", q, ++values[q]);
      if (has(1, 2)) text += fmt::format(" after {}", stages());
      if (has(1, 3)) {
        text += fmt::format(", t{}={}", q, ++others[q]);
        if (has(1, 2)) text += fmt::format(" after {}", stages());
      }
      text += fmt::format(" on p{}\n", q);
    } else if (sort == 6) {
      // All others come after what the queue has done.
      text += fmt::format("signal s{}={} on p{}\n", q, ++values[q], q);
      for (uint64_t other = 0; other < queue_count; ++other) {
        if (other != q) text += fmt::format("wait s{}={} on p{}\n", q, values[q], other);
      }
    } else if (values[q] > 0) {
      const bool is_other = others[q] > 0 && has(1, 3);
      const uint64_t last = is_other ? others[q] : values[q];
      text += fmt::format("wait {}{}={}", is_other ? "t" : "s", q, 1 + choice.below(last));
      if (has(1, 2)) text += fmt::format(" before {}", stages());
      text += queue() + "\n";
    }
  }
  return text;
}

// Neither dependencies of one barrier chain, nor do signals of one batch cover each other: the
// statement after that is what orders the two.
TEST(FindRedundantSync, LetsNothingWithinOneStatementChain) {
  for (const std::string_view body :
       {"dispatch Make writes x\nbarrier compute.write -> copy, copy -> compute.read\n"
        "last: barrier\ndispatch Use reads x writes y\ndispatch Other writes z on q1\n",
        "dispatch Make writes x\nsignal s=1 after compute, t=1 after copy\nwait t=1 on q1\n"
        "last: wait s=1 on q1\ndispatch Use reads x writes y on q1\n"}) {
    const Program program = program_with_queues(fmt::format(
        "interlock 1\nmemory x 64\nmemory y 64\nmemory z 64\nq1: queue concurrent\n{}", body));
    ASSERT_TRUE(QueueCuts::can_judge(program));
    const SyncRedundancy by_chains = find_redundant_sync(program, {.alone_max = 0});
    EXPECT_EQ(by_chains.redundant, find_redundant_sync(program).redundant) << body;
    for (const SyncPiece& piece : by_chains.redundant) {
      const NameId label = program.statements[piece.statement.index].label;
      EXPECT_FALSE(label.is_some() && program.name(label) == "last") << body;
    }
  }
}

TEST(FindRedundantSync, IsTheSameWhereChainsAreAsked) {
  const int count = proof_count(100'000, 600, 16);
  int judged_count = 0;
  int redundant_count = 0;
  int needed_count = 0;
  for (int seed = 0; seed < count; ++seed) {
    const std::string text = plain_text(static_cast<uint64_t>(seed));
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    const std::optional<Program> program = parse_queues(text);
    ASSERT_TRUE(program.has_value());
    ASSERT_TRUE(QueueCuts::can_judge(*program));
    const auto hazards = chain_hazards_of(*program);
    if (!hazards) continue;
    ++judged_count;
    const SyncRedundancy alone = find_redundant_sync(*program, {.alone_max = SIZE_MAX});
    const SyncRedundancy by_chains = find_redundant_sync(*program, {.alone_max = 0});
    ASSERT_EQ(alone.redundant, by_chains.redundant);
    ASSERT_EQ(by_chains.unjudged_count, 0);
    redundant_count += !alone.redundant.empty();
    needed_count += alone.redundant.size() < sync_pieces_of(*program).size();
  }
  EXPECT_GT(judged_count, count / 5);
  EXPECT_GT(redundant_count, count / 5);
  EXPECT_GT(needed_count, count / 20);
  print_proof(count,
              "sync of several queues that can go, one by one and by the chains of conflicts");
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
