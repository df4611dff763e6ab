// What benchmarks print rests on how they measure: held here against a clock that a test moves.

#include "tests/bench/by_turns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/bench/tracker_bounds.h"

namespace interlock::by_turns_test {
namespace {

// A clock of which a contestant's passes take what `seconds_of(pass)` says; passes count from 0. To
// read it takes `seconds_of_a_reading`.
class FakeClock {
 public:
  explicit FakeClock(double seconds_of_a_reading = 0)
      : seconds_of_a_reading_(seconds_of_a_reading) {}

  template <typename SecondsOf>
  Contestant contestant(SecondsOf seconds_of) {
    return {"", {}, [this, seconds_of, pass = 0]() mutable { now_ += seconds_of(pass++); }};
  }
  void pass(double seconds) { now_ += seconds; }
  TurnOptions options(int rounds) {
    TurnOptions options;
    options.rounds = rounds;
    options.clock = [this] {
      now_ += seconds_of_a_reading_;
      return now_;
    };
    return options;
  }

 private:
  double now_ = 0;
  double seconds_of_a_reading_;
};

// The two passes before the first round are no part of it, nor is what prepares a pass.
TEST(ByTurns, MeasureWhatComesAfterTwoPasses) {
  FakeClock clock;
  const auto timings = measure_by_turns(
      {clock.contestant([](int pass) { return pass < 2 ? 0.3 : 0.25; })}, clock.options(5));
  ASSERT_EQ(timings.size(), 1u);
  EXPECT_EQ(timings[0].rounds().size(), 5u);
  EXPECT_NEAR(timings[0].median(), 0.25, 1e-9);
  EXPECT_NEAR(timings[0].spread(), 0, 1e-9);
}

// Rounds of a contestant whose first attempt varies and whose second does not; the other, calm all
// the time, took half as long in the first. Its time must be of the second, too: a machine may have
// changed between them.
TEST(ByTurns, TakeAllFromTheSameAttempt) {
  FakeClock clock;
  constexpr int kRounds = 5;
  const auto is_first_attempt = [](int pass) { return pass < 2 + kRounds; };
  const auto timings = measure_by_turns(
      {clock.contestant(
           [&](int pass) { return is_first_attempt(pass) ? 0.1 * (1 + pass % 3) : 0.4; }),
       clock.contestant([&](int pass) { return is_first_attempt(pass) ? 0.1 : 0.2; })},
      clock.options(kRounds));
  EXPECT_NEAR(timings[0].median(), 0.4, 1e-9);
  EXPECT_NEAR(timings[1].median(), 0.2, 1e-9);
}

TEST(ByTurns, HasNoMoreOfWhoIsHopelessUnlessItIsJudged) {
  for (const bool is_judged : {false, true}) {
    FakeClock clock;
    int passes = 0;
    Contestant slow = clock.contestant([&](int pass) {
      ++passes;
      return pass < 2 ? 1.0 : 0.5;
    });
    slow.is_judged = is_judged;
    const auto timings =
        measure_by_turns({clock.contestant([](int) { return 0.01; }), slow}, clock.options(3));
    EXPECT_EQ(passes, is_judged ? 5 : 2);
    EXPECT_NEAR(timings[1].median(), is_judged ? 0.5 : 1.0, 1e-9);
    EXPECT_EQ(timings[1].rounds().size(), 3u);
  }
}

// Passes of 4 and of 8 microseconds, and a clock of which two readings take as long as the first:
// pass by pass it would be 8 to 12.
TEST(ByTurns, CountTheCostOfTheClockNowhere) {
  for (const double seconds_of_a_reading : {0.0, 0.5e-6, 4e-6, 100e-6}) {
    FakeClock clock(seconds_of_a_reading);
    const auto timings = measure_by_turns(
        {clock.contestant([](int) { return 4e-6; }), clock.contestant([](int) { return 8e-6; })},
        clock.options(3));
    EXPECT_NEAR(timings[0].median(), 4e-6, 4e-6 / 190);
    EXPECT_NEAR(timings[1].median(), 8e-6, 8e-6 / 190);
    EXPECT_NEAR(ratio_by_round(timings[0], timings[1]).median(), 0.5, 0.5 / 190);
  }
}

// As many as it is told of, before each stretch, and in no time of the contestant's.
TEST(ByTurns, PrepareThePassesOfAStretch) {
  FakeClock clock(1e-6);
  int prepared = 0;
  Contestant contestant = {"",
                           [&](int passes) {
                             EXPECT_EQ(prepared, 0);
                             prepared = passes;
                             clock.pass(0.25);
                           },
                           [&] {
                             --prepared;
                             clock.pass(3e-6);
                           }};
  const auto timings = measure_by_turns({contestant}, clock.options(3));
  EXPECT_EQ(prepared, 0);
  EXPECT_NEAR(timings[0].median(), 3e-6, 3e-6 / 190);
}

// A machine that is half as fast in some rounds takes both alike: the ratio of the medians is 1.2.
TEST(ByTurns, CompareRoundByRound) {
  const Timing ratio = ratio_by_round(Timing({120, 50, 60}), Timing({100, 50, 40}));
  EXPECT_THAT(ratio.rounds(), testing::ElementsAre(1.2, 1, 1.5));
  EXPECT_EQ(ratio.median(), 1.2);
}

Measured of(Role role, std::vector<double> rounds) { return {role, Timing(std::move(rounds))}; }

// 5 ns above count where they are more; an inexact peer may be 1.2 times as fast, the ideal twice,
// which binds registered buffers alone.
TEST(TrackerBounds, AreTheLeastOfWhatEachPeerAllows) {
  const std::vector<Measured> row = {of(Role::kRegistered, {9}), of(Role::kRaw, {9}),
                                     of(Role::kExact, {100}), of(Role::kInexact, {90}),
                                     of(Role::kIdeal, {40})};
  EXPECT_NEAR(*bound_of(Role::kRaw, row, {9, 9, 100, 90, 40}), 105, 1e-9);
  EXPECT_NEAR(*bound_of(Role::kRaw, row, {9, 9, 100, 80, 40}), 96, 1e-9);
  EXPECT_NEAR(*bound_of(Role::kRaw, row, {9, 9, 6, 80, 40}), 11, 1e-9);
  EXPECT_NEAR(*bound_of(Role::kRegistered, row, {9, 9, 100, 90, 40}), 80, 1e-9);
  EXPECT_EQ(bound_of(Role::kRaw, {row[0], row[4]}, {9, 40}), std::nullopt);
}

// A machine that is half as fast in some rounds takes both alike; the ratio of two medians would be
// of a fast round of ours to a slow one of the peer.
TEST(TrackerBounds, CompareRoundByRound) {
  const std::vector<Measured> row = {of(Role::kRaw, {120, 60, 60}),
                                     of(Role::kExact, {100, 50, 100})};
  EXPECT_NEAR(*ratio_to_bound(row, 0), 60.0 / 55, 1e-9);
  EXPECT_NEAR(*ratio_to_best_peer(row, 0), 1.2, 1e-9);
}

}  // namespace
}  // namespace interlock::by_turns_test
