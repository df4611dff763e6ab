// One schedule on the machine of split steps. The idea: give each node the time at which the
// schedule lets it happen, ask whether each event finds a gap between what leads to it and what it
// holds back, and execute the nodes in that order on values.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "encoder/program/check.h"
#include "encoder/program/hash.h"
#include "tests/simulator/judges/split_machine.h"
#include "tests/simulator/judges/split_model.h"

namespace interlock {
namespace {

enum class NodeKind { kFetch, kRun, kCommit };

// When the nodes of one schedule happen: a number that grows from step to step, and within a step
// from fetch to run to commit.
struct Times {
  std::vector<uint64_t> run;
  std::map<std::tuple<size_t, Byte, StageAccess>, uint64_t> fetch;
  std::map<std::pair<size_t, Byte>, uint64_t> commit;
};

std::vector<Byte> bytes_in(const StepBytes& place) {
  std::vector<Byte> bytes;
  for (uint64_t i = place.range.begin; i < place.range.end; ++i) {
    bytes.push_back({place.memory.index, i});
  }
  return bytes;
}

class ScheduleTimes {
 public:
  explicit ScheduleTimes(const Program& program) : program_(program) {
    times_.run.assign(program.dispatches.size(), 0);
  }

  // A sentence if a step does what it cannot.
  std::string add(const Schedule& schedule, const Step& step) {
    now_ += 3;
    const size_t i = step.dispatch.index;
    const bool has_run = times_.run[i] != 0;
    if (step.kind == StepKind::kRun || step.kind == StepKind::kRunLate) {
      if (has_run) return fmt::format("dispatch {} runs twice", i);
      run(i);
      if (step.kind == StepKind::kRun) commit_all(i);
      return "";
    }
    if (step.kind == StepKind::kFetch) {
      if (has_run) return fmt::format("dispatch {} fetches after it has run", i);
      for (const StepBytes& place : schedule.bytes_of(step)) {
        for (const Byte byte : bytes_in(place)) times_.fetch[{i, byte, place.sort}] = now_;
      }
      return "";
    }
    if (!has_run) return fmt::format("dispatch {} commits before it runs", i);
    if (step.slice_count == 0) commit_all(i);
    for (const StepBytes& place : schedule.bytes_of(step)) {
      for (const Byte byte : bytes_in(place)) {
        if (!times_.commit.emplace(std::pair(i, byte), now_ + 2).second) {
          return fmt::format("dispatch {} commits a byte twice", i);
        }
      }
    }
    return "";
  }

  const Times& times() const { return times_; }

 private:
  void run(size_t i) {
    const Dispatch& dispatch = program_.dispatches[i];
    const Stage stage = stage_by_name(program_, dispatch);
    times_.run[i] = now_ + 1;
    for (const Byte byte : bytes_of(program_)) {
      for (const Access& access : program_.accesses_of(dispatch)) {
        if (!covers(access, byte)) continue;
        if (is_read(access)) times_.fetch.emplace(key(i, byte, reading_sort(stage, access)), now_);
        const bool leaves_bytes = is_plain_write(access) && dispatch.is_partial;
        if (leaves_bytes) times_.fetch.emplace(key(i, byte, writing_sort(stage)), now_);
      }
    }
  }

  void commit_all(size_t i) {
    for (const Byte byte : bytes_of(program_)) {
      if (effect_on(program_, program_.dispatches[i], byte) == SplitEffect::kNone) continue;
      times_.commit.emplace(std::pair(i, byte), now_ + 2);
    }
  }

  static std::tuple<size_t, Byte, StageAccess> key(size_t i, Byte byte, StageAccess sort) {
    return {i, byte, sort};
  }

  const Program& program_;
  Times times_;
  uint64_t now_ = 0;
};

// The latest that leads to each event, and the earliest that it holds back.
std::string defect_of_events(const Program& program, const Times& times) {
  const std::vector<SplitEvent> events = split_events_of(program);
  std::vector<uint64_t> after(events.size(), 0);
  for (size_t e = 0; e < events.size(); ++e) {
    const SplitEvent& event = events[e];
    uint64_t before = UINT64_MAX;
    for (size_t r = 0; r < e; ++r) {
      if (leads_on(events[r], event)) after[e] = std::max(after[e], after[r]);
    }
    for (size_t i = 0; i < program.dispatches.size(); ++i) {
      const Stage stage = stage_by_name(program, program.dispatches[i]);
      const bool is_first = program.dispatches[i].statement.index < event.command;
      if (is_first && (event.waits_for & bit_of(stage)) != 0) {
        after[e] = std::max(after[e], times.run[i]);
      }
      if (!is_first && (event.holds_back & bit_of(stage)) != 0) {
        before = std::min(before, times.run[i]);
      }
    }
    for (const auto& [node, time] : times.commit) {
      const Dispatch& dispatch = program.dispatches[node.first];
      const StageAccess sort = writing_sort(stage_by_name(program, dispatch));
      if (dispatch.statement.index < event.command && event.covers(node.second) &&
          (event.makes_available & bit_of(sort)) != 0) {
        after[e] = std::max(after[e], time);
      }
    }
    for (const auto& [node, time] : times.fetch) {
      const auto& [i, byte, sort] = node;
      if (program.dispatches[i].statement.index > event.command && event.covers(byte) &&
          (event.makes_visible & bit_of(sort)) != 0) {
        before = std::min(before, time);
      }
    }
    if (after[e] >= before) {
      return fmt::format("dependency {} cannot stand after time {} and before {}", e, after[e],
                         before);
    }
  }
  return "";
}

using Values = std::map<Byte, uint64_t>;

uint64_t mixed(uint64_t a, uint64_t b) { return splitmix64(splitmix64(a) + b); }

// All nodes in order of time, on values. A row of equal atomics is a sum on top of what was there.
class ValueRun {
 public:
  ValueRun(const Program& program, const Times& times) : program_(program), times_(times) {}

