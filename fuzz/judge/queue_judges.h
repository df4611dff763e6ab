// Queue judges: everything that a program of several queues, or with the host, is judged by as it
// stands. What oracles.h is for programs of one queue: a finding is about the program, a
// disagreement about Interlock.
#pragma once

#include <cstdint>
#include <vector>

#include "encoder/program/draft.h"
#include "encoder/program/program.h"
#include "fuzz/judge/device_oracle.h"
#include "fuzz/judge/oracles.h"
#include "fuzz/judge/queue_comparisons.h"
#include "simulator/barriers/order_findings.h"
#include "simulator/barriers/sync_redundancy.h"
#include "simulator/facts/fact.h"

namespace interlock {

// What the stages compare with others. Tests replace one of them by a faulty one: then the others
// must contradict it.
struct QueueMethods {
  ReferenceOrder (*find_run)(const Program& text) = find_reference_order;
  OrderFindings (*find_order)(const Program& text, HazardsListed listed,
                              uint64_t& work_left) = find_order_findings;
  SyncRedundancy (*find_redundant)(const Program& text,
                                   const SyncRedundancyOptions& options) = find_redundant_sync;
  Backend* cpu = nullptr;  // Null: `cpu`.
};

struct QueueJudgeOptions {
  // The stages on 1 in so many programs; 0: never.
  uint64_t text_period = 16;     // Print and parse, and the report as JSON.
  uint64_t advice_period = 8;    // Which sync can go.
  uint64_t reversal_period = 4;  // Fetches and commits on the machine of counters.
  uint64_t cpu_period = 64;
  uint32_t random_schedule_count = 2;
  // Of more statements nothing is compared: the search of chains is cubic in them.
  uint64_t statement_count_max = 160;
  QueueMethods methods;
  DeviceOracleOptions device;  // Of which all but the numbers of dispatches.
};

struct QueueJudgement {
  Program run;              // The reference run.
  std::vector<Fact> facts;  // Of `run`; of a program with a deadlock that alone.
  std::vector<InternalDisagreement> disagreements;
  bool ran_on_cpu = false;
  DeviceReport device;
};

// Judges one program. `number` selects the stages and seeds the random schedules, so the result
// depends on the arguments only. Stages, from cheap to costly: print and parse; the run against
// counters; the exact check, byte by byte, against the search of chains; order and hazards against
// the machine of counters; random schedules on the shadow machine, where nothing is found; advice
// against removal; the CPU against the shadow machine; a device against both, as it overlaps too.
// Requires: it stands as in its text. Cost: about a millisecond for a program of 8 operations, and
// cubic in the statements.
QueueJudgement judge_queues(const Program& program, const QueueJudgeOptions& options,
                            uint64_t number);

// As above, of the program of a draft by way of its text; if that does not parse, a disagreement of
// stage kBuild.
QueueJudgement judge_queues(const ProgramDraft& draft, const QueueJudgeOptions& options,
                            uint64_t number);

// What goes wrong in a program: a deadlock, else all that find_everything() finds in its reference
// run. Requires: as above.
std::vector<Fact> find_in_queues(const Program& run, const ReferenceOrder& reference);

}  // namespace interlock
