// T6 for any happens-before, as semaphores and several queues leave it: steps that read and write
// bytes, in a random partial order, and every linear extension of it against one sink per hazard.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "simulator/schedules/choice.h"
#include "tests/program_count.h"

namespace interlock::sink_theorem_test {
namespace {

constexpr int kSteps = 5;
constexpr int kBytes = 3;
constexpr int kInitial = -1;

struct TheoremStep {
  uint32_t reads = 0;  // Bit per byte.
  uint32_t writes = 0;
};

using Order = std::vector<int>;
// By step, then for the end of the program: the writer that each byte read is taken from.
using Sources = std::array<std::array<int, kBytes>, kSteps + 1>;

struct TheoremSteps {
  std::array<TheoremStep, kSteps> steps;
  std::array<uint32_t, kSteps> after = {};  // Bit per step: those that happen after.
  uint32_t outputs = 0;                     // Bytes that the end reads.

  bool is_ordered(int a, int b) const { return (after[a] >> b & 1) != 0; }
  bool is_hazard(int a, int b) const {
    const TheoremStep& x = steps[a];
    const TheoremStep& y = steps[b];
    return !is_ordered(a, b) &&
           ((x.writes & (y.reads | y.writes)) != 0 || (x.reads & y.writes) != 0);
  }
};

TheoremSteps random_steps(Choice& choice) {
  TheoremSteps s;
  for (int i = kSteps - 1; i >= 0; --i) {
    s.steps[i].reads = static_cast<uint32_t>(choice.below(1 << kBytes) & choice.below(1 << kBytes));
    s.steps[i].writes =
        static_cast<uint32_t>(choice.below(1 << kBytes) & choice.below(1 << kBytes));
    for (int k = i + 1; k < kSteps; ++k) {
      if (choice.chance(1, 3)) s.after[i] |= uint32_t{1} << k | s.after[k];
    }
  }
  s.outputs = static_cast<uint32_t>(1 + choice.below((1 << kBytes) - 1));
  return s;
}

Sources sources_of(const TheoremSteps& s, const Order& order) {
  Sources sources;
  for (auto& of_step : sources) of_step.fill(kInitial);
  std::array<int, kBytes> writer;
  writer.fill(kInitial);
  for (const int step : order) {
    for (int b = 0; b < kBytes; ++b) {
      if ((s.steps[step].reads >> b & 1) != 0) sources[step][b] = writer[b];
    }
    for (int b = 0; b < kBytes; ++b) {
      if ((s.steps[step].writes >> b & 1) != 0) writer[b] = step;
    }
  }
  for (int b = 0; b < kBytes; ++b) {
    if ((s.outputs >> b & 1) != 0) sources[kSteps][b] = writer[b];
  }
  return sources;
}

Order issue_order() { return {0, 1, 2, 3, 4}; }

// The steps on which the outputs depend, in issue order; the end is one of them.
uint32_t live_steps(const Sources& issue) {
  uint32_t live = 1u << kSteps;
  for (int step = kSteps; step >= 0; --step) {
    for (int b = 0; b < kBytes && (live >> step & 1) != 0; ++b) {
      if (issue[step][b] != kInitial) live |= 1u << issue[step][b];
    }
  }
  return live;
}

bool changes_an_output(const TheoremSteps& s, const Order& order) {
  const Sources issue = sources_of(s, issue_order());
  const Sources other = sources_of(s, order);
  const uint32_t live = live_steps(issue);
  for (int step = 0; step <= kSteps; ++step) {
    if ((live >> step & 1) != 0 && issue[step] != other[step]) return true;
  }
  return false;
}

bool some_extension_changes_an_output(const TheoremSteps& s, Order& prefix, uint32_t done) {
  if (prefix.size() == kSteps) return changes_an_output(s, prefix);
  for (int next = 0; next < kSteps; ++next) {
    bool may_run = (done >> next & 1) == 0;
    for (int a = 0; a < next; ++a) may_run &= !s.is_ordered(a, next) || (done >> a & 1) != 0;
    if (!may_run) continue;
    prefix.push_back(next);
    const bool changes = some_extension_changes_an_output(s, prefix, done | 1u << next);
    prefix.pop_back();
    if (changes) return true;
  }
  return false;
}

// `a`, and what lies between it and `b` and happens after it, to right after `b`.
Order sink(const TheoremSteps& s, int a, int b) {
  Order order;
  Order moved;
  for (int step = 0; step < kSteps; ++step) {
    const bool goes_along = step == a || (a < step && step < b && s.is_ordered(a, step));
    (goes_along ? moved : order).push_back(step);
    if (step == b) order.insert(order.end(), moved.begin(), moved.end());
  }
  return order;
}

bool some_sink_changes_an_output(const TheoremSteps& s) {
  for (int b = 0; b < kSteps; ++b) {
    for (int a = 0; a < b; ++a) {
      if (s.is_hazard(a, b) && changes_an_output(s, sink(s, a, b))) return true;
    }
  }
  return false;
}

std::string text_of(const TheoremSteps& s) {
  std::string text = fmt::format("outputs {:b}", s.outputs);
  for (int i = 0; i < kSteps; ++i) {
    text += fmt::format("\n{}: reads {:03b} writes {:03b} before {:05b}", i, s.steps[i].reads,
                        s.steps[i].writes, s.after[i]);
  }
  return text;
}

TEST(SinkTheorem, OneSinkPerHazardDecidesForAnyOrder) {
  SeededChoice choice(1);
  int observable = 0;
  for (int i = 0; i < share_count(100'000, 10, 120); ++i) {
    const TheoremSteps s = random_steps(choice);
    Order prefix;
    const bool changes = some_extension_changes_an_output(s, prefix, 0);
    ASSERT_EQ(changes, some_sink_changes_an_output(s)) << text_of(s);
    observable += changes ? 1 : 0;
  }
  EXPECT_GT(observable, share_count(20'000, 10, 120));
  EXPECT_LT(observable, share_count(90'000, 10, 120));
}

}  // namespace
}  // namespace interlock::sink_theorem_test
