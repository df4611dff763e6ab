// SubmissionWriter: what a submission executes, as statements of its queue.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/convert/command_lists.h"
#include "capture/convert/program_writer.h"
#include "capture/convert/queue_sync.h"
#include "capture/convert/summary.h"
#include "capture/log/queue_records.h"

namespace interlock {

class SubmissionWriter {
 public:
  // Requires: all outlive this.
  SubmissionWriter(const CommandLists& lists, QueueSync& sync, ProgramWriter& writer,
                   CaptureSummary& summary)
      : lists_(lists), sync_(sync), writer_(writer), summary_(summary) {}

  void write(const SubmitRecord& record);

 private:
  // Where a command stands, for its label: `s3.b0.c7`, with a letter after it if it is in several
  // parts.
  struct Place {
    std::string queue;  // Empty: the default one.
    uint64_t buffer = 0;
    uint64_t command = 0;
  };

  void write_list(const RecordedCommands& list, Place& place, bool is_secondary);
  void write_command(const DispatchCommand& command, const Place& place);
  void write_command(const TransferCommand& command, const Place& place);
  void write_command(const BarrierCommand& command, const Place& place);
  void write_command(const SetEventCommand& command, const Place& place);
  void write_command(const WaitEventsCommand& command, const Place& place);
  void write_command(const UnknownCommand& command, const Place& place);

  std::string label_of(const Place& place) const;
  void note(const std::string& what);

  const CommandLists& lists_;
  QueueSync& sync_;
  ProgramWriter& writer_;
  CaptureSummary& summary_;
  uint64_t submission_ = 0;
  bool is_understood_ = true;
};

}  // namespace interlock
