#include "tests/simulator/judges/value_ledger.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/scope.h"
#include "tests/simulator/judges/byte_record.h"
#include "tests/simulator/judges/byte_sources.h"

namespace interlock {
namespace {

class Ledger {
 public:
  explicit Ledger(const Program& program)
      : program_(program),
        memories_(initial_memories(program)),
        written_(memories_),
        pins_(program.tensors.size(), 0),
        accesses_(program.memories.size()) {
    for (size_t m = 0; m < program.memories.size(); ++m) {
      accesses_[m].resize(program.memories[m].size_bytes);
    }
  }

  void run() {
    for (const Statement& statement : program_.statements) {
      if (statement.kind == StatementKind::kDispatch) dispatch(DispatchId(statement.index));
      if (statement.kind == StatementKind::kLifetime) lifetime(LifetimeId(statement.index));
    }
    for (const TensorId output : program_.outputs) {
      const Tensor& tensor = program_.tensor(output);
      for (uint64_t b = tensor.range.begin; b < tensor.range.end; ++b) {
        const LifetimeFinding finding =
            judge(found_by(DispatchId(), tensor.memory, b), AccessRef{}, tensor.root);
        if (finding.kind != FindingKind::kUninitialized) note(finding, tensor.memory, b);
      }
    }
  }

  // In the order of the text.
  void run_as_issued() {
    std::vector<Statement> statements(program_.statements.size());
    for (uint32_t i = 0; i < statements.size(); ++i) {
      statements[issued_at(StatementId(size_t{i}))] = program_.statements[i];
    }
    for (const Statement& statement : statements) {
      if (statement.kind == StatementKind::kDispatch) write(DispatchId(size_t{statement.index}));
      if (statement.kind == StatementKind::kLifetime) lifetime(LifetimeId(statement.index));
    }
  }

  std::set<IssuedByte> destroyed_by_host() const {
    std::set<IssuedByte> bytes = destroyed_;
    std::erase_if(bytes, [&](const IssuedByte& byte) {
      const StatementId at = program_.lifetimes[std::get<1>(byte).index].statement;
      return program_.statements[at.index].queue != kNoQueue;
    });
    return bytes;
  }

  const std::set<PendingByte>& pending() const { return pending_; }

  std::vector<LifetimeFinding> findings() const {
    std::vector<LifetimeFinding> findings;
    for (const auto& entry : bytes_of_) {
      LifetimeFinding finding = entry.second.first;
      const std::vector<uint64_t>& bytes = entry.second.second;  // In the order they were found.
      finding.bytes = {bytes[0], bytes[0] + 1};
      for (size_t i = 1; i < bytes.size() && bytes[i] == finding.bytes.end; ++i)
        ++finding.bytes.end;
      findings.push_back(finding);
    }
    return findings;
  }

 private:
  void note(LifetimeFinding finding, MemoryId memory, uint64_t byte) {
    if (finding.kind == FindingKind::kDivergence) return;
    finding.memory = memory;
    const auto key = std::tuple(finding.reader, finding.tensor, finding.kind, finding.overwriter,
                                finding.found, finding.ended_by, finding.ended_at);
    auto& entry = bytes_of_[key];
    if (entry.second.empty()) entry.first = finding;
    entry.second.push_back(byte);
  }

  void dispatch(DispatchId id) {
    const auto accesses = program_.accesses_of(id);
    const bool is_transition = program_.dispatch(id).is_transition();
    for (uint32_t k = 0; k < accesses.size(); ++k) {
      const Access& access = accesses[k];
      if (access.mode == AccessMode::kWrite || is_transition) continue;
      for (uint64_t b = access.range.begin; b < access.range.end; ++b) {
        note(judge(found_by(id, access.memory, b), {id, k}, root_of(program_, access)),
             access.memory, b);
      }
    }
    write(id);
  }

