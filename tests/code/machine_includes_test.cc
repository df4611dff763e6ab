// The machine of counters is a second judge of what the clocks of simulator/order say, and with the
// shadow machine it executes schedules. So nothing that they include, directly or by way of another
// header, is of the clocks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/code/source_tree.h"

namespace interlock::machine_includes_test {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::StartsWith;
using testing::UnorderedElementsAre;

// The machine of counters: what may run when.
constexpr std::string_view kMachine[] = {
    "simulator/schedules/queue_machine",
    "simulator/schedules/machine_lines",
};

// Who executes schedules: they check them step by step, draw them, and run them on hashes.
constexpr std::string_view kExecutor[] = {
    "simulator/schedules/queue_legality", "simulator/schedules/queue_machine",
    "simulator/schedules/queue_steps",    "simulator/schedules/queue_walk",
    "simulator/schedules/machine_lines",  "simulator/schedules/shadow_machine",
    "simulator/schedules/shadow_program", "simulator/schedules/shadow_values",
};

bool is_of(std::span<const std::string_view> prefixes, std::string_view path) {
  return std::ranges::any_of(prefixes,
                             [path](std::string_view prefix) { return path.starts_with(prefix); });
}

std::vector<std::string> sources_of(std::span<const std::string_view> prefixes) {
  std::vector<std::string> paths;
  for (const SourceFile& file : own_sources()) {
    if (is_of(prefixes, file.path)) paths.push_back(file.path);
  }
  return paths;
}

// Our own files that these include, and that those include.
std::set<std::string> all_included_by(std::vector<std::string> paths) {
  std::set<std::string> all;
  while (!paths.empty()) {
    const std::string path = paths.back();
    paths.pop_back();
    for (const std::string& target : includes_of(read_own_file(path))) {
      if (read_own_file(target).empty()) continue;
      if (all.insert(target).second) paths.push_back(target);
    }
  }
  return all;
}

// Those of the simulator that are no part of it themselves.
std::vector<std::string> others_of_simulator(const std::set<std::string>& paths,
                                             std::span<const std::string_view> prefixes) {
  std::vector<std::string> found;
  for (const std::string& path : paths) {
    if (path.starts_with("simulator/") && !is_of(prefixes, path)) found.push_back(path);
  }
  return found;
}

TEST(MachineIncludes, HaveNothingOfTheSimulatorButTheMachine) {
  const std::vector<std::string> sources = sources_of(kMachine);
  EXPECT_THAT(sources, Contains("simulator/schedules/queue_machine_host.cc"));
  EXPECT_THAT(sources, Contains("simulator/schedules/machine_lines.cc"));
  const std::set<std::string> included = all_included_by(sources);
  EXPECT_THAT(included, Contains("encoder/program/program.h"));
  EXPECT_THAT(others_of_simulator(included, kMachine), IsEmpty());
}

// Whoever adds one says in docs/theory.md, "Schedules of several queues", what is shared by it.
TEST(MachineIncludes, OfTheExecutorAreNothingOfTheClocks) {
  const std::vector<std::string> sources = sources_of(kExecutor);
  for (const std::string_view prefix : kExecutor) {
    EXPECT_THAT(sources, Contains(StartsWith(std::string(prefix))));
  }
  EXPECT_THAT(
      others_of_simulator(all_included_by(sources), kExecutor),
      UnorderedElementsAre("simulator/bytes/byte_segments.h", "simulator/bytes/segment_index.h",
                           "simulator/lifetimes/ended_bytes.h", "simulator/schedules/choice.h",
                           "simulator/schedules/schedule.h"));
}

TEST(MachineIncludes, AreFollowedThroughHeaders) {
  // The clocks' own file, by way of its header.
  EXPECT_THAT(all_included_by({"simulator/order/queue_order.cc"}),
              Contains("simulator/order/queue_clocks.h"));
}

}  // namespace
}  // namespace interlock::machine_includes_test
