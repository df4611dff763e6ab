// Workloads: training steps that are right, at any depth, and in which the bugs of passes show.
#include "fuzz/workloads/workload.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "backends/registry.h"
#include "encoder/assemble/build.h"
#include "encoder/text/printer.h"
#include "fuzz/judge/pass_oracle.h"
#include "tests/encoder/text/round_trip.h"
#include "tests/fuzz/workloads/training_runs.h"
#include "tests/program_count.h"

namespace interlock::workloads_test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Program made(std::string_view name, const WorkloadOptions& options) {
  const Result<ProgramDraft> draft = find_workload(name)->make(options);
  EXPECT_TRUE(draft) << draft.error().message;
  const Result<Program> program = build(*draft);
  EXPECT_TRUE(program) << program.error().message;
  return *program;
}

PassedProgram passed(const Program& program, std::string_view planner) {
  PassChain chain;
  chain.planner = find_planner(planner);
  auto result = run_passes(chain, program, plan_options_of_campaign());
  EXPECT_TRUE(result) << result.error().message;
  return std::move(result).value();
}

std::vector<std::string> signatures_with(const Program& program, std::string_view planner) {
  std::vector<std::string> signatures;
  for (const SignedFact& fact : find_signed(passed(program, planner))) {
    signatures.push_back(fact.signature);
  }
  return signatures;
}

TEST(Workloads, AreUnplacedPrintAndParse) {
  for (const WorkloadEntry& entry : workload_registry()) {
    const Program program = made(entry.name, entry.defaults);
    expect_round_trip(program);
    for (const Tensor& tensor : program.tensors) {
      EXPECT_EQ(tensor.placement, Placement::kUnplaced) << entry.name;
    }
  }
}

TEST(Workloads, HaveNoFindingWithRightPlanners) {
  for (const WorkloadEntry& entry : workload_registry()) {
    for (const char* optimizer : {"sgd", "adamw"}) {
      WorkloadOptions options = entry.defaults;
      options.optimizer = optimizer;
      const Program program = made(entry.name, options);
      for (const PlannerEntry& planner : planner_registry()) {
        if (planner.is_broken) continue;
        EXPECT_THAT(signatures_with(program, planner.name), IsEmpty())
            << entry.name << " " << planner.name;
      }
    }
  }
}

// The mask is made once, before the first reset, and every batch needs it.
TEST(Workloads, ShowWhatAResetTakes) {
  const WorkloadEntry& training = *find_workload("training");
  const std::vector<std::string> lost =
      signatures_with(made("training", training.defaults), "ztensor-167");
  EXPECT_THAT(lost, Contains(HasSubstr("-reset")));
  WorkloadOptions one_step = training.defaults;
  one_step.step_count = 1;
  EXPECT_THAT(signatures_with(made("training", one_step), "ztensor-167"), IsEmpty());
}

TEST(Workloads, ShowWhatTheUndercountOfConsumersFreesTooEarly) {
  const Program program = made("transformer", find_workload("transformer")->defaults);
  EXPECT_THAT(signatures_with(program, "ggml-undercount"), Contains(HasSubstr("clobber")));
}

TEST(Workloads, GrowWithTheirLayers) {
  WorkloadOptions options = find_workload("transformer")->defaults;
  options.layer_count = is_slow_build() ? 3 : 30;
  const Program program = made("transformer", options);
  EXPECT_GT(program.dispatches.size(), 60 * options.layer_count);
  EXPECT_THAT(find_signed(passed(program, "liveness").placed), IsEmpty());
}

TEST(Workloads, NeedNoMoreMemoryWithLivenessThanWithGgml) {
  const auto pool_bytes = [](const Program& program, std::string_view planner) {
    uint64_t size_bytes = 0;
    for (const Memory& memory : passed(program, planner).placed.memories) {
      size_bytes += memory.size_bytes;
    }
    return size_bytes;
  };
  for (const WorkloadEntry& entry : workload_registry()) {
    for (const uint64_t layer_count : {1, 2, 5}) {
      WorkloadOptions options = entry.defaults;
      options.layer_count = layer_count;
      const Program program = made(entry.name, options);
      EXPECT_LE(pool_bytes(program, "liveness"), pool_bytes(program, "ggml"))
          << entry.name << " " << layer_count;
    }
  }
}

