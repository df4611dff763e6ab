#include "capture/convert/submission_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "capture/convert/barrier_text.h"
#include "capture/convert/captured_bytes.h"
#include "capture/convert/dispatch_operands.h"
#include "capture/convert/transfer_pieces.h"
#include "encoder/program/draft.h"
#include "encoder/program/limits.h"
#include "encoder/program/stop.h"

namespace interlock {
namespace {

// Of a record, to read it costs about as much as a step of the program.
constexpr uint64_t kBytesOfAStep = 16;

constexpr size_t kDispatchOperandsMax = Limits().access_count_per_dispatch;

bool is_known(const std::optional<TransferEnd>& end) {
  const auto has_memory = [](const auto& resource) {
    return resource != nullptr && resource->memory != nullptr;
  };
  return !end || has_memory(end->buffer) || has_memory(end->image);
}

std::string kernel_of(TransferUse use) {
  switch (use) {
    case TransferUse::kFill:
      return "Fill";
    case TransferUse::kUpdate:
      return "Update";
    case TransferUse::kClear:
      return "Clear";
    case TransferUse::kBlit:
      return "Blit";
    case TransferUse::kResolve:
      return "Resolve";
    case TransferUse::kQueries:
      return "CopyQueryPoolResults";
    default:
      return "Copy";
  }
}

// How much a log says of a command, beside that it is there.
struct PartCount {
  uint64_t operator()(const TransferCommand& command) const { return command.regions.size(); }
  uint64_t operator()(const BarrierCommand& command) const { return command.dependencies.size(); }
  uint64_t operator()(const SetEventCommand& command) const { return command.dependencies.size(); }
  uint64_t operator()(const WaitEventsCommand& command) const { return command.events.size(); }
  uint64_t operator()(const BeginPassCommand& command) const { return command.views.size(); }
  uint64_t operator()(const DrawCommand& command) const { return command.arguments.size(); }
  uint64_t operator()(const BindVertexBuffersCommand& command) const {
    return command.buffers.size();
  }
  uint64_t operator()(const BindSetsCommand& command) const { return command.sets.size(); }
  uint64_t operator()(const PushSetCommand& command) const {
    uint64_t count = 0;
    for (const auto& [number, descriptors] : command.pushed->bindings) count += descriptors.size();
    return count;
  }
  uint64_t operator()(const PushConstantsCommand& command) const {
    return command.bytes.size() / kBytesOfAStep;
  }
  uint64_t operator()(const auto&) const { return 0; }
};

}  // namespace

std::string SubmissionWriter::label_of(const Place& place) const {
  return fmt::format("s{}.b{}.c{}", submission_, place.buffer, place.command);
}

void SubmissionWriter::note(const std::string& what) {
  summary_.note(what);
  is_understood_ = false;
}

void SubmissionWriter::write(const SubmitRecord& record,
                             std::shared_ptr<const CommandOrigin> origin) {
  ++submission_;
  foreign_.begin_submission(record.queue, submission_);
  ++summary_.submission_count;
  is_understood_ = true;
  const auto expected = expected_.find(record.queue);
  exact_submission_ = expected == expected_.end() ? 0 : std::exchange(expected->second, 0);
  if (exact_submission_ != 0) index_.look_ahead();
  const std::string queue = sync_.queue_name(record.queue);
  Place place;
  if (queue != kDefaultQueueName) place.queue = queue;
  place.family = sync_.family_of(record.queue);
  std::vector<std::shared_ptr<const RecordedCommands>> lists;
  for (const BatchFields& batch : record.batches) {
    for (const uint64_t commands : batch.commands) lists.push_back(lists_.find(commands));
  }
  rest_.lists = lists;
  for (const BatchFields& batch : record.batches) {
    const bool is_last = &batch == &record.batches.back();
    uint64_t entry = 0;
    for (const SemaphoreUseFields& use : batch.waits) sync_.wait(queue, use);
    for (const uint64_t commands : batch.commands) {
      const auto list = rest_.lists.front();
      rest_.lists = rest_.lists.subspan(1);
      if (list == nullptr) note("a command buffer that was recorded before the log began");
      place.command = 0;
      if (list != nullptr) {
        foreign_.execute(commands, list, place.buffer, entry);
        write_list(*list, place);
        passes_.abandon();
        is_understood_ = passes_.take_understood() && is_understood_;
      }
      ++entry;
      ++place.buffer;
    }
    sync_.end_batch(queue, batch.signals, is_last ? record.fence : 0);
  }
  if (record.batches.empty()) sync_.end_batch(queue, {}, record.fence);
  rest_.lists = {};
  count_unknown();
  if (origin != nullptr) summary_.places.add({submission_}, std::move(origin));
}

void SubmissionWriter::count_unknown() {
  if (submission_ == 0) return;
  const bool has_notes = std::exchange(counted_notes_, summary_.note_count) != summary_.note_count;
  const bool is_unknown = has_notes || !is_understood_ || summary_.has_unknown_device;
  if (is_unknown && counted_submission_ != submission_) {
    counted_submission_ = submission_;
    ++summary_.unknown_submission_count;
  }
}

void SubmissionWriter::note_place(const RecordedCommands& list, size_t index, const Place& place,
                                  uint64_t first_command) {
  const CapturedPlace here{submission_, place.buffer, place.command};
  const auto origin = list.notes.origins.find(index);
  if (origin != list.notes.origins.end()) summary_.places.add(here, origin->second);
  foreign_.add_recorded(list, index, here, first_command);
}

void SubmissionWriter::write_list(const RecordedCommands& list, Place& place) {
  bound_ = {};
  drawn_ = {};
  const uint64_t first_command = place.command;
  rest_.begun.emplace_back();
  for (const Command& command : list.commands) {
    const auto index = static_cast<size_t>(&command - list.commands.data());
    rest_.begun.back() = std::span(list.commands).subspan(index + 1);
    writer_.add_steps(1 + std::visit(PartCount(), command));
    if (is_stopped() || writer_.is_full()) break;
    if (bind(command)) continue;
    if (const auto* const reset = std::get_if<ResetEventCommand>(&command)) {
      events_.reset(*reset);
      continue;
    }
    if (const auto* const execute = std::get_if<ExecuteCommand>(&command)) {
      write_list(*execute->secondary, place);
      bound_ = {};  // What was bound is undefined from here on.
      drawn_ = {};
      continue;
    }
    Place told = place;
    if (passes_.is_open() && std::holds_alternative<DrawCommand>(command)) {
      told.command = pass_command_;
    }
    note_place(list, index, told, first_command);
    std::visit(
        [&](const auto& known) {
          if constexpr (requires { write_command(known, place); }) write_command(known, place);
        },
        command);
    ++place.command;
  }
  rest_.begun.pop_back();
}

bool SubmissionWriter::bind(const Command& command) {
  const auto bound_for = [this](bool is_graphics) -> BoundState& {
    return is_graphics ? drawn_ : bound_;
  };
  if (const auto* const pipeline = std::get_if<BindPipelineCommand>(&command)) {
    bound_for(pipeline->is_graphics).pipeline = pipeline->pipeline;
    return true;
  }
  if (const auto* const sets = std::get_if<BindSetsCommand>(&command)) {
    for (const auto& [number, set] : sets->sets) bound_for(sets->is_graphics).sets[number] = set;
    return true;
  }
  if (const auto* const vertices = std::get_if<BindVertexBuffersCommand>(&command)) {
    uint32_t binding = vertices->first_binding;
    for (const DrawnBytes& buffer : vertices->buffers) drawn_.vertices[binding++] = buffer;
    return true;
  }
  if (const auto* const indices = std::get_if<BindIndexBufferCommand>(&command)) {
    drawn_.indices = *indices;
    return true;
  }
  if (const auto* const constants = std::get_if<PushConstantsCommand>(&command)) {
    const auto& [is_of_compute, is_of_graphics, offset_bytes, bytes] = *constants;
    if (is_of_compute) bound_.pushed.push(offset_bytes, bytes);
    if (is_of_graphics) drawn_.pushed.push(offset_bytes, bytes);
    return true;
  }
  const auto* const push = std::get_if<PushSetCommand>(&command);
  if (push == nullptr) return false;
  BoundSet& bound = bound_for(push->is_graphics).sets[push->number];
  if (!bound.is_pushed) bound = {std::make_shared<CapturedSet>(), {}, true};
  bound.set->layout = push->pushed->layout;
  for (const auto& [number, descriptors] : push->pushed->bindings) {
    for (const auto& [element, descriptor] : descriptors) {
      bound.set->bindings[number][element] = descriptor;
    }
  }
  return true;
}

void SubmissionWriter::write_command(const DispatchCommand& command, const Place& place) {
  ++summary_.dispatch_count;
  std::optional<ExactAccessesRecord> measured;
  if (command.slot != 0) {
    // The record is read anew for each execution of a dispatch, and may be long.
    writer_.add_steps(index_.size_of(exact_submission_, command.slot) / kBytesOfAStep + 1);
    if (writer_.is_full()) return;
    measured = index_.find(exact_submission_, command.slot);
  }
  auto [operands, is_understood, is_exact, has_addresses, step_count] =
      operands_of(bound_, command, addresses_, measured ? &*measured : nullptr, summary_);
  writer_.add_steps(step_count);
  is_understood_ = is_understood_ && is_understood;
  if (operands.size() > kDispatchOperandsMax) {
    note("a dispatch that touches more ranges than one may have");
    operands.resize(kDispatchOperandsMax);
    is_exact = false;
  }
  for (CapturedOperand& operand : operands) {
    if (writer_.takes_rows(operand.bytes)) continue;
    operand.bytes.rows.reset();
    is_exact = false;
  }
  DispatchDraft draft;
  draft.label = label_of(place);
  draft.queue = place.queue;
  const CapturedPipeline* const pipeline = bound_.pipeline.get();
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
  // A shader may leave bytes of its bindings as they were, and need not look at them.
  draft.is_partial = has_writes && !is_exact;
  draft.is_approximate = !operands.empty() && !is_exact;
  if (is_exact) ++summary_.exact_count;
  if (has_addresses) summary_.note_addressed({submission_, place.buffer, place.command});
  if (draft.is_approximate) ++summary_.approximate_count;
  writer_.add(draft);
}

void SubmissionWriter::write_command(const TransferCommand& command, const Place& place) {
  ++summary_.transfer_count;
  // A part is written once the next one is there, or none is: it has no number if it is alone.
  std::optional<DispatchDraft> last;
  uint64_t count = 0;
  const auto write_last = [&](bool is_alone) {
    last->queue = place.queue;
    last->label = label_of(place);
    if (!is_alone) last->label += fmt::format(".r{}", count++);
    writer_.add(*last);
  };
  const auto add = [&](DispatchDraft draft) {
    if (last) write_last(false);
    last = std::move(draft);
  };
  for (const TransferRegion& region : command.regions) {
    if (is_stopped() || writer_.is_full()) return;
    if (!is_known(region.from) || !is_known(region.to)) {
      note("a transfer of a buffer or an image that is not known");
    } else if (const auto pieces = pieces_of(region)) {
      for (const TransferPiece& piece : *pieces) add(draft_of(piece));
    } else if (const TransferBounds bounds = bounds_of(region); !bounds.to.empty()) {
      add(draft_of(bounds, command.use));
    }
  }
  if (last) write_last(count == 0);
}

DispatchDraft SubmissionWriter::draft_of(const TransferPiece& piece) {
  DispatchDraft draft;
  if (piece.from) {
    draft.kernel = "copy";
    draft.operands.push_back(writer_.operand(*piece.from, AccessMode::kRead));
  } else {
    draft.kernel = "fill";
    draft.attributes.emplace_back("value", "0");
  }
  draft.operands.push_back(writer_.operand(piece.to, AccessMode::kWrite));
  return draft;
}

DispatchDraft SubmissionWriter::draft_of(const TransferBounds& bounds, TransferUse use) {
  ++summary_.approximate_count;
  DispatchDraft draft;
  draft.kernel = kernel_of(use);
  draft.stage = Stage::kCopy;
  draft.is_partial = draft.is_approximate = true;
  for (const CapturedBytes& part : bounds.from) {
    draft.operands.push_back(writer_.operand(part, AccessMode::kRead));
  }
  for (const CapturedBytes& part : bounds.to) {
    draft.operands.push_back(writer_.operand(part, AccessMode::kWrite));
  }
  return draft;
}

void SubmissionWriter::write_command(const BarrierCommand& command, const Place& place) {
  ++summary_.barrier_count;
  if (passes_.is_open()) {
    return summary_.remark(
        "barriers within a pass of graphics (what happens there is not checked)");
  }
  BarrierDraft draft;
  draft.label = fmt::format("{}.n{}", label_of(place), command.number);
  draft.queue = place.queue;
  draft.kind = BarrierKind::kScoped;
  draft.dependencies = dependencies_of(command.dependencies, {place.family}, writer_, summary_);
  if (!draft.dependencies.empty()) writer_.add(draft);
}

void SubmissionWriter::write_command(const SetEventCommand& command, const Place& place) {
  events_.set(command, pass_place(place), rest_);
}

void SubmissionWriter::write_command(const WaitEventsCommand& command, const Place& place) {
  events_.wait(command, pass_place(place));
}

void SubmissionWriter::write_command(const UnknownCommand& command, const Place&) {
  note(command.name);
}

PassPlace SubmissionWriter::pass_place(const Place& place) const {
  return {label_of(place), place.queue, place.family};
}

void SubmissionWriter::write_command(const BeginPassCommand& command, const Place& place) {
  pass_command_ = place.command;
  passes_.begin(command, pass_place(place));
}

void SubmissionWriter::write_command(const NextSubpassCommand&, const Place& place) {
  pass_command_ = place.command;
  passes_.next(pass_place(place));
}

void SubmissionWriter::write_command(const EndPassCommand&, const Place& place) {
  passes_.end(pass_place(place));
}

void SubmissionWriter::write_command(const DrawCommand& command, const Place&) {
  passes_.draw(command, drawn_);
}

}  // namespace interlock
