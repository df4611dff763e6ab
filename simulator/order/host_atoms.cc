#include "simulator/order/host_atoms.h"

#include <algorithm>
#include <span>
#include <utility>

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

std::vector<MemoryRange> beside_host_write(const Program& program, DispatchId dispatch) {
  std::vector<MemoryRange> beside;
  if (program.dispatch(dispatch).host != HostAccess::kWrites) return beside;
  std::vector<Access> written;
  for (const Access& access : program.accesses_of(dispatch)) {
    const bool is_cached = program.memory(access.memory).atom_bytes > 0;
    if (is_cached && !access.range.is_empty()) written.push_back(access);
  }
  std::ranges::sort(written, {}, [](const Access& access) {
    return std::pair(access.memory, access.range.begin);
  });
  const auto add = [&](MemoryId memory, uint64_t begin, uint64_t end) {
    if (begin < end) beside.push_back({memory, {begin, end}});
  };
  // Up to `end` all bytes of the atoms that were written so far have been told apart.
  for (size_t i = 0; i < written.size();) {
    const MemoryId memory = written[i].memory;
    uint64_t end = 0;
    uint64_t atoms_end = 0;
    for (; i < written.size() && written[i].memory == memory; ++i) {
      const ByteRange atoms = in_whole_atoms(program.memory(memory), written[i].range);
      if (atoms.begin >= atoms_end) {
        add(memory, end, atoms_end);
        end = atoms.begin;
      }
      add(memory, end, written[i].range.begin);
      end = std::max(end, written[i].range.end);
      atoms_end = std::max(atoms_end, atoms.end);
    }
    add(memory, end, atoms_end);
  }
  return beside;
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
