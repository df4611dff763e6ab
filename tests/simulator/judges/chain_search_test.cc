// The order of programs with several queues, against an explicit search of chains; and the
// reference run, against semaphores that count. Fixed seeds.
#include "simulator/chains/chain_search.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "encoder/kernel/kernel_table.h"
#include "encoder/text/parser.h"
#include "simulator/bytes/access_ref.h"
#include "simulator/chains/counter_run.h"
#include "simulator/hazards/hazards.h"
#include "simulator/order/happens_before.h"
#include "simulator/order/host_atoms.h"
#include "simulator/order/in_reference_order.h"
#include "simulator/order/queue_order.h"
#include "simulator/order/reference_order.h"
#include "simulator/schedules/choice.h"
#include "tests/corpus_files.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/queue_texts.h"

namespace interlock::chain_search_test {
namespace {

// A program, its reference run, and both judges.
struct Judged {
  explicit Judged(const Program& program)
      : text(program),
        reference(find_reference_order(program)),
        exact(in_reference_order(program, reference)),
        run(with_whole_atoms(exact)),
        chains(text) {}

  // In the text, of a dispatch of the run.
  DispatchId at(DispatchId dispatch) const {
    return reference.is_text_order ? dispatch : in_text(text, run, dispatch);
  }

  const Program& text;
  const ReferenceOrder reference;
  const Program exact;  // As the host accesses it; `run` has whole atoms.
  const Program run;
  const ChainSearch chains;
};

std::vector<Stage> stages_of(const Program& program, DispatchId id) {
  std::vector<Stage> stages = {stage_of(program.dispatch(id))};
  for (const Access& access : program.accesses_of(id)) {
    const Stage stage = stage_of(program.dispatch(id), access);
    if (std::ranges::find(stages, stage) == stages.end()) stages.push_back(stage);
  }
  return stages;
}

void expect_same_execution(const Judged& judged, const QueueOrder& order, DispatchId first,
                           DispatchId second) {
  for (const Stage first_stage : stages_of(judged.run, first)) {
    for (const Stage second_stage : stages_of(judged.run, second)) {
      ASSERT_EQ(order.executes_before(first, first_stage, second, second_stage),
                judged.chains.executes_before(judged.at(first), first_stage, judged.at(second),
                                              second_stage))
          << "d" << judged.at(first).index << " " << text_of(first_stage) << " before d"
          << judged.at(second).index << " " << text_of(second_stage);
      ASSERT_FALSE(judged.chains.executes_before(judged.at(second), second_stage, judged.at(first),
                                                 first_stage));
    }
  }
}

bool has_byte(const Program& program, DispatchId dispatch, MemoryId memory, uint64_t byte) {
  return std::ranges::any_of(program.accesses_of(dispatch), [&](const Access& access) {
    return access.memory == memory && access.range.begin <= byte && byte < access.range.end;
  });
}

// Of one byte that `first` writes, whose value can be where `spread` says.
void expect_same_visibility(const Judged& judged, const QueueOrder& order, DispatchId first,
                            DispatchId second, MemoryId memory, uint64_t byte,
                            const ChainSearch::Spread& spread) {
  // What the host has invalidated is known of what it accesses.
  const bool has_atoms = judged.run.memory(memory).atom_bytes > 0;
  if (has_atoms && !has_byte(judged.run, second, memory, byte)) return;
  const QueueIndex queue = judged.run.queue_of(judged.run.dispatch(second));
  const auto stages = stages_of(judged.run, second);
  for (size_t s = 0; s < kStageAccessCount; ++s) {
    const StageAccess sort = static_cast<StageAccess>(s);
    const bool is_used = queue == kNoQueue ? stage_of(sort) == Stage::kHost
                                           : (order.places().sorts_of(queue) & bit_of(sort)) != 0;
    if (!is_used || std::ranges::find(stages, stage_of(sort)) == stages.end()) continue;
    ASSERT_EQ(!order.find_invisible(first, second, sort, memory, {byte, byte + 1}).has_value(),
              judged.chains.is_visible(spread, judged.at(second), sort))
        << "byte " << byte << " of " << judged.run.name(judged.run.memory(memory).name) << " by d"
        << judged.at(first).index << " to " << text_of(sort) << " of d" << judged.at(second).index;
  }
}

void expect_same_visibility(const Judged& judged, const QueueOrder& order, DispatchId first) {
  for (const Access& write : judged.run.accesses_of(first)) {
    if (!write_sort_of(stage_of(judged.run.dispatch(first)), write)) continue;
    const ByteRange bytes = judged.chains.bytes_of(judged.at(first), write);
    for (uint64_t byte = bytes.begin; byte < bytes.end; ++byte) {
      const auto spread = judged.chains.spread_of(judged.at(first), write.memory, byte);
      for (size_t k = first.index + 1; k < judged.run.dispatches.size(); ++k) {
        expect_same_visibility(judged, order, first, DispatchId(k), write.memory, byte, spread);
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

void expect_same_order(const Judged& judged) {
  const QueueOrder order(judged.run, &judged.exact);
  ASSERT_FALSE(order.is_too_wide());
  for (size_t i = 0; i < judged.run.dispatches.size(); ++i) {
    for (size_t k = i + 1; k < judged.run.dispatches.size(); ++k) {
      expect_same_execution(judged, order, DispatchId(i), DispatchId(k));
      if (::testing::Test::HasFatalFailure()) return;
    }
    expect_same_visibility(judged, order, DispatchId(i));
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(QueueOrder, AgreesWithASearchOfChains) {
  int accepted_count = 0;
  for (int seed = 0; seed < share_count(20000, 8, 120); ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    const std::string text = generated_queue_program(choice);
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    const std::optional<Program> program = parse_queues(text);
    if (!program) continue;
    ++accepted_count;
    const Judged judged(*program);
    expect_same_order(judged);
    if (HasFatalFailure()) return;
  }
  EXPECT_EQ(accepted_count, share_count(20000, 8, 120));
  print_proof(accepted_count,
              "clocks of several queues order and show what an explicit search of chains does");
}

// The traps, and the public bugs that are about several queues or the host.
std::vector<std::filesystem::path> files_of_queues() {
  std::vector<std::filesystem::path> paths = corpus_files({"queues"});
  for (const auto& path : corpus_files({"bugs"})) {
    if (!has_one_queue(corpus_program(path))) paths.push_back(path);
  }
  return paths;
}

TEST(QueueOrder, AgreesWithASearchOfChainsOnTheCorpus) {
  const auto paths = files_of_queues();
  ASSERT_GE(paths.size(), 169);
  for (const auto& path : fewer_if_slow(paths)) {
    SCOPED_TRACE(path);
    const Program program = corpus_program(path);
    expect_same_order(Judged(program));
    if (HasFatalFailure()) return;
  }
}

bool reads(const Access& access) { return access.reads_plainly() || access.is_atomic(); }
bool writes(const Access& access) { return access.writes_plainly() || access.is_atomic(); }

// That some byte that `first` writes and the other touches is not visible to it.
bool has_invisible_byte(const Judged& judged, AccessRef first, AccessRef second, StageAccess sort) {
  const Access& a = access_of(judged.text, first);
  const ByteRange bytes =
      intersection(judged.chains.bytes_of(first.dispatch, a),
                   judged.chains.bytes_of(second.dispatch, access_of(judged.text, second)));
  for (uint64_t byte = bytes.begin; byte < bytes.end; ++byte) {
    const ChainSearch::Spread spread = judged.chains.spread_of(first.dispatch, a.memory, byte);
    if (!judged.chains.is_visible(spread, second.dispatch, sort)) return true;
  }
  return false;
}

// The kinds of hazard that the two accesses have, by the search of chains. Both are of the text.
std::vector<FindingKind> hazards_of(const Judged& judged, AccessRef first, AccessRef second) {
  const Access& a = access_of(judged.text, first);
  const Access& b = access_of(judged.text, second);
  const Dispatch& first_dispatch = judged.text.dispatch(first.dispatch);
  const Dispatch& second_dispatch = judged.text.dispatch(second.dispatch);
  const bool commute =
      a.is_atomic() && b.is_atomic() && first_dispatch.atomic_op == second_dispatch.atomic_op;
  if (a.memory != b.memory || commute ||
      !share_a_byte(judged.chains.bytes_of(first.dispatch, a),
                    judged.chains.bytes_of(second.dispatch, b))) {
    return {};
  }
  const Stage first_stage = stage_of(first_dispatch, a);
  const Stage second_stage = stage_of(second_dispatch, b);
  std::vector<FindingKind> kinds;
  if (writes(a) && reads(b) &&
      has_invisible_byte(judged, first, second, *read_sort_of(second_stage, b))) {
    kinds.push_back(FindingKind::kReadAfterWrite);
  }
  if (reads(a) && writes(b) &&
      !judged.chains.executes_before(first.dispatch, first_stage, second.dispatch, second_stage)) {
    kinds.push_back(FindingKind::kWriteAfterRead);
  }
  if (writes(a) && writes(b) &&
      has_invisible_byte(judged, first, second, *write_sort_of(second_stage, b))) {
    kinds.push_back(FindingKind::kWriteAfterWrite);
  }
  return kinds;
}

using HazardKey = std::tuple<FindingKind, DispatchId, DispatchId>;  // Of the run.

std::set<HazardKey> hazards_by_chains(const Judged& judged) {
  std::set<HazardKey> hazards;
  for (size_t k = 0; k < judged.run.dispatches.size(); ++k) {
    for (size_t i = 0; i < k; ++i) {
      AccessRef first = {judged.at(DispatchId(i)), 0};
      AccessRef second = {judged.at(DispatchId(k)), 0};
      const size_t first_count = judged.text.accesses_of(first.dispatch).size();
      const size_t second_count = judged.text.accesses_of(second.dispatch).size();
      for (first.access = 0; first.access < first_count; ++first.access) {
        for (second.access = 0; second.access < second_count; ++second.access) {
          for (const FindingKind kind : hazards_of(judged, first, second)) {
            hazards.insert({kind, DispatchId(i), DispatchId(k)});
          }
        }
      }
    }
  }
  return hazards;
}

std::set<HazardKey> found_hazards(const Judged& judged) {
  const HazardList found = find_all_hazards(judged.run, HappensBefore(judged.run, &judged.exact));
  EXPECT_TRUE(found.is_complete());
  std::set<HazardKey> hazards;
  for (const Hazard& hazard : found.hazards) {
    hazards.insert({hazard.kind, hazard.first.dispatch, hazard.second.dispatch});
  }
  return hazards;
}

TEST(FindAllHazards, AreTheConflictsThatNoChainSeparates) {
  int clean_count = 0;
  for (int seed = 0; seed < share_count(20000, 8, 120); ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    const std::string text = generated_queue_program(choice);
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    const std::optional<Program> program = parse_queues(text);
    if (!program) continue;
    const Judged judged(*program);
    if (!needs_queue_order(judged.run)) continue;
    const std::set<HazardKey> hazards = found_hazards(judged);
    ASSERT_EQ(hazards, hazards_by_chains(judged));
    clean_count += hazards.empty();
  }
  EXPECT_GT(clean_count, share_count(20000, 8, 120) / 20);
  EXPECT_LT(clean_count, share_count(20000, 8, 120) * 3 / 4);
}

TEST(FindAllHazards, AreThoseOnTheCorpus) {
  int clean_count = 0;
  int deadlock_count = 0;
  for (const auto& path : files_of_queues()) {
    SCOPED_TRACE(path);
    const Program program = corpus_program(path);
    const Judged judged(program);
    EXPECT_EQ(judged.reference.statements, run_by_counters(program));
    deadlock_count += !judged.reference.cycle.empty();
    if (!needs_queue_order(judged.run)) continue;
    const std::set<HazardKey> hazards = found_hazards(judged);
    EXPECT_EQ(hazards, hazards_by_chains(judged));
    clean_count += hazards.empty();
  }
  EXPECT_GE(clean_count, 70);
  EXPECT_GE(deadlock_count, 3);
}

TEST(FindReferenceOrder, IsTheRunOfSemaphoresThatCount) {
  int deadlock_count = 0;
  int reordered_count = 0;
  for (int seed = 0; seed < share_count(20000, 3); ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    const std::string text = generated_queue_program(choice);
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    const std::optional<Program> program = parse_queues(text);
    if (!program) continue;
    const ReferenceOrder reference = find_reference_order(*program);
    const std::vector<StatementId> run = run_by_counters(*program);
    ASSERT_EQ(reference.statements, run);
    ASSERT_EQ(!reference.cycle.empty(), run.size() < program->statements.size());
    ASSERT_EQ(reference.is_text_order,
              run.size() == program->statements.size() && std::ranges::is_sorted(run));
    deadlock_count += !reference.cycle.empty();
    reordered_count += !std::ranges::is_sorted(run);
  }
  EXPECT_GT(deadlock_count, share_count(20000, 3) / 100);
  EXPECT_GT(reordered_count, share_count(20000, 3) / 100);
}

}  // namespace
}  // namespace interlock::chain_search_test
