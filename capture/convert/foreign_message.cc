#include "capture/convert/foreign_message.h"

#include <algorithm>
#include <charconv>

namespace interlock {
namespace {

constexpr std::string_view kPrior = "Access info (";
constexpr std::string_view kRecorded = "Recorded access info (";

// The word after `key`, up to what cannot be part of it.
std::string_view word_after(std::string_view text, std::string_view key) {
  const size_t begin = text.find(key);
  if (begin == std::string_view::npos) return {};
  text.remove_prefix(begin + key.size());
  return text.substr(0, text.find_first_of(" ,.()[]"));
}

uint64_t number_in(std::string_view word, int base) {
  if (base == 16 && word.starts_with("0x")) word.remove_prefix(2);
  uint64_t number = 0;
  std::from_chars(word.data(), word.data() + word.size(), number, base);
  return number;
}

bool is_transition(std::string_view text, std::string_view key) {
  return word_after(text, key) == "SYNC_IMAGE_LAYOUT_TRANSITION";
}

ForeignCommand command_in(std::string_view text) {
  ForeignCommand command;
  command.name = word_after(text, "command: ");
  command.sequence = number_in(word_after(text, "seq_no: "), 10);
  command.commands = number_in(word_after(text, "command_buffer: VkCommandBuffer "), 16);
  return command;
}

std::optional<FindingKind> kind_of(std::string_view name) {
  if (name == "SYNC-HAZARD-READ-AFTER-WRITE") return FindingKind::kReadAfterWrite;
  if (name == "SYNC-HAZARD-WRITE-AFTER-READ") return FindingKind::kWriteAfterRead;
  if (name == "SYNC-HAZARD-WRITE-AFTER-WRITE") return FindingKind::kWriteAfterWrite;
  return std::nullopt;
}

}  // namespace

ForeignMessage parsed_message(std::string_view name, std::string_view text) {
  ForeignMessage message;
  message.kind = kind_of(name);
  const size_t recorded = text.find(kRecorded);
  if (recorded != std::string_view::npos) {
    const std::string_view rest = text.substr(recorded + kRecorded.size());
    const size_t end = std::min(rest.find(')'), rest.size());
    message.recorded = command_in(rest.substr(0, end));
    message.is_transition = is_transition(rest.substr(0, end), "recorded_usage: ");
    message.recorded->is_transition = message.is_transition;
    // "for entry 0, VkCommandBuffer 0x55…[], Recorded access info (…"
    message.recorded->commands =
        number_in(word_after(text.substr(0, recorded), ", VkCommandBuffer "), 16);
    text.remove_prefix(recorded + kRecorded.size() + end);
  }
  const size_t prior = text.find(kPrior);
  if (prior == std::string_view::npos) return message;
  text.remove_prefix(prior);
  message.prior = command_in(text);
  message.prior.is_transition = is_transition(text, "prior_usage: ");
  if (!message.recorded) message.is_transition = is_transition(text, "(usage: ");
  return message;
}

}  // namespace interlock
