// What a plan of submissions orders, read by another method: for each dispatch, which stages of
// which queue of the device come after it, command by command. So it shows on paper what no device
// with one queue shows: that the semaphores, events and barriers are enough, and no more.
#include "backends/vulkan/submission_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <volk.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "backends/interface/issue_order.h"
#include "backends/interface/poison.h"
#include "tests/backends/queue_trials.h"
#include "tests/program_count.h"

namespace interlock::submission_plan_test {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAreArray;

constexpr uint64_t kCompute = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;
constexpr uint64_t kTransfer = VK_PIPELINE_STAGE_2_COPY_BIT | VK_PIPELINE_STAGE_2_CLEAR_BIT;
constexpr uint64_t kEveryStage =
    VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_2_HOST_BIT;

// ALL_COMMANDS is every stage but the host's.
uint64_t spelled(uint64_t stages) {
  const bool is_all = (stages & VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT) != 0;
  return is_all ? stages | ~uint64_t{VK_PIPELINE_STAGE_2_HOST_BIT} : stages;
}

struct Planned {
  explicit Planned(const Program& own, uint32_t device_queue_count, uint64_t seed)
      : program(own), layout(own), host(own) {
    limits.storage_alignment = limits.uniform_alignment = 4;
    limits.storage_bytes_max = 1 << 27;
    limits.group_count_max = 65535;
    limits.lane_count = 8;
    limits.has_byte_access = true;
    SeededChoice choice(seed);
    const auto order = issue_order_of(program, statements_with_poison(program, Poison(program)),
                                      seed == 0 ? nullptr : &choice);
    const VulkanLowering lowering{program, limits, layout, list, host};
    plan = plan_submissions(lowering, order, device_queue_count, seed).value();
  }

  const Program& program;
  DeviceLimits limits;
  DeviceLayout layout;
  CommandList list;
  HostCopies host;
  SubmissionPlan plan;
};

// Goes through a plan and notes which dispatches come after one of them.
class AfterDispatch {
 public:
  AfterDispatch(const Planned& planned, DispatchId first) : planned_(planned), first_(first) {}

  // Of dispatches that start later in the plan, those that the plan does not order after it.
  std::set<DispatchId> unordered() {
    for (const auto& action : planned_.plan.actions) {
      std::visit([&](const auto& own) { read(own); }, action);
    }
    return unordered_;
  }

 private:
  void read(const QueueSubmission& submission) {
    device_queue_ = submission.device_queue;
    if (is_host_after_) after_[device_queue_] |= spelled(kEveryStage);
    for (const TimelinePoint& wait : submission.waits) {
      if (points_.count({wait.semaphore, wait.value}) > 0) {
        after_[device_queue_] |= spelled(wait.stages);
      }
    }
    for (const auto& buffer : submission.buffers) {
      for (const CommandSpan& span : buffer) {
        for (size_t i = span.begin; i < span.end; ++i) read(planned_.list.commands[i]);
      }
    }
    // A signal comes after those of earlier submissions, but not after others of its own.
    bool is_covered = false;
    for (const TimelinePoint& signal : submission.signals) {
      if (!is_covered_[device_queue_] && !covers(signal.stages)) continue;
      points_.insert({signal.semaphore, signal.value});
      is_covered = true;
    }
    is_covered_[device_queue_] = is_covered_[device_queue_] || is_covered;
  }

  void read(const HostAction& action) {
    if (action.kind == HostAction::Kind::kDispatch) {
      see(action.dispatch, is_host_after_);
      if (action.dispatch == first_) is_host_after_ = true;
    }
    for (const TimelinePoint& point : action.points) {
      const bool is_signal = action.kind == HostAction::Kind::kSignal;
      if (is_signal && is_host_after_) points_.insert({point.semaphore, point.value});
      if (!is_signal && points_.count({point.semaphore, point.value}) > 0) is_host_after_ = true;
    }
  }

  void read(const DeviceCommand& command) {
    if (const auto* const barrier = std::get_if<DeviceBarrier>(&command.work)) {
      after_[device_queue_] |= destination_of(*barrier);
    } else if (const auto* const event = std::get_if<DeviceEvent>(&command.work)) {
      if (!event->is_wait) {
        events_[event->event] = destination_of(event->barrier);
      } else {
        after_[device_queue_] |= events_.at(event->event);
      }
    } else {
      const Statement& statement = planned_.program.statements[command.statement];
      if (statement.kind != StatementKind::kDispatch) return;
      const DispatchId dispatch(size_t{statement.index});
      const uint64_t stage =
          std::holds_alternative<ShaderLaunch>(command.work) ? kCompute : kTransfer;
      see(dispatch, (after_[device_queue_] & stage) == stage);
      if (dispatch == first_) stages_[device_queue_] |= stage;
    }
  }

  void see(DispatchId dispatch, bool is_after) {
    if (has_begun_ && !is_after && dispatch != first_) unordered_.insert(dispatch);
    has_begun_ = has_begun_ || dispatch == first_;
  }

