// SubmissionWriter: what a submission executes, as statements of its queue.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capture/convert/captured_addresses.h"
#include "capture/convert/captured_events.h"
#include "capture/convert/command_lists.h"
#include "capture/convert/exact_index.h"
#include "capture/convert/foreign_hazards.h"
#include "capture/convert/graphics_passes.h"
#include "capture/convert/program_writer.h"
#include "capture/convert/queue_sync.h"
#include "capture/convert/summary.h"
#include "capture/convert/transfer_pieces.h"
#include "capture/log/exact_records.h"
#include "capture/log/queue_records.h"

namespace interlock {

class SubmissionWriter {
 public:
  // Requires: all outlive this.
  SubmissionWriter(const CommandLists& lists, const CapturedAddresses& addresses, QueueSync& sync,
                   ExactIndex& index, ProgramWriter& writer, CaptureSummary& summary)
      : lists_(lists),
        addresses_(addresses),
        sync_(sync),
        index_(index),
        writer_(writer),
        summary_(summary),
        foreign_(writer, summary),
        passes_(addresses, writer, summary),
        events_(writer, summary) {}

  // What the next submission to its queue is called where its dispatches are measured.
  void expect(const ExactSubmissionRecord& record) { expected_[record.queue] = record.submission; }
  // `origin`: where it was asked for, if that is known.
  void write(const SubmitRecord& record, std::shared_ptr<const CommandOrigin> origin = nullptr);
  // Once, at the end: what was not understood since the last submission counts as of it.
  void finish() { count_unknown(); }
  // The host sets or resets it; it is gone.
  void apply(const HostEventRecord& record) { events_.apply(record); }
  void destroy_event(uint64_t event) { events_.destroy(event); }
  // What synchronization validation says of the last submission to a queue.
  void add_message(const ValidationMessageRecord& record) { foreign_.add_submitted(record); }

 private:
  // Where a command stands, for its label: `s3.b0.c7`. If it is in several parts, `.r0`, `.r1` and
  // so on follow for those of a transfer, `.e0`, `.e1` for the events of a wait.
  struct Place {
    std::string queue;               // Empty: the default one.
    std::optional<uint32_t> family;  // Of the queue, if it is known.
    uint64_t buffer = 0;
    uint64_t command = 0;
  };

  void write_list(const RecordedCommands& list, Place& place);
  // What is known of the command at `index` of the list, beside what it does.
  void note_place(const RecordedCommands& list, size_t index, const Place& place,
                  uint64_t first_command);
  // Those that only bind something; false for others.
  bool bind(const Command& command);
  void write_command(const DispatchCommand& command, const Place& place);
  void write_command(const TransferCommand& command, const Place& place);
  void write_command(const BarrierCommand& command, const Place& place);
  void write_command(const SetEventCommand& command, const Place& place);
  void write_command(const WaitEventsCommand& command, const Place& place);
  void write_command(const UnknownCommand& command, const Place& place);
  void write_command(const BeginPassCommand& command, const Place& place);
  void write_command(const NextSubpassCommand& command, const Place& place);
  void write_command(const EndPassCommand& command, const Place& place);
  void write_command(const DrawCommand& command, const Place& place);

  DispatchDraft draft_of(const TransferPiece& piece);
  // Where nobody knows which byte goes where.
  DispatchDraft draft_of(const TransferBounds& bounds, TransferUse use);

  // Whether the last submission is one of those with something that was not understood.
  void count_unknown();

  std::string label_of(const Place& place) const;
  PassPlace pass_place(const Place& place) const;
  void note(const std::string& what);

  const CommandLists& lists_;
  const CapturedAddresses& addresses_;
  QueueSync& sync_;
  ExactIndex& index_;
  ProgramWriter& writer_;
  CaptureSummary& summary_;
  ForeignHazards foreign_;
  GraphicsPasses passes_;
  CapturedEvents events_;
  uint64_t pass_command_ = 0;  // Where the subpass begins that is open.
  uint64_t submission_ = 0;
  std::map<uint64_t, uint64_t> expected_;  // By queue.
  uint64_t exact_submission_ = 0;          // Of the submission that is written; 0: none.
  bool is_understood_ = true;
  uint64_t counted_notes_ = 0;
  uint64_t counted_submission_ = 0;  // The last one with something that was not understood.
  BoundState bound_;                 // Of the list that is written. So the next.
  GraphicsState drawn_;              // For draws.
  RestOfSubmission rest_;            // After the command that is written.
};

}  // namespace interlock
