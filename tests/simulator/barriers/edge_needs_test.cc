// Which edges of graphs can go, by what stands at their ends, against their removal.
#include "simulator/barriers/edge_needs.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "simulator/barriers/sync_redundancy.h"
#include "simulator/chains/chain_hazards.h"
#include "simulator/order/reference_order.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"
#include "tests/simulator/judges/sync_removal_judge.h"
#include "tests/simulator/programs/queue_texts.h"

namespace interlock::edge_needs_test {
namespace {

// One or two graph queues, with edges of both sorts, beside a queue with barriers and semaphores
// and, now and then, the host.
std::string graph_text(uint64_t seed) {
  SeededChoice choice(seed);
  const auto has = [&](uint64_t numerator, uint64_t denominator) {
    return choice.chance(numerator, denominator);
  };
  const auto operand = [&] {
    const uint64_t begin = choice.below(6);
    return fmt::format(" m[{}:{}]", begin, begin + 1 + choice.below(3));
  };
  const uint64_t graph_count = 1 + choice.below(2);
  const bool is_full = has(3, 4);
  const bool has_lifetimes = has(1, 4);
  std::string text = "interlock 1\nmemory m 8\nmemory other 8\ntensor t f32[2] at other+0\n";
  for (uint64_t g = 0; g < graph_count; ++g) text += fmt::format("g{}: queue graph\n", g);
  text += "q1: queue concurrent\n";
  const uint64_t count = 2 + choice.below(7);
  const uint64_t density = 1 + choice.below(4);
  for (uint64_t i = 0; i < count; ++i) {
    text += fmt::format("d{}: dispatch ", i);
    text += has(1, 5) ? "Move in copy" : has(1, 6) ? "Work indirect other[0:4]" : "Work";
    if (has(2, 3)) text += " reads" + operand();
    const bool is_atomic = has(1, 5);
    if (has(2, 3) && !is_atomic) text += " writes" + operand();
    if (is_atomic) text += " atomics" + operand() + (has(1, 2) ? " atomic=add" : " atomic=max");
    std::string edges;
    for (uint64_t from = 0; from < i; ++from) {
      if (has(density, 5)) edges += fmt::format(" d{}", from);
    }
    if (!edges.empty()) text += " after" + edges;
    if (!edges.empty() && !is_full && has(1, 3)) text += " programmatic";
    text += fmt::format(" on g{}\n", choice.below(graph_count));
    if (has_lifetimes && has(1, 6)) text += "host reads t\n";
  }
  if (has(1, 3)) {
    text += "dispatch Other writes other\nbarrier\nsignal s=1\nwait s=1 on q1\n";
    text += "dispatch Other reads other on q1\n";
  }
  return text;
}

TEST(FindEdgeNeeds, SaysWhatTheRemovalOfEachSays) {
  const int count = proof_count(100'000, 1300, 13);
  int needed_count = 0;
  int unneeded_count = 0;
  int open_count = 0;
  for (int seed = 0; seed < count; ++seed) {
    const std::string text = graph_text(static_cast<uint64_t>(seed));
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    const std::optional<Program> program = parse_queues(text);
    if (!program || !can_judge_edges(*program)) continue;
    const auto hazards = chain_hazards_of(*program);
    if (!hazards || !hazards->empty()) continue;
    ASSERT_TRUE(find_reference_order(*program).is_text_order);
    const std::vector<SyncPiece> pieces = sync_pieces_of(*program);
    uint64_t work_left = UINT64_MAX;
    const EdgeNeeds needs = find_edge_needs(*program, pieces, work_left);
    const SyncRedundancy alone = find_redundant_sync(*program, {.alone_max = SIZE_MAX});
    for (const bool is_clean : {false, program->host_dispatches.empty()}) {
      const SyncRedundancy by_ends =
          find_redundant_sync(*program, {.alone_max = 0, .is_clean = is_clean});
      ASSERT_EQ(alone.redundant, by_ends.redundant);
      ASSERT_EQ(by_ends.unjudged_count, 0);
    }
    for (size_t i = 0; i < pieces.size(); ++i) {
      const bool is_redundant =
          std::ranges::find(alone.redundant, pieces[i]) != alone.redundant.end();
      ASSERT_TRUE(is_redundant || !needs.can_go[i]) << description_of(*program, pieces[i]);
      ASSERT_FALSE(is_redundant && needs.is_needed[i]) << description_of(*program, pieces[i]);
      if (pieces[i].kind == SyncPieceKind::kEdge) {
        needed_count += needs.is_needed[i];
        unneeded_count += needs.can_go[i];
        open_count += !needs.is_needed[i] && !needs.can_go[i];
      }
    }
  }
  EXPECT_GT(needed_count, count / 4);
  EXPECT_GT(unneeded_count, count / 4);
  EXPECT_GT(open_count, 0) << "Removal has nothing left to judge.";
  print_proof(count, "edges that can go, by what stands at their ends and by removal");
}

// Rows of bits then begin in the midst of the operations.
TEST(FindEdgeNeeds, SaysItOfOperationsThatAreFarApart) {
  constexpr int kCount = 400;
  constexpr int kFar = 70;
  std::string text = "interlock 1\nmemory m 8\ng: queue graph\ndispatch W writes m on g\n";
  for (int i = 1; i < kCount; ++i) {
    const std::string far = i < kFar ? "" : fmt::format(" {}", i - kFar);
    text += fmt::format("dispatch W writes m after{} {} on g\n", far, i - 1);
  }
  const Program program = program_with_queues(text);
  const std::vector<SyncPiece> pieces = sync_pieces_of(program);
  uint64_t work_left = UINT64_MAX;
  const EdgeNeeds needs = find_edge_needs(program, pieces, work_left);
  int far_count = 0;
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].kind != SyncPieceKind::kEdge) continue;
    const Edge& edge = program.edges[pieces[i].edge];
    const bool is_far = edge.from.index + kFar == edge.to.index;
    far_count += is_far;
    ASSERT_EQ(needs.can_go[i], is_far) << i;
    ASSERT_EQ(needs.is_needed[i], !is_far) << i;
  }
  EXPECT_EQ(far_count, kCount - kFar);
  work_left = kCount;
  const EdgeNeeds unknown = find_edge_needs(program, pieces, work_left);
  EXPECT_EQ(std::ranges::count(unknown.can_go, true), 0);
  EXPECT_EQ(std::ranges::count(unknown.is_needed, true), 0);
}

bool can_judge(const std::string& body) {
  return can_judge_edges(
      program_with_queues("interlock 1\nmemory m 8\ng: queue graph\nq1: queue concurrent\n"
                          "a: dispatch A writes m on g\ndispatch B reads m after a on g\n" +
                          body));
}

// A signal means the whole queue, and so orders operations that no edge does.
TEST(FindEdgeNeeds, IsNotAskedWhereMoreThanEdgesOrdersAGraph) {
  EXPECT_TRUE(can_judge(""));
  EXPECT_TRUE(can_judge("submit on g\ndispatch C\nbarrier\nsignal s=1\nwait s=1 on q1\n"));
  EXPECT_FALSE(can_judge("signal s=1 on g\nwait s=1 on q1\ndispatch C on q1\n"));
  EXPECT_FALSE(can_judge("host idle\n"));
}

}  // namespace
}  // namespace interlock::edge_needs_test
