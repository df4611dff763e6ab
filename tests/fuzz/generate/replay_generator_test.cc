// Programs with replays: nothing is wrong in them, each has the loop that users of a graph write,
// and most have what replay policies get wrong.
#include "fuzz/generate/replay_generator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/replay/replay.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/judge/pass_oracle.h"
#include "simulator/schedules/choice.h"
#include "tests/fuzz/generate/any_bytes.h"
#include "tests/fuzz/generate/shares.h"
#include "tests/program_count.h"

namespace interlock::replay_generator_test {
namespace {

using testing::IsEmpty;
using testing::Not;

constexpr uint64_t kDraftCount = program_count(3000);

ProgramDraft generated(uint64_t seed) {
  SeededChoice choice(seed);
  return generate_replays(choice);
}

void expect_nothing_wrong(const ProgramDraft& draft) {
  const auto program = parse(print(draft));
  ASSERT_TRUE(program) << program.error().message << print(draft);
  EXPECT_FALSE(program->outputs.empty());
  for (const Tensor& tensor : program->tensors) EXPECT_NE(tensor.placement, Placement::kPlaced);
  const auto passed = run_passes(reference_chain(), *program, plan_options_of_campaign());
  ASSERT_TRUE(passed) << passed.error().message;
  for (const SignedFact& fact : find_signed(*passed)) {
    ADD_FAILURE() << fact.signature << print(draft);
  }
}

TEST(GenerateReplays, MakesProgramsWithoutAFinding) {
  for (int seed = 0; seed < program_count(400); ++seed) expect_nothing_wrong(generated(seed));
}

TEST(GenerateReplays, MakesThemOfAnyBytes) {
  for_any_bytes(program_count(120, 10), 1, [](Choice& choice, int /*size*/) {
    expect_nothing_wrong(generate_replays(choice));
  });
}

// A draft, taken apart.
struct Parts {
  struct Recording {
    std::set<std::string> written;
    std::set<std::string> read;
    uint64_t dispatch_count = 0;
  };

  explicit Parts(const ProgramDraft& draft) {
    Recording* open = nullptr;
    for (const ItemDraft& item : draft.items) {
      if (const auto* tensor = std::get_if<TensorDraft>(&item)) {
        initial[tensor->name] = tensor->initial.kind;
      } else if (const auto* output = std::get_if<OutputDraft>(&item)) {
        outputs.insert(output->tensors.begin(), output->tensors.end());
      } else if (const auto* capture = std::get_if<CaptureDraft>(&item)) {
        open = &recordings[capture->name];
      } else if (std::holds_alternative<EndDraft>(item)) {
        open = nullptr;
      } else if (const auto* dispatch = std::get_if<DispatchDraft>(&item); dispatch && open) {
        ++open->dispatch_count;
        for (const OperandDraft& o : dispatch->operands) {
          (o.mode == AccessMode::kRead ? open->read : open->written).insert(o.name);
        }
        EXPECT_NE(dispatch->kernel, "accumulate");
      }
      if (open == nullptr) executed.push_back(item);
    }
  }

