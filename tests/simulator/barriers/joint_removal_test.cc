// Which barriers can go together: hand-written programs, and random ones against all subsets of
// their barriers, each cut out of the text and judged by a search of chains. Fixed seeds.
#include "simulator/barriers/joint_removal.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encoder/text/printer.h"
#include "simulator/report/check.h"
#include "simulator/report/joint_advice.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"
#include "tests/simulator/judges/chain_wrongs.h"
#include "tests/simulator/judges/sync_removal_judge.h"
#include "tests/simulator/programs/queue_texts.h"
#include "tests/simulator/programs/random_destroys.h"
#include "tests/simulator/programs/random_queue_programs.h"

namespace interlock::joint_removal_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

JointRemoval joint_of(const Program& program, const JointAdviceOptions& options = {}) {
  return find_joint_advice(program, check(program, {.counts_possible = true}), options);
}

Program program_of(const std::string& body) {
  return program_with_queues(
      "interlock 1\nmemory x 64\nmemory y 64\nmemory z 64\nq1: queue concurrent\n" + body);
}

std::vector<uint32_t> removed_from(const std::string& body) {
  std::vector<uint32_t> removed;
  for (const BarrierId id : joint_of(program_of(body)).removed) removed.push_back(id.index);
  return removed;
}

TEST(JointRemoval, KeepsTheLaterOfTwoThatDoTheSame) {
  const std::string body =
      "dispatch A writes x\nbarrier\ndispatch B writes y\nbarrier\ndispatch C reads x writes z\n"
      "signal s=1\nwait s=1 on q1\n";
  EXPECT_THAT(removed_from(body), ElementsAre(0));
  const JointRemoval joint = joint_of(program_of(body));
  EXPECT_EQ(joint.barrier_count, 2);
  EXPECT_EQ(joint.kept_min, 1);
  EXPECT_EQ(text_of(joint), "barriers: 1 of 2 do: the other 1 can go, and fewer do not.\n");
}

// Each of four can go by itself; the last but one serves both conflicts.
TEST(JointRemoval, LeavesTheFewestFullBarriersOfOneQueue) {
  EXPECT_THAT(removed_from("dispatch A writes x\nbarrier\ndispatch B writes y\nbarrier\nbarrier\n"
                           "dispatch C reads x writes z\nbarrier\ndispatch D reads y\n"),
              ElementsAre(0, 1, 3));
}

TEST(JointRemoval, CountsOnEachQueueWhatASemaphoreCarries) {
  EXPECT_THAT(removed_from("dispatch A writes x\nbarrier compute.write -> copy\n"
                           "signal s=1 after copy\nwait s=1 before copy on q1\n"
                           "barrier copy -> compute.read on q1\nbarrier execution on q1\n"
                           "dispatch B reads x writes y on q1\n"),
              ElementsAre(2));
}

TEST(JointRemoval, TakesNoBarrierThatChangesALayoutOrFailsToOrder) {
  const JointRemoval changed = joint_of(
      program_of("dispatch A writes x\nbarrier compute.write -> compute.read transitions x\n"
                 "barrier\ndispatch B reads x writes y\nsignal s=1\nwait s=1 on q1\n"));
  EXPECT_THAT(changed.removed, ElementsAre(BarrierId(size_t{1})));
  EXPECT_EQ(changed.kept_min, 1);
  // The hazard is what there is to say, and not that the barrier does nothing.
  const JointRemoval failing =
      joint_of(program_of("dispatch A writes x\nbarrier execution\ndispatch B reads x writes y\n"
                          "signal s=1\nwait s=1 on q1\n"));
  EXPECT_THAT(failing.removed, IsEmpty());
  // Without it the hazard would not even be in order.
  EXPECT_EQ(text_of(failing), "barriers: 1; each is needed.\n");
  const JointRemoval idle =
      joint_of(program_of("dispatch A writes x\nbarrier compute.write -> compute.read y\nbarrier\n"
                          "dispatch B reads y\nbarrier compute.write -> copy\ndispatch C reads y\n"
                          "dispatch D writes y\nsignal s=1\nwait s=1 on q1\n"));
  EXPECT_THAT(idle.removed, ElementsAre(BarrierId(size_t{0}), BarrierId(size_t{1})));
  EXPECT_EQ(text_of(idle),
            "barriers: 1 of 3 do: the other 2 can go together, and at least 0 must stay.\n");
}

