#include "simulator/order/signal_statements.h"

namespace interlock {

std::vector<StatementId> signal_statements_of(const Program& program) {
  std::vector<StatementId> statements(program.signal_parts.size());
  for (const SyncStep& step : program.syncs) {
    for (size_t k = 0; k < program.parts_of(step).size(); ++k) {
      statements[step.first + k] = step.statement;
    }
  }
  return statements;
}

}  // namespace interlock
