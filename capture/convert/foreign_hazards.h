// ForeignHazards: which commands of a program the messages of synchronization validation are about.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capture/convert/captured_places.h"
#include "capture/convert/command_lists.h"
#include "capture/convert/program_writer.h"
#include "capture/convert/summary.h"
#include "capture/log/queue_records.h"
#include "capture/log/run_records.h"

namespace interlock {

class ForeignHazards {
 public:
  // Requires: both outlive this.
  ForeignHazards(ProgramWriter& writer, CaptureSummary& summary)
      : writer_(writer), summary_(summary) {}

  // Follows what is executed where: a command buffer, as buffer `buffer` of a submission, at
  // position `entry` of its batch.
  void begin_submission(uint64_t queue, uint64_t submission);
  void execute(uint64_t commands, std::shared_ptr<const RecordedCommands> list, uint64_t buffer,
               uint64_t entry);

  // Messages about the command at `index` of a list, which is executed here. `first_command` is the
  // number there of the first command of that list.
  void add_recorded(const RecordedCommands& list, size_t index, const CapturedPlace& place,
                    uint64_t first_command);

  // A message about the last submission to a queue. Both add their cost to the steps of the
  // program, and nothing once it is full. Cost: the command buffers of that submission.
  void add_submitted(const ValidationMessageRecord& record);

 private:
  struct Execution {
    uint64_t commands = 0;
    std::shared_ptr<const RecordedCommands> list;
    uint64_t submission = 0;
    uint64_t buffer = 0;
    uint64_t entry = 0;
  };

  // The number of the command at `index`, counted from the beginning of the list.
  uint64_t number_of(const RecordedCommands& list, size_t index);
  // The place of what a message names, in an execution of its list; none if that is another
  // command.
  std::optional<CapturedPlace> place_of(const ForeignCommand& command, const Execution& execution);
  const Execution* find_recorded(const ForeignCommand& command, const std::string& text,
                                 uint64_t queue) const;

  ProgramWriter& writer_;
  CaptureSummary& summary_;
  uint64_t queue_ = 0;
  uint64_t submission_ = 0;
  // Of the last submission of each queue; and the last two of each command buffer.
  std::map<uint64_t, std::vector<Execution>> last_of_queue_;
  std::map<uint64_t, std::vector<Execution>> last_of_commands_;
};

}  // namespace interlock
