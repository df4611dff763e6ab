// Device oracle: what a device makes of a program, compared with what the simulator says of it.
//
// Witness mode decides: a legal schedule leaves what reference order leaves wherever the simulator
// says so, and, where no kernel rounds otherwise than the CPU does, what that leaves, bit for bit.
// What single dispatches of reference order make of what they find is judged by the float64
// oracles. Overlap mode decides for clean programs only: every trial leaves what reference order
// leaves. A program with a hazard may diverge there or not, and how often it does is counted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/interface/backend.h"
#include "encoder/program/program.h"
#include "simulator/facts/fact.h"
#include "simulator/order/happens_before.h"
#include "simulator/schedules/schedule.h"

namespace interlock {

struct DeviceOracleOptions {
  Backend* backend = nullptr;  // Null: no device.
  uint64_t period = 1;         // Executes 1 in so many programs; 0: none.
  uint32_t sink_count_max =
      4;  // Hazards whose own sink runs: spread over all, with several queues the first.
  uint32_t overlap_trial_count = 4;  // Where the backend has overlap mode.
  uint64_t numbers_period = 16;      // Judges dispatches one by one in 1 in so many; 0: none.
};

struct DeviceReport {
  bool ran = false;                     // To the end.
  std::string failure;                  // Why the device gave no answer; empty if it did.
  bool is_refused = false;              // The device lacks what the program needs; no failure.
  uint64_t schedule_count = 0;          // In witness mode.
  uint64_t predicted_output_count = 0;  // Outputs that a schedule changes in the shadow machine.
  uint64_t diverging_output_count = 0;  // Of those, on the device.
  uint64_t overlap_trial_count = 0;
  uint64_t overlap_divergence_count = 0;   // Trials in which an output differs.
  uint64_t judged_dispatch_count = 0;      // One by one, against float64.
  double bound_ratio_max = 0;              // The largest error of those, in its bound.
  std::vector<std::string> disagreements;  // Complete sentences.
};

// One to execute in witness mode, as sentences call it: "The epoch-reversed schedule".
struct DeviceSchedule {
  std::string name;
  Schedule schedule;
};

// Judges a program as it stands. `facts` are those of the exact checks; the random schedule
// follows from `number`. Errors of the backend are part of the report; one of kind kFault is a
// disagreement. Runs of several host threads
// take turns, so that a failure belongs to its program.
// Requires: the backend is available, or was; no finding breaks an alias contract.
// Cost: 5 + sinks runs in witness mode and as many shadow and CPU runs, the trials in overlap mode,
// and up to 16 more runs where dispatches are judged one by one.
DeviceReport judge_on_device(const Program& program, const HappensBefore& order,
                             const std::vector<Fact>& facts, const DeviceOracleOptions& options,
                             uint64_t number);

// As above, by reference order and these schedules, which are legal; dispatches are not judged one
// by one. For programs of several queues in reference order, in overlap mode too. A schedule that
// the device refuses because it fetches or commits some bytes by themselves is left out.
DeviceReport judge_on_device(const Program& program, const std::vector<Fact>& facts,
                             const std::vector<DeviceSchedule>& schedules,
                             const DeviceOracleOptions& options);

}  // namespace interlock
