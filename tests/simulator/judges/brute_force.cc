// Depth first over "run a dispatch" and "commit a dispatch": an ordinary run is a run whose commit
// comes next, so no third kind of step is needed. States are copied, not undone.
#include "tests/simulator/judges/brute_force.h"

#include <set>
#include <vector>

namespace interlock {
namespace {

uint64_t hash(uint64_t a, uint64_t b) {  // FNV-1a, eight bytes of each.
  uint64_t h = 14695981039346656037u;
  for (const uint64_t word : {a, b}) {
    for (int i = 0; i < 8; ++i) h = (h ^ ((word >> (8 * i)) & 255)) * 1099511628211u;
  }
  return h;
}

// A byte remembers the atomics since its last other write as a sum, which forgets their order.
struct Byte {
  uint64_t base = 0;
  uint64_t operation = 0;
  uint64_t sum = 0;

  uint64_t value() const { return hash(hash(base, operation), sum); }
};

struct State {
  std::vector<std::vector<Byte>> memories;
  std::vector<uint64_t> digests;  // By dispatch: what it has read.
  // By dispatch, if it is partial: memory at its run, when it finds what it leaves in place.
  std::vector<std::vector<std::vector<Byte>>> found;
  std::vector<bool> has_run;
  std::vector<bool> has_committed;
};

class Machine {
 public:
  Machine(const Program& program, bool is_strict) : program_(program), is_strict_(is_strict) {
    uint32_t execution = 0;
    uint32_t memory = 0;
    for (const Statement& statement : program.statements) {
      if (statement.kind == StatementKind::kDispatch) {
        execution_epoch_.push_back(execution);
        memory_epoch_.push_back(memory);
        continue;
      }
      ++execution;
      if (program.barriers[statement.index].kind == BarrierKind::kFull) ++memory;
    }
  }

  bool some_schedule_differs() {
    reference_ = execute_in_issue_order();
    explore(initial());
    return differs_;
  }
  bool differs(const Schedule& schedule) const {
    return execute(schedule) != execute_in_issue_order();
  }
  uint64_t schedule_count() const { return schedule_count_; }

 private:
  State initial() const;
  std::vector<uint64_t> execute_in_issue_order() const;
  std::vector<uint64_t> execute(const Schedule& schedule) const;
  void explore(const State& state);
  bool may_run(const State& state, size_t dispatch) const;
  void run(State& state, size_t dispatch) const;
  void commit(State& state, size_t dispatch) const;
  std::vector<uint64_t> result_of(const State& state) const;
  bool is_live(size_t memory, uint64_t offset) const;

