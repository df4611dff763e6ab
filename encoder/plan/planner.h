// Planner: decides which bytes each value gets. Program -> Program: unplaced tensors get a place in
// a pool, everything else stays, and the result prints and parses like any other program.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "encoder/program/program.h"
#include "encoder/program/result.h"

namespace interlock {

// What a planner may be told. Each planner uses the options that its summary in docs/planners.md
// names, and ignores the others.
struct PlanOptions {
  uint64_t alignment_bytes = 32;   // Of every value; a power of two.
  uint32_t slack_percent = 0;      // How much more memory than necessary may be spent to save
                                   // barriers.
  bool is_antichain = false;       // No reuse between dispatches that nothing orders yet.
  bool keeps_inputs = false;       // Values with initial values live to the end.
  bool is_opaque_in_place = true;  // As the contract of opaque dispatches has it. Else none is.
  uint32_t region_dispatches = 8;  // Dispatches between two resets of an arena, if the program has
                                   // no reset of its own.
};

// Returns `program` with a place for every unplaced tensor. Dispatches, their order and sync stay.
// The witness and the expectations spoke of the old placement and are dropped.
// A pool of a program whose issue order is not its program order is a scratch memory.
// Errors: bad options, and plans that the format has no room for.
// Requires: one queue with barriers, unless the planner takes several.
using PlanFunction = Result<Program> (*)(const Program& program, const PlanOptions& options);

class ExternalPass;

// A registered planner, or one that is not part of this build.
struct PlannerEntry {
  std::string_view name;
  std::string_view summary;  // One line for `interlock list planners`.
  bool is_broken;            // Known to give a value bytes that another one still needs.
  // Takes a program with its sync and keeps it: what the sync allows to overlap matters to the
  // plan. Else sync is placed after the plan.
  bool plans_encoded;
  PlanFunction plan;
  // Takes programs of several queues, too, whose sync stays. A broken one is wrong only there.
  bool takes_queues = false;
  bool is_for_queues = false;  // Of one queue it makes what other planners make.
  // If some, in the place of `plan`, which is null then. plan_by() of plan_by.h asks either.
  ExternalPass* external = nullptr;
};

std::span<const PlannerEntry> planner_registry();

// Returns null if there is none of this name.
const PlannerEntry* find_planner(std::string_view name);

// What a plan costs.
struct PlanReport {
  uint64_t pool_bytes = 0;           // Of all memories that the planner made.
  uint64_t lower_bound_bytes = 0;    // No plan that keeps every value alive can have less.
  uint64_t fresh_bytes = 0;          // Every value on bytes of its own.
  uint64_t barrier_count = 0;        // As the encoder `interlock` places them.
  uint64_t fresh_barrier_count = 0;  // The same without any reuse.
};

// Requires: `planned` is a plan of `program`. Errors: bad options. Cost: near linear.
Result<PlanReport> report_of(const Program& program, const Program& planned,
                             const PlanOptions& options);

// Barriers that the encoder `interlock` places. Cost: near linear.
uint64_t barrier_count_of(const Program& program);

}  // namespace interlock