TEST(JointRemoval, KeepsWhatNamesTheHostWhereAskedTo) {
  const Program program = program_of(
      "dispatch A writes x\nbarrier compute.write -> host.read\nbarrier copy.write -> copy.read\n"
      "signal s=1\nhost waits s=1\ndispatch B writes y\n");
  EXPECT_THAT(joint_of(program).removed, ElementsAre(BarrierId(size_t{0}), BarrierId(size_t{1})));
  EXPECT_THAT(joint_of(program, {.keeps_for_host = true}).removed,
              ElementsAre(BarrierId(size_t{1})));
}

TEST(JointRemoval, SaysWhatItHadNoWorkFor) {
  std::string body = "signal s=1\nwait s=1 on q1\n";
  for (int i = 0; i < 8; ++i) {
    body += fmt::format("barrier\ndispatch A{} reads x writes x\nbarrier\n", i);
  }
  const Program program = program_of(body);
  const CheckReport report = check(program);
  const JointRemoval whole = find_joint_advice(program, report);
  EXPECT_EQ(whole.kept_count(), 7);
  EXPECT_TRUE(whole.is_fewest());
  uint64_t untried_before = 15;
  std::set<uint64_t> untried_counts;
  for (uint64_t limit = 0; untried_before > 0; limit += 200) {
    const JointRemoval part = find_joint_advice(program, report, {.work_limit = limit});
    ASSERT_LE(part.untried_count, untried_before);
    ASSERT_EQ(part.kept_min <= part.kept_count(), true);
    ASSERT_TRUE(std::ranges::includes(whole.removed, part.removed, {}, &BarrierId::index,
                                      &BarrierId::index));
    untried_before = part.untried_count;
    untried_counts.insert(part.untried_count);
  }
  EXPECT_GT(untried_counts.size(), 4);
  EXPECT_THAT(text_of(find_joint_advice(program, report, {.work_limit = 1})),
              testing::HasSubstr("15 were not tried, as that takes more work than the limit.\n"));
}

TEST(JointRemoval, CountsNoneThatIsForWhatComesAfterTheText) {
  const JointRemoval joint = joint_of(program_of(
      "dispatch A writes x\nbarrier\nbarrier\ndispatch B reads x\nbarrier\nbarrier on q1\n"));
  EXPECT_EQ(joint.barrier_count, 2);
  EXPECT_EQ(joint.removed_count, 1);
  EXPECT_EQ(joint.kept_min, 1);
}

TEST(JointRemoval, IsAboutBarriersThatAreMeant) {
  const auto is_labelled = [](const Program& program, const Barrier& barrier) {
    return program.statements[barrier.statement.index].label.is_some();
  };
  const JointRemoval joint = joint_of(program_of("dispatch A writes x\nbarrier\nown: barrier\n"
                                                 "dispatch B reads x\nsignal s=1\n"
                                                 "wait s=1 on q1\n"),
                                      {.is_meant = is_labelled});
  EXPECT_EQ(joint.barrier_count, 1);
  EXPECT_THAT(joint.removed, ElementsAre(BarrierId(size_t{1})));
}

// Judges each subset of the barriers of one program.
class Subsets {
 public:
  Subsets(std::string text, const Program& program, const ChainWrongs& wrongs)
      : text_(std::move(text)), program_(program), wrongs_(wrongs) {}

  // Without those of the set, by a bit for each barrier, nothing more is wrong.
  bool does_without(uint64_t left_out) const {
    std::string text = text_;
    std::optional<Program> program = program_;
    for (size_t i = program_.barriers.size(); i-- > 0;) {
      if (((left_out >> i) & 1) == 0) continue;
      const SyncPiece piece{.kind = SyncPieceKind::kBarrier,
                            .statement = program->barriers[i].statement};
      text = text_without(text, *program, piece);
      program = parse_queues(text);
      if (!program) {
        ADD_FAILURE() << "no program:\n" << text;
        return false;
      }
    }
    const auto wrongs = chain_wrongs_of(*program);
    return wrongs && wrongs_.includes(*wrongs);
  }

 private:
  const std::string text_;
  const Program& program_;
  const ChainWrongs& wrongs_;
};

