// The basic idea is a depth first search over three kinds of step - run an operation, execute an
// event, commit a pending write - that remembers the states it has been in.
//
// One byte at a time: bytes meet only in what an operation computes from its reads, and the search
// ends at the first wrong read. Until then all values are those of issue order, so a byte's content
// is the list of those who wrote it: each write depends on the content that it replaces.
#include "tests/simulator/judges/cache_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/program/check.h"

namespace interlock {
namespace {

constexpr size_t kOperationsMax = 7;
constexpr size_t kEventsMax = 16;

// Who wrote a byte, in order, as hexadecimal digits (dispatch index plus 1). Atomics of one
// operation that stand side by side are sorted: their order leaves no trace.
using Content = uint64_t;

// A dispatch, as far as it touches one byte.
struct Operation {
  Stage stage = Stage::kCompute;
  AtomicOp atomic_op = AtomicOp::kNone;
  bool writes = false;
  bool is_only_atomic = false;            // It writes the byte by atomics alone.
  std::vector<StageAccess> sorts;         // By which it observes all of the content.
  std::vector<StageAccess> atomic_sorts;  // All but the equal atomics at the end of it.
};

struct Event {
  size_t command = 0;  // Statement index.
  std::string name;
  StageMask waits_for = 0;
  StageMask holds_back = 0;
  AccessMask makes_available = 0;
  AccessMask makes_visible = 0;
  bool covers_byte = false;
};

// One state of one byte. Unused entries are zero, so that equal states compare equal.
struct CacheState {
  uint32_t executed = 0;   // Bit per node: operations, then events.
  uint32_t committed = 0;  // Bit per operation.
  uint32_t content_count = 1;
  std::array<Content, kOperationsMax + 1> contents = {};  // That memory has held, oldest first.
  std::array<uint8_t, kEventsMax> content_at = {};        // By event: the index of the newest then.

  auto operator<=>(const CacheState&) const = default;
};

class ByteMachine {
 public:
  ByteMachine(const Program& program, MemoryId memory, uint64_t byte);

  bool differs() {
    std::vector<std::string> steps;
    return explore(CacheState(), steps);
  }
  const std::string& execution() const { return execution_; }
  uint64_t state_count() const { return visited_.size(); }

 private:
  void add_operation(const Program& program, const Dispatch& dispatch, MemoryId memory,
                     uint64_t byte);
  void add_event(const std::string& name, size_t command, Scope source, Scope destination,
                 bool covers_byte);
  void add_waits();
  bool explore(const CacheState& state, std::vector<std::string>& steps);
  bool runs_into_difference(const CacheState& state, size_t operation) const;
  bool waits_for_commit(const CacheState& state, const Event& event) const;
  bool is_right(Content content, size_t operation, bool is_atomic) const;
  Content content_after(Content content, size_t operation) const;
  Content without_equal_atomics(Content content, AtomicOp op) const;

  size_t node_of_event(size_t event) const { return operations_.size() + event; }

