#include "encoder/plan/ztensor.h"

#include "encoder/plan/arena_planner.h"

namespace interlock {

Result<Program> plan_ztensor_167(const Program& program, const PlanOptions& options) {
  return plan_arena_with(program, options, ArenaPins::kNone);
}

Result<Program> plan_ztensor(const Program& program, const PlanOptions& options) {
  return plan_arena_with(program, options, ArenaPins::kPerConsumer);
}

}  // namespace interlock