struct SubsetCounts {
  int judged = 0;
  int smaller_than_all = 0;
  int clean = 0;
  int fewest = 0;       // Of these: it was the smallest of all subsets that do.
  int said_fewest = 0;  // And it said so.
};

uint64_t bits_of(const std::vector<BarrierId>& ids) {
  uint64_t bits = 0;
  for (const BarrierId id : ids) bits |= uint64_t{1} << id.index;
  return bits;
}

// Those that the report says are for what comes after the text.
uint64_t closing_of(const Program& program) {
  uint64_t closing = 0;
  const CheckReport report = check(program, {.counts_possible = true});
  for (const RedundantBarrier& barrier : report.closing) {
    closing |= uint64_t{1} << barrier.barrier.index;
  }
  for (const SyncPiece& piece : report.closing_sync) {
    if (piece.kind != SyncPieceKind::kBarrier) continue;
    closing |= uint64_t{1} << program.statements[piece.statement.index].index;
  }
  return closing;
}

void expect_as_all_subsets_say(const std::string& text, SubsetCounts& counts) {
  const std::optional<Program> program = parse_queues(text);
  if (!program) return;
  const size_t count = program->barriers.size();
  if (count == 0 || count > 6) return;
  const auto wrongs = chain_wrongs_of(*program);
  if (!wrongs) return;
  const JointRemoval joint = joint_of(*program);
  ASSERT_EQ(joint.untried_count, 0);
  const uint64_t closing = closing_of(*program);
  const auto closing_count = static_cast<uint64_t>(std::popcount(closing));
  ASSERT_EQ(joint.barrier_count + closing_count, count);
  const Subsets subsets(text, *program, *wrongs);
  const uint64_t removed = bits_of(joint.removed);
  ASSERT_TRUE(subsets.does_without(removed)) << fmt::format("removed {:b}", removed);
  uint64_t staying = closing;
  for (size_t i = 0; i < count; ++i) {
    if (does_more_than_order(*program, program->barriers[i])) staying |= uint64_t{1} << i;
  }
  ++counts.judged;
  counts.smaller_than_all += removed != 0;
  // No other one can go with them, but for one that fails to order what is wrong.
  const bool is_clean = wrongs->hazards.empty() && wrongs->destroys.empty();
  for (size_t i = 0; i < count && is_clean && !host_moves_memory(*program); ++i) {
    const uint64_t bit = uint64_t{1} << i;
    if (((removed | staying) & bit) != 0) continue;
    ASSERT_FALSE(subsets.does_without(removed | bit)) << i << fmt::format(" beside {:b}", removed);
  }
  auto fewest = static_cast<uint64_t>(count);
  for (uint64_t set = 0; set < uint64_t{1} << count; ++set) {
    const auto kept = count - static_cast<uint64_t>(std::popcount(set));
    if ((set & staying) != 0 || kept >= fewest) continue;
    if (subsets.does_without(set)) fewest = kept;
  }
  fewest -= closing_count;
  ASSERT_LE(joint.kept_min, fewest);
  ASSERT_GE(joint.kept_count(), fewest);
  if (!is_clean) return;
  ++counts.clean;
  counts.fewest += joint.kept_count() == fewest;
  counts.said_fewest += joint.is_fewest();
}

TEST(JointRemoval, DoesWhatAllSubsetsOfTheBarriersSay) {
  const int count = share_count(2500, 8, 120);
  SubsetCounts counts;
  for (int seed = 0; seed < count; ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    const std::string text = random_queue_program(
        choice,
        {.queue_count_max = 3, .dispatch_count_max = 5, .sync_count_max = 14, .memory_bytes = 8});
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    expect_as_all_subsets_say(text, counts);
    if (HasFailure()) return;
  }
  EXPECT_GT(counts.judged, count / 3);
  EXPECT_GT(counts.smaller_than_all, count / 10);
  EXPECT_GT(counts.clean, count / 10);
  EXPECT_GT(counts.said_fewest, counts.clean * 9 / 10);
}

