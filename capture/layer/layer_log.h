// LayerLog: what the calls of the layer append to. Before commands and submissions it notes which
// one this thread asks for, so that what a layer below says of it can be told apart; and, where
// that is asked for, from where.
#pragma once

#include <cstdint>
#include <type_traits>

#include "capture/log/command_records.h"
#include "capture/log/log_writer.h"
#include "capture/log/queue_records.h"

namespace interlock {

// The record of a command or of a submission: what has a place of its own in a program.
template <typename Record>
inline constexpr bool kHasPlace =
    std::is_same_v<Record, DispatchRecord> || std::is_same_v<Record, DispatchIndirectRecord> ||
    std::is_same_v<Record, TransferRecord> || std::is_same_v<Record, BarrierRecord> ||
    std::is_same_v<Record, SetEventRecord> || std::is_same_v<Record, WaitEventsRecord> ||
    std::is_same_v<Record, ExecuteCommandsRecord> ||
    std::is_same_v<Record, NotUnderstoodCommandRecord> || std::is_same_v<Record, SubmitRecord>;

class LayerLog {
 public:
  // Cost: that of LogWriter::append(); with callers some microseconds for each place.
  template <typename Record>
  void append(const Record& record) {
    if constexpr (std::is_same_v<Record, SubmitRecord>) {
      note_place(record.queue);
    } else if constexpr (kHasPlace<Record>) {
      note_place(record.commands);
    }
    writer_.append(record);
  }

  // From now on, each place is preceded by where it was asked for.
  void add_callers() { with_callers_ = true; }

  // The command buffer or the queue that this thread last recorded to; 0: none.
  static uint64_t last_handle();

  LogWriter& writer() { return writer_; }

 private:
  void note_place(uint64_t handle);

  LogWriter writer_;
  bool with_callers_ = false;
};

}  // namespace interlock
