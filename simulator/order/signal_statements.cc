#include "simulator/order/signal_statements.h"

#include <algorithm>
#include <numeric>
#include <utility>

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

std::vector<uint32_t> lower_signals_of(const Program& program) {
  const std::vector<StatementId> statements = signal_statements_of(program);
  std::vector<uint32_t> parts(program.signal_parts.size());
  std::iota(parts.begin(), parts.end(), 0U);
  std::ranges::sort(parts, {}, [&](uint32_t part) {
    return std::pair(program.signal_parts[part].semaphore, program.signal_parts[part].value);
  });
  const auto queue_of = [&](uint32_t part) {
    return statements[part].is_some() ? program.statements[statements[part].index].queue : kNoQueue;
  };
  std::vector<uint32_t> lower(parts.size(), kNoSignal);
  for (size_t i = 1; i < parts.size(); ++i) {
    const SemaphoreId semaphore = program.signal_parts[parts[i]].semaphore;
    const bool is_next = program.signal_parts[parts[i - 1]].semaphore == semaphore &&
                         !program.semaphores[semaphore.index].is_binary;
    const bool is_of_one_queue =
        queue_of(parts[i]) != kNoQueue && queue_of(parts[i]) == queue_of(parts[i - 1]);
    if (is_next && is_of_one_queue) lower[parts[i]] = parts[i - 1];
  }
  return lower;
}

}  // namespace interlock
