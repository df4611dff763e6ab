#include "capture/convert/submission_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <variant>

#include "capture/convert/barrier_text.h"
#include "capture/convert/captured_bytes.h"
#include "capture/convert/dispatch_operands.h"
#include "capture/convert/transfer_pieces.h"
#include "encoder/program/draft.h"
#include "encoder/program/limits.h"
#include "encoder/program/stop.h"
#include "encoder/program/sync_step.h"

namespace interlock {
namespace {

constexpr size_t kOperandsMax = Limits().access_count_per_dispatch;

bool is_known(const std::optional<TransferEnd>& end) {
  return !end || end->buffer != nullptr || end->image != nullptr;
}

}  // namespace

std::string SubmissionWriter::label_of(const Place& place) const {
  return fmt::format("s{}.b{}.c{}", submission_, place.buffer, place.command);
}

void SubmissionWriter::note(const std::string& what) {
  summary_.note(what);
  is_understood_ = false;
}

void SubmissionWriter::write(const SubmitRecord& record) {
  ++submission_;
  ++summary_.submission_count;
  is_understood_ = true;
  const std::string queue = sync_.queue_name(record.queue);
  Place place{queue == kDefaultQueueName ? "" : queue, 0, 0};
  for (const BatchFields& batch : record.batches) {
    const bool is_last = &batch == &record.batches.back();
    for (const SemaphoreUseFields& use : batch.waits) sync_.wait(queue, use);
    for (const uint64_t commands : batch.commands) {
      const auto list = lists_.find(commands);
      if (list == nullptr) note("a command buffer that was recorded before the log began");
      place.command = 0;
      if (list != nullptr) write_list(*list, place);
      ++place.buffer;
    }
    sync_.end_batch(queue, batch.signals, is_last ? record.fence : 0);
  }
  if (record.batches.empty()) sync_.end_batch(queue, {}, record.fence);
  if (!is_understood_) ++summary_.unknown_submission_count;
}

void SubmissionWriter::write_list(const RecordedCommands& list, Place& place) {
  for (const Command& command : list.commands) {
    rest_ = std::span(list.commands).subspan(&command - list.commands.data() + 1);
    if (is_stopped() || writer_.is_full()) return;
    if (const auto* const execute = std::get_if<ExecuteCommand>(&command)) {
      write_list(*execute->secondary, place);
      continue;
    }
    std::visit(
        [&](const auto& known) {
          if constexpr (requires { write_command(known, place); }) write_command(known, place);
        },
        command);
    ++place.command;
  }
}

void SubmissionWriter::write_command(const DispatchCommand& command, const Place& place) {
  ++summary_.dispatch_count;
  bool is_understood = true;
  std::vector<CapturedOperand> operands = operands_of(command, summary_, is_understood);
  is_understood_ = is_understood_ && is_understood;
  if (operands.size() > kOperandsMax) {
    note("a dispatch that touches more ranges than one may have");
    operands.resize(kOperandsMax);
  }
  DispatchDraft draft;
  draft.label = label_of(place);
  draft.queue = place.queue;
  const CapturedPipeline* const pipeline = command.pipeline.get();
  if (!command.label.empty()) {
    draft.kernel = opaque_name_from(command.label);
  } else if (pipeline != nullptr && !pipeline->name.empty()) {
    draft.kernel = opaque_name_from(pipeline->name);
  } else {
    draft.kernel = fmt::format("Pipeline{}", pipeline == nullptr ? 0 : pipeline->number);
  }
  bool has_writes = false;
  for (const CapturedOperand& operand : operands) {
    has_writes = has_writes || operand.mode >= AccessMode::kWrite;
    draft.operands.push_back(writer_.operand(operand.bytes, operand.mode));
  }
  // A shader may leave bytes of its bindings as they were.
  draft.is_partial = has_writes;
  if (!operands.empty()) ++summary_.approximate_count;
  writer_.add(draft);
}

void SubmissionWriter::write_command(const TransferCommand& command, const Place& place) {
  ++summary_.transfer_count;
  std::vector<TransferPiece> pieces;
  for (const TransferRegion& region : command.regions) {
    if (!is_known(region.from) || !is_known(region.to)) {
      note("a transfer of a buffer or an image that is not known");
      continue;
    }
    const auto of_region = pieces_of(region);
    if (!of_region) {
      note("a transfer whose ends do not fit each other");
      continue;
    }
    pieces.insert(pieces.end(), of_region->begin(), of_region->end());
  }
  for (size_t i = 0; i < pieces.size(); ++i) {
    DispatchDraft draft;
    draft.label = label_of(place);
    if (pieces.size() > 1) draft.label += fmt::format(".r{}", i);
    draft.queue = place.queue;
    if (pieces[i].from) {
      draft.kernel = "copy";
      draft.operands.push_back(writer_.operand(*pieces[i].from, AccessMode::kRead));
    } else {
      draft.kernel = "fill";
      draft.attributes.emplace_back("value", "0");
    }
    draft.operands.push_back(writer_.operand(pieces[i].to, AccessMode::kWrite));
    writer_.add(draft);
  }
}

void SubmissionWriter::write_command(const BarrierCommand& command, const Place& place) {
  ++summary_.barrier_count;
  BarrierDraft draft;
  draft.label = label_of(place);
  draft.queue = place.queue;
  draft.kind = BarrierKind::kScoped;
  draft.dependencies = dependencies_of(command.dependencies, writer_, summary_);
  if (!draft.dependencies.empty()) writer_.add(draft);
}

std::vector<CapturedDependency> SubmissionWriter::dependencies_of_set(
    const SetEventCommand& command) const {
  if (command.has_dependencies) return command.dependencies;
  for (const Command& later : rest_) {
    const auto* const wait = std::get_if<WaitEventsCommand>(&later);
    if (wait == nullptr || std::ranges::count(wait->events, command.event) == 0) continue;
    std::vector<CapturedDependency> dependencies = wait->dependencies;
    for (CapturedDependency& dependency : dependencies) {
      dependency.fields.source_stages =
          command.dependencies.empty() ? 0 : command.dependencies.front().fields.source_stages;
    }
    return dependencies;
  }
  return {};
}

void SubmissionWriter::write_command(const SetEventCommand& command, const Place& place) {
  set_events_.erase(command.event);
  SyncDraft draft;
  draft.kind = SyncKind::kSet;
  draft.barrier_kind = BarrierKind::kScoped;
  draft.dependencies = dependencies_of(dependencies_of_set(command), writer_, summary_);
  // One that orders nothing, or that is waited for elsewhere, is told of at the wait.
  if (draft.dependencies.empty()) return;
  draft.label = label_of(place);
  draft.queue = place.queue;
  draft.event = fmt::format("e{}", ++set_count_);
  set_events_[command.event] = {draft.event, place.queue};
  writer_.add(draft);
}

void SubmissionWriter::write_command(const WaitEventsCommand& command, const Place& place) {
  for (size_t i = 0; i < command.events.size(); ++i) {
    const auto found = set_events_.find(command.events[i]);
    if (found == set_events_.end() || found->second.queue != place.queue) {
      note("a wait for an event whose set is not known");
      continue;
    }
    SyncDraft draft;
    draft.kind = SyncKind::kAwait;
    draft.label = label_of(place);
    if (command.events.size() > 1) draft.label += fmt::format(".e{}", i);
    draft.queue = place.queue;
    draft.event = found->second.name;
    writer_.add(draft);
  }
}

void SubmissionWriter::write_command(const UnknownCommand& command, const Place&) {
  note(command.name);
}

}  // namespace interlock
