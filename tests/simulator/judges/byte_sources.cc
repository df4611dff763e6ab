#include "tests/simulator/judges/byte_sources.h"

#include <algorithm>
#include <vector>

namespace interlock {
namespace {

// By memory and byte: who wrote it last; no dispatch: nobody.
using Writers = std::vector<std::vector<AccessRef>>;

}  // namespace

bool any_source(const Program& program, const SourceVisitor& visit) {
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

}  // namespace interlock