  // The first scope has work of the dispatch, or what comes after it.
  bool covers(uint64_t stages) {
    return ((stages_[device_queue_] | after_[device_queue_]) & spelled(stages)) != 0;
  }

  uint64_t destination_of(const DeviceBarrier& barrier) {
    uint64_t stages = 0;  // Its dependencies do not chain.
    for (uint32_t i = 0; i < barrier.dependency_count; ++i) {
      const DeviceDependency& part = planned_.list.dependencies[barrier.first_dependency + i];
      if (covers(part.source_stages)) stages |= spelled(part.destination_stages);
    }
    return stages;
  }

  const Planned& planned_;
  DispatchId first_;
  uint32_t device_queue_ = 0;
  bool has_begun_ = false;
  bool is_host_after_ = false;
  std::map<uint32_t, uint64_t> stages_;  // By queue of the device: where the dispatch itself runs.
  std::map<uint32_t, uint64_t> after_;   // And which stages of what is to come are after it.
  std::map<uint32_t, bool> is_covered_;  // By queue of the device: by some signal.
  std::map<uint32_t, uint64_t> events_;
  std::set<std::pair<uint32_t, uint64_t>> points_;
  std::set<DispatchId> unordered_;
};

bool conflict(const Program& program, DispatchId a, DispatchId b) {
  for (const Access& x : program.accesses_of(a)) {
    for (const Access& y : program.accesses_of(b)) {
      const bool commute = x.is_atomic() && y.is_atomic() &&
                           program.dispatch(a).atomic_op == program.dispatch(b).atomic_op;
      if (x.memory != y.memory || !share_a_byte(x.range, y.range) || commute) continue;
      if (!x.only_reads() || !y.only_reads()) return true;
    }
  }
  return false;
}

// Conflicting dispatches that the plan does not order, "a b".
std::set<std::string> unordered_conflicts(const Program& program, uint32_t device_queue_count,
                                          uint64_t seed) {
  const Planned planned(program, device_queue_count, seed);
  std::set<std::string> pairs;
  for (size_t d = 0; d < program.dispatches.size(); ++d) {
    const DispatchId first(d);
    for (const DispatchId second : AfterDispatch(planned, first).unordered()) {
      if (!conflict(program, first, second)) continue;
      pairs.insert(program.description_of(first) + ", " + program.description_of(second));
    }
  }
  return pairs;
}

TEST(SubmissionPlan, OrdersEveryConflictOfCleanProgramsOfTheCorpus) {
  int clean_count = 0;
  for (const auto& path : corpus_files({"bugs", "queues"})) {
    const std::optional<Program> run = queue_program_of(path);
    if (!run || finds_hazard(*run)) continue;
    SCOPED_TRACE(path);
    ++clean_count;
    for (const uint32_t device_queue_count : {1u, 3u}) {
      for (uint64_t seed = 0; seed < 3; ++seed) {
        EXPECT_THAT(unordered_conflicts(*run, device_queue_count, seed), IsEmpty());
      }
    }
  }
  EXPECT_GT(clean_count, 80);
}

TEST(SubmissionPlan, OrdersEveryConflictOfCleanRandomPrograms) {
  const int count = program_count(4000);
  int clean_count = 0;
  for (int seed = 0; seed < count; ++seed) {
    const std::optional<Program> run = clean_queue_program(static_cast<uint64_t>(seed) + 50'000);
    if (!run) continue;
    ++clean_count;
    for (const uint32_t device_queue_count : {1u, 2u, 4u}) {
      ASSERT_THAT(unordered_conflicts(*run, device_queue_count, static_cast<uint64_t>(seed) % 3),
                  IsEmpty())
          << print(as_in_text(*run));
    }
  }
  EXPECT_GT(clean_count, count / 40);
}

// With a queue of the device for each, and for each operation of a graph, plans leave unordered
// what the traps are about, except where memory alone is missing and where Vulkan's stages are not
// those of the program.
TEST(SubmissionPlan, OrdersNoConflictThatTheTrapsLeaveUnordered) {
  std::set<std::string> ordered;
  for (const auto& path : corpus_files({"queues"})) {
    const std::optional<Program> run = queue_program_of(path);
    if (!run || !finds_hazard(*run)) continue;
    if (unordered_conflicts(*run, 64, 0).empty()) ordered.insert(path.stem());
  }
  EXPECT_THAT(
      ordered,
      UnorderedElementsAreArray(std::set<std::string>{
          "beside-a-flushed-atom", "host-read-after-a-fence", "host-read-of-unified-memory",
          "host-write-after-submit", "host-write-named-after-the-wait",
          "invalidated-before-the-flush", "lost-and-written-in-part", "lost-to-the-host-itself",
          "ordered-not-available", "programmatic-edge", "read-without-an-invalidation",
          "write-without-a-flush", "wait-before-compute-of-indirect"}));
}

}  // namespace
}  // namespace interlock::submission_plan_test