  std::vector<Operation> operations_;   // By dispatch.
  std::vector<size_t> statements_;      // By dispatch: where it stands in issue order.
  std::vector<Event> events_;           // In issue order.
  std::vector<uint32_t> waits_for_;     // By node: the nodes that must have executed.
  std::vector<Content> right_content_;  // By dispatch: before it in issue order; then, at the end.
  std::set<CacheState> visited_;
  std::string execution_;
};

bool touches(const Access& access, MemoryId memory, uint64_t byte) {
  return access.memory == memory && access.range.begin <= byte && byte < access.range.end;
}

ByteMachine::ByteMachine(const Program& program, MemoryId memory, uint64_t byte) {
  for (const Dispatch& dispatch : program.dispatches) {
    add_operation(program, dispatch, memory, byte);
  }
  for (const Barrier& barrier : program.barriers) {
    const size_t command = barrier.statement.index;
    const std::string name = fmt::format("statement {}", command);
    if (barrier.kind == BarrierKind::kFull) {
      add_event(name, command, kEverything, kEverything, true);
    } else if (barrier.kind == BarrierKind::kExecution) {
      add_event(name, command, {kAllStages, 0}, {kAllStages, 0}, true);
    }
    for (const Dependency& dependency : program.dependencies_of(barrier)) {
      bool covers_byte = dependency.operand_count == 0;
      for (const Access& operand : program.operands_of(dependency)) {
        covers_byte = covers_byte || touches(operand, memory, byte);
      }
      add_event(fmt::format("{} {} -> {}", name, text_of(dependency.source),
                            text_of(dependency.destination)),
                command, dependency.source, dependency.destination, covers_byte);
    }
  }
  INTERLOCK_CHECK(operations_.size() <= kOperationsMax && events_.size() <= kEventsMax);
  add_waits();
  Content content = 0;
  for (size_t i = 0; i < operations_.size(); ++i) {
    right_content_.push_back(content);
    if (operations_[i].writes) content = content_after(content, i);
  }
  right_content_.push_back(content);
}

void ByteMachine::add_operation(const Program& program, const Dispatch& dispatch, MemoryId memory,
                                uint64_t byte) {
  Operation operation;
  const std::string_view kernel = program.name(dispatch.kernel_name);
  operation.stage = kernel == "copy" || kernel == "fill" ? Stage::kCopy : Stage::kCompute;
  operation.atomic_op = dispatch.atomic_op;
  operation.is_only_atomic = true;
  for (const Access& access : program.accesses_of(dispatch)) {
    if (!touches(access, memory, byte)) continue;
    const bool is_copy = operation.stage == Stage::kCopy;
    const bool is_atomic = access.mode == AccessMode::kAtomic;
    std::vector<StageAccess>& sorts = is_atomic ? operation.atomic_sorts : operation.sorts;
    if (access.mode == AccessMode::kUniform) sorts.push_back(StageAccess::kComputeUniform);
    if (access.mode == AccessMode::kRead || access.mode == AccessMode::kUpdate || is_atomic) {
      sorts.push_back(is_copy ? StageAccess::kCopyRead : StageAccess::kComputeRead);
    }
    if (access.mode == AccessMode::kWrite || access.mode == AccessMode::kUpdate || is_atomic) {
      sorts.push_back(is_copy ? StageAccess::kCopyWrite : StageAccess::kComputeWrite);
      operation.writes = true;
      operation.is_only_atomic = operation.is_only_atomic && is_atomic;
    }
  }
  operations_.push_back(operation);
  statements_.push_back(dispatch.statement.index);
}

// A stage brings those of its pipeline along: what waits for compute waits for the reading of
// indirect arguments, and what holds that back holds back compute.
void ByteMachine::add_event(const std::string& name, size_t command, Scope source,
                            Scope destination, bool covers_byte) {
  Event event{
      command,    name, source.stages, destination.stages, source.accesses, destination.accesses,
      covers_byte};
  if ((event.waits_for & bit_of(Stage::kCompute)) != 0) event.waits_for |= bit_of(Stage::kIndirect);
  if ((event.holds_back & bit_of(Stage::kIndirect)) != 0) {
    event.holds_back |= bit_of(Stage::kCompute);
  }
  events_.push_back(event);
}

void ByteMachine::add_waits() {
  waits_for_.resize(operations_.size() + events_.size());
  for (size_t e = 0; e < events_.size(); ++e) {
    const Event& event = events_[e];
    const auto node = uint32_t{1} << node_of_event(e);
    for (size_t i = 0; i < operations_.size(); ++i) {
      const StageMask stage = bit_of(operations_[i].stage);
      if (statements_[i] < event.command && (stage & event.waits_for) != 0) {
        waits_for_[node_of_event(e)] |= uint32_t{1} << i;
      }
      if (statements_[i] > event.command && (stage & event.holds_back) != 0) {
        waits_for_[i] |= node;
      }
    }
    for (size_t later = 0; later < events_.size(); ++later) {
      if (event.command < events_[later].command &&
          (event.holds_back & events_[later].waits_for) != 0) {
        waits_for_[node_of_event(later)] |= node;
      }
    }
  }
}

bool ByteMachine::explore(const CacheState& state, std::vector<std::string>& steps) {
  if (!visited_.insert(state).second) return false;
  bool is_finished = true;
  const auto try_step = [&](const CacheState& next, const std::string& step) {
    steps.push_back(step);
    const bool differs = explore(next, steps);
    steps.pop_back();
    return differs;
  };
  for (size_t i = 0; i < operations_.size(); ++i) {
    const auto bit = uint32_t{1} << i;
    CacheState next = state;
    if ((state.executed & bit) == 0) {
      is_finished = false;
      if ((state.executed & waits_for_[i]) != waits_for_[i]) continue;
      if (runs_into_difference(state, i)) {
        execution_ = fmt::format("{}dispatch {} reads a wrong value", fmt::join(steps, ""), i);
        return true;
      }
      next.executed |= bit;
      if (try_step(next, fmt::format("run {}; ", i))) return true;
    } else if (operations_[i].writes && (state.committed & bit) == 0) {
      is_finished = false;
      next.committed |= bit;
      next.contents[next.content_count] = content_after(state.contents[state.content_count - 1], i);
      ++next.content_count;
      if (try_step(next, fmt::format("commit {}; ", i))) return true;
    }
  }
  for (size_t e = 0; e < events_.size(); ++e) {
    const auto bit = uint32_t{1} << node_of_event(e);
    if ((state.executed & bit) != 0) continue;
    is_finished = false;
    const uint32_t waits_for = waits_for_[node_of_event(e)];
    if ((state.executed & waits_for) != waits_for) continue;
    if (waits_for_commit(state, events_[e])) continue;
    CacheState next = state;
    next.executed |= bit;
    next.content_at[e] = static_cast<uint8_t>(state.content_count - 1);
    if (try_step(next, fmt::format("[{}]; ", events_[e].name))) return true;
  }
  if (!is_finished || state.contents[state.content_count - 1] == right_content_.back()) {
    return false;
  }
  execution_ = fmt::format("{}memory ends with a wrong value", fmt::join(steps, ""));
  return true;
}

// Whether the operation, run now, may read what it does not read in issue order.
bool ByteMachine::runs_into_difference(const CacheState& state, size_t operation) const {
  for (const bool is_atomic : {false, true}) {
    for (const StageAccess sort :
         is_atomic ? operations_[operation].atomic_sorts : operations_[operation].sorts) {
      size_t oldest = 0;
      for (size_t e = 0; e < events_.size(); ++e) {
        if (statements_[operation] > events_[e].command && events_[e].covers_byte &&
            (events_[e].makes_visible & bit_of(sort)) != 0) {
          oldest = std::max<size_t>(oldest, state.content_at[e]);
        }
      }
      for (size_t k = oldest; k < state.content_count; ++k) {
        if (!is_right(state.contents[k], operation, is_atomic)) return true;
      }
    }
  }
  return false;
}

// An event does not execute before what it makes available has been committed.
bool ByteMachine::waits_for_commit(const CacheState& state, const Event& event) const {
  for (size_t i = 0; i < operations_.size(); ++i) {
    const StageAccess sort =
        operations_[i].stage == Stage::kCopy ? StageAccess::kCopyWrite : StageAccess::kComputeWrite;
    if (statements_[i] < event.command && operations_[i].writes && event.covers_byte &&
        (event.makes_available & bit_of(sort)) != 0 && (state.committed >> i & 1) == 0) {
      return true;
    }
  }
  return false;
}

bool ByteMachine::is_right(Content content, size_t operation, bool is_atomic) const {
  const Content right = right_content_[operation];
  if (!is_atomic) return content == right;
  const AtomicOp op = operations_[operation].atomic_op;
  return without_equal_atomics(content, op) == without_equal_atomics(right, op);
}

Content ByteMachine::content_after(Content content, size_t operation) const {
  const Content digit = operation + 1;
  const Operation& writer = operations_[operation];
  const Content last = content & 15;
  if (last != 0 && last > digit && writer.is_only_atomic && operations_[last - 1].is_only_atomic &&
      operations_[last - 1].atomic_op == writer.atomic_op) {
    return content_after(content >> 4, operation) << 4 | last;
  }
  return content << 4 | digit;
}

Content ByteMachine::without_equal_atomics(Content content, AtomicOp op) const {
  while (content != 0 && operations_[(content & 15) - 1].is_only_atomic &&
         operations_[(content & 15) - 1].atomic_op == op) {
    content >>= 4;
  }
  return content;
}

bool is_touched(const Program& program, MemoryId memory, uint64_t byte) {
  for (const Access& access : program.accesses) {
    if (touches(access, memory, byte)) return true;
  }
  return false;
}

}  // namespace

CacheVerdict execute_in_every_way(const Program& program) {
  CacheVerdict verdict;
  for (size_t m = 0; m < program.memories.size(); ++m) {
    for (uint64_t byte = 0; byte < program.memories[m].size_bytes; ++byte) {
      if (!is_touched(program, MemoryId(m), byte)) continue;
      ByteMachine machine(program, MemoryId(m), byte);
      verdict.differs = machine.differs();
      verdict.state_count += machine.state_count();
      if (verdict.differs) {
        verdict.execution =
            fmt::format("Byte {} of {}: {}.", byte, program.name(program.memories[m].name),
                        machine.execution());
        return verdict;
      }
    }
  }
  return verdict;
}

}  // namespace interlock
