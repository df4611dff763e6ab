#include "tests/simulator/judges/host_cache.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "encoder/program/hash.h"
#include "tests/simulator/judges/host_lines.h"

namespace interlock {
namespace {

class HostCacheMachine : HostLines {
 public:
  HostCacheMachine(const Program& program, bool compares_outputs)
      : HostLines(program),
        program_(program),
        compares_outputs_(compares_outputs),
        start_(start()) {
    for (const Semaphore& semaphore : program.semaphores) {
      start_.counters.push_back(semaphore.initial);
    }
    for (size_t t = 0; t < program.statements.size(); ++t) {
      const Statement& statement = program.statements[t];
      if (statement.queue == kNoQueue || sync_at(t, SyncKind::kSubmit) != nullptr) continue;
      queue_.push_back(t);
    }
    run_reference();
  }

  DivergenceVerdict explore(size_t state_max) {
    std::set<HostCacheState> seen = {start_};
    std::vector<HostCacheState> pending = {start_};
    while (!pending.empty()) {
      const HostCacheState from = std::move(pending.back());
      pending.pop_back();
      std::vector<HostCacheState> all = successors(from);
      if (diverges_) return DivergenceVerdict::kSometimes;
      for (HostCacheState& next : all) {
        if (seen.size() >= state_max) return DivergenceVerdict::kTooMany;
        const auto [place, is_new] = seen.insert(std::move(next));
        if (is_new) pending.push_back(*place);
      }
    }
    return DivergenceVerdict::kNever;
  }

 private:
  const SyncStep* sync_at(size_t t, SyncKind kind) const {
    const Statement& statement = program_.statements[t];
    if (statement.kind != StatementKind::kSync) return nullptr;
    const SyncStep& step = program_.syncs[statement.index];
    return step.kind == kind ? &step : nullptr;
  }

  // ---- What the two do.

  // Finds `value` on the byte.
  void find(size_t statement, size_t byte, ByteWriter value) {
    if (is_reference_) {
      expected_[{statement, byte}] = value;
    } else if (compares_outputs_) {
      return;
    } else if (expected_.at({statement, byte}) != value) {
      diverges_ = true;
    }
  }

  // What the statement writes to the byte. `read`: a digest of all that it read.
  ByteWriter value_written(size_t statement, size_t byte, ByteWriter read) const {
    return compares_outputs_ ? mixed(mixed(statement + 1, byte + 1), read) : statement + 1;
  }

  static ByteWriter mixed(ByteWriter digest, ByteWriter value) {
    return scrambled(digest * 31 + scrambled(value + 1));
  }

  void run_on_device(HostCacheState& state, size_t t) {
    const DispatchId id(size_t{program_.statements[t].index});
    const Dispatch& dispatch = program_.dispatch(id);
    ByteWriter read = 0;
    for (const Access& access : program_.accesses_of(id)) {
      for (const size_t byte : bytes_of(access)) {
        const bool is_held =
            state.is_bound_for_device[byte] || state.lines[line_of(byte)] == LineState::kDirty;
        if (is_held && !compares_outputs_) diverges_ = true;
        if (access.reads_plainly() || dispatch.is_partial) find(t, byte, state.at_device[byte]);
        if (access.reads_plainly()) read = mixed(read, state.at_device[byte]);
      }
    }
    for (const Access& access : program_.accesses_of(id)) {
      if (!access.writes_plainly()) continue;
      for (const size_t byte : bytes_of(access)) {
        ByteWriter value = value_written(t, byte, read);
        const bool leaves = compares_outputs_ && dispatch.is_partial;
        if (leaves) value = mixed(value, state.at_device[byte]);
        state.at_device[byte] = value;
        if (is_shared(byte)) continue;
        state.is_bound_for_host[byte] = true;
        state.bound_for_host[byte] = value;
      }
    }
  }

  void pass_dependencies(HostCacheState& state, BarrierKind kind,
                         std::span<const Dependency> dependencies) const {
    const auto pass = [&](const std::set<size_t>& bytes, bool to_host, bool from_host) {
      for (size_t b = 0; b < byte_count(); ++b) {
        if (!bytes.empty() && bytes.count(b) == 0) continue;
        if (to_host) deliver_to_host(state, b);
        if (from_host) deliver_to_device(state, b);
      }
    };
    if (kind == BarrierKind::kFull) pass({}, true, true);
    for (const Dependency& dependency : dependencies) {
      const bool to_host = (dependency.destination.accesses & kOfHost) != 0;
      const bool from_host = (dependency.source.accesses & bit_of(StageAccess::kHostWrite)) != 0;
      pass(bytes_of(program_.operands_of(dependency)), to_host, from_host);
    }
  }

