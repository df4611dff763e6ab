// Issue order: an order in which a host may hand the statements of a program with several queues to
// a device whose queues each execute what they got in the order in which they got it.
//
// A device with as many queues as the program needs no more than the order of the text. One with
// fewer executes two queues of the program in turn, and would wait for ever where a wait reached it
// before its signal. So the order is that of a run: each statement comes after all that the program
// has it wait for, and is submitted at once. There are many such runs; each is one that the program
// allows, and a missing wait shows in some of them even where nothing ever overlaps.
#pragma once

#include <vector>

#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "simulator/schedules/choice.h"

namespace interlock {

// Returns all statements of `program` in an order that keeps
//   the host's own statements as they are, and what is submitted after what they did before;
//   the statements of a queue, but dispatches of concurrent and graph queues that no other
//   statement of the queue parts;
//   signals before their waits, edges, `host idle` after what is submitted, and legacy-default
//   statements among those of blocking queues.
// The statements of `fences`, ascending, come after all before them and before all after them.
// `choice` takes among those that may be next; without it the first is taken, which gives the order
// of `program`. Polls is_stopped(), and returns the order of `program` then. Requires: `program` is
// in reference order. Cost: linear, times log of the statements; each `host idle` looks at each
// queue, and each statement of the legacy-default queue at each blocking one.
std::vector<StatementId> issue_order_of(const Program& program,
                                        const std::vector<StatementId>& fences, Choice* choice);

// Errors (kRefused): `program` deadlocks. Returns it in reference order.
Result<Program> executable_run(const Program& program);

}  // namespace interlock
