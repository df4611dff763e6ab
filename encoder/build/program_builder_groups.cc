// The rules of captures, replays and backward passes. The basic idea is that a capture records
// drafts, checked as if they were added there and then, and a replay adds them again: all that can
// go wrong then is what depends on the replay, its labels, its room and what is pinned, and that is
// checked before anything of it is added.
#include <algorithm>
#include <limits>
#include <string_view>

#include "encoder/build/program_builder.h"
#include "encoder/program/names.h"

namespace interlock {
namespace {

// '@' and a 32-bit number.
constexpr uint64_t kReplayNumberBytesMax = 11;

// Beside what it executes (program_builder_launches.cc).
constexpr uint64_t kStepsOfLaunch = 4;

// "attend@2".
std::string label_in_replay(std::string_view label, uint32_t number) {
  return fmt::format("{}@{}", label, number);
}

const std::string& label_of(const StatementDraft& statement) {
  return std::visit([](const auto& item) -> const std::string& { return item.label; }, statement);
}

// What is recorded without a queue is of that of the replay; edges are within one replay.
void take_queue(DispatchDraft& dispatch, const std::string& queue, uint32_t number) {
  if (dispatch.queue.empty()) dispatch.queue = queue;
  for (std::string& label : dispatch.after) label = label_in_replay(label, number);
}
void take_queue(BarrierDraft& barrier, const std::string& queue, uint32_t /*number*/) {
  if (barrier.queue.empty()) barrier.queue = queue;
}
void take_queue(LifetimeDraft& /*lifetime*/, const std::string& /*queue*/, uint32_t /*number*/) {}

uint64_t row_count_of(const std::vector<OperandDraft>& operands) {
  uint64_t count = 0;
  for (const OperandDraft& operand : operands)
    count += operand.stride ? operand.stride->row_count : 1;
  return count;
}

// What one statement adds to the program, as Limits::expansion_count counts it.
uint64_t expansion_count_of(const StatementDraft& statement) {
  constexpr uint64_t kLabelBytesPerCount = 32;
  uint64_t count = 1 + label_of(statement).size() / kLabelBytesPerCount;
  if (const auto* dispatch = std::get_if<DispatchDraft>(&statement)) {
    count +=
        row_count_of(dispatch->operands) + dispatch->attributes.size() + dispatch->after.size();
  } else if (const auto* barrier = std::get_if<BarrierDraft>(&statement)) {
    for (const DependencyDraft& part : barrier->dependencies) {
      count += 1 + row_count_of(part.operands);
    }
  }
  return count;
}

// What a recorded statement takes, with its words.
uint64_t recorded_bytes_of(const StatementDraft& statement) {
  uint64_t bytes = sizeof(StatementDraft) + label_of(statement).size();
  const auto add = [&bytes](const std::vector<OperandDraft>& operands) {
    for (const OperandDraft& operand : operands) bytes += sizeof(operand) + operand.name.size();
  };
  if (const auto* dispatch = std::get_if<DispatchDraft>(&statement)) {
    bytes += dispatch->kernel.size() + dispatch->queue.size();
    for (const std::string& label : dispatch->after) bytes += sizeof(label) + label.size();
    add(dispatch->operands);
    for (const auto& [key, value] : dispatch->attributes) {
      bytes += sizeof(dispatch->attributes[0]) + key.size() + value.size();
    }
  } else if (const auto* barrier = std::get_if<BarrierDraft>(&statement)) {
    for (const DependencyDraft& part : barrier->dependencies) {
      bytes += sizeof(part);
      add(part.operands);
    }
  }
  return bytes;
}

}  // namespace

uint64_t ProgramBuilder::label_room_bytes() const {
  return open_capture_ ? kReplayNumberBytesMax : 0;
}

bool ProgramBuilder::check_not_recording(std::string_view noun) {
  if (!open_capture_) return true;
  return fail(
      ItemPart::kItem,
      "{} stands in capture {}, which has not ended; a capture records dispatches, barriers and lifetime statements only.",
      noun, in_quotes(program_.name(open_capture_->name)));
}

// Canonical text declares everything first; what a backward pass declares stands after that.
bool ProgramBuilder::check_declaration(std::string_view noun) {
  if (!program_.backwards.empty() && !is_in_backward_) {
    return fail(
        ItemPart::kItem,
        "{} is declared after a backward pass, which declares tensors itself; expected it before.",
        noun);
  }
  return check_not_recording(noun);
}

bool ProgramBuilder::check_group(std::string_view noun) {
  if (!check_not_recording(noun)) return false;
  if (program_.has_program_order) {
    return fail(
        ItemPart::kItem,
        "the dispatches before {} have 'order='; that and captures or backward passes exclude each other.",
        noun);
  }
  return check_room_for_statements(1);
}

bool ProgramBuilder::check_expansion_room(uint64_t expansion_count) {
  constexpr uint64_t kAccessesMax = std::numeric_limits<uint32_t>::max();
  const bool fits = expansion_count_ <= limits_.expansion_count &&
                    expansion_count <= limits_.expansion_count - expansion_count_ &&
                    program_.accesses.size() + expansion_count <= kAccessesMax;
  return fits ||
         fail(
             ItemPart::kItem,
             "replays and backward passes add more than the limit of {} statements, operands and attributes.",
             limits_.expansion_count);
}

bool ProgramBuilder::append(const CaptureDraft& item) {
  if (!check_group("a capture") || !check_name(ItemPart::kName, "capture", item.name)) return false;
  if (meaning_of(item.name).capture.is_some()) {
    return fail(ItemPart::kName, "capture {} stands twice; names of captures must differ.",
                in_quotes(item.name));
  }
  open_capture_.emplace();
  open_capture_->name = intern(item.name);
  return true;
}

bool ProgramBuilder::append(const EndDraft&) {
  if (!open_capture_) {
    return fail(ItemPart::kItem, "found 'end' after no capture; expected a 'capture' before it.");
  }
  const CaptureId id(program_.captures.size());
  names_.meaning(open_capture_->name).capture = id;
  Capture capture;
  capture.name = open_capture_->name;
  capture.body = std::make_shared<const CaptureBody>(std::move(open_capture_->body));
  capture.next = StatementId(program_.statements.size());
  capture.text_index = group_count_++;
  program_.captures.push_back(std::move(capture));
  expansion_counts_.push_back(open_capture_->expansion_count);
  replay_counts_.push_back(0);
  queue_needs_.push_back(open_capture_->needs);
  open_capture_.reset();
  return true;
}

void ProgramBuilder::drop_open_capture() {
  if (!open_capture_) return;
  for (const TensorId id : open_capture_->adopted) adopted_from_[id.index] = TensorId();
  open_capture_.reset();
}

void ProgramBuilder::record(StatementDraft statement) {
  if (const std::string& label = label_of(statement); !label.empty()) {
    names_.meaning(intern(label)).recorded_label = CaptureId(program_.captures.size());
  }
  OpenCapture& capture = *open_capture_;
  if (const auto* dispatch = std::get_if<DispatchDraft>(&statement)) {
    const bool has_own_queue = !dispatch->queue.empty();
    capture.needs.names_after |= names_after(*dispatch);
    capture.needs.is_graph |= !has_own_queue && !dispatch->after.empty();
    for (const std::string& label : dispatch->after) {
      const size_t source = capture.dispatches.find(label)->second;
      capture.needs.is_graph |=
          std::get<DispatchDraft>(capture.body.statements[source]).queue.empty();
    }
    if (!dispatch->label.empty()) {
      capture.dispatches.emplace(dispatch->label, capture.body.statements.size());
    }
  } else if (const auto* barrier = std::get_if<BarrierDraft>(&statement)) {
    capture.needs.takes_barriers |= barrier->queue.empty();
  }
  open_capture_->expansion_count += expansion_count_of(statement);
  recorded_bytes_ += recorded_bytes_of(statement);
  open_capture_->body.statements.push_back(std::move(statement));
  ++recorded_count_;
}

bool ProgramBuilder::append(const ReplayDraft& item) {
  if (!check_group("a replay")) return false;
  const CaptureId id = meaning_of(item.capture).capture;
  if (!id.is_some()) {
    return fail(ItemPart::kName, "no capture {} stands before this replay.{}",
                in_quotes(item.capture), advice_for(item.capture, &NameMeaning::capture));
  }
  if (!check_expansion_room(expansion_counts_[id.index])) return false;
  Replay replay;
  if (!find_queue(item.queue, replay.queue)) return false;
  replay.capture = id;
  replay.number = replay_counts_[id.index] + 1;
  const std::shared_ptr<const CaptureBody> body = program_.captures[id.index].body;
  replay.is_launch = queue_needs_[id.index].is_graph && is_serial(program_.kind_of(replay.queue));
  const uint64_t statement_count =
      body->statements.size() + (replay.is_launch ? kStepsOfLaunch : 0);
  if (!check_room_for_statements(statement_count + 1)) return false;
  if (!check_queue_of_replay(queue_needs_[id.index], replay) || !check_replay(*body, replay)) {
    error_message_ += fmt::format("\n  - While adding replay {} of capture {}.", replay.number,
                                  in_quotes(item.capture));
    return false;
  }
  const uint64_t count_before = expansion_count_;
  replay.first = StatementId(program_.statements.size());
  replay.statement_count = static_cast<uint32_t>(statement_count);
  const std::string& queue = replay.is_launch ? begin_launch(replay.queue) : item.queue;
  for (const StatementDraft& statement : body->statements) {
    std::visit(
        [&](auto copy) {
          if (!copy.label.empty()) copy.label = label_in_replay(copy.label, replay.number);
          take_queue(copy, queue, replay.number);
          INTERLOCK_CHECK(append(copy));
        },
        statement);
  }
  if (replay.is_launch) end_launch(replay.queue);
  replay.text_index = group_count_++;
  program_.replays.push_back(replay);
  replay_counts_[id.index] = replay.number;
  expansion_count_ = count_before + expansion_counts_[id.index];  // Rows have counted themselves.
  return true;
}

// What depends on the replay alone.
bool ProgramBuilder::check_replay(const CaptureBody& body, const Replay& replay) {
  std::map<TensorId, uint32_t> pin_counts;  // Of those that the body pins or unpins.
  for (const StatementDraft& statement : body.statements) {
    const std::string& label = label_of(statement);
    if (!label.empty() && !check_label(label_in_replay(label, replay.number))) {
      error_place_ = {};
      return false;
    }
    const auto* lifetime = std::get_if<LifetimeDraft>(&statement);
    const bool is_pin = lifetime != nullptr && lifetime->kind == LifetimeKind::kPin;
    const bool is_unpin = lifetime != nullptr && lifetime->kind == LifetimeKind::kUnpin;
    if (!is_pin && !is_unpin) continue;
    const TensorId tensor = meaning_of(lifetime->name).tensor;
    const auto before = pin_counts_.find(tensor);
    uint32_t& count =
        pin_counts.emplace(tensor, before == pin_counts_.end() ? 0 : before->second).first->second;
    if (is_unpin && count == 0) {
      return fail(ItemPart::kItem,
                  "tensor {} is not pinned here; every unpin ends one pin before it.",
                  in_quotes(lifetime->name));
    }
    count += is_pin ? 1 : -1;
  }
  return true;
}

// That what is recorded without a queue can be of this one, or launched there.
bool ProgramBuilder::check_queue_of_replay(const QueueNeeds& needs, const Replay& replay) {
  const QueueIndex queue = replay.queue;
  const bool is_named = queue != kDefaultQueue || replay.is_launch;
  if (needs.names_after && is_named) {
    return fail(
        ItemPart::kQueue,
        "what the capture records has an operand named 'after', which begins edges where a queue is named.");
  }
  if (needs.takes_barriers && replay.is_launch) {
    return fail(ItemPart::kQueue,
                "the capture records a barrier beside edges, which are those of a graph: queue {} "
                "launches it as a whole, and edges alone order what is in it.",
                in_quotes(program_.name_of(queue)));
  }
  if (needs.takes_barriers && !check_takes_barriers(queue, "a recorded barrier")) return false;
  if (replay.is_launch) return check_launch(queue);
  return !needs.is_graph || program_.kind_of(queue) == QueueKind::kGraph ||
         fail(
             ItemPart::kQueue,
             "queue {} is concurrent, and what the capture records has edges; expected 'on' a graph queue, or a serial one that launches it, here or on these dispatches.",
             in_quotes(program_.name_of(queue)));
}

// A pass that does not fit after all leaves no trace: the builder goes back to what it was.
bool ProgramBuilder::append(const BackwardDraft& item) {
  if (!check_backward(item)) return false;
  ++backward_try_count_;
  ProgramBuilder before = *this;
  is_in_backward_ = true;
  const bool is_appended = append_backward(item);
  is_in_backward_ = false;
  if (is_appended) return true;
  before.failed_expansion_count_ = failed_expansion_count_;
  before.rewalk_count_ = rewalk_count_;
  before.error_message_ = std::move(error_message_);
  *this = std::move(before);
  return fail(ItemPart::kItem, "{}\n  - While adding the backward pass of {}.", error_message_,
              in_quotes(item.loss));
}

bool ProgramBuilder::check_backward(const BackwardDraft& item) {
  if (!check_group("a backward pass")) return false;
  if (backwards_ == nullptr) {
    return fail(ItemPart::kItem, "a backward pass stands where none can be computed.");
  }
  TensorId found;
  if (!check_count(backward_try_count_ + 1, "backward passes", limits_.backward_count) ||
      !find_tensor(ItemPart::kName, item.loss, "this line", found)) {
    return false;
  }
  if (item.wrt.empty() || item.wrt.size() > limits_.access_count_per_dispatch) {
    return fail(ItemPart::kItem, "the backward pass has {} tensors after 'wrt'; expected 1 to {}.",
                item.wrt.size(), limits_.access_count_per_dispatch);
  }
  uint64_t length =
      std::string_view("backward  wrt  mode=").size() + item.loss.size() + item.mode.size();
  for (size_t i = 0; i < item.wrt.size(); ++i) {
    const ItemPlace place(ItemPart::kOperand, i);
    if (!find_tensor(place, item.wrt[i], "this line", found)) return false;
    const auto end = item.wrt.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(item.wrt.begin(), end, item.wrt[i]) != end) {
      return fail(place, "tensor {} stands twice after 'wrt'; at most once is allowed.",
                  in_quotes(item.wrt[i]));
    }
    length += 1 + item.wrt[i].size();
  }
  if (!check_line_length("the backward pass needs", length)) return false;
  const auto error = backwards_->name_error(item.mode);
  return !error || fail(ItemPart::kMode, "{}", *error);
}

