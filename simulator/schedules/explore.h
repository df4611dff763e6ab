// Explore: tries schedules of a program on the shadow machine and says which end differently.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/schedules/schedule.h"

namespace interlock {

enum class Strategy : uint8_t {
  kThree,  // The epoch-reversed and the lazy run: with one queue and global barriers they decide.
  kDirected,    // One sink per hazard.
  kExhaustive,  // Every trace once, and the lazy run where late commits matter.
  kRandom,      // Random legal schedules.
  kPct,         // Random priorities, changed a few times.
};

std::string_view word_of(Strategy strategy);
std::optional<Strategy> strategy_of(std::string_view word);

struct ExploreOptions {
  // With scoped barriers kThree is kDirected, and the claim says so; kExhaustive and kPct then try
  // orders of runs only, so that a hazard that is ordered but not visible shows in none of theirs.
  Strategy strategy = Strategy::kThree;
  uint64_t schedule_count = 1000;  // At most; kThree tries two, kDirected one per hazard.
  uint64_t seed = 1;               // Of kRandom and kPct.
  uint64_t depth = 2;              // Of kPct: order constraints that a schedule is to meet.
  bool combines_groups = false;    // Of kExhaustive: the product of groups, not one at a time.
  // Is told what is about to be tried, before the first schedule runs: lines of text.
  std::function<void(std::string_view)> announce;
};

struct TriedSchedule {
  std::string name;                 // "epoch-reversed", "sink: reduce after vjp", "random 17"
  bool differs_strictly = false;    // Some read or some byte differs from issue order.
  bool differs_observably = false;  // Some live byte does.
};

struct Exploration {
  std::vector<TriedSchedule> tried;
  uint64_t strict_count = 0;      // Of `tried`, those that differ strictly,
  uint64_t observable_count = 0;  // and observably.
  std::string claim;              // What the schedules tried say together: lines, perhaps none.
  // The first schedule that differs observably, or, if none does, strictly; none if all agree.
  std::optional<uint64_t> first_different;  // Into `tried`.
  std::vector<Displacement> witness;        // That schedule, shrunk. Legal, and still different.
};

// The same program and options give the same exploration everywhere.
// Cost: two shadow runs per schedule.
Exploration explore(const Program& program, const ExploreOptions& options = {});

}  // namespace interlock
