#include "tests/simulator/judges/removal_judge.h"

#include <algorithm>

#include "encoder/assemble/build.h"
#include "encoder/kernel/kernel_table.h"
#include "encoder/program/draft.h"
#include "tests/simulator/judges/reference_order.h"

namespace interlock {
namespace {

// Two accesses of different dispatches on a byte that both touch.
struct Meeting {
  DispatchId first;
  const Access& a;
  DispatchId second;
  const Access& b;
  uint64_t byte;
};

void add_hazards(const Program& program, const Meeting& at, std::set<ByteHazard>& hazards) {
  const Dispatch& first = program.dispatch(at.first);
  const Dispatch& second = program.dispatch(at.second);
  if (at.a.mode == AccessMode::kAtomic && at.b.mode == AccessMode::kAtomic &&
      first.atomic_op == second.atomic_op) {
    return;
  }
  const MemoryId memory = at.a.memory;
  const bool is_ordered = reference_executes_before(program, at.first, at.second);
  const auto read_sort = read_sort_of(stage_of(second), at.b);
  const auto write_sort = write_sort_of(stage_of(second), at.b);
  const auto add = [&](FindingKind kind, StageAccess sort) {
    hazards.insert({at.first, at.second, kind, sort, memory, at.byte, is_ordered});
  };
  const auto is_visible_to = [&](StageAccess sort) {
    return reference_is_visible(program, at.first, at.second, sort, memory, at.byte);
  };
  const bool a_reads = at.a.mode != AccessMode::kWrite;
  const bool a_writes = !at.a.only_reads();
  if (a_writes && read_sort && !is_visible_to(*read_sort)) {
    add(FindingKind::kReadAfterWrite, *read_sort);
  }
  if (a_writes && write_sort && !is_visible_to(*write_sort)) {
    add(FindingKind::kWriteAfterWrite, *write_sort);
  }
  if (a_reads && write_sort && !is_ordered) add(FindingKind::kWriteAfterRead, *write_sort);
}

// The stages that a barrier names for what comes before it and after it, of one dependency.
struct NamedStages {
  StageMask source;
  StageMask destination;
};

std::vector<NamedStages> named_stages(const Program& program, BarrierId id) {
  const Barrier& barrier = program.barriers[id.index];
  if (barrier.kind != BarrierKind::kScoped) return {{kAllStages, kAllStages}};
  std::vector<NamedStages> named;
  for (const Dependency& part : program.dependencies_of(barrier)) {
    named.push_back({part.source.stages, part.destination.stages});
  }
  return named;
}

}  // namespace

std::set<ByteHazard> byte_hazards_of(const Program& program) {
  std::set<ByteHazard> hazards;
  for (size_t k = 0; k < program.dispatches.size(); ++k) {
    for (size_t i = 0; i < k; ++i) {
      for (const Access& a : program.accesses_of(DispatchId(i))) {
        for (const Access& b : program.accesses_of(DispatchId(k))) {
          if (a.memory != b.memory) continue;
          for (uint64_t byte = a.range.begin; byte < a.range.end; ++byte) {
            if (byte < b.range.begin || b.range.end <= byte) continue;
            add_hazards(program, {DispatchId(i), a, DispatchId(k), b, byte}, hazards);
          }
        }
      }
    }
  }
  return hazards;
}

Program without_barrier(const Program& program, BarrierId barrier) {
  ProgramDraft draft = draft_of(program);
  uint32_t next = 0;
  for (size_t i = 0; i < draft.items.size(); ++i) {
    if (!std::holds_alternative<BarrierDraft>(draft.items[i])) continue;
    if (next++ != barrier.index) continue;
    draft.items.erase(draft.items.begin() + static_cast<std::ptrdiff_t>(i));
    break;
  }
  return build(draft).value();
}

bool fails_to_order(const Program& program, BarrierId barrier,
                    const std::set<ByteHazard>& hazards) {
  const StatementId at = program.barriers[barrier.index].statement;
  const std::vector<NamedStages> named = named_stages(program, barrier);
  return std::any_of(hazards.begin(), hazards.end(), [&](const ByteHazard& hazard) {
    const Dispatch& first = program.dispatch(hazard.first);
    const Dispatch& second = program.dispatch(hazard.second);
    if (at < first.statement || second.statement < at) return false;
    return std::any_of(named.begin(), named.end(), [&](const NamedStages& stages) {
      return (stages.source & bit_of(stage_of(first))) != 0 ||
             (stages.destination & bit_of(stage_of(second))) != 0;
    });
  });
}

std::vector<uint32_t> barriers_that_can_go(const Program& program) {
  const std::set<ByteHazard> hazards = byte_hazards_of(program);
  std::vector<uint32_t> barriers;
  for (uint32_t i = 0; i < program.barriers.size(); ++i) {
    const BarrierId id(i);
    if (fails_to_order(program, id, hazards)) continue;
    if (byte_hazards_of(without_barrier(program, id)) == hazards) barriers.push_back(i);
  }
  return barriers;
}

}  // namespace interlock
