// The passes of a campaign, one after the other: as they are by hand, each in its place.
#include "fuzz/judge/pass_chain.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/backward/backward.h"
#include "encoder/plan/planner.h"
#include "encoder/replay/replay.h"
#include "encoder/sync/encoder.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/generate/replay_generator.h"
#include "fuzz/generate/step_generator.h"
#include "fuzz/judge/oracles.h"
#include "simulator/order/happens_before.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"

namespace interlock::pass_chain_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Program parsed(const std::string& text) {
  auto program = parse("interlock 1\n" + text);
  EXPECT_TRUE(program) << program.error().message;
  return std::move(program).value();
}

PassedProgram passed_by(const PassChain& chain, const Program& program) {
  auto passed = run_passes(chain, program, plan_options_of_campaign());
  EXPECT_TRUE(passed) << passed.error().message << "\n" << print(program);
  return std::move(passed).value();
}

// The planner in it, and the encoder: those that stand for what is not named.
PassChain chain_of(const char* planner, const char* encoder) {
  PassChain chain;
  if (planner != nullptr) chain.planner = find_planner(planner);
  if (encoder != nullptr) chain.encoder = find_encoder(encoder);
  return chain;
}

uint64_t reset_count_of(const Program& program) {
  uint64_t count = 0;
  for (const Lifetime& lifetime : program.lifetimes) {
    count += lifetime.kind == LifetimeKind::kReset;
  }
  return count;
}

Program step_of(uint64_t seed) {
  SeededChoice choice(seed);
  return build(generate_step(choice)).value();
}

// What is not named is `fresh` and `interlock`. Sync comes after the plan, but before one that is
// about what the sync lets overlap.
TEST(RunPasses, PlanAndEncodeAsByHand) {
  uint64_t compared_count = 0;
  for (int seed = 0; seed < program_count(60); ++seed) {
    const Program program = step_of(seed);
    if (reset_count_of(program) > 0) continue;  // Those can be left out.
    for (const char* encoder : {static_cast<const char*>(nullptr), "serial", "none"}) {
      const EncoderEntry* used = find_encoder(encoder != nullptr ? encoder : "interlock");
      for (const PlannerEntry& planner : planner_registry()) {
        PassChain chain = chain_of(nullptr, encoder);
        if (planner.name != "fresh") chain.planner = &planner;
        const PassedProgram passed = passed_by(chain, program);
        EXPECT_EQ(print(passed.meant), print(program));
        const PlanOptions options = plan_options_of_campaign();
        const Program by_hand = planner.plans_encoded
                                    ? planner.plan(encode_with(program, used), options).value()
                                    : encode_with(planner.plan(program, options).value(), used);
        EXPECT_EQ(print(passed.placed), print(by_hand)) << names_of(chain);
        ++compared_count;
      }
    }
  }
  EXPECT_GT(compared_count, 0u);
}

TEST(RunPasses, LeaveOutResetsThatOnlySayWhereARegionEnds) {
  const std::string text =
      "memory m 16\nmemory raw 16\nmemory region 4\ntensor kept u8[16] at m+0\ntensor t f32[4]\n"
      "tensor o f32[4]\noutput o\ndispatch K writes kept\nreset region\nreset m\n"
      "dispatch fill writes t value=1\nreset region\ndispatch L writes raw[0:4]\nreset raw\n"
      "dispatch silu reads t writes o\nreset region\n";
  const PassedProgram passed = passed_by({}, parsed(text));
  EXPECT_EQ(reset_count_of(passed.meant), 5u);
  std::vector<std::string> resets;
  for (const Lifetime& lifetime : passed.placed.lifetimes) {
    resets.emplace_back(passed.placed.name(passed.placed.memory(lifetime.memory).name));
  }
  EXPECT_THAT(resets, ElementsAre("m", "raw"));
  EXPECT_THAT(print(passed.placed), Not(HasSubstr("region")));
}

