// The result that an `order=` program means: equal to issue order if nothing is reordered, and to
// the sorted program if all memories are ordinary.
#include "backends/reference/reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "backends/registry.h"
#include "encoder/assemble/build.h"
#include "encoder/text/printer.h"
#include "simulator/hazards/alias_contracts.h"
#include "simulator/hazards/data_flow.h"
#include "simulator/hazards/hazards.h"
#include "simulator/schedules/choice.h"
#include "simulator/schedules/schedule.h"
#include "simulator/schedules/strategy_three.h"
#include "tests/simulator/programs/program_text.h"
#include "tests/simulator/programs/random_programs.h"

namespace interlock::reference_test {
namespace {

using testing::HasSubstr;

Backend& cpu() { return *find_backend("cpu"); }

MemoryImage run(const Program& program, const Schedule& schedule) {
  return cpu().run(program, schedule, ExecutionMode::kWitness).value();
}

MemoryImage reference(const Program& program) { return reference_image(program, cpu()).value(); }

bool is_clean(const Program& program) {
  return find_hazards(program, HappensBefore(program), {.limit = 1}).hazards.empty() &&
         find_reordered(program).empty() && find_alias_violations(program).empty();
}

void expect_agreement(const Program& program) {
  const HappensBefore order(program);
  const MemoryImage right = reference(program);
  EXPECT_TRUE(run(program, reference_order_schedule(program)) == right) << print(program);
  EXPECT_TRUE(run(program, epoch_reversed_schedule(program, order)) == right) << print(program);
  EXPECT_TRUE(run(program, lazy_schedule(program, order)) == right) << print(program);
}

TEST(Reference, AppliesScratchAtomicsInIssueOrderOnWhatTheyFindThere) {
  const Program program = program_of(
      "memory s 64 scratch\nmemory b 64\n"
      "A1: dispatch A order=1 atomics s atomic=add\n"
      "A2: dispatch B order=0 atomics s atomic=add\n"
      "barrier\n"
      "R: dispatch R order=2 reads s writes b\n");
  ASSERT_TRUE(is_clean(program));
  expect_agreement(program);
}

TEST(Reference, LeavesOutAScratchAtomicThatAddsToALaterWriter) {
  const auto program_with = [](const std::string& atomic) {
    return program_of(
        "memory s 64 scratch\nmemory b 64\n"
        "W: dispatch W order=1 writes s[0:40]\nbarrier\n" +
        atomic + "R: dispatch R order=3 reads s[8:48] writes b[8:48]\n");
  };
  const std::string atomics = " atomics s[16:40] atomic=xor\nbarrier\n";
  const Program wrong = program_with("A: dispatch A order=0" + atomics);
  EXPECT_FALSE(is_clean(wrong));
  EXPECT_TRUE(reference(wrong) == reference(program_with("")));
  EXPECT_FALSE(run(wrong, reference_order_schedule(wrong)) == reference(wrong));
  const Program right = program_with("A: dispatch A order=2" + atomics);
  ASSERT_TRUE(is_clean(right));
  EXPECT_FALSE(reference(right) == reference(program_with("")));
  expect_agreement(right);
}

TEST(Reference, GivesEachReaderOfAReusedScratchSlotItsOwnWriter) {
  const Program program = program_of(
      "memory s 64 scratch\nmemory b 64\n"
      "W1: dispatch W order=1 writes s\nbarrier\n"
      "R1: dispatch R order=3 reads s writes b[0:32]\nbarrier\n"
      "W2: dispatch W order=0 writes s[16:32]\nbarrier\n"
      "R2: dispatch R order=2 reads s[16:32] writes b[32:64]\n");
  ASSERT_TRUE(is_clean(program));
  expect_agreement(program);
}

TEST(Reference, DiffersFromIssueOrderWhereAReaderSeesALaterWriter) {
  const Program program = program_of(
      "memory s 64 scratch\nmemory b 64\n"
      "W: dispatch W order=1 writes s\nbarrier\n"
      "R: dispatch R order=0 reads s writes b\n");
  EXPECT_FALSE(find_reordered(program).empty());
  EXPECT_FALSE(run(program, reference_order_schedule(program)) == reference(program));
}

// Draws a place in program order for every dispatch: anything, or near its place in issue order.
void give_order(ProgramDraft& draft, Choice& choice) {
  std::vector<DispatchDraft*> dispatches;
  for (ItemDraft& item : draft.items) {
    if (auto* dispatch = std::get_if<DispatchDraft>(&item)) dispatches.push_back(dispatch);
  }
  std::vector<uint64_t> order;
  for (size_t i = 0; i < dispatches.size(); ++i) order.push_back(3 * i);
  const bool is_near = choice.chance(1, 2);
  for (size_t i = order.size(); i > 1; --i) {
    const size_t other = is_near ? i - 2 : choice.below(i);
    if (!is_near || choice.chance(1, 2)) std::swap(order[i - 1], order[other]);
  }
  for (size_t i = 0; i < dispatches.size(); ++i) {
    dispatches[i]->label = fmt::format("d{}", i);
    dispatches[i]->order = order[i];
  }
}

ProgramDraft random_ordered_draft(uint64_t seed, bool has_scratch) {
  SeededChoice choice(seed);
  RandomProgramOptions options;
  options.memory_bytes = 12;
  options.range_bytes_max = 8;
  options.barrier_percent = 75;
  ProgramDraft draft = random_draft(choice, options);
  for (ItemDraft& item : draft.items) {
    auto* memory = std::get_if<MemoryDraft>(&item);
    if (memory != nullptr) memory->is_scratch = has_scratch && choice.chance(2, 3);
  }
  give_order(draft, choice);
  return draft;
}

TEST(Reference, EqualsEveryScheduleTriedOfACleanProgram) {
  int clean_count = 0;
  int atomic_count = 0;
  const int count = program_count(30'000);
  for (int seed = 0; seed < count; ++seed) {
    const ProgramDraft draft = random_ordered_draft(static_cast<uint64_t>(seed), true);
    const Program program = build(draft).value();
    if (!is_clean(program)) continue;
    ++clean_count;
    for (const Access& access : program.accesses) {
      if (access.is_atomic() && program.memory(access.memory).is_scratch) {
        ++atomic_count;
        break;
      }
    }
    expect_agreement(program);
    if (HasFailure()) return;
  }
  // Some 24 % are clean, and some 4 % have scratch atomics besides.
  EXPECT_GT(clean_count, count / 20);
  EXPECT_GT(atomic_count, count / 200);
}

// The dispatches sorted by order, without `order=`. Labels keep the identity of each.
Program sorted_by_order(const ProgramDraft& draft) {
  ProgramDraft sorted;
  std::vector<DispatchDraft> dispatches;
  for (const ItemDraft& item : draft.items) {
    if (const auto* dispatch = std::get_if<DispatchDraft>(&item)) {
      dispatches.push_back(*dispatch);
    } else if (!std::holds_alternative<BarrierDraft>(item)) {
      sorted.items.push_back(item);
    }
  }
  std::sort(dispatches.begin(), dispatches.end(),
            [](const DispatchDraft& a, const DispatchDraft& b) { return *a.order < *b.order; });
  for (DispatchDraft& dispatch : dispatches) {
    dispatch.order.reset();
    sorted.items.emplace_back(std::move(dispatch));
  }
  return build(sorted).value();
}

TEST(Reference, EqualsTheSortedProgramIfAllMemoriesAreOrdinary) {
  int reordered_count = 0;
  const int count = program_count(5000);
  for (int seed = 0; seed < count; ++seed) {
    const ProgramDraft draft = random_ordered_draft(static_cast<uint64_t>(seed), false);
    const Program program = build(draft).value();
    if (!find_alias_violations(program).empty()) continue;
    reordered_count += !find_reordered(program).empty();
    const Program sorted = sorted_by_order(draft);
    ASSERT_TRUE(run(sorted, reference_order_schedule(sorted)) == reference(program))
        << print(program);
  }
  // Enough of them are really reordered: the claim is about those.
  EXPECT_GT(reordered_count, count / 20);
}

// Counts runs, and gives another image than the CPU.
class OtherBackend final : public Backend {
 public:
  std::string_view name() const override { return "other"; }
  Availability availability() const override { return {true, ""}; }
  bool supports(ExecutionMode mode) const override { return mode == ExecutionMode::kWitness; }
  Capabilities capabilities() const override { return {}; }
  Result<MemoryImage> run(const Program& program, const Schedule& schedule,
                          ExecutionMode /*mode*/) override {
    for (const Step& step : schedule.steps) {
      order.push_back(program.dispatch(step.dispatch).order);
    }
    return MemoryImage{};
  }

  std::vector<uint64_t> order;  // As run.
};

TEST(Reference, RunsProgramOrderOnTheBackendUnlessScratchIsTouched) {
  const std::string dispatches =
      "dispatch A order=5 writes b[0:8]\ndispatch B order=2 writes b[8:16]\n";
  OtherBackend other;
  ASSERT_TRUE(
      reference_image(program_of("memory s 64 scratch\nmemory b 64\n" + dispatches), other));
  EXPECT_EQ(other.order, (std::vector<uint64_t>{2, 5}));
  ASSERT_TRUE(reference_image(program_of("memory b 64 scratch\n" + dispatches), other));
  EXPECT_EQ(other.order.size(), 2u);
}

// Each writer of the slot waits for a reader that is last in program order.
Program waiting_writers(int count, int bytes_read) {
  std::string text = "memory s 4096 scratch\nmemory b 4096\n";
  for (int i = 0; i < count; ++i) {
    text += fmt::format("dispatch W order={} writes s\nbarrier\n", i);
    text += fmt::format("dispatch R order={} reads s[0:{}] writes b[{}:{}]\nbarrier\n",
                        1000 + count - i, bytes_read, i, i + 1);
  }
  return program_of(text);
}

TEST(Reference, KeepsOnlyTheBytesThatReadersTake) {
  constexpr uint64_t kLimit = 32'768;
  const Program program = waiting_writers(30, 4);
  ASSERT_TRUE(is_clean(program));
  const auto image = reference_image(program, cpu(), kLimit);
  ASSERT_TRUE(image) << image.error().message;
  EXPECT_TRUE(*image == run(program, reference_order_schedule(program)));
}

TEST(Reference, ForgetsValuesBehindTheirLastReader) {
  std::string text = "memory s 4096 scratch\nmemory b 4096\n";
  for (int i = 0; i < 100; ++i) {
    text += fmt::format("dispatch W order={} writes s\nbarrier\n", 2 * i);
    text +=
        fmt::format("dispatch R order={} reads s writes b[{}:{}]\nbarrier\n", 2 * i + 1, i, i + 1);
  }
  const Program program = program_of(text);
  const auto image = reference_image(program, cpu(), 49'152);
  ASSERT_TRUE(image) << image.error().message;
  EXPECT_TRUE(*image == run(program, reference_order_schedule(program)));
}

TEST(Reference, SaysThatTooManyValuesWait) {
  const auto image = reference_image(waiting_writers(30, 4096), cpu(), 65'536);
  ASSERT_FALSE(image);
  EXPECT_THAT(image.error().message, HasSubstr("more than 65536 bytes, the execution limit"));
}

TEST(Reference, CountsWhatItMustKnowAboutChainsOfAtomics) {
  std::string text = "memory s 64 scratch\nmemory b 4096\n";
  for (int i = 0; i < 100; ++i) {
    text += fmt::format("dispatch A order={} atomics s[{}:{}] atomic=add\nbarrier\n", 2 * i, i % 8,
                        32 + i % 8);
    text +=
        fmt::format("dispatch R order={} reads s writes b[{}:{}]\nbarrier\n", 2 * i + 1, i, i + 1);
  }
  const Program program = program_of(text);
  ASSERT_TRUE(is_clean(program));
  const auto image = reference_image(program, cpu(), 65'536);
  ASSERT_FALSE(image);
  EXPECT_THAT(image.error().message, HasSubstr("the execution limit"));
  EXPECT_TRUE(reference(program) == run(program, reference_order_schedule(program)));
}

// The values of the first output, as f32.
std::vector<float> first_output(const Program& program, const MemoryImage& image) {
  const Tensor& tensor = program.tensor(program.outputs[0]);
  std::vector<float> values(tensor.range.size_bytes() / sizeof(float));
  std::memcpy(values.data(), image.memories[tensor.memory.index].data() + tensor.range.begin,
              tensor.range.size_bytes());
  return values;
}

std::vector<float> meant(std::string_view text) {
  const Program program = program_of(text);
  return first_output(program, reference(program));
}

TEST(ReferenceImage, HasWhatAValueWasBeforeAnotherTookItsBytes) {
  EXPECT_THAT(meant(R"(memory m 16
      tensor x f32[4] = values(1,2,3,4)
      tensor saved f32[4] at m+0
      tensor other f32[4] at m+0
      tensor y f32[4]
      output y
      dispatch scale reads x writes saved factor=2
      dispatch scale reads x writes other factor=10
      dispatch copy reads saved writes y
      expect clobber 1 2)"),
              testing::ElementsAre(2, 4, 6, 8));
}

TEST(ReferenceImage, HasWhatADonorWasBeforeItGaveItsBytes) {
  EXPECT_THAT(meant(R"(tensor x f32[4] = values(1,2,3,4)
      tensor twice f32[4] donates x
      tensor y f32[4]
      output y
      dispatch add reads x x writes twice
      dispatch copy reads x writes y)"),
              testing::ElementsAre(1, 2, 3, 4));
}

TEST(ReferenceImage, HasWhatWasAdoptedBeforeItsLenderWroteAgain) {
  EXPECT_THAT(meant(R"(tensor a f32[2] = values(1,2)
      tensor b f32[2] = values(10,20)
      tensor buffer f32[2]
      tensor grad f32[2]
      output grad
      dispatch copy reads a writes buffer
      adopt grad = buffer
      dispatch copy reads b writes buffer
      dispatch accumulate reads buffer updates grad)"),
              testing::ElementsAre(11, 22));
}

TEST(ReferenceImage, HasWhatAKernelComputesWhereNothingIsInItsWay) {
  const std::string tensors = R"(tensor y f32[1,2] = values(0.5,0.5)
      tensor g f32[1,2] = values(1,3)
      output gx
      dispatch softmax_vjp_stream reads y g writes gx)";
  const std::vector<float> apart = meant("tensor gx f32[1,2]\n" + tensors);
  EXPECT_THAT(apart, testing::ElementsAre(-0.5f, 0.5f));
  std::string in_place = tensors;
  in_place.insert(in_place.find("output"), "tensor gx f32[1,2] donates y\n      ");
  EXPECT_EQ(meant(in_place), apart);
}

// Raw ranges are bytes and no values: what is there is what is meant.
TEST(ReferenceImage, IsTheRunItselfWhereRawRangesReachIntoTensors) {
  EXPECT_THAT(meant(R"(memory m 16
      tensor x f32[4] = values(1,2,3,4)
      tensor saved f32[4] at m+0
      tensor other f32[4] at m+0
      tensor y f32[4]
      output y
      dispatch copy reads x writes m[0:16]
      dispatch scale reads x writes saved factor=2
      dispatch scale reads x writes other factor=10
      dispatch copy reads saved writes y)"),
              testing::ElementsAre(10, 20, 30, 40));
}

}  // namespace
}  // namespace interlock::reference_test
