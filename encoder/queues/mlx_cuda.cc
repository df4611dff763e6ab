#include "encoder/queues/mlx_cuda.h"

#include <cstddef>
#include <numeric>
#include <optional>
#include <set>
#include <vector>

#include "encoder/program/stop.h"
#include "encoder/queues/dispatch_conflicts.h"
#include "encoder/queues/queue_commands.h"
#include "encoder/queues/queue_program.h"

namespace interlock {
namespace {

struct BufferUse {
  std::optional<uint32_t> writer;
  std::vector<uint32_t> readers;  // Since.
};

// What the node takes edges from.
std::set<uint32_t> nodes_before(const Program& program, uint32_t node,
                                const std::vector<BufferUse>& uses, bool knows_readers) {
  std::set<uint32_t> before;
  for (const Access& access : program.declared_accesses_of(DispatchId(size_t{node}))) {
    const BufferUse& use = uses[access.memory.index];
    if (use.writer) before.insert(*use.writer);
    if (knows_readers && !access.only_reads()) {
      before.insert(use.readers.begin(), use.readers.end());
    }
  }
  return before;
}

void note_uses(const Program& program, uint32_t node, std::vector<BufferUse>& uses) {
  for (const Access& access : program.declared_accesses_of(DispatchId(size_t{node}))) {
    BufferUse& use = uses[access.memory.index];
    const bool writes_it = use.writer == node;
    if (!access.only_reads()) {
      use = {node, {}};
    } else if (!writes_it && (use.readers.empty() || use.readers.back() != node)) {
      use.readers.push_back(node);
    }
  }
}

Result<Program> encode_graph(const Program& program, bool knows_readers) {
  if (auto checked = check_is_dispatches(program); !checked) return checked.error();
  const size_t count = program.dispatches.size();
  QueuePlan plan;
  plan.queues = numbered_queues(QueueKind::kGraph, 1);
  plan.queue_of.assign(count, 0);
  plan.issued.resize(count);
  std::iota(plan.issued.begin(), plan.issued.end(), 0u);
  std::vector<BufferUse> uses(program.memories.size());
  for (uint32_t node = 0; node < count; ++node) {
    if (is_stopped()) return Program{};
    const std::set<uint32_t> before = nodes_before(program, node, uses, knows_readers);
    plan.after.append(before);
    note_uses(program, node, uses);
  }
  return with_edges(program, plan);
}

}  // namespace

Result<Program> encode_mlx_cuda(const Program& program, uint32_t /*queue_count*/) {
  return encode_graph(program, false);
}

Result<Program> encode_mlx_cuda_readers(const Program& program, uint32_t /*queue_count*/) {
  return encode_graph(program, true);
}

}  // namespace interlock