TEST(RunPasses, WriteEveryBackwardPassInTheModeThatIsNamed) {
  const std::string forward =
      "tensor x f32[2,2] = random(1)\ntensor w f32[2,2] = random(2)\ntensor h f32[2,2]\n"
      "tensor y f32[2,2]\ndispatch matmul_nn reads x w writes h\n"
      "dispatch matmul_nn reads h w writes y\n";
  const auto with_modes = [&](std::string_view first, std::string_view second) {
    return parsed(
        fmt::format("{}backward y wrt w mode={}\nbackward h wrt x mode={}\n"
                    "output d_w d_x\n",
                    forward, first, second));
  };
  for (const BackwardEntry& backward : backward_registry()) {
    PassChain chain;
    chain.backward = &backward;
    const PassedProgram passed = passed_by(chain, with_modes("one-shot", "split"));
    const Program expected = with_modes(backward.name, backward.name);
    EXPECT_EQ(print(passed.meant), print(expected)) << backward.name;
    EXPECT_EQ(print(passed.placed), print(passed_by({}, expected).placed)) << backward.name;
    EXPECT_EQ(passed.placed.dispatches.size(), passed.meant.dispatches.size());
  }
  // Without a name, each stays as the program has it.
  EXPECT_EQ(print(passed_by({}, with_modes("one-shot", "split")).meant),
            print(with_modes("one-shot", "split")));
}

template <typename Item>
uint64_t count_of(const Program& program) {
  uint64_t count = 0;
  for (const ItemDraft& item : draft_of(program).items) count += std::holds_alternative<Item>(item);
  return count;
}

Program without_barriers(const Program& program) {
  ProgramDraft draft;
  for (ItemDraft& item : draft_of(program).items) {
    if (!std::holds_alternative<BarrierDraft>(item)) draft.items.push_back(std::move(item));
  }
  return build(draft).value();
}

// Whatever stands inside of recordings and outside: each dispatch executes before the next one and
// is visible to it.
TEST(RunPasses, KeepRecordingsAndOrderAllBehindAReplayPolicyAlone) {
  for (const ReplayEntry& replay : replay_registry()) {
    PassChain chain;
    chain.replay = &replay;
    for (int seed = 0; seed < program_count(100); ++seed) {
      SeededChoice choice(seed);
      const Program program = build(generate_replays(choice)).value();
      const PassedProgram passed = passed_by(chain, program);
      EXPECT_EQ(print(passed.meant), print(replay.apply(program).value()));
      EXPECT_EQ(print(without_barriers(passed.placed)), print(passed.meant));
      EXPECT_GT(count_of<ReplayDraft>(passed.placed), 0u);
      const HappensBefore order(passed.placed);
      for (size_t i = 1; i < passed.placed.dispatches.size(); ++i) {
        ASSERT_TRUE(order.is_visible_everywhere(DispatchId{i - 1}, DispatchId{i},
                                                StageAccess::kComputeRead))
            << i << "\n"
            << print(passed.placed);
      }
      EXPECT_LE(passed.placed.barriers.size(), passed.placed.dispatches.size());
    }
  }
}

TEST(RunPasses, PlaceAndEncodeWhatAReplayPolicyMakesIfAnyOfThatIsNamed) {
  SeededChoice choice(1);
  const Program program = build(generate_replays(choice)).value();
  for (const PassChain& named : {chain_of("liveness", nullptr), chain_of(nullptr, "serial")}) {
    PassChain chain = named;
    chain.replay = find_replay("pytorch");
    const PassedProgram passed = passed_by(chain, program);
    EXPECT_EQ(count_of<ReplayDraft>(passed.placed), 0u);
    EXPECT_EQ(print(passed.placed), print(passed_by(named, passed.meant).placed));
    for (const Tensor& tensor : passed.placed.tensors) {
      EXPECT_NE(tensor.placement, Placement::kUnplaced);
    }
  }
}

