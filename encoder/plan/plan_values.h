// PlanValues: the values of a program whose bytes a planner may choose, as a placement problem.
//
// A value is the implicit memory of an unplaced tensor with all tensors that view or donate it: the
// program has said that they share bytes, so they get theirs together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "encoder/plan/data_dependencies.h"
#include "encoder/plan/placement_problem.h"
#include "encoder/plan/planner.h"
#include "encoder/plan/sync_order.h"
#include "encoder/program/program.h"
#include "encoder/program/result.h"

namespace interlock {

struct PlanValues {
  PlacementProblem problem;
  std::vector<TensorId> tensors;                  // By value: the unplaced tensor.
  std::vector<std::vector<TensorId>> owners;      // By value: it and its donations; no views.
  std::vector<bool> is_adopted;                   // By value: another tensor takes its bytes over.
  std::vector<uint32_t> value_of_memory;          // By memory; kNoValue for declared ones.
  std::vector<std::vector<uint32_t>> dispatches;  // By value: who uses it, ascending.
  std::vector<bool> is_live_at_end;               // By value.

  static constexpr uint32_t kNoValue = UINT32_MAX;

  uint32_t value_of(const Access& access) const { return value_of_memory[access.memory.index]; }
};

// All values of a program together have no more bytes, so that sums of sizes fit in 64 bits.
inline constexpr uint64_t kPlanBytesMax = uint64_t{1} << 48;

// The step of the placement problem at which dispatch number `dispatch` runs.
inline uint32_t step_of_dispatch(size_t dispatch) { return static_cast<uint32_t>(dispatch + 1); }

// Lives follow the issue order, byte by byte as far as it matters: a value lives from the start if
// it has initial values or if bytes of it are read that no dispatch has written before. It lives to
// the end if it is an output, or if the program has no outputs. Beside several queues a value with
// a lifetime statement of its own lives from the start to the end.
//
// In place may be what the alias contract of the kernel says: every operand that reads the input
// must tolerate every operand that writes the output, on identical ranges.
//
// Errors: bad options, and more bytes than kPlanBytesMax. Cost: near linear in the program.
Result<PlanValues> values_of(const Program& program, const PlanOptions& options);

// Forbids reuse but where all dispatches that use the earlier value come before those that first
// touch the later one, by `Order`, which has `is_ordered(earlier, later)`. What comes before what
// first touches it comes before all that use it. A value that nobody uses hands no bytes on, as it
// would not say whose they were before.
template <typename Order>
class OrderRule final : public ReuseRule {
 public:
  // Leaves no choice in `values.problem.in_place` that the order does not allow.
  // Requires: `order` is of the program; `values` outlives the rule.
  OrderRule(Order order, PlanValues& values);

  bool allows(uint32_t earlier, uint32_t later) const override;

 private:
  const PlanValues& values_;
  const Order order_;
  std::vector<std::vector<uint32_t>> heads_;  // By value: the dispatches that follow no other user.
};

// By data dependencies or by full barriers that the program has: no dispatch must wait for another
// one only because of its bytes.
using AntichainRule = OrderRule<DispatchOrder>;

// By the sync of several queues, which stays as it is.
using SyncRule = OrderRule<SyncOrder>;

// Errors: more dispatches than that, which an order of all pairs does not take.
Result<Success> check_order_count(const Program& program, size_t dispatch_count_max);

}  // namespace interlock
