// The machine of counters is a second judge of what the clocks of simulator/order say. So nothing
// that it includes, directly or by way of another header, is theirs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/code/source_tree.h"

namespace interlock::machine_includes_test {
namespace {

using testing::Contains;
using testing::IsEmpty;

constexpr std::string_view kMachine = "simulator/schedules/queue_machine";
constexpr std::string_view kLines = "simulator/schedules/machine_lines";

bool is_of_machine(std::string_view path) {
  return path.starts_with(kMachine) || path.starts_with(kLines);
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

std::vector<std::string> of_simulator(const std::set<std::string>& paths) {
  std::vector<std::string> found;
  for (const std::string& path : paths) {
    if (path.starts_with("simulator/") && !is_of_machine(path)) found.push_back(path);
  }
  return found;
}

TEST(MachineIncludes, HaveNothingOfTheSimulatorButTheMachine) {
  std::vector<std::string> sources;
  for (const SourceFile& file : own_sources()) {
    if (is_of_machine(file.path)) sources.push_back(file.path);
  }
  EXPECT_THAT(sources, Contains("simulator/schedules/queue_machine_host.cc"));
  EXPECT_THAT(sources, Contains("simulator/schedules/machine_lines.cc"));
  const std::set<std::string> included = all_included_by(sources);
  EXPECT_THAT(included, Contains("encoder/program/program.h"));
  EXPECT_THAT(of_simulator(included), IsEmpty());
}

TEST(MachineIncludes, AreFollowedThroughHeaders) {
  // The clocks' own file, by way of its header.
  EXPECT_THAT(of_simulator(all_included_by({"simulator/order/queue_order.cc"})),
              Contains("simulator/order/host_moves.h"));
}

}  // namespace
}  // namespace interlock::machine_includes_test
