// Unplanned programs for campaigns of passes: nothing is wrong in them, and they have what passes
// get wrong.
#include "fuzz/step_generator.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "encoder/program_builder.h"
#include "encoder/text.h"
#include "encoder/vjp_rules.h"
#include "fuzz/pass_oracle.h"
#include "tests/program_count.h"

namespace interlock::step_generator_test {
namespace {

TEST(GenerateStep, MakesProgramsWithoutAFinding) {
  SeededChoice choice(1);
  for (int i = 0; i < program_count(2000); ++i) {
    const ProgramDraft draft = generate_step(choice);
    const auto program = parse(print(draft));
    ASSERT_TRUE(program) << program.error().message << print(draft);
    const auto passed = run_passes(reference_chain(), *program, plan_options_of_campaign());
    ASSERT_TRUE(passed) << passed.error().message;
    for (const PassFinding& finding : find_everything(*passed)) {
      ADD_FAILURE() << finding.signature << print(*program);
    }
  }
}

TEST(GenerateStep, PlacesNoTensorAndNamesAnOutput) {
  SeededChoice choice(2);
  for (int i = 0; i < program_count(500); ++i) {
    const Program program = *build(generate_step(choice));
    EXPECT_FALSE(program.outputs.empty());
    for (const Tensor& tensor : program.tensors) EXPECT_NE(tensor.placement, Placement::kPlaced);
  }
}

// Each in some 1 of 20 programs at least.
TEST(GenerateStep, HasWhatPassesGetWrong) {
  std::map<std::string, int> counts;
  SeededChoice choice(3);
  const int count = 400;
  for (int i = 0; i < count; ++i) {
    const Program program = *build(generate_step(choice));
    std::map<std::string, bool> has;
    for (const Tensor& tensor : program.tensors) {
      has["view"] |= tensor.placement == Placement::kView;
      has["donation"] |= tensor.placement == Placement::kDonation;
    }
    for (const Lifetime& lifetime : program.lifetimes)
      has[std::string(word_of(lifetime.kind))] = true;
    for (const Dispatch& dispatch : program.dispatches) {
      has["backward"] |= program.name(dispatch.kernel_name).ends_with("_vjp");
      for (const Access& access : program.accesses_of(dispatch)) {
        has["update"] |= access.mode == AccessMode::kUpdate;
      }
    }
    for (const auto& [feature, is_there] : has) counts[feature] += is_there;
  }
  for (const char* feature :
       {"view", "donation", "reset", "pin", "unpin", "free", "backward", "update"}) {
    EXPECT_GT(counts[feature], count / 20) << feature;
  }
}

TEST(GenerateStep, MakesForwardPassesAloneIfAsked) {
  SeededChoice choice(4);
  StepOptions options;
  options.is_differentiable = true;
  for (int i = 0; i < program_count(500); ++i) {
    const Program program = *build(generate_step(choice, options));
    EXPECT_TRUE(program.lifetimes.empty());
    for (const Dispatch& dispatch : program.dispatches) {
      EXPECT_NE(find_vjp_rule(program.name(dispatch.kernel_name)), nullptr);
    }
  }
}

}  // namespace
}  // namespace interlock::step_generator_test