  void write(DispatchId id) {
    const auto accesses = program_.accesses_of(id);
    const bool is_transition = program_.dispatch(id).is_transition();
    for (uint32_t k = 0; k < accesses.size(); ++k) {
      const Access& access = accesses[k];
      for (uint64_t b = access.range.begin; b < access.range.end; ++b) {
        accesses_[access.memory.index][b].push_back({id, k});
        if (access.only_reads()) continue;
        if (is_transition) {
          // Kept, or as if nobody had written.
          if (access.mode != AccessMode::kWrite) continue;
          memories_[access.memory.index][b] = written_[access.memory.index][b] = Record{};
          written_[access.memory.index][b].changer = id;
          continue;
        }
        Record record;
        record.is_written = true;
        record.owner = root_of(program_, access);
        record.is_raw = !record.owner.is_some();
        if (!record.is_raw) record.holders = {record.owner};
        record.writer = record.is_raw ? AccessRef{} : AccessRef{id, k};
        record.changer = id;
        memories_[access.memory.index][b] = written_[access.memory.index][b] = record;
      }
    }
  }

  uint32_t issued_at(StatementId statement) const {
    return program_.text_order ? program_.text_order->statements[statement.index] : statement.index;
  }

  // What the reader, or the end, finds in the byte: the value that was written there, and of the
  // statements since those that are between the two as the host issues them, or in their queue.
  Record found_by(DispatchId reader, MemoryId memory, uint64_t byte) {
    if (!program_.text_order) return memories_[memory.index][byte];
    const StatementId end = reader.is_some() ? program_.dispatch(reader).statement
                                             : StatementId(program_.statements.size());
    const Record now = memories_[memory.index][byte];
    const std::vector<uint32_t> pins_now = pins_;
    const DispatchId writer = written_[memory.index][byte].changer;
    memories_[memory.index][byte] = written_[memory.index][byte];
    std::fill(pins_.begin(), pins_.end(), 0);
    is_looking_back_ = true;
    for (size_t i = 0; i < program_.lifetimes.size(); ++i) {
      const Lifetime& lifetime = program_.lifetimes[i];
      const StatementId at = lifetime.statement;
      if (at > end) break;
      count_pin(lifetime);
      const bool is_of_host = program_.statements[at.index].queue == kNoQueue;
      const auto is_after = [&](DispatchId dispatch) {
        const StatementId other = program_.dispatch(dispatch).statement;
        return is_of_host ? issued_at(at) > issued_at(other) : at > other;
      };
      if (writer.is_some() && !is_after(writer)) continue;
      if (reader.is_some() && is_after(reader)) continue;
      const ByteRange range = bytes_of(lifetime);
      if (lifetime.memory == memory && range.begin <= byte && byte < range.end) {
        apply(LifetimeId(i), lifetime, byte);
      }
    }
    is_looking_back_ = false;
    pins_ = pins_now;
    return std::exchange(memories_[memory.index][byte], now);
  }

  bool is_pinned(const Record& record) const {
    return std::any_of(record.holders.begin(), record.holders.end(),
                       [&](TensorId holder) { return pins_[holder.index] > 0; });
  }

  void count_pin(const Lifetime& lifetime) {
    if (lifetime.kind == LifetimeKind::kPin) ++pins_[lifetime.tensor.index];
    if (lifetime.kind == LifetimeKind::kUnpin) --pins_[lifetime.tensor.index];
  }

  ByteRange bytes_of(const Lifetime& lifetime) const {
    const bool is_reset = lifetime.kind == LifetimeKind::kReset;
    return is_reset ? ByteRange{0, program_.memory(lifetime.memory).size_bytes}
                    : program_.tensor(lifetime.tensor).range;
  }

  void lifetime(LifetimeId id) {
    const Lifetime& lifetime = program_.lifetimes[id.index];
    count_pin(lifetime);
    const ByteRange range = bytes_of(lifetime);
    for (uint64_t b = range.begin; b < range.end; ++b) apply(id, lifetime, b);
  }

  // Whether no barrier between the access and the statement covers the stage of the access.
  bool is_pending(AccessRef access, LifetimeId id) const {
    const Dispatch& dispatch = program_.dispatch(access.dispatch);
    const StageMask stage = bit_of(stage_of(dispatch));
    for (uint32_t s = dispatch.statement.index; s < program_.lifetimes[id.index].statement.index;
         ++s) {
      if (program_.statements[s].kind != StatementKind::kBarrier) continue;
      const Barrier& barrier = program_.barriers[program_.statements[s].index];
      if (barrier.kind != BarrierKind::kScoped) return false;
      for (const Dependency& part : program_.dependencies_of(barrier)) {
        if ((part.source.stages & stage) != 0) return false;
      }
    }
    return true;
  }

