// The planners by name, ours first, then the models; and what a plan costs.
#include "encoder/plan/planner.h"

#include <algorithm>
#include <array>

#include "encoder/plan/arena_planner.h"
#include "encoder/plan/donate_planner.h"
#include "encoder/plan/ggml_gallocr.h"
#include "encoder/plan/liveness_planner.h"
#include "encoder/plan/plan_values.h"
#include "encoder/plan/stream_pool.h"
#include "encoder/program/registry.h"
#include "encoder/program/stop.h"
#include "encoder/sync/encoder.h"
#include "encoder/sync/interlock_encoder.h"

namespace interlock {
namespace {

constexpr std::array kPlanners = {
    PlannerEntry{"fresh", "the reference: every value on bytes of its own", false, false,
                 &plan_fresh, true},
    PlannerEntry{"liveness", "ours: the smallest of several placements, in place by contract",
                 false, false, &plan_liveness, true},
    PlannerEntry{"stream-pool", "a pool for each queue; blocks wait for all queues that used them",
                 false, false, &plan_stream_pool, true, true},
    PlannerEntry{"async-pool",
                 "a pool of the device, as cudaMallocAsync: blocks go where sync leads", false,
                 false, &plan_async_pool, true, true},
    PlannerEntry{"stream-pool-unrecorded",
                 "stream-pool without record_stream: blocks wait for their own queue alone", true,
                 false, &plan_stream_pool_unrecorded, true, true},
    PlannerEntry{"donate", "MLX-like: a new value takes a dying input's buffer, or a new one",
                 false, false, &plan_donate},
    PlannerEntry{"arena", "a bump allocator, reset between regions; what lives across is pinned",
                 false, false, &plan_arena},
    PlannerEntry{"ggml", "ggml's gallocr: in place on what looks dead, blind to alias contracts",
                 true, false, &plan_ggml},
    PlannerEntry{"ggml-undercount",
                 "gallocr that does not count backward consumers, as ggml #1501 suspected", true,
                 false, &plan_ggml_undercount},
    PlannerEntry{"ggml-serial-liveness",
                 "gallocr that frees in node order under concurrent dispatches (llama.cpp#2757)",
                 true, true, &plan_ggml_serial_liveness},
    PlannerEntry{"ztensor-167", "ztensor's arena: a reset takes what the backward pass still needs",
                 true, false, &plan_ztensor_167},
    PlannerEntry{"ztensor", "ztensor's arena since #167: a counted pin for each later consumer",
                 false, false, &plan_ztensor},
};

// Of declared memories, or of those of unplaced tensors as well.
uint64_t memory_bytes_of(const Program& program, bool counts_implicit) {
  uint64_t size_bytes = 0;
  for (const Memory& memory : program.memories) {
    if (counts_implicit || !memory.is_implicit) size_bytes += memory.size_bytes;
  }
  return size_bytes;
}

}  // namespace

std::span<const PlannerEntry> planner_registry() { return kPlanners; }

const PlannerEntry* find_planner(std::string_view name) {
  return find_entry(planner_registry(), name);
}

uint64_t barrier_count_of(const Program& program) {
  // Counts what a RecordingSink would keep: plans of millions of dispatches are compared.
  struct BarrierCounter final : CommandSink {
    void issue_dispatch(DispatchId) override {}
    void issue_barrier(BarrierKind) override { ++count; }
    uint64_t count = 0;
  };
  InterlockEncoder encoder;
  BarrierCounter counter;
  issue_all(program, encoder, counter);
  return counter.count;
}

Result<PlanReport> report_of(const Program& program, const Program& planned,
                             const PlanOptions& options) {
  const auto values = values_of(program, options);
  if (!values) return values.error();
  if (is_stopped()) return Error{"The plan was stopped."};
  PlanReport report;
  report.pool_bytes = memory_bytes_of(planned, true) - memory_bytes_of(program, false);
  report.lower_bound_bytes = lower_bound_bytes(values->problem);
  for (const ValueLife& value : values->problem.values) report.fresh_bytes += value.size_bytes;
  report.barrier_count = barrier_count_of(planned);
  report.fresh_barrier_count = barrier_count_of(program);
  return report;
}

}  // namespace interlock
