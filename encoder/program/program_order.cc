#include "encoder/program/program_order.h"

#include <algorithm>

namespace interlock {

void order_host_statements(Program& program) {
  if (!program.has_program_order) return;
  uint64_t highest = 0;
  for (Dispatch& dispatch : program.dispatches) {
    if (!dispatch.is_counted()) dispatch.order = highest;
    highest = std::max(highest, dispatch.order);
  }
}

bool is_earlier_in_program_order(const Program& program, DispatchId a, DispatchId b) {
  const uint64_t first = program.dispatch(a).order;
  const uint64_t second = program.dispatch(b).order;
  return first < second || (first == second && a < b);
}

}  // namespace interlock
