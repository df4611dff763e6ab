#include "simulator/chains/chain_destroys.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "encoder/kernel/kernel_table.h"
#include "simulator/chains/chain_search.h"
#include "simulator/chains/counter_run.h"
#include "simulator/lifetimes/held_value.h"

namespace interlock {
namespace {

struct Byte {
  MemoryId memory;
  uint64_t offset = 0;

  auto operator<=>(const Byte&) const = default;
};

bool lies_in(const Byte& byte, MemoryId memory, ByteRange range) {
  return byte.memory == memory && range.begin <= byte.offset && byte.offset < range.end;
}

// Of those that all statements treat alike the first.
std::set<Byte> bytes_that_differ(const Program& program) {
  std::set<Byte> bytes;
  const auto add = [&](MemoryId memory, ByteRange range) {
    if (range.is_empty()) return;
    bytes.insert({memory, range.begin});
    if (range.end < program.memory(memory).size_bytes) bytes.insert({memory, range.end});
  };
  for (const Tensor& tensor : program.tensors) add(tensor.memory, tensor.range);
  for (const Access& access : program.accesses) add(access.memory, access.range);
  return bytes;
}

// What the byte holds after the dispatch.
void write(const Program& program, DispatchId id, const Byte& byte, HeldValue& value) {
  const bool is_transition = program.dispatch(id).is_transition();
  for (const Access& access : program.accesses_of(id)) {
    const bool keeps = access.only_reads() || (is_transition && access.reads_plainly());
    if (keeps || !lies_in(byte, access.memory, access.range)) continue;
    const bool has_owner = !is_transition && access.tensor.is_some();
    value = is_transition
                ? HeldValue{}
                : written_value(has_owner ? program.tensor(access.tensor).root : TensorId());
  }
}

// The statements that carry out a destroy of the byte in this order, and which.
std::map<LifetimeId, LifetimeId> destroys_in(const Program& program,
                                             const std::vector<StatementId>& order,
                                             const Byte& byte) {
  Holdings holdings(program);
  HeldValue value;
  for (size_t i = 0; i < program.tensors.size(); ++i) {
    const Tensor& tensor = program.tensors[i];
    const bool is_there = tensor.initial.kind != InitialKind::kNone;
    if (is_there && lies_in(byte, tensor.memory, tensor.range)) value = written_value(TensorId(i));
  }
  std::map<LifetimeId, LifetimeId> found;
  for (const StatementId at : order) {
    const Statement& statement = program.statements[at.index];
    if (statement.kind == StatementKind::kDispatch) {
      write(program, DispatchId(size_t{statement.index}), byte, value);
    }
    if (statement.kind != StatementKind::kLifetime) continue;
    const LifetimeId id(size_t{statement.index});
    const Lifetime& lifetime = program.lifetimes[id.index];
    holdings.count_pin(lifetime);
    if (!lies_in(byte, lifetime.memory, affected_by(program, lifetime))) continue;
    const LifetimeId destroy = holdings.destroy_done_by(id, value);
    if (destroy.is_some()) found.emplace(id, destroy);
    holdings.apply(id, value);
  }
  return found;
}

// A statement of the host does what is due as it is issued, one of a queue what is due in the run.
// What waits and is never due as issued, for a write since, an unpin does if the run has it so.
bool is_carried_out(const Program& program, LifetimeId id,
                    const std::map<LifetimeId, LifetimeId>& in_text,
                    const std::map<LifetimeId, LifetimeId>& in_run) {
  const auto is_of_host = [&](LifetimeId lifetime) {
    return program.statements[program.lifetimes[lifetime.index].statement.index].queue == kNoQueue;
  };
  if (!is_of_host(id)) return in_run.contains(id);
  if (in_text.contains(id)) return true;
  if (program.lifetimes[id.index].kind == LifetimeKind::kDestroy || !in_run.contains(id))
    return false;
  const LifetimeId destroy = in_run.at(id);
  return std::ranges::none_of(
      in_text, [&](const auto& done) { return done.second == destroy && is_of_host(done.first); });
}

}  // namespace

std::vector<ChainDestroy> chain_destroys_of(const Program& program) {
  std::vector<uint32_t> position(program.statements.size(), UINT32_MAX);  // In the run.
  const std::vector<StatementId> run = run_by_counters(program);
  for (uint32_t i = 0; i < run.size(); ++i) position[run[i].index] = i;
  std::vector<StatementId> text = run;
  std::ranges::sort(text);
  const ChainSearch chains(program);
  std::set<ChainDestroy> pending;
  for (const Byte& byte : bytes_that_differ(program)) {
    const std::map<LifetimeId, LifetimeId> in_text = destroys_in(program, text, byte);
    const std::map<LifetimeId, LifetimeId> in_run = destroys_in(program, run, byte);
    for (size_t k = 0; k < program.lifetimes.size(); ++k) {
      const LifetimeId done_at(k);
      if (!is_carried_out(program, done_at, in_text, in_run)) continue;
      const StatementId at = program.lifetimes[done_at.index].statement;
      for (size_t i = 0; i < program.dispatches.size(); ++i) {
        const DispatchId id(i);
        const StatementId statement = program.dispatch(id).statement;
        if (position[statement.index] == UINT32_MAX) continue;
        if (statement > at && position[statement.index] > position[at.index]) continue;
        for (const Access& access : program.accesses_of(id)) {
          if (!lies_in(byte, access.memory, access.range)) continue;
          const Stage stage = stage_of(program.dispatch(id), access);
          if (!chains.is_over_at(id, stage, at)) pending.insert({done_at, id, stage});
        }
      }
    }
  }
  return {pending.begin(), pending.end()};
}

}  // namespace interlock
