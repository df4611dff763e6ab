// RunNotes: follows the records about the run, and notes beside the commands of command buffers
// where they come from and what was said of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "capture/convert/command_lists.h"
#include "capture/convert/place_notes.h"
#include "capture/convert/summary.h"
#include "capture/log/object_records.h"
#include "capture/log/run_records.h"

namespace interlock {

class RunNotes {
 public:
  // Requires: both outlive this.
  RunNotes(CommandLists& lists, CaptureSummary& summary) : lists_(lists), summary_(summary) {}

  void apply(const RunOptionsRecord& record);
  // What of a device is not followed: extensions, and its version.
  void note_unknown(const DeviceRecord& record);
  void apply(const ValidationRecord& record);
  void apply(const ModuleRecord& record);
  void apply(const CallerRecord& record);
  void apply(const QueueLabelRecord& record);
  void apply(const DroppedBarrierRecord& record);
  void apply_label(const LabelRecord& record);
  void begin_commands(uint64_t commands) { callers_.forget_labels(commands); }

  // Around what a record of a command adds to its command buffer.
  void begin_command(uint64_t commands);
  void end_command(uint64_t commands);

  // Of a command buffer; false if it is about none.
  bool take_message(const ValidationMessageRecord& record);

  // Where a submission to this queue comes from.
  std::shared_ptr<const CommandOrigin> take_origin(uint64_t queue) { return callers_.take(queue); }

 private:
  void apply_label(uint64_t handle, LabelUse use, const std::string& name);

  CommandLists& lists_;
  CaptureSummary& summary_;
  CallerBook callers_;
  size_t size_before_ = 0;  // Of the list, when begin_command() was called.
  // The next barrier of this command buffer; others may record between the two records.
  std::optional<uint64_t> left_out_;
};

}  // namespace interlock
