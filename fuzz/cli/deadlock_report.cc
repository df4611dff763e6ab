#include "fuzz/cli/deadlock_report.h"

#include "simulator/order/queue_order.h"
#include "simulator/order/reference_order.h"
#include "simulator/report/explain.h"

namespace interlock {

std::optional<ExitStatus> report_endless(const Program& program) {
  if (!needs_queue_order(program)) return std::nullopt;
  const ReferenceOrder order = find_reference_order(program);
  if (order.cycle.empty()) return std::nullopt;
  print_report(explain_deadlock(program, Deadlock{order.cycle}).headline + "\n");
  return ExitStatus::kFinding;
}

}  // namespace interlock
