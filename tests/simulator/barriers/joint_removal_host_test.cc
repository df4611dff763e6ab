// Which barriers can go together beside a host whose cache does not follow the memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "simulator/barriers/joint_removal.h"
#include "simulator/report/check.h"
#include "simulator/report/joint_advice.h"
#include "tests/simulator/programs/queue_texts.h"

namespace interlock::joint_removal_host_test {
namespace {

// What the host flushes may be lost by less order: what must stay whatever goes nobody knows then.
TEST(JointRemovalBesideTheHost, PromisesNoFewestWhereItFlushes) {
  for (const bool flushes : {false, true}) {
    const Program program = program_with_queues(
        "interlock 1\nmemory x 64\nmemory y 64\nmemory z 64\nmemory h 64 noncoherent\n"
        "dispatch A writes x\nbarrier\ndispatch B writes y\nbarrier\n"
        "dispatch C reads x writes z\nsignal s=1\nhost waits s=1\n" +
        std::string(flushes ? "host flushes h\n" : ""));
    const JointRemoval joint = find_joint_advice(program, check(program));
    EXPECT_THAT(joint.removed, testing::ElementsAre(BarrierId(size_t{0})));
    EXPECT_EQ(joint.kept_min, flushes ? 0 : 1);
    EXPECT_EQ(joint.is_fewest(), !flushes);
  }
}

}  // namespace
}  // namespace interlock::joint_removal_host_test