TEST(RunPasses, GiveBackTheErrorOfAPass) {
  PlanOptions options = plan_options_of_campaign();
  options.alignment_bytes = 3;  // No power of two.
  const Program program = step_of(1);
  const auto passed = run_passes(chain_of("liveness", nullptr), program, options);
  ASSERT_FALSE(passed);
  EXPECT_EQ(passed.error().message,
            find_planner("liveness")->plan(program, options).error().message);
}

// The arena resets after some dispatches by itself, if nobody says when.
TEST(PlanOptionsOfCampaign, EndRegionsWhereTheProgramSaysSoAndNowhereElse) {
  const auto steps = [](uint64_t count, uint64_t reset_behind) {
    std::string text = "memory region 4\ntensor t0 f32[4] = random(1)\n";
    std::string statements;
    for (uint64_t i = 0; i < count; ++i) {
      text += fmt::format("tensor t{} f32[4]\n", i + 1);
      statements += fmt::format("dispatch silu reads t{} writes t{}\n", i, i + 1);
      if (i + 1 == reset_behind) statements += "reset region\n";
    }
    return parsed(fmt::format("{}output t{}\n{}", text, count, statements));
  };
  for (const PlannerEntry& planner : planner_registry()) {
    PassChain chain;
    chain.planner = &planner;
    EXPECT_EQ(reset_count_of(passed_by(chain, steps(40, 0)).placed), 0u) << planner.name;
  }
  EXPECT_EQ(reset_count_of(passed_by(chain_of("arena", nullptr), steps(40, 20)).placed), 1u);
  // Else this would say nothing.
  EXPECT_GT(reset_count_of(find_planner("arena")->plan(steps(40, 0), {}).value()), 1u);
}

TEST(PassChain, SaysWhatIsNamedInTheOrderOfThePasses) {
  PassChain chain;
  EXPECT_EQ(flags_of(chain), "");
  EXPECT_EQ(names_of(chain), "");
  chain.encoder = find_encoder("serial");
  EXPECT_EQ(flags_of(chain), " --encoder=serial");
  chain.planner = find_planner("ggml");
  EXPECT_EQ(flags_of(chain), " --planner=ggml --encoder=serial");
  EXPECT_EQ(names_of(chain), "planner ggml and encoder serial");
  EXPECT_EQ(name_of_reference(chain), "the planner fresh");
  chain.replay = find_replay("pytorch");
  EXPECT_EQ(flags_of(chain), " --replay=pytorch --planner=ggml --encoder=serial");
  EXPECT_EQ(names_of(chain), "replay policy pytorch and planner ggml and encoder serial");
  EXPECT_EQ(name_of_reference(chain), "gradients that are added up");
  chain.backward = find_backward("split");
  EXPECT_EQ(flags_of(chain), " --backward=split --replay=pytorch --planner=ggml --encoder=serial");
  EXPECT_THAT(names_of(chain), HasSubstr("backward pass split and replay policy pytorch and "));
  EXPECT_EQ(name_of_reference(chain), "the backward pass one-shot");
  for (PassChain one : {PassChain{chain.backward, nullptr, nullptr, nullptr},
                        PassChain{nullptr, chain.replay, nullptr, nullptr}}) {
    EXPECT_THAT(names_of(one), Not(HasSubstr(" and ")));
  }
}

TEST(ShellWords, OfPathsAreNoOptions) {
  EXPECT_EQ(path_word("found/RAW.ilk"), "found/RAW.ilk");
  EXPECT_EQ(path_word("--foo/RAW.ilk"), "./--foo/RAW.ilk");
  EXPECT_EQ(path_word("-a b"), "'./-a b'");
  EXPECT_EQ(path_word("-"), "-");
  EXPECT_EQ(shell_word("--foo"), "--foo");
}

TEST(PassChain, HasAReferenceThatNamesNothing) {
  EXPECT_EQ(reference_chain().encoder, nullptr);
  EXPECT_THAT(flags_of(reference_chain()), IsEmpty());
}

}  // namespace
}  // namespace interlock::pass_chain_test
