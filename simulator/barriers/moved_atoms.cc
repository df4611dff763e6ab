// The basic idea: the moves are cut where any of them begins or ends, in whole atoms; each run then
// has a list of those that move it, by their places in the reference run.
#include "simulator/barriers/moved_atoms.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "encoder/program/interval_map.h"
#include "simulator/order/host_atoms.h"

namespace interlock {
namespace {

const SyncStep& step_at(const Program& program, StatementId statement) {
  return program.syncs[program.statements[statement.index].index];
}

}  // namespace

MovedAtoms::MovedAtoms(const Program& program, std::span<const Move> moves) : program_(program) {
  std::map<MemoryId, std::set<uint64_t>> cuts;
  const auto for_each_atom_run = [&](const Move& move, const auto& visit) {
    for (const Access& operand : program.operands_of(step_at(program, move.statement))) {
      const ByteRange atoms = in_whole_atoms(program.memory(operand.memory), operand.range);
      if (!atoms.is_empty()) visit(operand.memory, atoms);
    }
  };
  for (const Move& move : moves) {
    all_.emplace_back(move.position, move.name);
    for_each_atom_run(move, [&](MemoryId memory, ByteRange atoms) {
      cuts[memory].insert({atoms.begin, atoms.end});
    });
  }
  std::ranges::sort(all_);
  for (const auto& [memory, ends] : cuts) {
    for (auto begin = ends.begin(), end = std::next(begin); end != ends.end(); ++begin, ++end) {
      runs_.push_back({memory, {*begin, *end}, {}});
    }
  }
  uint64_t count = 0;
  for (const Move& move : moves) {
    for_each_atom_run(move, [&](MemoryId memory, ByteRange atoms) {
      const auto [first, last] = runs_of({memory, atoms});
      count += last - first;
      is_cut_ = is_cut_ || count > kPlacesMax;
      for (size_t i = first; i < last && !is_cut_; ++i) {
        runs_[i].places.emplace_back(move.position, move.name);
      }
    });
  }
  for (Run& run : runs_) std::ranges::sort(run.places);
}

std::vector<MovedAtoms::Place>::const_iterator MovedAtoms::first_from(
    const std::vector<Place>& places, uint32_t begin) {
  return std::ranges::lower_bound(places, begin, {}, &Place::first);
}

std::pair<size_t, size_t> MovedAtoms::runs_of(MemoryRange bytes) const {
  const ByteRange atoms = in_whole_atoms(program_.memory(bytes.memory), bytes.range);
  const auto first = std::ranges::partition_point(runs_, [&](const Run& run) {
    return std::pair(run.memory, run.bytes.end) <= std::pair(bytes.memory, atoms.begin);
  });
  const auto last = std::partition_point(first, runs_.end(), [&](const Run& run) {
    return std::pair(run.memory, run.bytes.begin) < std::pair(bytes.memory, atoms.end);
  });
  return {static_cast<size_t>(first - runs_.begin()), static_cast<size_t>(last - runs_.begin())};
}

std::vector<bool> find_flushes_that_save_nothing(const Program& program) {
  IntervalMap<bool> invalidated;
  const auto for_each = [&](SyncKind kind, const auto& visit) {
    for (const SyncStep& step : program.syncs) {
      if (step.kind != kind) continue;
      for (const Access& operand : program.operands_of(step)) {
        visit(step, operand.memory, in_whole_atoms(program.memory(operand.memory), operand.range));
      }
    }
  };
  for_each(SyncKind::kHostInvalidates, [&](const SyncStep&, MemoryId memory, ByteRange atoms) {
    invalidated.assign(memory, atoms, true);
  });
  std::vector<bool> saves_nothing(program.statements.size(), false);
  for (const SyncStep& step : program.syncs) {
    saves_nothing[step.statement.index] = step.kind == SyncKind::kHostFlushes;
  }
  for_each(SyncKind::kHostFlushes, [&](const SyncStep& step, MemoryId memory, ByteRange atoms) {
    invalidated.for_each(memory, atoms, [&](const auto& run) {
      if (run.value) saves_nothing[step.statement.index] = false;
    });
  });
  return saves_nothing;
}

}  // namespace interlock
