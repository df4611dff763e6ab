#include "simulator/schedules/part_order.h"

#include "encoder/program/check.h"

namespace interlock {

PartOrder find_part_order(const Program& program, bool splits_memory) {
  const QueueMachineOptions options{.splits_memory = splits_memory};
  PartOrder order;
  {
    QueueMachine machine(program, options);
    while (!machine.enabled().empty()) {
      order.parts.push_back(*machine.enabled().begin());
      machine.run(order.parts.back());
    }
  }
  INTERLOCK_CHECK(order.parts.size() <= kOrderedPartsMax);
  order.earlier.resize(order.parts.size(), 0);
  for (size_t i = 0; i < order.parts.size(); ++i) {
    QueueMachine machine(program, options);
    std::vector<bool> is_done(order.parts.size(), false);
    for (size_t k = 0; k < order.parts.size(); ++k) {
      if (k == i || !machine.may_run(order.parts[k])) continue;
      machine.run(order.parts[k]);
      is_done[k] = true;
    }
    for (size_t k = 0; k < order.parts.size(); ++k) {
      if (k != i && !is_done[k]) order.earlier[k] |= uint64_t{1} << i;
    }
  }
  return order;
}

}  // namespace interlock
