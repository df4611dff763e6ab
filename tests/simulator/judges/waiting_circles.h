// A second judge of deadlock.h: whom the first statement of each queue waits for, by semaphores
// that count.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/order/deadlock.h"

namespace interlock {

// Returns what is wrong with the circle that is told of `program`, as a complete sentence: that one
// of its steps does not wait for the next, or that there is a shorter one, or an earlier one that
// is as short. One queue, or the host, waits for another iff its first statement may not run where
// all of the others have run that is left: but of what has not been submitted the host alone is to
// be waited for. Requires: no text_order; each semaphore is signaled from one place; it has a
// deadlock. Cost: cubic in the statements, times the queues.
std::optional<std::string> find_wrong_circle(const Program& program,
                                             const std::vector<BlockedStatement>& circle);

}  // namespace interlock
