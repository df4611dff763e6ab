// What the table of what steps do says of cuts, against finding that anew for each conflict. Fixed
// seeds.
#include "simulator/barriers/queue_cuts.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encoder/kernel/kernel_table.h"
#include "simulator/barriers/sync_pieces.h"
#include "simulator/order/happens_before.h"
#include "simulator/order/host_atoms.h"
#include "simulator/order/reference_order.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/queue_texts.h"
#include "tests/simulator/programs/random_queue_programs.h"

namespace interlock::queue_cuts_test {
namespace {

// What was compared.
struct Compared {
  int programs = 0;
  int with_implied = 0;  // Cuts.
  int of_host = 0;       // Conflicts.
  int of_operands = 0;   // Conflicts of memory, in programs that have some.
  int needed = 0;        // Pieces of cuts.
  int not_needed = 0;
  int faster = 0;  // Conflicts.
};

class Comparison {
 public:
  // Requires: both outlive this.
  Comparison(const Program& exact, const Program& program, Compared& compared)
      : program_(program),
        order_(program, &exact),
        pieces_(sync_pieces_of(program)),
        by_table_(program),
        anew_(program, false),
        compared_(compared) {}

  void run() {
    for (size_t j = 1; j < program_.dispatches.size(); ++j) {
      for (size_t i = 0; i < j; ++i) compare(DispatchId(i), DispatchId(j));
    }
  }

 private:
  // Every conflict that two dispatches with these accesses could have and that is separated.
  void compare(DispatchId first, DispatchId second) {
    const Dispatch& a = program_.dispatch(first);
    const Dispatch& b = program_.dispatch(second);
    QueueConflict conflict{.first_queue = program_.queue_of(a),
                           .second_queue = program_.queue_of(b),
                           .first = stage_of(a),
                           .second = stage_of(b),
                           .begin = by_table_.steps().before(first),
                           .end = by_table_.steps().before(second)};
    if (conflict.first_queue == kNoQueue && conflict.second_queue == kNoQueue) return;
    if (order_.executes_before(first, second)) compare(conflict);
    conflict.is_of_memory = true;
    for (const Access& written : program_.accesses_of(first)) {
      if (!written.has_write_side() || written.range.is_empty()) continue;
      for (const Access& seen : program_.accesses_of(second)) {
        const bool meet = written.memory == seen.memory && share_a_byte(written.range, seen.range);
        if (!meet) continue;
        const uint64_t byte = intersection(written.range, seen.range).begin;
        conflict.bytes = {seen.memory, {byte, byte + 1}};
        for (const auto& sort :
             {read_sort_of(conflict.second, seen), write_sort_of(conflict.second, seen)}) {
          if (!sort) continue;
          conflict.sort = *sort;
          const bool is_visible =
              !order_.find_invisible(first, second, *sort, seen.memory, conflict.bytes.range);
          if (is_visible) compare(conflict);
        }
      }
    }
  }

  void compare(const QueueConflict& conflict) {
    uint64_t work = UINT64_MAX;
    uint64_t work_anew = UINT64_MAX;
    ASSERT_EQ(by_table_.find(conflict, work, cuts_), anew_.find(conflict, work_anew, cuts_anew_));
    // Budgets go at least as far.
    ASSERT_GE(work, work_anew);
    ASSERT_EQ(cuts_.size(), cuts_anew_.size());
    for (size_t i = 0; i < cuts_.size(); ++i) compare(cuts_[i], cuts_anew_[i]);
    compared_.faster += work > work_anew;
    compared_.of_host += conflict.first_queue == kNoQueue || conflict.second_queue == kNoQueue;
    compared_.of_operands += conflict.is_of_memory && !program_.barrier_operands.empty();
  }

  void compare(const QueueCut& cut, const QueueCut& anew) {
    ASSERT_EQ(cut.step, anew.step);
    ASSERT_EQ(cut.is_with_implied, anew.is_with_implied);
    compared_.with_implied += cut.is_with_implied;
    const StatementId statement = by_table_.statement_of(cut.step);
    if (!statement.is_some()) return;
    for (const SyncPiece& piece : pieces_) {
      if (piece.statement != statement && piece.partner != statement) continue;
      uint64_t work = 0;
      const bool is_needed = by_table_.needs(cut, piece, work);
      ASSERT_EQ(is_needed, anew_.needs(anew, piece, work)) << description_of(program_, piece);
      ++(is_needed ? compared_.needed : compared_.not_needed);
    }
  }

