#include "tests/simulator/value_ledger.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>

namespace interlock {
namespace {

// What one byte holds.
struct Record {
  bool is_written = false;        // By a dispatch, or an initial value.
  bool is_raw = false;            // Through no tensor.
  AccessRef writer;               // No dispatch: an initial value.
  std::vector<TensorId> holders;  // The owner last.
  TensorId owner;                 // Stays when the last holder lets go.
  LifetimeId ended_by;
  LifetimeId ended_at;
};

using Memories = std::vector<std::vector<Record>>;

Memories initial_memories(const Program& program) {
  Memories memories;
  for (const Memory& memory : program.memories) memories.emplace_back(memory.size_bytes);
  for (size_t i = 0; i < program.tensors.size(); ++i) {
    const Tensor& tensor = program.tensors[i];
    if (tensor.initial.kind == InitialKind::kNone) continue;
    for (uint64_t b = tensor.range.begin; b < tensor.range.end; ++b) {
      Record& record = memories[tensor.memory.index][b];
      record.is_written = true;
      record.holders = {TensorId(i)};
      record.owner = TensorId(i);
    }
  }
  return memories;
}

TensorId root_of(const Program& program, const Access& access) {
  return access.tensor.is_some() ? program.tensor(access.tensor).root : TensorId();
}

bool holds(const Record& record, TensorId tensor) {
  return std::find(record.holders.begin(), record.holders.end(), tensor) != record.holders.end();
}

// The finding of one byte, without its bytes; kDivergence if all is well.
LifetimeFinding judge(const Record& record, AccessRef reader, TensorId root) {
  LifetimeFinding finding;
  finding.kind = FindingKind::kDivergence;
  finding.reader = reader;
  finding.tensor = root;
  finding.found = record.owner;
  if (record.ended_at.is_some()) {
    finding.kind = FindingKind::kUseAfterFree;
    finding.ended_by = record.ended_by;
    finding.ended_at = record.ended_at;
  } else if (!root.is_some() || record.is_raw) {
  } else if (!record.is_written) {
    finding.kind = FindingKind::kUninitialized;
  } else if (!holds(record, root)) {
    finding.kind =
        record.writer.dispatch.is_some() ? FindingKind::kClobber : FindingKind::kUninitialized;
    finding.overwriter = record.writer;
  }
  return finding;
}

class Ledger {
 public:
  explicit Ledger(const Program& program)
      : program_(program),
        memories_(initial_memories(program)),
        pins_(program.tensors.size(), 0),
        last_access_(program.memories.size()) {
    for (size_t m = 0; m < program.memories.size(); ++m) {
      last_access_[m].resize(program.memories[m].size_bytes);
    }
  }

  void run() {
    for (const Statement& statement : program_.statements) {
      if (statement.kind == StatementKind::kBarrier) first_pending_ = next_dispatch_;
      if (statement.kind == StatementKind::kDispatch) dispatch(DispatchId(statement.index));
      if (statement.kind == StatementKind::kLifetime) lifetime(LifetimeId(statement.index));
    }
    for (const TensorId output : program_.outputs) {
      const Tensor& tensor = program_.tensor(output);
      for (uint64_t b = tensor.range.begin; b < tensor.range.end; ++b) {
        const LifetimeFinding finding =
            judge(memories_[tensor.memory.index][b], AccessRef{}, tensor.root);
        if (finding.kind != FindingKind::kUninitialized) note(finding, tensor.memory, b);
      }
    }
  }

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
                                finding.found, finding.ended_by);
    auto& entry = bytes_of_[key];
    if (entry.second.empty()) entry.first = finding;
    entry.second.push_back(byte);
  }

  void dispatch(DispatchId id) {
    const auto accesses = program_.accesses_of(id);
    for (uint32_t k = 0; k < accesses.size(); ++k) {
      const Access& access = accesses[k];
      if (access.mode == AccessMode::kWrite) continue;
      for (uint64_t b = access.range.begin; b < access.range.end; ++b) {
        note(judge(memories_[access.memory.index][b], {id, k}, root_of(program_, access)),
             access.memory, b);
      }
    }
    for (uint32_t k = 0; k < accesses.size(); ++k) {
      const Access& access = accesses[k];
      for (uint64_t b = access.range.begin; b < access.range.end; ++b) {
        last_access_[access.memory.index][b] = {id, k};
        if (access.only_reads()) continue;
        Record record;
        record.is_written = true;
        record.owner = root_of(program_, access);
        record.is_raw = !record.owner.is_some();
        if (!record.is_raw) record.holders = {record.owner};
        record.writer = record.is_raw ? AccessRef{} : AccessRef{id, k};
        memories_[access.memory.index][b] = record;
      }
    }
    next_dispatch_ = id.index + 1;
  }

  bool is_pinned(const Record& record) const {
    return std::any_of(record.holders.begin(), record.holders.end(),
                       [&](TensorId holder) { return pins_[holder.index] > 0; });
  }

  void end(Record& record, LifetimeId id) {
    if (!record.is_written || record.ended_by.is_some()) return;
    record.ended_by = id;
    if (!is_pinned(record)) record.ended_at = id;
  }

