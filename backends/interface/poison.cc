#include "backends/interface/poison.h"

#include <algorithm>

namespace interlock {
namespace {

void fill(const EndedBytes& ended, uint8_t* memory) {
  std::fill(memory + ended.bytes.begin, memory + ended.bytes.end, kPoisonByte);
}

}  // namespace

Poison::Poison(const Program& program)
    : ended_(find_ended_bytes(program)), is_filled_(ended_.size(), false) {}

std::span<const EndedBytes> Poison::ended_before(DispatchId dispatch) const {
  return {std::ranges::lower_bound(ended_, dispatch, {}, &EndedBytes::reader),
          std::ranges::upper_bound(ended_, dispatch, {}, &EndedBytes::reader)};
}

std::vector<EndedBytes> Poison::take_before(DispatchId dispatch) {
  std::vector<EndedBytes> taken;
  for (const EndedBytes& ended : ended_before(dispatch)) {
    const auto position = static_cast<size_t>(&ended - ended_.data());
    if (is_filled_[position]) continue;
    is_filled_[position] = true;
    taken.push_back(ended);
  }
  return taken;
}

void Poison::fill_before(DispatchId dispatch, std::span<uint8_t* const> starts) {
  for (const EndedBytes& ended : take_before(dispatch)) fill(ended, starts[ended.memory.index]);
}

void Poison::fill_at_end(MemoryImage& image) const {
  for (const EndedBytes& ended : ended_) {
    if (!ended.reader.is_some()) fill(ended, image.memories[ended.memory.index].data());
  }
}

std::vector<StatementId> statements_with_poison(const Program& program, const Poison& poison) {
  std::vector<StatementId> statements;
  for (size_t d = 0; d < program.dispatches.size(); ++d) {
    if (poison.ended_before(DispatchId(d)).empty()) continue;
    statements.push_back(program.dispatch(DispatchId(d)).statement);
  }
  return statements;
}

Program with_poison_ordered(const Program& program, const Poison& poison) {
  Program ordered = program;
  ordered.statements.clear();
  ordered.barriers.clear();
  const auto add_statement = [&](const Statement& statement) {
    ordered.statements.push_back(statement);
    return StatementId(ordered.statements.size() - 1);
  };
  const auto add_barrier = [&](Statement statement, Barrier barrier) {
    statement.index = static_cast<uint32_t>(ordered.barriers.size());
    barrier.statement = add_statement(statement);
    ordered.barriers.push_back(barrier);
  };
  const Statement full_barrier{.kind = StatementKind::kBarrier};
  for (const Statement& statement : program.statements) {
    switch (statement.kind) {
      case StatementKind::kBarrier:
        add_barrier(statement, program.barriers[statement.index]);
        break;
      case StatementKind::kLifetime:
        ordered.lifetimes[statement.index].statement = add_statement(statement);
        break;
      case StatementKind::kSync:
        ordered.syncs[statement.index].statement = add_statement(statement);
        break;
      case StatementKind::kDispatch: {
        const std::span<const EndedBytes> ended = poison.ended_before(DispatchId(statement.index));
        if (!ended.empty()) add_barrier(full_barrier, {});
        Dispatch& dispatch = ordered.dispatches[statement.index];
        dispatch.statement = add_statement(statement);
        for (const EndedBytes& bytes : ended) {
          for (uint32_t k = 0; k < dispatch.access_count; ++k) {
            Access& access = ordered.accesses[dispatch.first_access + k];
            const bool reads_ended =
                bytes.memory == access.memory && share_a_byte(bytes.bytes, access.range);
            if (reads_ended) access.mode = AccessMode::kUpdate;
          }
        }
        if (!ended.empty()) add_barrier(full_barrier, {});
        break;
      }
    }
  }
  return ordered;
}

}  // namespace interlock
