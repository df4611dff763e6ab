#include "simulator/order/host_atoms.h"

#include <algorithm>
#include <span>

namespace interlock {
namespace {

void widen(const Program& program, std::span<Access> accesses) {
  for (Access& access : accesses) {
    access.range = in_whole_atoms(program.memory(access.memory), access.range);
  }
}

}  // namespace

ByteRange in_whole_atoms(const Memory& memory, ByteRange range) {
  const uint64_t atom = memory.atom_bytes;
  if (atom == 0 || range.is_empty()) return range;
  const uint64_t begin = range.begin - range.begin % atom;
  const uint64_t beyond = range.end % atom;
  const uint64_t end = beyond == 0 ? range.end : range.end + (atom - beyond);
  return {begin, std::min(end, memory.size_bytes)};
}

bool has_host_atoms(const Program& program) {
  return !program.host_dispatches.empty() &&
         std::ranges::any_of(program.memories, [](const Memory& m) { return m.atom_bytes > 0; });
}

Program with_whole_atoms(Program program) {
  for (const DispatchId id : program.host_dispatches) {
    const Dispatch& dispatch = program.dispatch(id);
    widen(program,
          std::span(program.accesses).subspan(dispatch.first_access, dispatch.access_count));
  }
  for (const SyncStep& step : program.syncs) {
    if (step.kind != SyncKind::kHostFlushes && step.kind != SyncKind::kHostInvalidates) continue;
    widen(program, std::span(program.barrier_operands).subspan(step.first, step.count));
  }
  return program;
}

}  // namespace interlock
