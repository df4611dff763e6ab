// How few waits add no order where queues are concurrent, with stages and barriers, and where they
// join: held against all placements on tiny programs, and the proof against planted wrong ones.
#include "simulator/barriers/place_bounds.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "encoder/text/printer.h"
#include "simulator/barriers/wait_bounds.h"
#include "simulator/facts/find_facts.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"
#include "tests/simulator/judges/place_placements.h"
#include "tests/simulator/programs/queue_texts.h"

namespace interlock::place_bounds_test {
namespace {

using testing::HasSubstr;

constexpr char kHead[] =
    "interlock 1\nmemory m 8\nmemory n 8\nx: queue concurrent\ny: queue concurrent\n"
    "s: queue serial\nb: queue serial blocking\nc: queue serial blocking\n"
    "l: queue legacy-default\ng: queue graph\n";

// "1 wait, the fewest …", or why nothing is said.
std::string text_of_bounds(const std::string& body) {
  const Program program = reference_run(program_with_queues(kHead + body));
  NoWaitBounds why_not;
  const std::optional<WaitBounds> bounds = find_wait_bounds(program, &why_not);
  if (!bounds) return "nothing, as " + std::string(why_not.reason);
  EXPECT_EQ(prove(program, bounds->certificate).defect, "") << body;
  return text_of(*bounds);
}

constexpr char kOne[] = "1 wait, the fewest on these queues that add no order; certified.";

TEST(PlaceBounds, SayWhatIsTheFewest) {
  EXPECT_EQ(text_of_bounds("dispatch A writes m on x\nsignal t=1 after compute on x\n"
                           "wait t=1 before copy on y\ndispatch copy reads m writes n on y\n"),
            kOne);
  // One signal covers both, as nothing orders the two.
  EXPECT_EQ(text_of_bounds("dispatch A writes m[0:4] on x\ndispatch A writes m[4:8] on x\n"
                           "signal t=1 on x\nwait t=1 on y\ndispatch B reads m on y\n"),
            kOne);
  EXPECT_EQ(text_of_bounds("dispatch A writes m[0:4] on x\nsignal t=1 on x\n"
                           "dispatch A writes m[4:8] on x\nsignal t=2 on x\n"
                           "wait t=1 on y\nwait t=2 on y\ndispatch B reads m on y\n"),
            "2 waits; to add no order takes 1 at least on these queues, certified.");
}

TEST(PlaceBounds, TakeTheBarriersOfAQueueForItsOrder) {
  EXPECT_EQ(text_of_bounds("dispatch A writes n on x\nbarrier on x\ndispatch A writes m on x\n"
                           "signal t=1 on x\nwait t=1 on y\ndispatch B reads m on y\n"),
            kOne);
  EXPECT_EQ(text_of_bounds("dispatch A writes n on x\ndispatch A writes m on x\n"
                           "signal t=1 on x\nwait t=1 on y\ndispatch B reads m on y\n"),
            "nothing, as its sync adds order");
}

// Two barriers that chain put the first one before the second, which stands between.
TEST(PlaceBounds, FollowChainsOfBarriersInTheProof) {
  const Program program = reference_run(program_with_queues(
      std::string(kHead) +
      "dispatch A writes n on x\nbarrier compute -> copy on x\nbarrier copy -> compute on x\n"
      "dispatch A writes m on x\nsignal t=1 on x\nwait t=1 on y\ndispatch B reads m n on y\n"));
  const std::optional<WaitBounds> bounds = find_wait_bounds(program);
  ASSERT_TRUE(bounds.has_value());
  EXPECT_EQ(bounds->certificate.waits, (std::vector<NeededWait>{{DispatchId(1), DispatchId(2)}}));
  WaitCertificate wrong = bounds->certificate;
  wrong.waits = {{DispatchId(0), DispatchId(2)}};
  EXPECT_THAT(prove(program, wrong).defect, HasSubstr("has another dispatch between"));
}

// A signal of the legacy-default queue is for two blocking ones, and a statement orders them.
TEST(PlaceBounds, TakeQueuesThatJoinForOne) {
  EXPECT_EQ(text_of_bounds("dispatch A writes m[0:4] on b\ndispatch A writes m[4:8] on c\n"
                           "signal t=1 on l\nwait t=1 on s\ndispatch B reads m on s\n"),
            kOne);
  EXPECT_EQ(text_of_bounds("dispatch A writes m[0:4] on b\nsignal t=1 on b\n"
                           "dispatch A writes m[4:8] on c\nsignal u=1 on c\n"
                           "dispatch A writes n on l\nwait t=1 on s\nwait u=1 on s\n"
                           "dispatch B reads m on s\n"),
            "2 waits; to add no order takes 1 at least on these queues, certified.");
}

// Each of two dispatches conflicts with two more, on four queues.
TEST(PlaceBounds, TellWhatIsNotPassedOn) {
  EXPECT_EQ(text_of_bounds("z: queue concurrent\nw: queue concurrent\n"
                           "dispatch A writes m[0:4] on x\nsignal t=1 on x\n"
                           "dispatch A writes m[4:8] on y\nsignal u=1 on y\n"
                           "wait t=1 on z\nwait u=1 on z\ndispatch B reads m on z\n"
                           "wait t=1 on w\nwait u=1 on w\ndispatch B reads m on w\n"),
            "4 waits, the fewest on these queues that add no order if no queue passes on what it "
            "has waited for, else 2 at least; certified.");
}

TEST(PlaceBounds, SayWhyNothingIsSaid) {
  const std::string work = "dispatch A writes m on x\n";
  EXPECT_EQ(text_of_bounds(work + "set e on x\nawait e on x\n"),
            "nothing, as events order what queues execute");
  EXPECT_EQ(text_of_bounds(work + "wait t=1 from outside on x\n"),
            "nothing, as a wait is for somebody outside the program");
  EXPECT_EQ(text_of_bounds(work + "host idle\ndispatch B reads m on y\n"),
            "nothing, as the host goes on after a wait");
  EXPECT_EQ(
      text_of_bounds(work + "signal t=1 on x\nwait t=1 on g\ndispatch B reads m on g\n"),
      "nothing, as a graph is launched, is beside other queues, or has edges that are not full");
  EXPECT_EQ(text_of_bounds("dispatch A writes m on b\nbarrier on l\n"),
            "nothing, as a barrier stands on a queue that others join");
  EXPECT_EQ(text_of_bounds(work + "dispatch B reads n approximate on y\n"),
            "nothing, as what some dispatches touch is not known");
}

struct RandomText {
  PlacedText placed;
  std::string text;
};

std::string_view name_of(StageMask stages) {
  const bool has_compute = (stages & bit_of(Stage::kCompute)) != 0;
  if (!has_compute) return "copy";
  return (stages & bit_of(Stage::kCopy)) != 0 ? "compute|copy" : "compute";
}

StageMask random_stages(Choice& choice) { return static_cast<StageMask>(1 + choice.below(3)); }

// What the queues order by themselves.
std::vector<uint64_t> dispatches_after_by_queues(PlacedText placed) {
  std::erase_if(placed.statements, [](const Placed& one) {
    return one.kind == PlacedKind::kSignal || one.kind == PlacedKind::kWait;
  });
  return dispatches_after(placed, *order_of(placed));
}

// One byte for each pair with nothing between that the queues do not order, so that the sync adds
// no order.
std::string text_of(const PlacedText& placed, const std::vector<uint64_t>& after) {
  const std::vector<uint64_t> by_queues = dispatches_after_by_queues(placed);
  constexpr std::array kKinds = {"concurrent", "serial", "serial blocking", "legacy-default"};
  std::string text = "interlock 1\nmemory m 64\nmemory n 8\n";
  for (size_t i = 0; i < placed.queues.size(); ++i) {
    text += fmt::format("q{}: queue {}\n", i + 1, kKinds[static_cast<size_t>(placed.queues[i])]);
  }
  std::vector<std::string> reads(after.size());
  std::vector<std::string> writes(after.size());
  for (size_t a = 0; a < after.size(); ++a) {
    for (size_t b = 0; b < after.size(); ++b) {
      bool is_right_after = (after[a] >> b & 1) != 0;
      for (size_t c = 0; c < after.size(); ++c) {
        is_right_after &= (after[a] >> c & 1) == 0 || (after[c] >> b & 1) == 0;
      }
      if (!is_right_after || (by_queues[a] >> b & 1) != 0) continue;
      const std::string byte = fmt::format(" m[{}:{}]", 8 * a + b, 8 * a + b + 1);
      reads[a] += byte;
      writes[b] += byte;
    }
  }
  size_t dispatch = 0;
  for (const Placed& one : placed.statements) {
    const std::string source(name_of(one.source));
    const std::string destination(name_of(one.destination));
    std::string line;
    if (one.kind == PlacedKind::kDispatch) {
      line = fmt::format("dispatch K in {} reads n[0:1]{}", source, reads[dispatch]);
      if (!writes[dispatch].empty()) line += " writes" + writes[dispatch];
      ++dispatch;
    } else if (one.kind == PlacedKind::kBarrier) {
      line = fmt::format("barrier {} -> {}", source, destination);
    } else if (one.kind == PlacedKind::kSignal) {
      line = fmt::format("signal s{}=1 after {}", one.arc, source);
    } else {
      line = fmt::format("wait s{}=1 before {}", one.arc, destination);
    }
    text += fmt::format("{} on q{}\n", line, one.queue + 1);
  }
  return text;
}

// None where statements wait for each other.
std::optional<RandomText> random_text(Choice& choice, bool are_joined) {
  PlacedText placed;
  const uint64_t queue_count = 2 + choice.below(2);
  for (uint64_t i = 0; i < queue_count; ++i) {
    placed.queues.push_back(choice.chance(2, 3) ? QueueKind::kConcurrent : QueueKind::kSerial);
  }
  if (are_joined) {
    placed.queues = {QueueKind::kLegacyDefault, QueueKind::kSerialBlocking,
                     choice.chance(1, 2) ? QueueKind::kSerial : QueueKind::kConcurrent};
    if (choice.chance(1, 2)) placed.queues.push_back(QueueKind::kSerialBlocking);
  }
  const auto random_queue = [&] {
    return static_cast<uint32_t>(choice.below(placed.queues.size()));
  };
  const bool has_stages = choice.chance(1, 2);
  const uint64_t dispatch_count = 3 + choice.below(3);
  for (uint64_t i = 0; i < dispatch_count; ++i) {
    const bool is_copy = has_stages && choice.chance(1, 2);
    const StageMask stage = bit_of(is_copy ? Stage::kCopy : Stage::kCompute);
    placed.statements.push_back({PlacedKind::kDispatch, random_queue(), stage, stage, 0});
  }
  const auto insert = [&](const Placed& one) {
    const auto place = static_cast<std::ptrdiff_t>(choice.below(placed.statements.size() + 1));
    placed.statements.insert(placed.statements.begin() + place, one);
  };
  for (uint64_t i = choice.below(3); i > 0; --i) {
    const uint32_t queue = random_queue();
    if (placed.queues[queue] != QueueKind::kConcurrent) continue;
    insert({PlacedKind::kBarrier, queue, random_stages(choice), random_stages(choice), 0});
  }
  const auto arc_count = static_cast<uint32_t>(1 + choice.below(4));
  for (uint32_t i = 0; i < arc_count; ++i) {
    const uint32_t from = random_queue();
    const uint32_t to = random_queue();
    if (from == to) continue;
    const StageMask all = 3;
    insert({PlacedKind::kSignal, from, has_stages ? random_stages(choice) : all, all, i});
    insert({PlacedKind::kWait, to, all, has_stages ? random_stages(choice) : all, i});
  }
  const auto order = order_of(placed);
  if (!order) return std::nullopt;
  const auto has_work_of = [&](QueueKind kind) {
    return std::ranges::any_of(placed.statements,
                               [&](const Placed& one) { return placed.queues[one.queue] == kind; });
  };
  if (are_joined &&
      !(has_work_of(QueueKind::kSerialBlocking) && has_work_of(QueueKind::kLegacyDefault))) {
    return std::nullopt;
  }
  const std::vector<uint64_t> after = dispatches_after(placed, *order);
  return RandomText{placed, text_of(placed, after)};
}

struct Tally {
  int judged_max = 0;  // Of each number of waits that are needed where nothing is passed on.
  std::array<int, 4> judged_count{};
  int said_count = 0;
  int met_count = 0;
  int more_than_one_count = 0;
};

void expect_no_fewer(const RandomText& random, const WaitBounds& bounds, Tally& tally) {
  const uint64_t apart = bounds.fewest_apart();
  if (apart > 3 || tally.judged_count[apart] >= tally.judged_max) return;
  ++tally.judged_count[apart];
  const FewestPlaced fewest = fewest_placed(random.placed);
  ASSERT_GE(fewest.of_all.value_or(3), bounds.fewest()) << random.text;
  ASSERT_GE(fewest.of_apart.value_or(3), bounds.fewest_apart()) << random.text;
  const bool is_met = fewest.of_all.value_or(3) == bounds.fewest();
  ++tally.said_count;
  tally.met_count += is_met ? 1 : 0;
  tally.more_than_one_count += is_met && bounds.fewest() > 1 ? 1 : 0;
}

// Whoever adds a pair, or says that one needs its own, is refused.
void expect_refused(const Program& program, const WaitCertificate& certificate) {
  for (size_t k = 0; k < certificate.waits.size(); ++k) {
    WaitCertificate wrong = certificate;
    wrong.waits.push_back(wrong.waits[k]);
    ASSERT_THAT(prove(program, wrong).defect, HasSubstr("can have the wait of"));
    if (certificate.waits[k].need == WaitNeed::kOwn) continue;
    wrong = certificate;
    wrong.waits[k].need = WaitNeed::kOwn;
    ASSERT_THAT(prove(program, wrong).defect, HasSubstr("can have the wait of"));
  }
  const size_t count = program.dispatches.size();
  for (size_t a = 0; a < count; ++a) {
    for (size_t b = a + 1; b < count; ++b) {
      const NeededWait added{DispatchId(a), DispatchId(b), WaitNeed::kApart};
      WaitCertificate wrong = certificate;
      wrong.waits.push_back(added);
      ASSERT_NE(prove(program, wrong).defect, "") << a << " and " << b << "\n" << print(program);
    }
  }
}

void judge_random(uint64_t seed, bool are_joined, int count, Tally& tally) {
  SeededChoice choice(seed);
  for (int i = 0; i < count && !testing::Test::HasFailure(); ++i) {
    const std::optional<RandomText> random = random_text(choice, are_joined);
    if (!random) continue;
    const Program program = reference_run(program_with_queues(random->text));
    ASSERT_TRUE(find_facts(program, {.group = FactGroup::kAccesses}).facts.empty()) << random->text;
    NoWaitBounds why_not;
    const std::optional<WaitBounds> bounds = find_place_bounds(program, why_not);
    if (!bounds && why_not.reason.empty()) continue;  // Dispatches of one queue.
    ASSERT_TRUE(bounds.has_value()) << why_not.reason << "\n" << random->text;
    ASSERT_EQ(prove(program, bounds->certificate).defect, "") << random->text;
    ASSERT_GE(bounds->wait_count, bounds->fewest()) << random->text;
    ASSERT_TRUE(bounds->passes_on || bounds->wait_count >= bounds->fewest_apart()) << random->text;
    expect_refused(program, bounds->certificate);
    expect_no_fewer(*random, *bounds, tally);
  }
}

TEST(PlaceBounds, OfConcurrentQueuesAreFewerThanNoPlacementHas) {
  Tally tally = {.judged_max = proof_count(60, 2)};
  judge_random(181, false, proof_count(3000, 200, 24), tally);
  if (is_slow_build()) return;
  EXPECT_GT(tally.met_count, tally.said_count / 2);
  EXPECT_GE(tally.more_than_one_count, proof_count(5, 2));
}

TEST(PlaceBounds, OfQueuesThatJoinAreFewerThanNoPlacementHas) {
  Tally tally = {.judged_max = proof_count(30, 3, 60)};
  judge_random(182, true, proof_count(2000, 500, 60), tally);
  if (is_slow_build()) return;
  EXPECT_GT(tally.met_count, tally.said_count / 2);
  EXPECT_GE(tally.more_than_one_count, proof_count(2, 1));
}

}  // namespace
}  // namespace interlock::place_bounds_test