  bool step_device(HostCacheState& state) {
    if (state.device == state.handed) return false;
    const size_t t = queue_[state.device];
    const Statement& statement = program_.statements[t];
    if (const SyncStep* const wait = sync_at(t, SyncKind::kWait)) {
      if (state.counters[wait->semaphore.index] < wait->value) return false;
    }
    if (const SyncStep* const signal = sync_at(t, SyncKind::kSignal)) raise(state, *signal);
    if (statement.kind == StatementKind::kDispatch) run_on_device(state, t);
    if (statement.kind == StatementKind::kBarrier) {
      const Barrier& barrier = program_.barriers[statement.index];
      pass_dependencies(state, barrier.kind, program_.dependencies_of(barrier));
    }
    ++state.device;
    return true;
  }

  void raise(HostCacheState& state, const SyncStep& step) const {
    for (const SignalPart& part : program_.parts_of(step)) {
      uint64_t& counter = state.counters[part.semaphore.index];
      counter = std::max(counter, part.value);
    }
  }

  void hand_over(HostCacheState& state, size_t count) const {
    state.handed = count;
    for (size_t b = 0; b < byte_count(); ++b) deliver_to_device(state, b);
  }

  void run_on_host(HostCacheState& state, size_t t) {
    const DispatchId id(size_t{program_.statements[t].index});
    const bool writes = program_.dispatch(id).host == HostAccess::kWrites;
    const std::set<size_t> own = bytes_of(program_.accesses_of(id));
    for (const size_t byte : with_atoms(own)) {
      if (has_lines(byte)) fill(state, line_of(byte));
      const ByteWriter value = has_lines(byte)   ? state.cached[byte]
                               : is_shared(byte) ? state.at_device[byte]
                                                 : state.at_host[byte];
      const bool is_lost = is_reference_ ? is_lost_[byte] : is_lost_at_.count({t, byte}) > 0;
      if (is_reference_ && is_lost) is_lost_at_.insert({t, byte});
      if (!is_lost || (!writes && own.count(byte) > 0)) find(t, byte, value);
      if (!writes && own.count(byte) > 0) state.host_reads = mixed(state.host_reads, value);
    }
    if (!writes) return;
    for (const size_t byte : own) {
      if (!has_lines(byte)) {
        write_at_host(state, byte, value_written(t, byte, 0));
        continue;
      }
      state.cached[byte] = value_written(t, byte, 0);
      state.lines[line_of(byte)] = LineState::kDirty;
    }
  }

  bool step_host(HostCacheState& state) {
    if (state.host == program_.statements.size()) return false;
    const size_t t = state.host;
    const Statement& statement = program_.statements[t];
    const auto handed_before = [&](size_t end) {
      return static_cast<size_t>(std::ranges::lower_bound(queue_, end) - queue_.begin());
    };
    if (statement.queue != kNoQueue) {
      bool is_submitted_later = false;
      for (size_t s = t; s < program_.statements.size(); ++s) {
        is_submitted_later = is_submitted_later || sync_at(s, SyncKind::kSubmit) != nullptr;
      }
      if (sync_at(t, SyncKind::kSubmit) != nullptr) hand_over(state, handed_before(t));
      if (!is_submitted_later) hand_over(state, handed_before(t + 1));
    } else if (statement.kind == StatementKind::kDispatch) {
      run_on_host(state, t);
    } else if (!pass_on_host(state, program_.syncs[statement.index])) {
      return false;
    }
    ++state.host;
    return true;
  }

  bool pass_on_host(HostCacheState& state, const SyncStep& step) const {
    if (step.kind == SyncKind::kHostWaits) {
      return state.counters[step.semaphore.index] >= step.value;
    }
    if (step.kind == SyncKind::kHostIdle) return state.device == state.handed;
    if (step.kind == SyncKind::kHostSignals) raise(state, step);
    const bool flushes = step.kind == SyncKind::kHostFlushes;
    if (!flushes && step.kind != SyncKind::kHostInvalidates) return true;
    for (const size_t byte : bytes_of(program_.operands_of(step))) {
      if (!has_lines(byte)) continue;
      flushes ? write_back(state, line_of(byte)) : drop(state, line_of(byte));
    }
    return true;
  }

  // ---- The reference run: everything gets everywhere at once.

  void run_reference() {
    is_reference_ = true;
    is_lost_.assign(byte_count(), false);
    is_unflushed_.assign(byte_count(), false);
    HostCacheState state = start_;
    bool goes_on = true;
    while (goes_on) {
      // What stands first in the text among those that may run.
      const size_t host = state.host;
      const size_t device = state.device;
      const size_t next = device < queue_.size() ? queue_[device] : SIZE_MAX;
      goes_on = next < host ? step_device(state) || step_host(state)
                            : step_host(state) || step_device(state);
      if (state.host > host) note(host);
      if (state.device > device) note_device(queue_[device]);
      for (size_t b = 0; b < byte_count(); ++b) {
        write_back(state, line_of(b));
        drop(state, line_of(b));
        deliver_to_host(state, b);
        deliver_to_device(state, b);
      }
    }
    last_ = state.at_device;
    last_host_reads_ = state.host_reads;
    is_reference_ = false;
    diverges_ = false;
  }