  Values outputs() {
    std::vector<std::tuple<uint64_t, NodeKind, size_t, Byte, StageAccess>> nodes;
    for (const auto& [node, time] : times_.fetch) {
      const auto& [i, byte, sort] = node;
      nodes.emplace_back(time, NodeKind::kFetch, i, byte, sort);
    }
    for (size_t i = 0; i < times_.run.size(); ++i) {
      nodes.emplace_back(times_.run[i], NodeKind::kRun, i, Byte(), StageAccess::kComputeRead);
    }
    for (const auto& [node, time] : times_.commit) {
      nodes.emplace_back(time, NodeKind::kCommit, node.first, node.second,
                         StageAccess::kComputeRead);
    }
    std::sort(nodes.begin(), nodes.end());
    for (const auto& [time, kind, i, byte, sort] : nodes) {
      if (kind == NodeKind::kFetch) fetched_[{i, byte, sort}] = value_of(byte);
      if (kind == NodeKind::kRun) run(i);
      if (kind == NodeKind::kCommit) commit(i, byte);
    }
    Values outputs;
    for (const Byte byte : output_bytes(program_)) outputs[byte] = value_of(byte);
    return outputs;
  }

 private:
  // A base and the sum of the atomics of one operation on top of it.
  struct Cell {
    uint64_t base = 0;
    AtomicOp op = AtomicOp::kNone;
    uint64_t sum = 0;
  };

  uint64_t value_of(Byte byte) {
    const Cell& cell = memory_[byte];
    if (cell.op == AtomicOp::kNone) return cell.base;
    return mixed(mixed(cell.base, static_cast<uint64_t>(cell.op) + 77), cell.sum);
  }

  void run(size_t i) {
    const Dispatch& dispatch = program_.dispatches[i];
    const Stage stage = stage_by_name(program_, dispatch);
    uint64_t digest = mixed(i, 1);
    for (const Access& access : program_.accesses_of(dispatch)) {
      if (!is_read(access)) continue;
      for (uint64_t b = access.range.begin; b < access.range.end; ++b) {
        const Byte byte{access.memory.index, b};
        digest = mixed(digest, fetched_.at({i, byte, reading_sort(stage, access)}));
      }
    }
    digests_[i] = digest;
  }

  void commit(size_t i, Byte byte) {
    const Dispatch& dispatch = program_.dispatches[i];
    const StageAccess sort = writing_sort(stage_by_name(program_, dispatch));
    const uint64_t written = mixed(digests_[i], byte.offset << 8 | byte.memory);
    const uint64_t old_value = value_of(byte);
    Cell& cell = memory_[byte];
    switch (effect_on(program_, dispatch, byte)) {
      case SplitEffect::kNone:
        break;
      case SplitEffect::kOverwrite:
        cell = {written};
        break;
      case SplitEffect::kPartial:
        cell = {mixed(written, fetched_.at({i, byte, sort}))};
        break;
      case SplitEffect::kAtomic:
        if (cell.op != dispatch.atomic_op) cell = {old_value, dispatch.atomic_op, 0};
        cell.sum += written;
        break;
    }
  }

  const Program& program_;
  const Times& times_;
  std::map<Byte, Cell> memory_;
  std::map<std::tuple<size_t, Byte, StageAccess>, uint64_t> fetched_;
  std::map<size_t, uint64_t> digests_;
};

Times times_of(const Program& program, const Schedule& schedule, std::string& defect) {
  ScheduleTimes times(program);
  for (const Step& step : schedule.steps) {
    if (defect.empty()) defect = times.add(schedule, step);
  }
  for (size_t i = 0; defect.empty() && i < program.dispatches.size(); ++i) {
    if (times.times().run[i] == 0) defect = fmt::format("dispatch {} never runs", i);
    for (const Byte byte : bytes_of(program)) {
      const bool writes = effect_on(program, program.dispatches[i], byte) != SplitEffect::kNone;
      if (writes != (times.times().commit.count({i, byte}) > 0)) {
        defect = fmt::format("dispatch {} commits what it does not write, or not all", i);
      }
    }
  }
  return times.times();
}

}  // namespace

std::string defect_of(const Program& program, const Schedule& schedule) {
  std::string defect;
  const Times times = times_of(program, schedule, defect);
  return defect.empty() ? defect_of_events(program, times) : defect;
}

bool changes_an_output(const Program& program, const Schedule& schedule) {
  std::string defect;
  const Times times = times_of(program, schedule, defect);
  const Times in_order = times_of(program, reference_order_schedule(program), defect);
  INTERLOCK_CHECK(defect.empty());
  return ValueRun(program, times).outputs() != ValueRun(program, in_order).outputs();
}

}  // namespace interlock
