// How few waits and edges add no order: held against all placements on tiny programs, and the proof
// against planted wrong ones.
#include "simulator/barriers/wait_bounds.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "encoder/queues/queue_encoder.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "simulator/facts/find_facts.h"
#include "simulator/order/happens_before.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"
#include "tests/simulator/judges/wait_placements.h"

namespace interlock::wait_bounds_test {
namespace {

using testing::HasSubstr;

Program parsed(const std::string& text) {
  ParseOptions options;
  options.reads_every_queue = true;
  Result<Program> program = parse(text, "test.ilk", options);
  EXPECT_TRUE(program.has_value()) << (program ? "" : program.error().message) << "\n" << text;
  return program ? *std::move(program) : Program{};
}

constexpr char kHead[] =
    "interlock 1\nmemory m 8\nmemory n 8\nx: queue serial\ny: queue serial\nz: queue serial\n"
    "g: queue graph\n";

Program body(const std::string& text) { return parsed(kHead + text); }

std::string text_of_bounds(const std::string& text) {
  const Program program = body(text);
  const std::optional<WaitBounds> bounds = find_wait_bounds(program);
  if (!bounds) return "nothing";
  const WaitProof proof = prove(program, bounds->certificate);
  EXPECT_EQ(proof.defect, "") << text;
  EXPECT_FALSE(proof.is_cut_short);
  return text_of(*bounds);
}

TEST(WaitBounds, SayWhatIsTheFewest) {
  EXPECT_EQ(text_of_bounds("dispatch A writes m on x\nsignal s=1 on x\nwait s=1 on y\n"
                           "dispatch B reads m on y\n"),
            "1 wait, the fewest on these queues that add no order; certified.");
  EXPECT_EQ(text_of_bounds("dispatch A writes m on x\nsignal s=1 on x\nwait s=1 on y\n"
                           "dispatch B reads m on y\nwait s=1 on y\ndispatch C reads m on y\n"),
            "2 waits; 1 would add no order, certified.");
  EXPECT_EQ(text_of_bounds("dispatch A writes m on g\ndispatch B reads m after 0 on g\n"
                           "dispatch C writes m after 0 1 on g\n"),
            "3 edges; 2 would add no order, certified.");
  EXPECT_EQ(text_of_bounds("dispatch A writes m on g\ndispatch B reads m after 0 on g\n"),
            "1 edge, the fewest that add no order; certified.");
  EXPECT_EQ(text_of_bounds("dispatch A writes m on x\ndispatch B writes n on y\n"), "");
}

// All is in order right before a signal, and right after a wait.
TEST(WaitBounds, AreThoseOfAllStagesOnSerialQueues) {
  const std::string text =
      "dispatch A writes m on x\nsignal s=1 after copy on x\nwait s=1 before copy on y\n"
      "dispatch B reads m on y\n";
  EXPECT_EQ(text_of_bounds(text),
            "1 wait, the fewest on these queues that add no order; certified.");
  EXPECT_FALSE(find_wait_bounds(body(text))->certificate.is_by_places);
  EXPECT_TRUE(find_facts(body(text), {.group = FactGroup::kAccesses}).facts.empty());
}

// A wait after the last dispatch of its queue is for what comes after the text.
TEST(WaitBounds, CountNoWaitAtTheEnd) {
  EXPECT_EQ(text_of_bounds("dispatch A writes m on x\nsignal s=1 on x\nwait s=1 on y\n"
                           "dispatch B reads m on y\nsignal t=1 on y\nwait t=1 on x\n"),
            "1 wait, the fewest on these queues that add no order; certified.");
}

TEST(WaitBounds, SayNothingWhereOrderIsAddedOrOtherSyncOrders) {
  EXPECT_EQ(text_of_bounds("dispatch A writes m on x\nsignal s=1 on x\nwait s=1 on y\n"
                           "dispatch B reads n on y\n"),
            "nothing");
  EXPECT_EQ(text_of_bounds("dispatch A writes m on x\ndispatch C writes n on x\nsignal s=1 on x\n"
                           "wait s=1 on y\ndispatch B reads m on y\n"),
            "nothing");
  EXPECT_EQ(text_of_bounds("dispatch A writes m on x\nhost idle\ndispatch B reads m on y\n"),
            "nothing");
}

// Each of three dispatches on three queues conflicts with three more on three others: 9 waits, or 5
// where one queue passes on what it has waited for.
std::string nine_pairs(bool passes_on) {
  std::string text = "interlock 1\nmemory m 12\n";
  for (const char* queue : {"a", "b", "c", "d", "e", "f"}) {
    text += fmt::format("{}: queue serial\n", queue);
  }
  for (const char* queue : {"a", "b", "c"}) {
    const int place = 4 * (queue[0] - 'a');
    text += fmt::format("dispatch K writes m[{}:{}] on {}\n", place, place + 4, queue);
    if (!passes_on || queue[0] != 'a') text += fmt::format("signal {}=1 on {}\n", queue, queue);
  }
  if (passes_on) text += "wait b=1 on a\nwait c=1 on a\nsignal a=1 on a\n";
  for (const char* queue : {"d", "e", "f"}) {
    text += fmt::format("wait a=1 on {}\n", queue);
    if (!passes_on) text += fmt::format("wait b=1 on {0}\nwait c=1 on {0}\n", queue);
    text += fmt::format("dispatch K reads m on {}\n", queue);
  }
  return text;
}

TEST(WaitBounds, TellWhatIsPassedOn) {
  const std::optional<WaitBounds> apart = find_wait_bounds(parsed(nine_pairs(false)));
  ASSERT_TRUE(apart.has_value());
  EXPECT_EQ(
      text_of(*apart),
      "9 waits, the fewest on these queues that add no order if no queue passes on what it has waited for, "
      "else 5 at least; certified.");
  const std::optional<WaitBounds> passed = find_wait_bounds(parsed(nine_pairs(true)));
  ASSERT_TRUE(passed.has_value());
  EXPECT_TRUE(passed->passes_on);
  EXPECT_EQ(text_of(*passed), "5 waits, the fewest on these queues that add no order; certified.");
  EXPECT_EQ(passed->certificate.waits, apart->certificate.waits);
}

TEST(Prove, RefusesWhatProvesNothing) {
  const Program program = parsed(nine_pairs(false));
  const WaitCertificate good = find_wait_bounds(program)->certificate;
  ASSERT_EQ(prove(program, good).defect, "");
  const auto defect = [&](const auto& change) {
    WaitCertificate certificate = good;
    change(certificate);
    return prove(program, certificate).defect;
  };
  EXPECT_EQ(defect([](WaitCertificate& c) { c.line_of.pop_back(); }),
            "Not every dispatch has its line.");
  EXPECT_EQ(defect([](WaitCertificate& c) { c.line_of[1] = 0; }),
            "Dispatch 1 is on another queue than its line.");
  EXPECT_EQ(defect([](WaitCertificate& c) { c.line_of[0] = 3; }),
            "The lines are not counted as they begin.");
  EXPECT_EQ(defect([](WaitCertificate& c) { c.waits[0].first = DispatchId(1); }),
            "The pair of dispatches 1 and 3 stands in no order.");
  EXPECT_EQ(defect([](WaitCertificate& c) { c.waits[0].second = c.waits[0].first; }),
            "The pair of dispatches 0 and 0 is no pair of dispatches in order.");
  EXPECT_EQ(defect([](WaitCertificate& c) { c.waits[0].need = WaitNeed::kOwn; }),
            "The pair of dispatches 0 and 3 can be passed on.");
  EXPECT_THAT(defect([](WaitCertificate& c) {
                for (NeededWait& wait : c.waits) wait.need = WaitNeed::kJoin;
              }),
              HasSubstr("joins places that are joined."));
  EXPECT_EQ(defect([](WaitCertificate& c) {
              c.waits = {{DispatchId(0), DispatchId(1)}};
            }),
            "The pair of dispatches 0 and 1 does not conflict, or not as the latest.");
  EXPECT_TRUE(prove(program, good, 10).is_cut_short);
}

TEST(Prove, RefusesAPairWithADispatchBetween) {
  const Program program = body(
      "dispatch A writes m on x\nsignal s=1 on x\nwait s=1 on y\ndispatch B writes n updates m on y\n"
      "signal t=1 on y\nwait t=1 on z\ndispatch C reads m[0:4] n on z\n");
  WaitCertificate certificate = find_wait_bounds(program)->certificate;
  ASSERT_EQ(certificate.waits.size(), 2u);
  certificate.waits.insert(certificate.waits.begin() + 1, {DispatchId(0), DispatchId(2)});
  EXPECT_NE(prove(program, certificate).defect, "");
  certificate.waits = {{DispatchId(0), DispatchId(2)}};
  EXPECT_NE(prove(program, certificate).defect, "");
}

TEST(Prove, RefusesPathsOfAGraphThatNothingOrders) {
  const Program program = body("dispatch A writes m on g\ndispatch B writes n on g\n");
  EXPECT_EQ(prove(program, {.line_of = {0, 0}, .waits = {}, .is_of_edges = true}).defect,
            "Dispatch 1 does not come after the one before it on its path.");
  EXPECT_EQ(prove(program, {.line_of = {0, 1}, .waits = {}, .is_of_edges = true}).defect, "");
}

// Some accesses of a few bytes, on up to four queues.
std::string random_dispatches(Choice& choice, std::string_view kind, uint64_t queue_count,
                              uint64_t dispatch_count) {
  constexpr std::array kModes = {"reads", "reads", "writes", "updates", "atomics"};
  std::string text = "interlock 1\nmemory m 6\n";
  for (uint64_t i = 0; i < queue_count; ++i) {
    text += fmt::format("{}: queue {}\n", static_cast<char>('a' + i), kind);
  }
  for (uint64_t i = 0; i < dispatch_count; ++i) {
    const uint64_t begin = choice.below(6);
    const uint64_t end = begin + 1 + choice.below(6 - begin);
    const char* mode = kModes[choice.below(kModes.size())];
    text += fmt::format("dispatch K {} m[{}:{}]{} on {}\n", mode, begin, end,
                        mode == kModes[4] ? " atomic=add" : "",
                        static_cast<char>('a' + choice.below(queue_count)));
  }
  return text;
}

void expect_proof(const Program& program, const WaitBounds& bounds) {
  const WaitProof proof = prove(program, bounds.certificate);
  ASSERT_FALSE(proof.is_cut_short);
  ASSERT_EQ(proof.defect, "") << print(program);
}

// Some write a byte each, the others read what they wrote: pairs that can be passed on.
std::string random_fans(Choice& choice) {
  const uint64_t queue_count = 3 + choice.below(2);
  std::string text = random_dispatches(choice, "serial", queue_count, 0);
  const auto on_queue = [&](uint64_t first) {
    return fmt::format(" on {}\n",
                       static_cast<char>('a' + first + choice.below(queue_count - first)));
  };
  for (uint64_t i = 0; i < 3; ++i) {
    text += fmt::format("dispatch K writes m[{}:{}]", i, i + 1) + on_queue(0);
  }
  for (uint64_t i = 0; i < 3; ++i) {
    const uint64_t begin = choice.below(2);
    text += fmt::format("dispatch K reads m[{}:{}]", begin, begin + 2 - begin / 2) +
            on_queue(queue_count / 2);
  }
  return text;
}

// How many programs had bounds that are met, and pairs of each need.
struct Tally {
  int met_count = 0;
  std::array<int, 3> needs{};
};

void expect_fewest(const Program& given, Tally& tally) {
  const Result<Program> encoded = find_queue_encoder("semaphores")->encode(given, 0);
  ASSERT_TRUE(encoded.has_value());
  const PlacementTask task = placement_task_of(*encoded);
  const std::optional<WaitBounds> bounds = find_wait_bounds(*encoded);
  ASSERT_TRUE(bounds.has_value()) << print(*encoded);
  expect_proof(*encoded, *bounds);
  const uint64_t apart = bounds->fewest_apart();
  ASSERT_EQ(apart, crossing_count_of(task)) << print(*encoded);
  ASSERT_EQ(bounds->wait_count, apart) << print(*encoded);
  ASSERT_FALSE(bounds->passes_on);
  if (apart > 4) return;
  EXPECT_EQ(fewest_waits_by_trial(task, apart, false), std::nullopt) << print(*encoded);
  const uint64_t fewest = fewest_waits_by_trial(task, apart, true).value_or(apart);
  EXPECT_GE(fewest, bounds->fewest()) << print(*encoded);
  tally.met_count += fewest == bounds->fewest() ? 1 : 0;
  for (const NeededWait& wait : bounds->certificate.waits) {
    ++tally.needs[static_cast<size_t>(wait.need)];
  }
}

TEST(WaitBounds, AreTheFewestOfAllPlacementsOnTinyPrograms) {
  SeededChoice choice(171);
  const int count = program_count(400);
  Tally tally;
  for (int i = 0; i < count && !HasFatalFailure(); ++i) {
    const std::string text =
        i % 2 == 0 ? random_fans(choice)
                   : random_dispatches(choice, "serial", 2 + choice.below(3), 3 + choice.below(4));
    expect_fewest(parsed(text), tally);
  }
  if (is_slow_build()) return;
  EXPECT_GT(tally.met_count, count / 2);
  for (const int pair_count : tally.needs) EXPECT_GT(pair_count, 10);
}

// A pair more, or one that is said to need more than it does, proves nothing.
TEST(Prove, RefusesEachPairThatIsNotNeeded) {
  SeededChoice choice(172);
  const int count = program_count(300);
  int refused_count = 0;
  for (int i = 0; i < count && !HasFailure(); ++i) {
    const bool is_of_edges = i % 2 == 0;
    const Program given = parsed(random_dispatches(choice, is_of_edges ? "graph" : "serial",
                                                   1 + choice.below(3), 2 + choice.below(6)));
    const Result<Program> encoded =
        find_queue_encoder(is_of_edges ? "edges" : "semaphores")->encode(given, 0);
    if (!encoded) continue;  // Fewer than two queues are used.
    const std::optional<WaitBounds> bounds = find_wait_bounds(*encoded);
    ASSERT_TRUE(bounds.has_value()) << print(*encoded);
    expect_proof(*encoded, *bounds);
    const std::vector<NeededWait>& waits = bounds->certificate.waits;
    for (size_t b = 0; b < encoded->dispatches.size(); ++b) {
      for (size_t a = 0; a < b; ++a) {
        const NeededWait added{DispatchId(a), DispatchId(b)};
        const auto place = std::ranges::find_if(waits, [&](const NeededWait& wait) {
          return std::pair(wait.second, wait.first) >= std::pair(added.second, added.first);
        });
        if (place != waits.end() && place->first == added.first && place->second == added.second) {
          continue;
        }
        WaitCertificate more = bounds->certificate;
        more.waits.insert(more.waits.begin() + (place - waits.begin()), added);
        ASSERT_NE(prove(*encoded, more).defect, "") << a << " and " << b << "\n" << print(*encoded);
        ++refused_count;
      }
    }
    for (size_t k = 0; k < waits.size(); ++k) {
      if (waits[k].need == WaitNeed::kOwn) continue;
      WaitCertificate more = bounds->certificate;
      more.waits[k].need = waits[k].need == WaitNeed::kJoin ? WaitNeed::kOwn : WaitNeed::kJoin;
      ASSERT_NE(prove(*encoded, more).defect, "") << k << "\n" << print(*encoded);
    }
  }
  EXPECT_GT(refused_count, count);
}

// Waits anywhere, for signals that cover what their queue has waited for as well.
Program with_random_waits(Choice& choice, const std::string& dispatches) {
  std::string text;
  std::array<uint64_t, 4> values{};
  for (size_t begin = 0; begin < dispatches.size();) {
    const size_t end = dispatches.find('\n', begin) + 1;
    const std::string line = dispatches.substr(begin, end - begin);
    begin = end;
    if (!line.starts_with("dispatch")) {
      text += line;
      continue;
    }
    const char queue = line[line.size() - 2];
    const auto wait_on = [&](char name) {
      for (size_t other = 0; other < values.size(); ++other) {
        if (values[other] == 0 || name == static_cast<char>('a' + other)) continue;
        if (!choice.chance(1, 2)) continue;
        text += fmt::format("wait s{}={} on {}\n", other, 1 + choice.below(values[other]), name);
      }
    };
    wait_on(queue);
    text += line;
    if (choice.chance(1, 4)) wait_on(queue);
    const auto number = static_cast<size_t>(queue - 'a');
    if (!choice.chance(1, 4)) {
      text += fmt::format("signal s{}={} on {}\n", number, ++values[number], queue);
    }
  }
  return parsed(text);
}

// Of programs without a hazard the bounds are said iff the order is what conflicts ask for.
TEST(WaitBounds, AreSaidExactlyWhereNoOrderIsAdded) {
  SeededChoice choice(173);
  const int count = share_count(8000, 2);
  int said_count = 0;
  int passed_on_count = 0;
  int more_count = 0;
  for (int i = 0; i < count && !HasFailure(); ++i) {
    const Program program = with_random_waits(
        choice, random_dispatches(choice, "serial", 2 + choice.below(3), 2 + choice.below(4)));
    if (!find_facts(program, {.group = FactGroup::kAccesses}).facts.empty()) continue;
    const PlacementTask task = placement_task_of(program);
    const HappensBefore order(program);
    bool adds_order = false;
    for (size_t b = 0; b < program.dispatches.size(); ++b) {
      for (size_t a = 0; a < b; ++a) {
        adds_order |= order.executes_before(DispatchId(a), DispatchId(b)) && !task.is_before[a][b];
      }
    }
    const std::optional<WaitBounds> bounds = find_wait_bounds(program);
    ASSERT_EQ(bounds.has_value(), !adds_order) << print(program);
    if (!bounds) continue;
    ++said_count;
    expect_proof(program, *bounds);
    ASSERT_EQ(bounds->fewest_apart(), crossing_count_of(task)) << print(program);
    ASSERT_GE(bounds->wait_count, bounds->fewest()) << print(program);
    ASSERT_TRUE(bounds->passes_on || bounds->wait_count >= bounds->fewest_apart());
    passed_on_count += bounds->passes_on ? 1 : 0;
    more_count += bounds->wait_count > bounds->fewest_apart() ? 1 : 0;
  }
  if (is_slow_build()) return;
  EXPECT_GT(said_count, count / 16);
  EXPECT_GT(passed_on_count, count / 400);
  EXPECT_GT(more_count, count / 80);
}

}  // namespace
}  // namespace interlock::wait_bounds_test
