// Recorded streams execute with `mix`: what the checks call clean agrees with the reference in
// every schedule tried, and what they call a hazard or reordered differs.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backends/reference/reference.h"
#include "backends/registry.h"
#include "encoder/text/files.h"
#include "simulator/report/check.h"
#include "simulator/schedules/choice.h"
#include "simulator/schedules/displacements.h"
#include "simulator/schedules/strategy_random.h"
#include "simulator/schedules/strategy_three.h"
#include "tests/program_count.h"

namespace interlock::streams_test {
namespace {

Program stream(const std::string& name) {
  const std::string path =
      std::string(INTERLOCK_SOURCE_DIR "/corpus/streams/ggml-") + name + ".ilk";
  Result<Program> program = parse_file(path);
  INTERLOCK_CHECK(program.has_value());
  return std::move(program).value();
}

Backend& cpu() { return *find_backend("cpu"); }

MemoryImage run(const Program& program, const Schedule& schedule) {
  Result<MemoryImage> image = cpu().run(program, schedule, ExecutionMode::kWitness);
  INTERLOCK_CHECK(image.has_value());
  return std::move(image).value();
}

MemoryImage reference(const Program& program) {
  Result<MemoryImage> image = reference_image(program, cpu());
  INTERLOCK_CHECK(image.has_value());
  return std::move(image).value();
}

uint64_t bytes_read(const Program& program) {
  uint64_t bytes = 0;
  for (const Access& access : program.accesses) {
    bytes += access.reads_plainly() ? access.range.size_bytes() : 0;
  }
  return bytes;
}

// Issue order, the deciding schedules and two random ones.
std::vector<Schedule> schedules_to_try(const Program& program) {
  const HappensBefore order(program);
  std::vector<Schedule> schedules = {reference_order_schedule(program),
                                     epoch_reversed_schedule(program, order),
                                     lazy_schedule(program, order)};
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    SeededChoice choice(seed);
    schedules.push_back(random_schedule(program, order, choice));
  }
  return schedules;
}

TEST(RecordedStreams, CleanOnesAgreeWithTheReferenceInEveryScheduleTried) {
  // Under a sanitizer those that are quick, and the slowest only where all is asked for.
  const bool is_all = proof_count(2, 1) == 2;
  const uint64_t executable_bytes = is_all ? 300'000'000 : is_slow_build() ? 5'000'000 : 60'000'000;
  int executed_count = 0;
  for (const char* name :
       {"llama24-metal", "llama24-metal-reorder", "llama24-vulkan", "llama24kv-metal",
        "llama24kv-vulkan-reorder", "llama24-metal-64steps", "train-metal-4", "train-metal-30",
        "rms-norm-back-alias", "soft-max-back-alias", "vulkan-reorder-ok1", "vulkan-reorder-ok2",
        "vulkan-reorder-ok3", "vulkan-reorder-falsepos"}) {
    const Program program = stream(name);
    if (bytes_read(program) >= executable_bytes) {
      continue;
    }
    ++executed_count;
    const MemoryImage right = reference(program);
    for (const Schedule& schedule : schedules_to_try(program)) {
      EXPECT_TRUE(run(program, schedule) == right) << name;
    }
  }
  EXPECT_EQ(executed_count, is_all ? 13 : is_slow_build() ? 7 : 11);
}

TEST(RecordedStreams, ReorderedOnesDifferFromTheReferenceInEverySchedule) {
  for (const char* name : {"vulkan-reorder-min", "vulkan-reorder-bad1", "vulkan-reorder-bad2",
                           "vulkan-reorder-bad3"}) {
    const Program program = stream(name);
    const MemoryImage right = reference(program);
    for (const Schedule& schedule : schedules_to_try(program)) {
      EXPECT_FALSE(run(program, schedule) == right) << name;
    }
  }
}

TEST(RecordedStreams, ObservableHazardsOfTheStreamWithoutBarriersDivergeUnderTheirOwnSinks) {
  const Program program = stream("llama24-nobarrier");
  const HappensBefore order(program);
  const MemoryImage right = reference(program);
  std::vector<Finding> observable;
  for (const Finding& finding : check(program).findings) {
    if (finding.observability == Observability::kObservable) {
      observable.push_back(finding);
    }
  }
  ASSERT_GE(observable.size(), 100u);
  constexpr size_t kSampleCount = is_slow_build() ? 8 : 40;
  for (size_t i = 0; i < kSampleCount; ++i) {
    const Finding& finding = observable[i * observable.size() / kSampleCount];
    const Result<Schedule> sink = schedule_of(program, order, finding.witness);
    ASSERT_TRUE(sink.has_value()) << sink.error().message;
    EXPECT_FALSE(run(program, *sink) == right) << finding.headline;
  }
}

}  // namespace
}  // namespace interlock::streams_test