// Barriers that do their work in chains of two, beside some that do all of it: so that which of two
// goes first decides how many can.
std::string text_of_chains(Choice& choice) {
  constexpr std::string_view kScopes[] = {"compute.write -> copy",
                                          "copy -> compute.read|compute.write",
                                          "compute.write -> host",
                                          "host -> compute.read|compute.write",
                                          "compute.write -> compute.read|compute.write",
                                          "all.write -> all.read|all.write"};
  constexpr std::string_view kPieces[] = {"m[0:2]", "m[2:4]", "m[4:6]"};
  std::string text = "interlock 1\nmemory m 8\nmemory n 8\nq1: queue concurrent\n";
  const uint64_t count = 2 + choice.below(3);
  uint64_t barriers_left = 6;
  for (uint64_t i = 0; i < count; ++i) {
    const std::string_view piece = kPieces[choice.below(std::size(kPieces))];
    text += choice.chance(1, 2) ? fmt::format("dispatch D{} writes {}\n", i, piece)
                                : fmt::format("dispatch D{} reads {} writes n[{}:{}]\n", i, piece,
                                              2 * i, 2 * i + 1);
    for (uint64_t n = choice.below(4); n > 0 && barriers_left > 0; --n, --barriers_left) {
      text += fmt::format("barrier {}\n", kScopes[choice.below(std::size(kScopes))]);
    }
  }
  return text + "signal s=1\nwait s=1 on q1\n";
}

TEST(JointRemoval, IsMostlyTheSmallestWhereBarriersChain) {
  const int count = share_count(1500, 5, 120);
  SubsetCounts counts;
  for (int seed = 0; seed < count; ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    const std::string text = text_of_chains(choice);
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    expect_as_all_subsets_say(text, counts);
    if (HasFailure()) return;
  }
  EXPECT_GT(counts.clean, count / 4);
  if (count >= 1'000) {  // Of few it may be the smallest each time.
    EXPECT_LT(counts.fewest, counts.clean);
  }
  EXPECT_GT(counts.fewest, counts.clean * 9 / 10);
  EXPECT_GT(counts.said_fewest, counts.clean * 8 / 10);
}

TEST(JointRemoval, LeavesWhatDestroysWaitFor) {
  const int count = share_count(800, 5, 80);
  SubsetCounts counts;
  for (int seed = 0; seed < count; ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    const std::string text = print(draft_with_destroys(choice));
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    expect_as_all_subsets_say(text, counts);
    if (HasFailure()) return;
  }
  EXPECT_GT(counts.judged, count / 20);
}

// A program on one queue with full barriers, in every slot or in some.
std::string text_of_full_barriers(Choice& choice, bool has_all_slots) {
  std::string text = "interlock 1\nmemory m0 16\nmemory m1 16\n";
  const uint64_t count = 2 + choice.below(10);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t from = choice.below(12);
    const uint64_t to = choice.below(12);
    const uint64_t source = choice.below(2);
    text += fmt::format("dispatch D{} reads m{}[{}:{}] writes m{}[{}:{}]\n", i, source, from,
                        from + 1 + choice.below(4), 1 - source, to, to + 1 + choice.below(4));
    if (has_all_slots || choice.chance(2, 3)) text += "barrier\n";
    if (choice.chance(1, 3)) text += "barrier\n";
  }
  return text;
}

// There the greedy choice is the best one, and where barriers stand everywhere, as few are left as
// conflicts force.
TEST(JointRemoval, LeavesTheProvenFewestOfFullBarriers) {
  const int count = share_count(4000, 3);
  int clean_count = 0;
  int fewer_count = 0;
  for (int seed = 0; seed < count; ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    const bool has_all_slots = choice.chance(1, 2);
    const std::string text = text_of_full_barriers(choice, has_all_slots);
    SCOPED_TRACE(text);
    const Program program = program_with_queues(text);
    const CheckReport report = check(program);
    if (!report.findings.empty()) continue;
    ++clean_count;
    const JointRemoval joint = find_joint_advice(program, report);
    ASSERT_TRUE(joint.is_fewest());
    ASSERT_GE(joint.kept_count(), report.fewest_barriers);
    if (!has_all_slots) continue;
    ASSERT_EQ(joint.kept_count(), report.fewest_barriers);
    fewer_count += report.fewest_barriers < report.barrier_count;
  }
  EXPECT_GT(clean_count, count / 2);
  EXPECT_GT(fewer_count, count / 4);
}

}  // namespace
}  // namespace interlock::joint_removal_test
