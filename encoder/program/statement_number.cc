#include "encoder/program/statement_number.h"

#include <algorithm>

namespace interlock {

uint32_t text_number_of(const Program& program, StatementId statement) {
  const auto statement_of = [&](DispatchId id) { return program.dispatch(id).statement; };
  if (program.text_order == nullptr) {
    // Those that barriers have among what is not counted: the rest is of the host.
    const auto count_to = [&](const std::vector<DispatchId>& dispatches) {
      return std::ranges::upper_bound(dispatches, statement, {}, statement_of) - dispatches.begin();
    };
    const auto transitions =
        count_to(program.uncounted_dispatches) - count_to(program.host_dispatches);
    return statement.index - static_cast<uint32_t>(transitions);
  }
  const std::vector<uint32_t>& positions = program.text_order->statements;
  const uint32_t position = positions[statement.index];
  const auto transitions = std::ranges::count_if(program.uncounted_dispatches, [&](DispatchId id) {
    return program.dispatch(id).is_transition() && positions[statement_of(id).index] <= position;
  });
  return position - static_cast<uint32_t>(transitions);
}

}  // namespace interlock