  void note(size_t t) {
    const Statement& statement = program_.statements[t];
    if (statement.queue != kNoQueue) return;
    if (statement.kind == StatementKind::kDispatch) {
      const DispatchId id(size_t{statement.index});
      if (program_.dispatch(id).host != HostAccess::kWrites) return;
      for (const size_t byte : bytes_of(program_.accesses_of(id))) {
        is_unflushed_[byte] = has_lines(byte);
        is_lost_[byte] = false;
      }
      return;
    }
    const SyncStep& step = program_.syncs[statement.index];
    const bool invalidates = step.kind == SyncKind::kHostInvalidates;
    if (!invalidates && step.kind != SyncKind::kHostFlushes) return;
    for (const size_t byte : with_atoms(bytes_of(program_.operands_of(step)))) {
      if (invalidates && is_unflushed_[byte]) is_lost_[byte] = true;
      is_unflushed_[byte] = false;
    }
  }

  void note_device(size_t t) {
    if (program_.statements[t].kind != StatementKind::kDispatch) return;
    const DispatchId id(size_t{program_.statements[t].index});
    if (program_.dispatch(id).is_partial) return;
    for (const Access& access : program_.accesses_of(id)) {
      if (!access.writes_plainly()) continue;
      for (const size_t byte : bytes_of(access)) is_lost_[byte] = is_unflushed_[byte] = false;
    }
  }

  // ---- All executions.

  std::vector<HostCacheState> successors(const HostCacheState& from) {
    std::vector<HostCacheState> all;
    const auto add = [&](const auto& change) {
      HostCacheState next = from;
      change(next);
      all.push_back(std::move(next));
    };
    HostCacheState next = from;
    if (step_host(next)) all.push_back(next);
    next = from;
    if (step_device(next)) all.push_back(next);
    for (size_t b = 0; b < byte_count(); ++b) {
      if (from.is_bound_for_host[b]) add([&](HostCacheState& s) { deliver_to_host(s, b); });
      if (from.is_bound_for_device[b]) add([&](HostCacheState& s) { deliver_to_device(s, b); });
      if (line_of(b) != b || !has_lines(b)) continue;
      const LineState line = from.lines[b];
      if (line == LineState::kAbsent) add([&](HostCacheState& s) { fill(s, b); });
      if (line == LineState::kClean) add([&](HostCacheState& s) { drop(s, b); });
      if (line == LineState::kDirty) add([&](HostCacheState& s) { write_back(s, b); });
    }
    expect_end(from);
    return all;
  }

  // Where nothing is under way, and all is over, memory is what the reference leaves.
  void expect_end(const HostCacheState& state) {
    if (state.host < program_.statements.size() || state.device < queue_.size()) return;
    for (size_t b = 0; b < byte_count(); ++b) {
      const bool is_under_way = state.is_bound_for_host[b] || state.is_bound_for_device[b] ||
                                state.lines[b] == LineState::kDirty;
      if (is_under_way) return;
    }
    if (compares_outputs_ && state.host_reads != last_host_reads_) diverges_ = true;
    for (size_t b = 0; b < byte_count(); ++b) {
      if (is_lost_[b]) continue;
      const bool is_one_copy = is_shared(b) || compares_outputs_;
      const bool is_right =
          state.at_device[b] == last_[b] && (is_one_copy || state.at_host[b] == last_[b]);
      if (!is_right) diverges_ = true;
    }
  }

  static constexpr AccessMask kOfHost =
      bit_of(StageAccess::kHostRead) | bit_of(StageAccess::kHostWrite);

  const Program& program_;
  const bool compares_outputs_;
  std::vector<size_t> queue_;  // The statements of q0.
  HostCacheState start_;
  bool is_reference_ = false;
  bool diverges_ = false;
  std::map<std::pair<size_t, size_t>, ByteWriter> expected_;  // By statement and byte.
  std::set<std::pair<size_t, size_t>> is_lost_at_;            // Likewise.
  std::vector<bool> is_lost_;                                 // By byte: at the end.
  std::vector<bool> is_unflushed_;
  std::vector<ByteWriter> last_;
  ByteWriter last_host_reads_ = 0;
};

}  // namespace

DivergenceVerdict find_host_divergence(const Program& program, size_t state_max) {
  return HostCacheMachine(program, false).explore(state_max);
}

DivergenceVerdict find_host_output_divergence(const Program& program, size_t state_max) {
  return HostCacheMachine(program, true).explore(state_max);
}

}  // namespace interlock
