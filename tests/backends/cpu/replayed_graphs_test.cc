// The numbers of PyTorch #181723 on the CPU: a replay overwrites the buffer that became the
// gradient, and the sum of two gradients is twice the second.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "backends/registry.h"
#include "encoder/replay/replay.h"
#include "encoder/sync/encoder.h"
#include "encoder/text/parser.h"
#include "simulator/lifetimes/lifetimes.h"
#include "simulator/schedules/schedule.h"
#include "tests/backends/corpus_bug.h"
#include "tests/backends/kernels/kernel_case.h"

namespace interlock::replayed_graphs_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<float> gradient_on_cpu(const Program& program) {
  const auto image =
      find_backend("cpu")->run(program, reference_order_schedule(program), ExecutionMode::kWitness);
  INTERLOCK_CHECK(image.has_value());
  const std::vector<uint8_t> bytes = bytes_of(program, *image, "grad");
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

TEST(ReplayedGraph, DoublesTheSecondGradientWhereTheFirstWasTakenOver) {
  EXPECT_THAT(gradient_on_cpu(corpus_bug("pytorch-181723")), ElementsAre(22, 44, 66, 88));
  EXPECT_THAT(gradient_on_cpu(corpus_bug("pytorch-181723.fixed")), ElementsAre(14, 27, 40, 53));
}

// From the program that adds up zeros and both gradients.
TEST(ReplayedGraph, IsWhatThePoliciesMakeOfAccumulation) {
  const Program program = parse(R"(interlock 1
tensor g1 f32[4] = values(3,5,7,9)
tensor g2 f32[4] = values(11,22,33,44)
tensor input f32[4]
tensor buffer f32[4]
tensor grad f32[4] = zeros
output grad
capture backward_pass
run: dispatch copy reads input writes buffer
end
dispatch copy reads g1 writes input
replay backward_pass
dispatch accumulate reads buffer updates grad
dispatch copy reads g2 writes input
replay backward_pass
sum: dispatch accumulate reads buffer updates grad
)")
                              .value();
  const auto encoder = find_encoder("interlock");
  EXPECT_THAT(gradient_on_cpu(program), ElementsAre(14, 27, 40, 53));
  const Program broken = find_replay("pytorch-181723")->apply(program).value();
  EXPECT_THAT(gradient_on_cpu(broken), ElementsAre(22, 44, 66, 88));
  const auto findings = check_lifetimes(encode(broken, *encoder->create())).findings;
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].kind, FindingKind::kClobber);
  EXPECT_EQ(broken.reference_of(findings[0].overwriter.dispatch), "run@2");
  EXPECT_EQ(broken.reference_of(findings[0].reader.dispatch), "sum");
  const Program fixed = find_replay("pytorch")->apply(program).value();
  EXPECT_THAT(gradient_on_cpu(fixed), ElementsAre(14, 27, 40, 53));
  EXPECT_THAT(check_lifetimes(encode(fixed, *encoder->create())).findings, IsEmpty());
}

}  // namespace
}  // namespace interlock::replayed_graphs_test