// The sum of the outputs `loss`, by batch, of a run on the CPU.
std::vector<double> losses_of(const Program& program) {
  const auto image =
      find_backend("cpu")->run(program, reference_order_schedule(program), ExecutionMode::kWitness);
  EXPECT_TRUE(image) << image.error().message;
  std::vector<double> losses;
  for (const TensorId id : program.outputs) {
    const Tensor& tensor = program.tensor(id);
    if (!program.name(tensor.name).starts_with("loss")) continue;
    double sum = 0;
    for (uint64_t at = tensor.range.begin; at < tensor.range.end; at += sizeof(float)) {
      float value;
      std::memcpy(&value, image->memories[tensor.memory.index].data() + at, sizeof value);
      sum += static_cast<double>(value);
    }
    losses.push_back(sum);
  }
  return losses;
}

// Adam moves each weight by about lr a step, whatever the gradient's size: on one batch, again and
// again, the loss falls.
TEST(Workloads, LearnWhatTheyAreGiven) {
  WorkloadOptions options;
  options.step_count = 12;
  options.optimizer = "adamw";
  options.repeats_batch = true;
  for (const char* name : {"mlp", "transformer"}) {
    const std::vector<double> losses = losses_of(passed(made(name, options), "liveness").placed);
    ASSERT_EQ(losses.size(), 12u);
    EXPECT_TRUE(std::isfinite(losses.back())) << name;
    EXPECT_LT(losses.back(), losses.front()) << name;
  }
}

TEST(Workloads, AddUpTheGradientsOfMicroBatches) {
  const std::string text = print(made("micro-batches", find_workload("micro-batches")->defaults));
  EXPECT_THAT(text,
              HasSubstr("add_l0_q_a.b0: dispatch copy reads d_l0_q_a.b0 writes sum_l0_q_a.s0"));
  EXPECT_THAT(
      text,
      HasSubstr("add_l0_q_a.b3: dispatch accumulate reads d_l0_q_a.b3 updates sum_l0_q_a.s0"));
  EXPECT_THAT(text,
              HasSubstr("step_l0_q_a.s0: dispatch adamw reads sum_l0_q_a.s0 updates l0_q_a "));
}

TEST(Workloads, CollectLossesAndNorms) {
  WorkloadOptions options = find_workload("mlp")->defaults;
  options.step_count = 3;
  const std::vector<double> losses = losses_of(passed(made("mlp", options), "fresh").placed);
  options.collects_losses = true;
  options.collects_norms = true;
  const Program program = passed(made("mlp", options), "fresh").placed;
  EXPECT_THAT(find_signed(program), IsEmpty());
  const auto values_of = [&](const std::string& tensor) {
    return values_after(program, *find_backend("cpu"), tensor);
  };
  const auto sum_of_squares = [](const std::vector<float>& values) {
    double sum = 0;
    for (const float value : values) sum += double{value} * double{value};
    return sum;
  };
  const std::vector<float> collected = values_of("losses");
  const std::vector<float> norms = values_of("norms");
  ASSERT_EQ(collected.size(), 3u);
  ASSERT_EQ(norms.size(), 3u);
  for (size_t step = 0; step < 3; ++step) {
    EXPECT_NEAR(collected[step], losses[step], 1e-5 * losses[step]);
    double norm = 0;
    for (const char* weight : {"w", "l0_s", "l1_s"}) {
      norm += sum_of_squares(values_of(fmt::format("d_{}.b{}", weight, step)));
    }
    EXPECT_NEAR(norms[step], norm, 1e-5 * norm);
  }
}

TEST(Workloads, BeginStepsWithGradientsOfZeros) {
  WorkloadOptions options = find_workload("training")->defaults;
  options.collects_norms = true;
  const std::string plain = print(made("training", options));
  options.zeroes_gradients = true;
  const Program program = made("training", options);
  EXPECT_THAT(plain, Not(HasSubstr("dispatch fill")));
  EXPECT_THAT(print(program), HasSubstr("reset step\nzero_w.s1: dispatch fill writes sum_w.s1"));
  for (const char* planner : {"fresh", "ztensor", "liveness"}) {
    EXPECT_THAT(find_signed(passed(program, planner).placed), IsEmpty()) << planner;
  }
}

TEST(Workloads, RefusePassesThatAreNotThere) {
  WorkloadOptions options;
  options.optimizer = "lion";
  EXPECT_EQ(find_workload("mlp")->make(options).error().message,
            "there is no optimizer 'lion'; there are sgd and adamw.");
  options = {};
  options.backward = "twice";
  EXPECT_THAT(find_workload("mlp")->make(options).error().message,
              HasSubstr("There is no backward pass 'twice'."));
}

}  // namespace
}  // namespace interlock::workloads_test
