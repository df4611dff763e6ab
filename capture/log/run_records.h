// Records about the run itself: what it was asked to do beside its calls, where its calls came
// from, and what a layer below, which checks them, said of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/log/command_records.h"
#include "capture/log/record_kind.h"

namespace interlock {

// After the first record. All of it changes what the log stands for, but for `with_callers`.
struct RunOptionsRecord {
  static constexpr RecordKind kKind = RecordKind::kRunOptions;
  uint32_t drops_barrier = 0;  // Whether one is left out: number `dropped_barrier`, from 0.
  uint64_t dropped_barrier = 0;
  uint32_t is_dry = 0;  // Dispatches reach no driver.
  uint32_t with_callers = 0;
  uint32_t is_validated = 0;  // Asked for; ValidationRecord says whether it is there.
  std::string pretended;      // Apart by commas.

  static void each_field(auto& self, auto& fields) {
    fields(self.drops_barrier, self.dropped_barrier, self.is_dry, self.with_callers,
           self.is_validated, self.pretended);
  }
};

// Below the layer, this one checks the synchronization of a device.
struct ValidationRecord {
  static constexpr RecordKind kKind = RecordKind::kValidation;
  std::string name;
  std::string version;

  static void each_field(auto& self, auto& fields) { fields(self.name, self.version); }
};

// What it says of the last command of a command buffer, or of the last submission to a queue.
struct ValidationMessageRecord {
  static constexpr RecordKind kKind = RecordKind::kValidationMessage;
  uint64_t handle = 0;  // Of the command buffer or queue.
  std::string name;     // "SYNC-HAZARD-READ-AFTER-WRITE".
  std::string text;

  static void each_field(auto& self, auto& fields) { fields(self.handle, self.name, self.text); }
};

// Before the record of a barrier that was left out, which has what is left of it.
struct DroppedBarrierRecord {
  static constexpr RecordKind kKind = RecordKind::kDroppedBarrier;
  uint64_t commands = 0;
  uint64_t number = 0;
  std::vector<DependencyFields> dependencies;  // As they were.

  static void each_field(auto& self, auto& fields) {
    fields(self.commands, self.number, self.dependencies);
  }
};

// A file of code, the first time that a call comes from there: bytes [begin, end) of the process
// hold it, and address a is offset a - bias in it.
struct ModuleRecord {
  static constexpr RecordKind kKind = RecordKind::kModule;
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t bias = 0;
  std::string path;

  static void each_field(auto& self, auto& fields) {
    fields(self.begin, self.end, self.bias, self.path);
  }
};

// Where the next command of a command buffer, or submission to a queue, is asked for: addresses of
// code, the innermost first, without the layer and the loader.
struct CallerRecord {
  static constexpr RecordKind kKind = RecordKind::kCaller;
  uint64_t handle = 0;
  std::vector<uint64_t> addresses;

  static void each_field(auto& self, auto& fields) { fields(self.handle, self.addresses); }
};

// A debug label of the application for what it submits.
struct QueueLabelRecord {
  static constexpr RecordKind kKind = RecordKind::kQueueLabel;
  uint64_t queue = 0;
  LabelUse use = LabelUse::kBegin;
  std::string name;

  static void each_field(auto& self, auto& fields) { fields(self.queue, self.use, self.name); }
};

}  // namespace interlock
