#include "simulator/barriers/pair_hazards.h"

#include <optional>

#include "encoder/kernel/kernel_table.h"
#include "simulator/hazards/hazards.h"

namespace interlock {
namespace {

void append_run(ByteHazards found, ByteRange bytes, std::vector<ByteHazards>& hazards) {
  found.begin = bytes.begin;
  found.end = bytes.end;
  hazards.push_back(found);
}

// Those of `bytes` that are not visible. Returns what it visited.
uint64_t add_runs(const HappensBefore& order, const ByteHazards& found, ByteRange bytes,
                  std::vector<ByteHazards>& hazards) {
  uint64_t steps = 0;
  while (!bytes.is_empty()) {
    const std::optional<ByteRange> hidden =
        order.find_invisible(found.first, found.second, found.sort, found.memory, bytes, &steps);
    if (hidden) append_run(found, *hidden, hazards);
    bytes.begin = hidden ? hidden->end : bytes.end;
  }
  return steps;
}

}  // namespace

uint64_t append_pair_hazards(const Program& program, const HappensBefore& order, DispatchId first,
                             DispatchId second, std::vector<ByteHazards>& hazards) {
  const AtomicOp first_op = program.dispatch(first).atomic_op;
  const AtomicOp second_op = program.dispatch(second).atomic_op;
  uint64_t work = 0;
  for (const Access& a : program.accesses_of(first)) {
    for (const Access& b : program.accesses_of(second)) {
      ++work;
      if (a.memory != b.memory || !share_a_byte(a.range, b.range)) continue;
      const ConflictKinds kinds = conflict_kinds(a, first_op, b, second_op);
      if (!kinds.any()) continue;
      const Stage stage = stage_of(program.dispatch(second), b);
      const bool is_ordered = order.executes_before(first, a, second, b);
      ByteHazards found{.first = first,
                        .second = second,
                        .first_stage = stage_of(program.dispatch(first), a),
                        .is_ordered = is_ordered,
                        .memory = a.memory};
      const ByteRange bytes = intersection(a.range, b.range);
      if (kinds.war && !is_ordered) {
        found.kind = FindingKind::kWriteAfterRead;
        found.sort = *write_sort_of(stage, b);
        append_run(found, bytes, hazards);
      }
      if (kinds.raw) {
        found.kind = FindingKind::kReadAfterWrite;
        found.sort = *read_sort_of(stage, b);
        work += add_runs(order, found, bytes, hazards);
      }
      if (kinds.waw) {
        found.kind = FindingKind::kWriteAfterWrite;
        found.sort = *write_sort_of(stage, b);
        work += add_runs(order, found, bytes, hazards);
      }
    }
  }
  return work;
}

}  // namespace interlock