// May leave anything behind when it fails.
bool ProgramBuilder::append_backward(const BackwardDraft& item) {
  // Adopted tensors get their places at the end: the pass must see who shares bytes.
  Program placed;
  if (has_adoption_) placed = ProgramBuilder(*this).settled();
  const uint64_t used_count = expansion_count_ + failed_expansion_count_;
  BackwardRoom room(limits_);
  room.expansion_count -= std::min(limits_.expansion_count, used_count);
  room.rewalk_count -= rewalk_count_;
  const uint64_t room_count = room.expansion_count;
  const auto written = backwards_->write(has_adoption_ ? placed : program_, item, room);
  rewalk_count_ = limits_.rewalk_count - room.rewalk_count;
  failed_expansion_count_ += room_count - room.expansion_count;  // Until all of it is added.
  if (!written) return fail(ItemPart::kItem, "{}", written.error().message);
  Backward backward;
  backward.loss = meaning_of(item.loss).tensor;
  for (const std::string& name : item.wrt) backward.wrt.push_back(meaning_of(name).tensor);
  // What adopts later is another value than the one that the pass has seen.
  use(backward.loss);
  for (const TensorId id : backward.wrt) use(id);
  backward.first = StatementId(program_.statements.size());
  backward.first_tensor = TensorId(program_.tensors.size());
  uint64_t expansion_count = 0;
  for (const ItemDraft& added : written->items) {
    const auto* dispatch = std::get_if<DispatchDraft>(&added);
    expansion_count += dispatch == nullptr ? 1 : expansion_count_of(*dispatch);
  }
  if (!check_expansion_room(expansion_count)) return false;
  for (const ItemDraft& added : written->items) {
    if (!append(added)) return false;
  }
  backward.statement_count =
      static_cast<uint32_t>(program_.statements.size()) - backward.first.index;
  backward.tensor_count =
      static_cast<uint32_t>(program_.tensors.size()) - backward.first_tensor.index;
  for (const std::string& name : written->gradients) {
    backward.gradients.push_back(meaning_of(name).tensor);
  }
  backward.mode = intern(item.mode);
  backward.text_index = group_count_++;
  program_.backwards.push_back(std::move(backward));
  expansion_count_ += expansion_count;
  failed_expansion_count_ -= room_count - room.expansion_count;
  return true;
}

}  // namespace interlock
