#include "capture/convert/run_notes.h"

#include <fmt/format.h>
#include <vulkan/vulkan_core.h>

#include <utility>
#include <variant>

#include "capture/convert/foreign_message.h"
#include "capture/convert/known_extensions.h"

namespace interlock {
namespace {

constexpr size_t kMessageTextMax = 2000;

// A barrier that was left out, and had nothing but order, reached nobody.
bool is_empty_barrier(const Command& command) {
  const auto* const barrier = std::get_if<BarrierCommand>(&command);
  return barrier != nullptr && barrier->dependencies.empty();
}

}  // namespace

void RunNotes::apply(const RunOptionsRecord& record) {
  summary_.options = record;
  summary_.options.pretended = printable(record.pretended);
}

void RunNotes::note_unknown(const DeviceRecord& record) {
  const uint64_t noted = summary_.note_count;
  for (const std::string& extension : unknown_extensions(record.extensions)) {
    summary_.note(fmt::format("the extension {}", extension));
  }
  if (is_beyond_what_is_known(record.api_version)) {
    summary_.note(fmt::format("Vulkan {}.{}", VK_API_VERSION_MAJOR(record.api_version),
                              VK_API_VERSION_MINOR(record.api_version)));
  }
  if (summary_.note_count != noted) summary_.has_unknown_device = true;
}

void RunNotes::apply(const ValidationRecord& record) {
  summary_.validation = printable(fmt::format("{} {}", record.name, record.version));
}

void RunNotes::apply(const ModuleRecord& record) {
  callers_.add_module(record.begin, record.end, record.bias, record.path);
}

void RunNotes::apply(const CallerRecord& record) { callers_.set(record.handle, record.addresses); }

void RunNotes::apply_label(uint64_t handle, LabelUse use, const std::string& name) {
  switch (use) {
    case LabelUse::kBegin:
      return callers_.add_label(handle, name);
    case LabelUse::kEnd:
      return callers_.remove_label(handle);
    case LabelUse::kInsert:
      return callers_.insert_label(handle, name);
  }
}

void RunNotes::apply(const QueueLabelRecord& record) {
  apply_label(record.queue, record.use, record.name);
}

void RunNotes::apply_label(const LabelRecord& record) {
  apply_label(record.commands, record.use, record.name);
}

void RunNotes::apply(const DroppedBarrierRecord& record) {
  uint64_t left = 0;
  for (const DependencyFields& fields : record.dependencies) {
    const bool is_left = fields.object != DependencyObject::kMemory &&
                         (fields.old_layout != fields.new_layout ||
                          fields.source_family != fields.destination_family);
    if (is_left) ++left;
  }
  summary_.has_dropped_barrier = true;
  summary_.remark(fmt::format("barriers that were left out (n{})", record.number));
  if (left > 0) {
    summary_.remarks["changes of layout, or of owner, that it had and that nothing orders now"] =
        left;
  }
  left_out_ = record.commands;
}

void RunNotes::begin_command(uint64_t commands) {
  const auto list = lists_.find(commands);
  size_before_ = list == nullptr ? 0 : list->commands.size();
}

void RunNotes::end_command(uint64_t commands) {
  RecordedCommands* const list = lists_.find_open(commands);
  if (list == nullptr) return;
  auto origin = callers_.take(commands);
  const bool is_added = list->commands.size() > size_before_;
  const bool is_left_out = left_out_ == commands;
  if (is_left_out) left_out_.reset();
  const bool reached_nobody =
      is_left_out && is_added && is_empty_barrier(list->commands[size_before_]);
  if (origin != nullptr && is_added) list->notes.origins[size_before_] = std::move(origin);
  if (summary_.options.is_validated != 0 && !reached_nobody) {
    list->notes.sequence.push_back(is_added ? size_before_ : SIZE_MAX);
  }
}

bool RunNotes::take_message(const ValidationMessageRecord& record) {
  RecordedCommands* const list = lists_.find_open(record.handle);
  if (list == nullptr) return false;
  if (list->notes.sequence.empty()) return true;  // Nothing was recorded that it could be about.
  const size_t last = list->notes.sequence.back();
  list->notes.messages[last].push_back(
      {parsed_message(record.name, record.text),
       std::make_shared<const std::string>(printable_text(record.text, kMessageTextMax))});
  return true;
}

}  // namespace interlock