  const Program& program_;
  const HappensBefore order_;
  const std::vector<SyncPiece> pieces_;
  QueueCuts by_table_;
  QueueCuts anew_;
  std::vector<QueueCut> cuts_;
  std::vector<QueueCut> cuts_anew_;
  Compared& compared_;
};

// If chains can be followed in it.
void compare(const Program& program, Compared& compared) {
  if (!QueueCuts::can_judge(program) || !find_reference_order(program).is_text_order) return;
  const Program widened = has_host_atoms(program) ? with_whole_atoms(program) : program;
  Comparison(program, widened, compared).run();
  ++compared.programs;
}

TEST(QueueCuts, AreWithTheTableWhatTheyAreWithout) {
  const int count = program_count(600);
  Compared compared;
  for (int seed = 0; seed < count && !HasFatalFailure(); ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    const std::string text = random_queue_program(
        choice, {.queue_count_max = 4, .dispatch_count_max = 12, .sync_count_max = 60});
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    if (const auto program = parse_queues(text)) compare(*program, compared);
  }
  EXPECT_GT(compared.programs, count / 8);
  if (is_slow_build()) return;
  EXPECT_GT(compared.with_implied, count / 10);
  EXPECT_GT(compared.of_host, count / 2);
  EXPECT_GT(compared.of_operands, count / 10);
  EXPECT_GT(compared.needed, count / 2);
  EXPECT_GT(compared.not_needed, count / 2);
  // There was a table.
  EXPECT_GT(compared.faster, count);
}

// Three queues that signal each other, with more signals between two accesses than there are marks,
// and few that are waited for at a time.
std::string text_of_traffic(uint64_t seed) {
  SeededChoice choice(seed);
  std::array<uint64_t, 3> values = {};
  std::string text = "interlock 1\nmemory x 4\n";
  for (int q = 0; q < 3; ++q) {
    text += fmt::format("q{}: queue {}\n", q, choice.chance(1, 4) ? "serial" : "concurrent");
  }
  constexpr std::array<std::string_view, 4> kScopes = {
      "", " execution", " compute.write -> compute.read|compute.write",
      " compute.write -> compute.read|compute.write x[0:2], copy -> compute"};
  constexpr std::array<std::string_view, 4> kStages = {"", "", " compute", " compute|copy"};
  int event_count = 0;
  const auto scope = [&] { return kScopes[choice.below(kScopes.size())]; };
  const auto stages = [&](std::string_view word) {
    const std::string_view drawn = kStages[choice.below(kStages.size())];
    return drawn.empty() ? std::string() : fmt::format(" {}{}", word, drawn);
  };
  for (int i = 0; i < 300; ++i) {
    const uint64_t queue = choice.below(3);
    const uint64_t from = (queue + 1 + choice.below(2)) % 3;
    const uint64_t sort = choice.below(16);
    if (sort < 1) {
      const uint64_t byte = choice.below(4);
      text += fmt::format("dispatch Work {} x[{}:{}] on q{}\n",
                          choice.chance(1, 3) ? "reads" : "writes", byte, byte + 1, queue);
    } else if (sort < 2) {
      text += fmt::format("barrier{} on q{}\n", scope(), queue);
    } else if (sort < 3) {
      text +=
          fmt::format("set e{0}{1} on q{2}\nawait e{0} on q{2}\n", event_count++, scope(), queue);
    } else if (sort < 10) {
      text +=
          fmt::format("signal s{}={}{} on q{}\n", queue, ++values[queue], stages("after"), queue);
    } else if (values[from] > 0) {
      const uint64_t back =
          choice.chance(1, 3) ? choice.below(std::min(values[from], uint64_t{5})) : 0;
      text +=
          fmt::format("wait s{}={}{} on q{}\n", from, values[from] - back, stages("before"), queue);
    }
  }
  return text;
}

TEST(QueueCuts, AreTheSameWhereMarksOfTheProgramTakeTurns) {
  const int count = program_count(30, 15);
  Compared compared;
  for (int seed = 0; seed < count && !HasFatalFailure(); ++seed) {
    const std::string text = text_of_traffic(static_cast<uint64_t>(seed));
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    compare(program_with_queues(text), compared);
  }
  EXPECT_EQ(compared.programs, count);
  EXPECT_GT(compared.of_operands, count);
  EXPECT_GT(compared.needed, count);
  EXPECT_GT(compared.not_needed, count);
  EXPECT_GT(compared.faster, count);  // There was a table.
}

}  // namespace
}  // namespace interlock::queue_cuts_test