  const Program& program_;
  bool is_strict_;
  std::vector<uint32_t> execution_epoch_;
  std::vector<uint32_t> memory_epoch_;
  std::vector<uint64_t> reference_;
  bool differs_ = false;
  uint64_t schedule_count_ = 0;
};

State Machine::initial() const {
  State state;
  for (size_t m = 0; m < program_.memories.size(); ++m) {
    state.memories.emplace_back(program_.memories[m].size_bytes);
    for (size_t i = 0; i < state.memories[m].size(); ++i) state.memories[m][i].base = hash(m, i);
  }
  state.digests.resize(program_.dispatches.size());
  state.found.resize(program_.dispatches.size());
  state.has_run.resize(program_.dispatches.size());
  state.has_committed.resize(program_.dispatches.size());
  return state;
}

std::vector<uint64_t> Machine::execute_in_issue_order() const {
  State state = initial();
  for (size_t d = 0; d < program_.dispatches.size(); ++d) {
    run(state, d);
    commit(state, d);
  }
  return result_of(state);
}

std::vector<uint64_t> Machine::execute(const Schedule& schedule) const {
  State state = initial();
  for (const Step& step : schedule.steps) {
    if (step.kind != StepKind::kCommit) run(state, step.dispatch.index);
    if (step.kind != StepKind::kRunLate) commit(state, step.dispatch.index);
  }
  return result_of(state);
}

void Machine::explore(const State& state) {
  bool is_finished = true;
  for (size_t d = 0; d < program_.dispatches.size() && !differs_; ++d) {
    if (state.has_committed[d]) continue;
    is_finished = false;
    if (!state.has_run[d] && !may_run(state, d)) continue;
    State next = state;
    if (state.has_run[d]) {
      commit(next, d);
    } else {
      run(next, d);
    }
    explore(next);
  }
  if (!is_finished || differs_) return;
  ++schedule_count_;
  differs_ = result_of(state) != reference_;
}

bool Machine::may_run(const State& state, size_t dispatch) const {
  for (size_t other = 0; other < dispatch; ++other) {
    if (execution_epoch_[other] < execution_epoch_[dispatch] && !state.has_run[other]) return false;
    if (memory_epoch_[other] < memory_epoch_[dispatch] && !state.has_committed[other]) return false;
  }
  return true;
}

void Machine::run(State& state, size_t dispatch) const {
  uint64_t digest = dispatch;
  for (const Access& access : program_.accesses_of(DispatchId(dispatch))) {
    if (access.mode == AccessMode::kWrite || access.mode == AccessMode::kAtomic) continue;
    for (uint64_t i = access.range.begin; i < access.range.end; ++i) {
      digest = hash(digest, state.memories[access.memory.index][i].value());
    }
  }
  state.digests[dispatch] = digest;
  if (program_.dispatches[dispatch].is_partial) state.found[dispatch] = state.memories;
  state.has_run[dispatch] = true;
}

void Machine::commit(State& state, size_t dispatch) const {
  const Dispatch& d = program_.dispatches[dispatch];
  uint64_t written = hash(state.digests[dispatch], dispatch);
  std::set<const Byte*> is_written;  // By an operand before.
  for (const Access& access : program_.accesses_of(d)) {
    if (access.mode == AccessMode::kRead || access.mode == AccessMode::kUniform) continue;
    for (uint64_t i = access.range.begin; i < access.range.end; ++i) {
      written = hash(written, i);
      Byte& byte = state.memories[access.memory.index][i];
      if (access.mode == AccessMode::kAtomic) {
        const auto operation = static_cast<uint64_t>(d.atomic_op);
        if (byte.operation != operation) byte = {byte.value(), operation, 0};
        byte.sum += written;
      } else {
        const bool keeps_old = is_strict_ || d.is_partial;
        const bool is_first = d.is_partial && !is_written.contains(&byte);
        const Byte& old = is_first ? state.found[dispatch][access.memory.index][i] : byte;
        byte = {keeps_old ? hash(written, old.value()) : written, 0, 0};
      }
      is_written.insert(&byte);
    }
  }
  state.has_committed[dispatch] = true;
}

std::vector<uint64_t> Machine::result_of(const State& state) const {
  std::vector<uint64_t> result;
  if (is_strict_) result = state.digests;
  for (size_t m = 0; m < state.memories.size(); ++m) {
    for (uint64_t i = 0; i < state.memories[m].size(); ++i) {
      if (is_strict_ || is_live(m, i)) result.push_back(state.memories[m][i].value());
    }
  }
  return result;
}

bool Machine::is_live(size_t memory, uint64_t offset) const {
  if (program_.outputs.empty()) return true;
  for (const TensorId id : program_.outputs) {
    const Tensor& tensor = program_.tensor(id);
    if (tensor.memory.index == memory && tensor.range.begin <= offset &&
        offset < tensor.range.end) {
      return true;
    }
  }
  return false;
}

}  // namespace

BruteForceVerdict brute_force(const Program& program) {
  Machine strict(program, true);
  Machine observable(program, false);
  BruteForceVerdict verdict;
  verdict.differs_strictly = strict.some_schedule_differs();
  verdict.differs_observably = observable.some_schedule_differs();
  verdict.schedule_count = strict.schedule_count() + observable.schedule_count();
  return verdict;
}

bool differs_by_brute_force(const Program& program, const Schedule& schedule, bool is_strict) {
  return Machine(program, is_strict).differs(schedule);
}

}  // namespace interlock
