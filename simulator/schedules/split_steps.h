// Split steps: what a late commit, or an early fetch, means for each byte of its dispatch.
#pragma once

#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "simulator/order/happens_before.h"
#include "simulator/schedules/schedule.h"

namespace interlock {

// The step of a draft schedule that stands for "`reader` fetches before `writer` commits": the
// commit of the writer follows.
Step draft_of_fetch(DispatchId reader, DispatchId writer);

// Spells `draft` out. Between a late run and its commit, each byte that a dispatch would force to
// be committed is committed right before that dispatch, by itself. A fetch reads the bytes that the
// writer has yet to commit and that need not be visible to the reader; what leads to such a fetch
// among the writer's own commits comes first. Where several fetches wait for each other, through
// commits, so that not all can be early, those of `wanted` are preferred, if it is given.
// Requires: `order` was built from `program` and has scopes.
// Errors: nothing is left to commit late, or to fetch; one sentence says for which dispatches.
// Cost: per run, what LateWrites asks of all that wait; per fetch, the dependencies before it.
Result<Schedule> split_steps(const Program& program, const HappensBefore& order,
                             const Schedule& draft, const StepBytes* wanted = nullptr);

}  // namespace interlock