  // Of each stage the latest access, if it is pending when `at` carries out the destroy.
  void note_pending(LifetimeId destroy, LifetimeId at, MemoryId memory, uint64_t byte) {
    if (is_looking_back_) return;
    destroyed_.emplace(destroy, at, memory, byte);
    for (const Stage stage : kStages) {
      AccessRef latest;
      for (const AccessRef access : accesses_[memory.index][byte]) {
        if (stage_of(program_.dispatch(access.dispatch)) != stage) continue;
        latest = access;
        if (is_pending(access, at)) pending_.emplace(access, destroy, at, memory, byte);
      }
      if (!latest.dispatch.is_some() || !is_pending(latest, at)) continue;
      LifetimeFinding finding;
      finding.kind = FindingKind::kUseAfterFree;
      finding.reader = latest;
      finding.ended_by = destroy;
      finding.ended_at = at;
      finding.is_pending = true;
      note(finding, memory, byte);
    }
  }

  bool is_destroy(LifetimeId id) const {
    return program_.lifetimes[id.index].kind == LifetimeKind::kDestroy;
  }

  void apply(LifetimeId id, const Lifetime& lifetime, uint64_t byte) {
    Record& record = memories_[lifetime.memory.index][byte];
    const bool is_live = record.is_written && !record.ended_at.is_some();
    switch (lifetime.kind) {
      case LifetimeKind::kReset:
        if (is_live) record.waiting.emplace_back(id, TensorId());
        break;
      case LifetimeKind::kFree:
      case LifetimeKind::kDestroy: {
        // Where it is pinned, it waits; once for the end of the value, once for the bytes.
        const bool is_said =
            std::any_of(record.waiting.begin(), record.waiting.end(), [&](const auto& waiting) {
              return waiting.second == lifetime.tensor &&
                     (!is_destroy(id) || is_destroy(waiting.first));
            });
        const bool is_held = is_live && holds(record, lifetime.tensor);
        if (is_held && !is_said) record.waiting.emplace_back(id, lifetime.tensor);
        if (!is_held && is_destroy(id)) note_pending(id, id, lifetime.memory, byte);
        break;
      }
      case LifetimeKind::kAdopt:
        adopt(lifetime, record);
        break;
      case LifetimeKind::kPin:
      case LifetimeKind::kUnpin:
        break;
    }
    carry_out(id, lifetime.memory, byte);
  }

  void adopt(const Lifetime& lifetime, Record& record) {
    if (record.ended_at.is_some() || !holds(record, lifetime.source)) return;
    // What the adopter has let go of it takes hold of again.
    std::erase_if(record.waiting,
                  [&](const auto& waiting) { return waiting.second == lifetime.tensor; });
    if (holds(record, lifetime.tensor)) return;
    record.holders.push_back(lifetime.tensor);
    record.owner = lifetime.tensor;
  }

  // Does what no pin keeps from being done, first what was said first.
  void carry_out(LifetimeId at, MemoryId memory, uint64_t byte) {
    Record& record = memories_[memory.index][byte];
    const bool has_pin = is_pinned(record);
    std::vector<std::pair<LifetimeId, TensorId>> still_waiting;
    for (const auto& [id, holder] : record.waiting) {
      if (holder.is_some() ? pins_[holder.index] > 0 : has_pin) {
        still_waiting.emplace_back(id, holder);
        continue;
      }
      if (is_destroy(id)) note_pending(id, at, memory, byte);
      if (record.ended_at.is_some()) continue;
      if (holder.is_some()) std::erase(record.holders, holder);
      if (!record.holders.empty()) record.owner = record.holders.back();
      if (holder.is_some() && !record.holders.empty()) continue;
      record.ended_by = id;
      record.ended_at = at;
    }
    record.waiting = still_waiting;
  }

