// Unplanned programs for campaigns of passes: nothing is wrong in them, and they have what passes
// get wrong.
#include "fuzz/generate/step_generator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/backward/vjp_rules.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/judge/pass_oracle.h"
#include "simulator/schedules/choice.h"
#include "tests/fuzz/generate/any_bytes.h"
#include "tests/fuzz/generate/shares.h"
#include "tests/program_count.h"

namespace interlock::step_generator_test {
namespace {

void expect_nothing_wrong(const ProgramDraft& draft) {
  const auto program = parse(print(draft));
  ASSERT_TRUE(program) << program.error().message << print(draft);
  const auto passed = run_passes(reference_chain(), *program, plan_options_of_campaign());
  ASSERT_TRUE(passed) << passed.error().message;
  for (const SignedFact& fact : find_signed(*passed)) {
    ADD_FAILURE() << fact.signature << print(*program);
  }
}

TEST(GenerateStep, MakesProgramsWithoutAFinding) {
  SeededChoice choice(1);
  for (int i = 0; i < program_count(2000); ++i) expect_nothing_wrong(generate_step(choice));
}

TEST(GenerateStep, PlacesNoTensorAndNamesAnOutput) {
  SeededChoice choice(2);
  for (int i = 0; i < program_count(500); ++i) {
    const Program program = *build(generate_step(choice));
    EXPECT_FALSE(program.outputs.empty());
    for (const Tensor& tensor : program.tensors) EXPECT_NE(tensor.placement, Placement::kPlaced);
  }
}

TEST(GenerateStep, MakesProgramsWithoutAFindingOfAnyBytes) {
  for_any_bytes(program_count(150, 10), 5,
                [](Choice& choice, int /*size*/) { expect_nothing_wrong(generate_step(choice)); });
}

TEST(GenerateStep, HasNoMoreDispatchesThanAskedFor) {
  for (const uint32_t max_dispatches : {1u, 2u, 3u, 5u, 8u, 16u, 40u}) {
    StepOptions options;
    options.max_dispatches = max_dispatches;
    uint64_t most = 0;
    for (int seed = 0; seed < program_count(400); ++seed) {
      SeededChoice choice(seed);
      const Program program = build(generate_step(choice, options)).value();
      ASSERT_LE(program.dispatches.size(), max_dispatches) << print(program);
      most = std::max<uint64_t>(most, program.dispatches.size());
    }
    EXPECT_TRUE(most == max_dispatches || is_slow_build());
  }
}

bool is_vjp(const Program& program, const Dispatch& dispatch) {
  return program.name(dispatch.kernel_name).find("_vjp") != std::string_view::npos;
}

// What a VJP finds of the forward pass, with another dispatch in between that can take its bytes.
bool reads_what_was_saved(const Program& program) {
  std::map<uint32_t, size_t> writers;  // By tensor.
  for (size_t i = 0; i < program.dispatches.size(); ++i) {
    for (const Access& access : program.accesses_of(DispatchId{i})) {
      if (!access.tensor.is_some()) continue;
      const auto writer = writers.find(access.tensor.index);
      const bool is_saved = writer != writers.end() && i - writer->second > 1;
      if (is_saved && access.reads_plainly() && is_vjp(program, program.dispatches[i])) return true;
      if (access.writes_plainly()) writers[access.tensor.index] = i;
    }
  }
  return false;
}

// The shares are those of 20,000 programs. Each kind of statement is in two of three programs with
// any weight, and a backward pass needs a forward kernel before it.
TEST(GenerateStep, HasWhatPassesGetWrongInItsShareOfThePrograms) {
  constexpr uint64_t kCount = program_count(3000);
  std::map<std::string, uint64_t> counts;
  for (uint64_t seed = 0; seed < kCount; ++seed) {
    SeededChoice choice(seed);
    const Program program = build(generate_step(choice)).value();
    std::set<std::string> has;
    for (const Tensor& tensor : program.tensors) {
      if (tensor.placement == Placement::kView) has.insert("view");
      if (tensor.placement == Placement::kDonation) has.insert("donation");
    }
    for (const Lifetime& lifetime : program.lifetimes) {
      has.insert(std::string(word_of(lifetime.kind)));
    }
    for (const Dispatch& dispatch : program.dispatches) {
      if (is_vjp(program, dispatch)) has.insert("backward");
      if (program.name(dispatch.kernel_name).ends_with("_stream")) has.insert("streaming");
      for (const Access& access : program.accesses_of(dispatch)) {
        if (access.mode == AccessMode::kUpdate) has.insert("update");
      }
    }
    if (reads_what_was_saved(program)) has.insert("saved");
    if (program.dispatches.size() > 8) has.insert("long");
    for (const std::string& feature : has) ++counts[feature];
  }
  const std::map<std::string, double> shares = {
      {"view", 0.392},      {"donation", 0.146}, {"reset", 0.400},  {"pin", 0.111},
      {"unpin", 0.111},     {"free", 0.107},     {"update", 0.070}, {"backward", 0.245},
      {"streaming", 0.058}, {"saved", 0.180},    {"long", 0.509}};
  for (const auto& [feature, share] : shares) {
    expect_share(feature, counts[feature], kCount, share);
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
