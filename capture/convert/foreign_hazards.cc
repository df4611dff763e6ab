#include "capture/convert/foreign_hazards.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

#include "capture/convert/foreign_message.h"

namespace interlock {
namespace {

constexpr size_t kTextMax = 2000;

// Whether a command of ours may be what it calls so.
struct IsCalled {
  std::string_view name;

  bool begins_with(std::string_view prefix) const { return name.starts_with(prefix); }
  bool operator()(const DispatchCommand&) const { return begins_with("vkCmdDispatch"); }
  bool operator()(const TransferCommand&) const {
    constexpr std::string_view kPrefixes[] = {"vkCmdCopy",  "vkCmdFill", "vkCmdUpdate",
                                              "vkCmdClear", "vkCmdBlit", "vkCmdResolve"};
    return std::ranges::any_of(kPrefixes, [&](std::string_view each) { return begins_with(each); });
  }
  bool operator()(const BarrierCommand&) const { return begins_with("vkCmdPipelineBarrier"); }
  bool operator()(const SetEventCommand&) const { return begins_with("vkCmdSetEvent"); }
  bool operator()(const WaitEventsCommand&) const { return begins_with("vkCmdWaitEvents"); }
  bool operator()(const ExecuteCommand&) const { return begins_with("vkCmdExecuteCommands"); }
  bool operator()(const BeginPassCommand&) const { return begins_with("vkCmdBeginRender"); }
  bool operator()(const NextSubpassCommand&) const { return begins_with("vkCmdNextSubpass"); }
  bool operator()(const EndPassCommand&) const { return begins_with("vkCmdEndRender"); }
  bool operator()(const DrawCommand&) const { return begins_with("vkCmdDraw"); }
  bool operator()(const UnknownCommand& command) const { return begins_with(command.name); }
  bool operator()(const auto&) const { return false; }
};

// Where the subpass begins whose draw stands at `index`, or whose attachments are stored there at
// its end: that is what it is told as. The change of layout at the end of a pass is told there.
// Where the list has no beginning, itself.
size_t told_at(const RecordedCommands& list, size_t index, bool is_transition) {
  const Command& command = list.commands[index];
  const bool is_of_subpass = std::holds_alternative<DrawCommand>(command) ||
                             (std::holds_alternative<EndPassCommand>(command) && !is_transition);
  if (!is_of_subpass) return index;
  for (size_t i = index; i > 0; --i) {
    const Command& before = list.commands[i - 1];
    const bool begins = std::holds_alternative<BeginPassCommand>(before) ||
                        std::holds_alternative<NextSubpassCommand>(before);
    if (begins) return i - 1;
  }
  return index;
}

uint64_t entry_in(std::string_view text) {
  constexpr std::string_view kEntry = " for entry ";
  const size_t begin = text.find(kEntry);
  if (begin == std::string_view::npos) return 0;
  uint64_t entry = 0;
  for (const char c : text.substr(begin + kEntry.size(), 9)) {
    if (c < '0' || c > '9') break;
    entry = entry * 10 + static_cast<uint64_t>(c - '0');
  }
  return entry;
}

}  // namespace

void ForeignHazards::begin_submission(uint64_t queue, uint64_t submission) {
  queue_ = queue;
  submission_ = submission;
  last_of_queue_[queue].clear();
}

void ForeignHazards::execute(uint64_t commands, std::shared_ptr<const RecordedCommands> list,
                             uint64_t buffer, uint64_t entry) {
  if (summary_.options.is_validated == 0) return;
  const Execution execution{commands, std::move(list), submission_, buffer, entry};
  last_of_queue_[queue_].push_back(execution);
  std::vector<Execution>& last = last_of_commands_[commands];
  if (last.size() == 2) last.erase(last.begin());
  last.push_back(execution);
}

uint64_t ForeignHazards::number_of(const RecordedCommands& list, size_t index) {
  writer_.add_steps(index + 1);
  uint64_t number = 0;
  for (size_t i = 0; i < index && i < list.commands.size(); ++i) {
    const Command& command = list.commands[i];
    if (is_without_place(command)) continue;
    const auto* const execute = std::get_if<ExecuteCommand>(&command);
    number += execute == nullptr
                  ? 1
                  : number_of(*execute->secondary, execute->secondary->commands.size());
  }
  return number;
}

std::optional<CapturedPlace> ForeignHazards::place_of(const ForeignCommand& command,
                                                      const Execution& execution) {
  const RecordedCommands& list = *execution.list;
  const std::vector<size_t>& sequence = list.notes.sequence;
  if (command.sequence == 0 || command.sequence > sequence.size()) return std::nullopt;
  const size_t index = sequence[command.sequence - 1];
  if (index >= list.commands.size()) return std::nullopt;
  if (!std::visit(IsCalled{command.name}, list.commands[index])) return std::nullopt;
  return CapturedPlace{execution.submission, execution.buffer,
                       number_of(list, told_at(list, index, command.is_transition))};
}

void ForeignHazards::add_recorded(const RecordedCommands& list, size_t index,
                                  const CapturedPlace& place, uint64_t first_command) {
  const auto found = list.notes.messages.find(index);
  if (found == list.notes.messages.end()) return;
  // Its commands are counted from its own beginning.
  const Execution here{0, std::shared_ptr<const RecordedCommands>(std::shared_ptr<void>(), &list),
                       place.submission, place.buffer, 0};
  for (const NotedMessage& noted : found->second) {
    // Each is told again for each execution of the list.
    writer_.add_steps(1);
    if (writer_.is_full()) return;
    ForeignHazard hazard;
    hazard.kind = noted.message.kind;
    hazard.second = place;
    const size_t told = told_at(list, index, noted.message.is_transition);
    if (told != index) hazard.second->command = first_command + number_of(list, told);
    hazard.first = place_of(noted.message.prior, here);
    if (hazard.first) hazard.first->command += first_command;
    hazard.text = noted.text;
    summary_.places.add(std::move(hazard));
  }
}

const ForeignHazards::Execution* ForeignHazards::find_recorded(const ForeignCommand& command,
                                                               const std::string& text,
                                                               uint64_t queue) const {
  const auto last = last_of_queue_.find(queue);
  if (last == last_of_queue_.end()) return nullptr;
  const uint64_t entry = entry_in(text);
  const Execution* found = nullptr;
  for (const Execution& execution : last->second) {
    if (execution.commands != command.commands) continue;
    if (found == nullptr || execution.entry == entry) found = &execution;
  }
  return found;
}

void ForeignHazards::add_submitted(const ValidationMessageRecord& record) {
  const ForeignMessage message = parsed_message(record.name, record.text);
  ForeignHazard hazard;
  hazard.kind = message.kind;
  hazard.is_at_submission = true;
  hazard.text = std::make_shared<const std::string>(printable_text(record.text, kTextMax));
  // find_recorded() looks at each command buffer of that submission.
  const auto last = last_of_queue_.find(record.handle);
  writer_.add_steps(1 + (last == last_of_queue_.end() ? 0 : last->second.size()));
  if (writer_.is_full()) return;
  const Execution* const second =
      message.recorded ? find_recorded(*message.recorded, record.text, record.handle) : nullptr;
  if (second != nullptr) {
    hazard.second = place_of(*message.recorded, *second);
    const auto priors = last_of_commands_.find(message.prior.commands);
    if (priors != last_of_commands_.end()) {
      // The last one before, as one command buffer may be submitted again and again.
      for (const Execution& prior : priors->second) {
        const bool is_before = std::pair(prior.submission, prior.buffer) <
                               std::pair(second->submission, second->buffer);
        if (is_before) hazard.first = place_of(message.prior, prior);
      }
    }
  }
  summary_.places.add(std::move(hazard));
}

}  // namespace interlock