  void lifetime(LifetimeId id) {
    const Lifetime& lifetime = program_.lifetimes[id.index];
    if (lifetime.kind == LifetimeKind::kPin) ++pins_[lifetime.tensor.index];
    if (lifetime.kind == LifetimeKind::kUnpin) --pins_[lifetime.tensor.index];
    const bool is_reset = lifetime.kind == LifetimeKind::kReset;
    const ByteRange range = is_reset ? ByteRange{0, program_.memory(lifetime.memory).size_bytes}
                                     : program_.tensor(lifetime.tensor).range;
    for (uint64_t b = range.begin; b < range.end; ++b) {
      if (lifetime.kind == LifetimeKind::kDestroy) note_pending(id, lifetime.memory, b);
      apply(id, lifetime, memories_[lifetime.memory.index][b]);
    }
  }

  void note_pending(LifetimeId id, MemoryId memory, uint64_t byte) {
    const AccessRef last = last_access_[memory.index][byte];
    if (!last.dispatch.is_some() || last.dispatch.index < first_pending_) return;
    LifetimeFinding finding;
    finding.kind = FindingKind::kUseAfterFree;
    finding.reader = last;
    finding.ended_by = id;
    finding.ended_at = id;
    finding.is_pending = true;
    note(finding, memory, byte);
  }

  void apply(LifetimeId id, const Lifetime& lifetime, Record& record) {
    if (record.ended_at.is_some()) return;
    switch (lifetime.kind) {
      case LifetimeKind::kReset:
        return end(record, id);
      case LifetimeKind::kFree:
      case LifetimeKind::kDestroy:
        if (!holds(record, lifetime.tensor)) return;
        if (record.holders.size() == 1) return end(record, id);
        record.holders.erase(
            std::find(record.holders.begin(), record.holders.end(), lifetime.tensor));
        record.owner = record.holders.back();
        return;
      case LifetimeKind::kUnpin:
        if (!record.ended_by.is_some() || !holds(record, lifetime.tensor) || is_pinned(record)) {
          return;
        }
        record.ended_at = id;
        return;
      case LifetimeKind::kAdopt:
        if (record.holders.empty() || record.owner != lifetime.source) return;
        record.holders = {lifetime.source, lifetime.tensor};
        record.owner = lifetime.tensor;
        return;
      case LifetimeKind::kPin:
        return;
    }
  }

  using Key = std::tuple<AccessRef, TensorId, FindingKind, AccessRef, TensorId, LifetimeId>;
  const Program& program_;
  Memories memories_;
  std::vector<uint32_t> pins_;
  std::vector<std::vector<AccessRef>> last_access_;
  uint32_t first_pending_ = 0;
  uint32_t next_dispatch_ = 0;
  std::map<Key, std::pair<LifetimeFinding, std::vector<uint64_t>>> bytes_of_;
};

// By memory and byte: who wrote it last; no dispatch: nobody.
using Writers = std::vector<std::vector<AccessRef>>;

// Calls visit(reader, access, byte, writer) for every byte that is read, in every order of the
// dispatches that the barriers allow; stops when it returns true, and returns whether it did.
bool any_schedule(
    const Program& program,
    const std::function<bool(DispatchId, const Access&, uint64_t, AccessRef)>& visit) {
  std::vector<uint32_t> epoch;
  uint32_t current = 0;
  for (const Statement& statement : program.statements) {
    current += statement.kind == StatementKind::kBarrier;
    if (statement.kind == StatementKind::kDispatch) epoch.push_back(current);
  }
  std::vector<bool> has_run(program.dispatches.size(), false);
  const std::function<bool(const Writers&)> step = [&](const Writers& writers) -> bool {
    uint32_t open = UINT32_MAX;
    for (size_t d = 0; d < epoch.size(); ++d) {
      if (!has_run[d]) open = std::min(open, epoch[d]);
    }
    for (size_t d = 0; d < epoch.size(); ++d) {
      if (has_run[d] || epoch[d] != open) continue;
      const auto accesses = program.accesses_of(DispatchId(d));
      for (const Access& access : accesses) {
        for (uint64_t b = access.range.begin; b < access.range.end; ++b) {
          const bool is_read = access.mode != AccessMode::kWrite;
          if (is_read && visit(DispatchId(d), access, b, writers[access.memory.index][b])) {
            return true;
          }
        }
      }
      Writers next = writers;
      for (uint32_t k = 0; k < accesses.size(); ++k) {
        for (uint64_t b = accesses[k].range.begin; b < accesses[k].range.end; ++b) {
          if (!accesses[k].only_reads()) next[accesses[k].memory.index][b] = {DispatchId(d), k};
        }
      }
      has_run[d] = true;
      const bool is_found = step(next);
      has_run[d] = false;
      if (is_found) return true;
    }
    return false;
  };
  Writers writers;
  for (const Memory& memory : program.memories) writers.emplace_back(memory.size_bytes);
  return step(writers);
}

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
    // Writes behind the writer are left out: only ends may change its value.
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
    probe.statements.push_back(
        {StatementKind::kDispatch, static_cast<uint32_t>(probe.dispatches.size() - 1), {}});
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

bool goes_wrong_in_some_schedule(const Program& program) {
  Ends ends(program);
  const Memories initial = initial_memories(program);
  return any_schedule(
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
  return any_schedule(program,
                      [&](DispatchId who, const Access& access, uint64_t byte, AccessRef found) {
                        return who == reader && found.dispatch == writer &&
                               access.memory == memory && bytes.begin <= byte && byte < bytes.end;
                      });
}

}  // namespace interlock
