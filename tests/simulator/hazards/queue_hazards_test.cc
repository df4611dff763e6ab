// What the search for hazards with the host and its cache costs, in steps, and that it ends in
// time.
#include "simulator/hazards/queue_hazards.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/bytes/byte_segments.h"
#include "simulator/order/host_atoms.h"
#include "simulator/order/queue_order.h"
#include "tests/simulator/programs/queue_texts.h"

namespace interlock::queue_hazards_test {
namespace {

// The host fills `atom_count` atoms one by one; `after_each` follows each write, about its atom. At
// last a device reads them all.
Program atoms_one_by_one(int atom_count, const std::string& after_each) {
  std::string text =
      fmt::format("interlock 1\nmemory m {} noncoherent=64\nmemory y 64\n", 64 * atom_count);
  for (int i = 0; i < atom_count; ++i) {
    const std::string atom = fmt::format("m[{}:{}]", 64 * i, 64 * (i + 1));
    text += "host writes " + atom + "\n";
    if (!after_each.empty()) text += after_each + " " + atom + "\n";
  }
  text += "dispatch Use reads m writes y\n";
  return program_with_queues(text);
}

struct Found {
  uint64_t steps = 0;
  size_t runs = 0;
};

Found find_at_the_end(const Program& program, uint64_t step_limit = UINT64_MAX) {
  const Program whole_atoms = with_whole_atoms(program);
  const QueueOrder order(whole_atoms, &program);
  const ByteSegments segments(whole_atoms);
  QueueHazards hazards(whole_atoms, order, segments);
  std::vector<HazardousRun> runs;
  const DispatchId last(program.dispatches.size() - 1);
  const uint64_t steps = hazards.find_runs(last, runs, step_limit);
  return {steps, runs.size()};
}

TEST(QueueHazards, OfManyHostWritesTakeAsManySteps) {
  for (const std::string after_each : {"", "host flushes", "host invalidates"}) {
    SCOPED_TRACE(after_each);
    const Found few = find_at_the_end(atoms_one_by_one(500, after_each));
    const Found many = find_at_the_end(atoms_one_by_one(2000, after_each));
    EXPECT_GE(few.steps, 500u);
    EXPECT_LE(many.steps, 4 * few.steps + 16);
    const bool is_clean = after_each == "host flushes";
    EXPECT_EQ(few.runs == 0, is_clean);
    EXPECT_EQ(many.runs == 0, is_clean);
  }
}

TEST(QueueHazards, EndWhereStepsDoNotLast) {
  const Program program = atoms_one_by_one(2000, "");
  const Found some = find_at_the_end(program, 100);
  EXPECT_GT(some.steps, 100u);
  EXPECT_LT(some.steps, 200u);
  EXPECT_LT(some.runs, 200u);
}

}  // namespace
}  // namespace interlock::queue_hazards_test
