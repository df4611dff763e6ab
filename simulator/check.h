// check: every exact verdict about a program, with explanations.
#pragma once

#include <cstdint>
#include <vector>

#include "encoder/program.h"
#include "simulator/finding.h"

namespace interlock {

struct CheckOptions {
  bool lists_all_pairs = false;        // Every hazardous pair instead of the latest.
  uint64_t pair_limit = 1'000'000;     // Of lists_all_pairs.
  // Judging observability runs the shadow machine once per hazard; stop after this much work, in
  // dispatches executed. Hazards beyond it stay Observability::kUnknown.
  uint64_t observability_budget = 4'000'000;
};

struct CheckReport {
  std::vector<Finding> findings;  // Observable ones first, then issue order.
  uint64_t dispatch_count = 0;
  uint64_t access_count = 0;
  uint64_t barrier_count = 0;
  uint64_t execution_barrier_count = 0;  // Of barrier_count, those that are execution only.
  uint64_t fewest_barriers = 0;   // For this issue order.
  uint64_t longest_chain = 0;     // Dispatches on the longest chain of conflicts, minus 1.
  // Hazardous pairs by kind, with lists_all_pairs; a pair can count under several.
  uint64_t raw_count = 0;
  uint64_t war_count = 0;
  uint64_t waw_count = 0;
  uint64_t pair_count = 0;       // Distinct pairs of dispatches.
  bool is_truncated = false;     // pair_limit was reached.
};

CheckReport check(const Program& program, const CheckOptions& options = {});

}  // namespace interlock
