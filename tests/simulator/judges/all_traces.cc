#include "tests/simulator/judges/all_traces.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "encoder/kernel/kernel_binding.h"
#include "encoder/kernel/kernel_table.h"

namespace interlock {
namespace {

Relation no_relation(size_t count) { return Relation(count, std::vector<bool>(count, false)); }

struct TouchedBytes {
  uint32_t memory;
  ByteRange bytes;
  bool writes;
  bool is_atomic;
  AtomicOp operation;
};
using Touches = std::vector<TouchedBytes>;

bool conflict(const TouchedBytes& a, const TouchedBytes& b) {
  if (a.memory != b.memory || (!a.writes && !b.writes)) return false;
  if (a.is_atomic && b.is_atomic && a.operation == b.operation) return false;
  return std::max(a.bytes.begin, b.bytes.begin) < std::min(a.bytes.end, b.bytes.end);
}

bool conflict(const Touches& a, const Touches& b) {
  for (const TouchedBytes& x : a) {
    for (const TouchedBytes& y : b) {
      if (conflict(x, y)) return true;
    }
  }
  return false;
}

TouchedBytes touch(const Dispatch& dispatch, const Access& access, ByteRange bytes) {
  return {access.memory.index, bytes, !access.only_reads(), access.mode == AccessMode::kAtomic,
          dispatch.atomic_op};
}

// The number of barriers in front of each dispatch.
std::vector<uint32_t> epochs_of(const Program& program) {
  std::vector<uint32_t> epochs;
  uint32_t epoch = 0;
  for (const Statement& statement : program.statements) {
    if (statement.kind == StatementKind::kDispatch) {
      epochs.push_back(epoch);
    } else {
      ++epoch;
    }
  }
  return epochs;
}

StepRelations relations_of(const std::vector<Touches>& touches,
                           const std::vector<uint32_t>& epochs) {
  StepRelations relations = {no_relation(touches.size()), no_relation(touches.size())};
  for (size_t a = 0; a < touches.size(); ++a) {
    for (size_t b = 0; b < touches.size(); ++b) {
      relations.precedes[a][b] = epochs[a] < epochs[b];
      relations.conflicts[a][b] = a != b && conflict(touches[a], touches[b]);
    }
  }
  return relations;
}

void extend(const StepRelations& relations, StepOrder& prefix, std::vector<bool>& is_taken,
            std::vector<StepOrder>& extensions) {
  if (prefix.size() == relations.count()) {
    extensions.push_back(prefix);
    return;
  }
  for (uint32_t step = 0; step < relations.count(); ++step) {
    bool may_come = !is_taken[step];
    for (uint32_t other = 0; other < relations.count(); ++other) {
      may_come &= is_taken[other] || !relations.precedes[other][step];
    }
    if (!may_come) continue;
    is_taken[step] = true;
    prefix.push_back(step);
    extend(relations, prefix, is_taken, extensions);
    prefix.pop_back();
    is_taken[step] = false;
  }
}

}  // namespace

std::vector<UnitPair> StepRelations::hazards() const {
  std::vector<UnitPair> hazards;
  for (uint32_t b = 0; b < count(); ++b) {
    for (uint32_t a = 0; a < b; ++a) {
      if (conflicts[a][b] && !precedes[a][b]) hazards.push_back({a, b});
    }
  }
  return hazards;
}

StepRelations dispatch_relations(const Program& program) {
  std::vector<Touches> touches;
  for (const Dispatch& dispatch : program.dispatches) {
    touches.emplace_back();
    for (const Access& access : program.accesses_of(dispatch)) {
      touches.back().push_back(touch(dispatch, access, access.range));
    }
  }
  return relations_of(touches, epochs_of(program));
}

StepRelations slice_relations(const Program& program, std::vector<SliceStep>& slices) {
  slices.clear();
  std::vector<Touches> touches;
  std::vector<uint32_t> epochs;
  const std::vector<uint32_t> epoch_of = epochs_of(program);
  for (uint32_t d = 0; d < program.dispatches.size(); ++d) {
    const Dispatch& dispatch = program.dispatches[d];
    const KernelParams params = params_of(program, dispatch);
    for (uint32_t slice = 0; slice < slice_count_of(program, dispatch); ++slice) {
      slices.push_back({d, slice});
      epochs.push_back(epoch_of[d]);
      touches.emplace_back();
      int position = 0;
      for (const Access& access : program.accesses_of(dispatch)) {
        const StridedRange runs = slice_range_of(program, dispatch, params, slice, position++);
        for (uint64_t k = 0; k < runs.run_count; ++k) {
          touches.back().push_back(touch(dispatch, access, runs.run(k)));
        }
      }
    }
  }
  return relations_of(touches, epochs);
}

StepRelations random_relations(Choice& choice, size_t step_count_max) {
  const auto count = static_cast<size_t>(1 + choice.below(step_count_max));
  StepRelations relations = {no_relation(count), no_relation(count)};
  const uint64_t order_percent = 10 * choice.below(5);
  const uint64_t conflict_percent = 10 + 20 * choice.below(5);
  for (size_t b = 0; b < count; ++b) {
    for (size_t a = 0; a < b; ++a) {
      relations.conflicts[a][b] = choice.chance(conflict_percent, 100);
      relations.conflicts[b][a] = relations.conflicts[a][b];
      if (!choice.chance(order_percent, 100)) continue;
      relations.precedes[a][b] = true;
      for (size_t c = 0; c < a; ++c) {
        if (relations.precedes[c][a]) relations.precedes[c][b] = true;
      }
    }
  }
  return relations;
}

std::vector<StepOrder> linear_extensions(const StepRelations& relations) {
  std::vector<StepOrder> extensions;
  StepOrder prefix;
  std::vector<bool> is_taken(relations.count(), false);
  extend(relations, prefix, is_taken, extensions);
  return extensions;
}

NormalForm normal_form(const StepOrder& order, const StepRelations& relations) {
  NormalForm layers;
  for (const uint32_t step : order) {
    size_t layer = layers.size();
    const auto depends_on = [&](uint32_t other) { return relations.are_dependent(step, other); };
    while (layer > 0 &&
           std::none_of(layers[layer - 1].begin(), layers[layer - 1].end(), depends_on))
      --layer;
    if (layer == layers.size()) layers.emplace_back();
    layers[layer].insert(step);
  }
  return layers;
}

std::set<NormalForm> normal_forms(const StepRelations& relations) {
  std::set<NormalForm> forms;
  for (const StepOrder& order : linear_extensions(relations)) {
    forms.insert(normal_form(order, relations));
  }
  return forms;
}

size_t count_classes_by_swapping(const StepRelations& relations) {
  std::map<StepOrder, bool> is_seen;
  for (StepOrder& order : linear_extensions(relations)) is_seen.emplace(std::move(order), false);
  size_t class_count = 0;
  for (auto& [start, start_is_seen] : is_seen) {
    if (start_is_seen) continue;
    ++class_count;
    start_is_seen = true;
    std::vector<StepOrder> stack = {start};
    while (!stack.empty()) {
      StepOrder order = std::move(stack.back());
      stack.pop_back();
      for (size_t i = 1; i < order.size(); ++i) {
        if (relations.are_dependent(order[i - 1], order[i])) continue;
        std::swap(order[i - 1], order[i]);
        const auto neighbour = is_seen.find(order);
        if (!std::exchange(neighbour->second, true)) stack.push_back(order);
        std::swap(order[i - 1], order[i]);
      }
    }
  }
  return class_count;
}

}  // namespace interlock