  using Key =
      std::tuple<AccessRef, TensorId, FindingKind, AccessRef, TensorId, LifetimeId, LifetimeId>;
  const Program& program_;
  Memories memories_;
  Memories written_;  // As it was left by who changed it last.
  std::vector<uint32_t> pins_;
  bool is_looking_back_ = false;
  std::vector<std::vector<std::vector<AccessRef>>> accesses_;  // By memory and byte, all of them.
  std::map<Key, std::pair<LifetimeFinding, std::vector<uint64_t>>> bytes_of_;
  std::set<PendingByte> pending_;
  std::set<IssuedByte> destroyed_;
};

// The statement that ends each value in issue order, by (memory, byte, writer).
class Ends {
 public:
  explicit Ends(const Program& program) : program_(program) {}

  // Whether the value that `writer` left in the byte is gone for what is issued at `reader`: a
  // ledger of the program up to the reader, with a raw probe of that byte.
  bool is_ended(DispatchId reader, MemoryId memory, uint64_t byte, AccessRef writer) {
    const auto key = std::tuple(reader, memory, byte, writer);
    const auto known = known_.find(key);
    if (known != known_.end()) return known->second;
    Program probe = program_;
    probe.outputs.clear();
    probe.statements.resize(program_.dispatch(reader).statement.index);
    // Writes after the writer are left out: only ends may change its value.
    for (size_t d = 0; d < probe.dispatches.size(); ++d) {
      const bool is_later = !writer.dispatch.is_some() || d > writer.dispatch.index;
      if (is_later) probe.dispatches[d].access_count = 0;
    }
    probe.dispatches.push_back({});
    probe.dispatches.back().first_access = static_cast<uint32_t>(probe.accesses.size());
    probe.dispatches.back().access_count = 1;
    Access access;
    access.memory = memory;
    access.range = {byte, byte + 1};
    probe.accesses.push_back(access);
    probe.statements.push_back({.kind = StatementKind::kDispatch,
                                .index = static_cast<uint32_t>(probe.dispatches.size() - 1)});
    bool is_gone = false;
    for (const LifetimeFinding& finding : findings_by_ledger(probe)) {
      is_gone |= finding.reader.dispatch.index == probe.dispatches.size() - 1;
    }
    return known_[key] = is_gone;
  }

 private:
  const Program& program_;
  std::map<std::tuple<DispatchId, MemoryId, uint64_t, AccessRef>, bool> known_;
};

}  // namespace

std::vector<LifetimeFinding> findings_by_ledger(const Program& program) {
  Ledger ledger(program);
  ledger.run();
  return ledger.findings();
}

std::set<PendingByte> pending_by_ledger(const Program& program) {
  Ledger ledger(program);
  ledger.run();
  return ledger.pending();
}

std::set<IssuedByte> issued_destroys_by_ledger(const Program& program) {
  Ledger ledger(program);
  ledger.run_as_issued();
  return ledger.destroyed_by_host();
}

bool goes_wrong_in_some_schedule(const Program& program) {
  Ends ends(program);
  const Memories initial = initial_memories(program);
  return any_source(
      program, [&](DispatchId reader, const Access& access, uint64_t byte, AccessRef writer) {
        Record record = initial[access.memory.index][byte];
        if (writer.dispatch.is_some()) {
          const Access& write = program.accesses_of(writer.dispatch)[writer.access];
          record = {};
          record.is_written = true;
          record.owner = root_of(program, write);
          record.is_raw = !record.owner.is_some();
          if (!record.is_raw) record.holders = {record.owner};
          record.writer = writer;
        }
        const bool is_wrong =
            judge(record, {reader, 0}, root_of(program, access)).kind != FindingKind::kDivergence;
        return is_wrong || ends.is_ended(reader, access.memory, byte, writer);
      });
}

bool can_find(const Program& program, DispatchId reader, DispatchId writer, MemoryId memory,
              ByteRange bytes) {
  return any_source(program,
                    [&](DispatchId who, const Access& access, uint64_t byte, AccessRef found) {
                      return who == reader && found.dispatch == writer && access.memory == memory &&
                             bytes.begin <= byte && byte < bytes.end;
                    });
}

}  // namespace interlock