  std::map<std::string, InitialKind> initial;
  std::set<std::string> outputs;
  std::map<std::string, Recording> recordings;
  std::vector<ItemDraft> executed;  // And declarations: all outside of recordings.
};

const DispatchDraft* dispatch_at(const std::vector<ItemDraft>& items, size_t position) {
  return position < items.size() ? std::get_if<DispatchDraft>(&items[position]) : nullptr;
}

// Copy the next input to the static buffer, replay, add up what the recording left.
TEST(GenerateReplays, FillsTheBufferOfEveryReplayAndAddsToZeros) {
  for (int seed = 0; seed < program_count(400); ++seed) {
    const ProgramDraft draft = generated(seed);
    const Parts parts(draft);
    std::set<std::string> batches;
    for (size_t i = 0; i < parts.executed.size(); ++i) {
      const auto* replay = std::get_if<ReplayDraft>(&parts.executed[i]);
      if (replay != nullptr) {
        const Parts::Recording& recording = parts.recordings.at(replay->capture);
        const DispatchDraft* fill = dispatch_at(parts.executed, i - 1);
        ASSERT_NE(fill, nullptr) << print(draft);
        EXPECT_EQ(fill->kernel, "copy");
        const std::string& batch = fill->operands[0].name;
        const std::string& buffer = fill->operands[1].name;
        EXPECT_EQ(parts.initial.at(batch), InitialKind::kRandom);
        EXPECT_TRUE(batches.insert(batch).second) << "the same input again";
        EXPECT_EQ(recording.written.count(buffer), 0u);
        EXPECT_EQ(parts.initial.at(buffer), InitialKind::kNone);
      }
      const DispatchDraft* dispatch = dispatch_at(parts.executed, i);
      if (dispatch == nullptr || dispatch->kernel != "accumulate") continue;
      const std::string& sum = dispatch->operands[1].name;
      EXPECT_EQ(parts.initial.at(sum), InitialKind::kZeros);
      EXPECT_EQ(parts.outputs.count(sum), 1u);
      bool is_recorded = false;
      for (const auto& [name, recording] : parts.recordings) {
        is_recorded |= recording.written.count(dispatch->operands[0].name) > 0;
      }
      EXPECT_TRUE(is_recorded) << print(draft);
    }
    EXPECT_THAT(batches, Not(IsEmpty()));
  }
}

// One of four programs has two recordings. One to four dispatches, and as many replays, are equally
// likely; and so are four sizes. Behind a replay each gradient is added with odds of 3/4, and with
// odds of 1/6 something else looks at a gradient or a sum.
TEST(GenerateReplays, HasEachPartOfTheLoopInItsShareOfThePrograms) {
  uint64_t two_count = 0;
  std::array<uint64_t, 5> replay_counts{};
  std::array<uint64_t, 5> dispatch_counts{};
  uint64_t replay_count = 0;
  uint64_t look_count = 0;
  uint64_t sum_chance_count = 0;
  uint64_t sum_count = 0;
  for (uint64_t seed = 0; seed < kDraftCount; ++seed) {
    const Parts parts(generated(seed));
    two_count += parts.recordings.size() == 2;
    ++dispatch_counts.at(parts.recordings.at("c0").dispatch_count);
    uint64_t replays = 0;
    uint64_t sums = 0;
    for (size_t i = 0; i < parts.executed.size(); ++i) {
      replays += std::holds_alternative<ReplayDraft>(parts.executed[i]);
      const DispatchDraft* dispatch = dispatch_at(parts.executed, i);
      if (dispatch == nullptr) continue;
      look_count += dispatch->kernel == "Opaque";
      sums += dispatch->kernel == "accumulate";
    }
    ++replay_counts.at(replays);
    replay_count += replays;
    if (parts.recordings.size() > 1) continue;
    sum_chance_count += replays * parts.outputs.size();
    sum_count += sums;
  }
  expect_share("two recordings", two_count, kDraftCount, 1.0 / 4);
  for (size_t i = 1; i <= 4; ++i) {
    expect_share("replays", replay_counts[i], kDraftCount, 1.0 / 4);
    expect_share("dispatches of a recording", dispatch_counts[i], kDraftCount, 1.0 / 4);
  }
  expect_share("looks", look_count, replay_count, 1.0 / 6);
  expect_share("accumulations", sum_count, sum_chance_count, 3.0 / 4);
}

// A buffer is overwritten by a second replay before it is read: so it is in 13 of 20 programs, as
// 20,000 of them say.
TEST(GenerateReplays, MostlyShowsAPolicyThatKeepsTheBuffer) {
  PassChain chain;
  chain.replay = find_replay("pytorch-181723");
  constexpr uint64_t kCount = program_count(600);
  uint64_t count = 0;
  for (uint64_t seed = 0; seed < kCount; ++seed) {
    const Program program = build(generated(seed)).value();
    const auto passed = run_passes(chain, program, plan_options_of_campaign());
    ASSERT_TRUE(passed) << passed.error().message;
    count += !find_signed(*passed).empty();
  }
  expect_share("overwritten gradients", count, kCount, 0.655);
}

}  // namespace
}  // namespace interlock::replay_generator_test
