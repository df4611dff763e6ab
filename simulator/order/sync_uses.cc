#include "simulator/order/sync_uses.h"

#include "simulator/order/submissions.h"

namespace interlock {

SyncUses::SyncUses(const Program& program)
    : host_counts(host_counts_at_submission(program)),
      hosts_before(program.statements.size()),
      waits(program.signal_parts.size()),
      awaits(program.syncs.size()) {
  uint32_t host_count = 0;
  for (size_t i = 0; i < hosts_before.size(); ++i) {
    hosts_before[i] = host_count;
    host_count += is_of_host(program, program.statements[i]);
  }
  for (const SyncStep& step : program.syncs) {
    if (step.partner == SyncStep::kNoPartner) continue;
    ++(step.kind == SyncKind::kAwait ? awaits : waits)[step.partner];
  }
  if (program.edges.empty()) return;
  edges.resize(program.dispatches.size());
  for (const Edge& edge : program.edges) ++edges[edge.from.index];
}

}  // namespace interlock
