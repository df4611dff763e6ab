#include "capture/convert/convert.h"

#include <fmt/format.h>
#include <vulkan/vulkan_core.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <type_traits>
#include <utility>

#include "capture/convert/command_lists.h"
#include "capture/convert/exact_index.h"
#include "capture/convert/object_state.h"
#include "capture/convert/program_writer.h"
#include "capture/convert/queue_sync.h"
#include "capture/convert/result_names.h"
#include "capture/convert/run_notes.h"
#include "capture/convert/submission_writer.h"
#include "capture/convert/windows.h"
#include "capture/log/command_records.h"
#include "capture/log/exact_records.h"
#include "capture/log/graphics_records.h"
#include "capture/log/log_reader.h"
#include "capture/log/object_records.h"
#include "capture/log/queue_records.h"
#include "capture/log/run_records.h"
#include "encoder/program/stop.h"
#include "encoder/program/sync_step.h"
#include "encoder/text/printer.h"

namespace interlock {
namespace {

// Of comments that every window has.
constexpr size_t kHeadBytesMax = 4096;

template <typename... Records>
struct RecordTypes {};

// What a log may hold, beside accesses, which are looked up.
using KnownRecords = RecordTypes<
    ProcessRecord, DeviceRecord, QueueRecord, ObjectNameRecord, DestroyRecord, NotUnderstoodRecord,
    LostRecord, AllocateMemoryRecord, ImportMemoryRecord, ShareMemoryRecord, CreateBufferRecord,
    BindBufferRecord, CreateImageRecord, BindImageRecord, CreateImageViewRecord,
    CreateBufferViewRecord, HostRangeRecord, CreateShaderModuleRecord, CreateSetLayoutRecord,
    CreatePipelineLayoutRecord, CreateComputePipelineRecord, AllocateSetsRecord, FreeSetsRecord,
    ResetSetPoolRecord, UpdateSetsRecord, AllocateCommandsRecord, BeginCommandsRecord,
    ResetCommandsRecord, ResetCommandPoolRecord, FreeCommandsRecord, BindPipelineRecord,
    BindSetsRecord, PushSetRecord, DispatchRecord, DispatchIndirectRecord, TransferRecord,
    BarrierRecord, SetEventRecord, ResetEventRecord, WaitEventsRecord, ExecuteCommandsRecord,
    LabelRecord, BufferAddressRecord, PushConstantsRecord, NotUnderstoodCommandRecord,
    CreateRenderPassRecord, CreateFramebufferRecord, CreateGraphicsPipelineRecord, BeginPassRecord,
    NextSubpassRecord, BeginRenderingRecord, EndPassRecord, BindVertexBuffersRecord,
    BindIndexBufferRecord, DrawRecord, SubmitRecord, CreateSemaphoreRecord, ShareSyncRecord,
    ResetFencesRecord, HostEventRecord, FenceReachedRecord, SemaphoreReachedRecord,
    HostSignalRecord, WaitIdleRecord, SwapchainImagesRecord, AcquireRecord, PresentRecord,
    ResultRecord, RunOptionsRecord, ValidationRecord, ValidationMessageRecord, DroppedBarrierRecord,
    ModuleRecord, CallerRecord, QueueLabelRecord, ExactModeRecord, ExactSlotRecord,
    ExactSubmissionRecord, ExactRemarkRecord>;

// What stands in a command buffer, each in its place.
template <typename Record>
inline constexpr bool kIsOfCommands =
    std::is_same_v<Record, DispatchRecord> || std::is_same_v<Record, DispatchIndirectRecord> ||
    std::is_same_v<Record, TransferRecord> || std::is_same_v<Record, BarrierRecord> ||
    std::is_same_v<Record, SetEventRecord> || std::is_same_v<Record, ResetEventRecord> ||
    std::is_same_v<Record, WaitEventsRecord> || std::is_same_v<Record, ExecuteCommandsRecord> ||
    std::is_same_v<Record, BeginPassRecord> || std::is_same_v<Record, NextSubpassRecord> ||
    std::is_same_v<Record, BeginRenderingRecord> || std::is_same_v<Record, EndPassRecord> ||
    std::is_same_v<Record, DrawRecord> || std::is_same_v<Record, NotUnderstoodCommandRecord>;

class LogConverter {
 public:
  LogConverter(std::istream& log, const std::string& name, std::ostream& output,
               const Limits& limits)
      : reader_(log, name),
        writer_(output, limits, summary_),
        objects_(summary_),
        lists_(objects_),
        notes_(lists_, summary_),
        sync_(writer_, summary_),
        index_(log, name),
        submissions_(lists_, objects_.addresses(), sync_, index_, writer_, summary_) {}

  // Requires: `output` is given here, too, and `take` outlives this.
  void cut_into_windows(std::ostringstream& output, uint64_t bytes, const TakeWindow& take) {
    window_text_ = &output;
    window_bytes_ = bytes;
    take_ = &take;
    sync_.follow_full_waits();
    writer_.watch_writes(unseen_);
  }

  Result<CaptureSummary> run() {
    if (const Result<Success> opened = reader_.open(); !opened) return opened.error();
    while (!writer_.is_full()) {
      if (is_stopped()) return Error{"the conversion was stopped."};
      const Result<std::optional<LogRecord>> record = reader_.next();
      if (!record) return record.error();
      if (!record->has_value()) break;
      if (const Result<Success> applied = apply_any(**record, KnownRecords()); !applied) {
        return applied.error();
      }
      if (refused_) return *refused_;
    }
    summary_.recorded_barrier_count = lists_.barrier_count();
    note_cut();
    end_window(true);
    if (refused_) return *refused_;
    return std::move(summary_);
  }

 private:
  // The record, by its kind.
  template <typename... Records>
  Result<Success> apply_any(const LogRecord& record, RecordTypes<Records...>) {
    if (record.kind == RecordKind::kExactAccesses) return Success{};
    Result<Success> applied = Success{};
    const bool is_known =
        ((record.kind == Records::kKind && (applied = apply<Records>(record), true)) || ...);
    if (is_known) return applied;
    return reader_.error_at(record.offset_bytes, fmt::format("no record has the kind {}.",
                                                             static_cast<uint32_t>(record.kind)));
  }

  template <typename Record>
  Result<Success> apply(const LogRecord& record) {
    const Result<Record> read = parsed<Record>(reader_, record);
    if (!read) return read.error();
    if constexpr (kIsOfCommands<Record>) {
      notes_.begin_command(read->commands);
      handle(*read);
      notes_.end_command(read->commands);
    } else {
      handle(*read);
    }
    return Success{};
  }

  // Whoever follows records of this type.
  template <typename Record>
  void handle(const Record& record) {
    if constexpr (requires { objects_.apply(record); }) {
      objects_.apply(record);
    } else if constexpr (requires { lists_.apply(record); }) {
      lists_.apply(record);
    } else if constexpr (requires { notes_.apply(record); }) {
      notes_.apply(record);
    } else {
      sync_.apply(record);
    }
  }

  void handle(const ProcessRecord& record) {
    summary_.command = printable(record.command);
    summary_.application = printable(record.application);
    add_head(fmt::format("captured from {} ({})", summary_.command, summary_.application));
  }

  void handle(const DeviceRecord& record) {
    summary_.device = printable(record.name);
    add_head(fmt::format("on {}", summary_.device));
    notes_.note_unknown(record);
  }

  void handle(const NotUnderstoodRecord& record) { summary_.note(record.name); }

  void handle(const LostRecord& record) {
    summary_.note(
        fmt::format("a record of kind {} that is too long", static_cast<uint32_t>(record.kind)));
  }

  void handle(const AllocateMemoryRecord& record) {
    remove_memory(record.memory);  // A log may allocate it twice.
    objects_.apply(record);
    // Without properties it is not known whether the host can touch it.
    const bool is_of_host =
        record.properties == 0 || (record.properties & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0;
    if (const auto memory = objects_.place_of(record.memory).memory;
        memory != nullptr && is_of_host) {
      unseen_.add_memory(fmt::format("m{}", memory->number));
    }
  }

  void handle(const ImportMemoryRecord& record) { apply_import(record); }
  void handle(const ShareMemoryRecord& record) { apply_import(record); }

  template <typename Record>
  void apply_import(const Record& record) {
    const auto memory = objects_.place_of(record.memory).memory;
    objects_.apply(record);
    // What the host does there it does to the one that this is a part of.
    if (memory != nullptr && memory->whole != nullptr) {
      unseen_.remove_memory(fmt::format("m{}", memory->number));
    }
  }

  void remove_memory(uint64_t handle) {
    const auto memory = objects_.place_of(handle).memory;
    if (memory == nullptr || memory->handle_count > 1) return;
    unseen_.remove_memory(fmt::format("m{}", memory->number));
  }

  void handle(const DestroyRecord& record) {
    if (record.type == VK_OBJECT_TYPE_DEVICE_MEMORY) remove_memory(record.handle);
    objects_.apply(record);
    if (record.type == VK_OBJECT_TYPE_COMMAND_POOL) lists_.destroy_pool(record.handle);
    if (record.type == VK_OBJECT_TYPE_SEMAPHORE) sync_.destroy_semaphore(record.handle);
    if (record.type == VK_OBJECT_TYPE_SWAPCHAIN_KHR) sync_.destroy_swapchain(record.handle);
    if (record.type == VK_OBJECT_TYPE_FENCE) sync_.destroy_fence(record.handle);
    if (record.type == VK_OBJECT_TYPE_EVENT) submissions_.destroy_event(record.handle);
  }

  void handle(const HostRangeRecord& record) {
    if (record.use == HostRangeUse::kUnmap) return;
    const auto [memory, begin_bytes, room_bytes] = objects_.place_of(record.memory);
    if (memory == nullptr) return;
    if (record.use == HostRangeUse::kMap) {
      summary_.maps_coherent = summary_.maps_coherent || memory->is_coherent;
      return summary_.remark(
          "maps (what the host does there is known where it flushes or invalidates)");
    }
    if (record.offset_bytes >= room_bytes) return;
    const uint64_t size_bytes = std::min(record.size_bytes, room_bytes - record.offset_bytes);
    if (size_bytes == 0) return;
    const uint64_t begin = begin_bytes + record.offset_bytes;
    const bool is_write = record.use == HostRangeUse::kFlush;
    HostAccessDraft draft;
    draft.access = is_write ? HostAccess::kWrites : HostAccess::kReads;
    draft.operands = {writer_.operand({memory, {begin, begin + size_bytes}, {}},
                                      is_write ? AccessMode::kWrite : AccessMode::kRead)};
    // What is said to have been written, or to be read, need not have been.
    draft.is_approximate = true;
    draft.label = fmt::format("h{}", ++host_access_count_);
    writer_.add(draft);
  }

  void handle(const SubmitRecord& record) {
    const bool is_long = window_text_ != nullptr && writer_.text_bytes() >= window_bytes_ &&
                         summary_.submission_count >= first_submission_;
    if (is_long && sync_.is_idle()) {
      end_window(false);
      if (refused_ || is_stopped()) return;
      begin_window();
    }
    submissions_.write(record, notes_.take_origin(record.queue));
  }

  void handle(const RunOptionsRecord& record) {
    notes_.apply(record);
    const std::string text = text_of_options(summary_);
    if (!text.empty()) add_head(text);
  }

  void handle(const LabelRecord& record) {
    lists_.apply(record);
    notes_.apply_label(record);
  }

  void handle(const BeginCommandsRecord& record) {
    lists_.apply(record);
    notes_.begin_commands(record.commands);
  }

  void handle(const CreateSemaphoreRecord& record) {
    summary_.has_timelines = summary_.has_timelines || record.is_timeline != 0;
    sync_.apply(record);
  }

  void handle(const SwapchainImagesRecord& record) { sync_.set_images(record, objects_); }

  void handle(const ValidationMessageRecord& record) {
    if (!notes_.take_message(record)) submissions_.add_message(record);
  }

  void handle(const ExactModeRecord&) {
    summary_.is_exact = true;
    index_.begin();
  }

  void handle(const HostEventRecord& record) { submissions_.apply(record); }

  void handle(const ExactSubmissionRecord& record) { submissions_.expect(record); }

  void handle(const ExactRemarkRecord& record) { summary_.remark(record.what); }

  void handle(const ResultRecord& record) {
    summary_.note(
        fmt::format("{} that returned {}", printable(record.name), name_of_result(record.result)));
  }

  // A comment that stands at the beginning, of each window.
  void add_head(const std::string& text) {
    writer_.comment(text);
    // Once, however many devices there are.
    if (window_text_ == nullptr || head_.find(text) != std::string::npos) return;
    if (head_.size() < kHeadBytesMax) head_ += text + "\n";
  }

  void end_window(bool is_last) {
    sync_.finish();
    std::string carried;
    for (const DispatchDraft& dispatch : unseen_.take_touched()) {
      const std::string queue(dispatch.queue.empty() ? kDefaultQueueName : dispatch.queue);
      sync_.declare_queue(queue);
      SyncDraft submit;
      submit.kind = SyncKind::kSubmit;
      submit.queue = dispatch.queue;
      SyncDraft idle;
      idle.kind = SyncKind::kHostIdle;
      idle.queue = queue;
      carried += fmt::format("{}\n{}\n{}\n", print(dispatch), print(submit), print(idle));
    }
    // What is carried is beyond the limits: without it the window is a program as far as it goes.
    const bool is_dropped = writer_.is_full() && !carried.empty();
    if (is_dropped) carried.clear();
    const bool is_in_doubt = unseen_.take_doubt() || is_dropped;
    if (is_in_doubt) summary_.note("what the host sees of an earlier window");
    if (is_last) {
      submissions_.finish();
      writer_.comment(text_of(summary_));
    }
    writer_.close_places();
    if (window_text_ == nullptr) return;
    CapturedWindow window;
    window.number = writer_.window();
    window.is_last = is_last;
    window.first_submission = first_submission_;
    window.last_submission = summary_.submission_count;
    std::string body = std::move(*window_text_).str();
    window_text_->str({});
    const std::string declarations = writer_.take_declarations();
    window.text =
        window.number == 1 ? std::move(body) : window_head_ + declarations + carried + body;
    if (const Result<Success> taken = (*take_)(std::move(window), summary_); !taken) {
      refused_ = taken.error();
    }
  }

  void begin_window() {
    summary_.places = {};
    first_submission_ = summary_.submission_count + 1;
    const std::string about = fmt::format(
        "window {}, from submission {} on: what was before had executed, and was waited for",
        writer_.window() + 1, first_submission_);
    window_head_ = "interlock 1\n" + comment_lines(head_) + comment_lines(about);
    writer_.begin_window();
    sync_.begin_window();
    unseen_.begin_window();
  }

  void note_cut() {
    summary_.cut = writer_.is_full() ? "the program is as long as one may be." : reader_.why_cut();
  }

  CaptureSummary summary_;
  LogReader reader_;
  ProgramWriter writer_;
  ObjectState objects_;
  CommandLists lists_;
  RunNotes notes_;
  QueueSync sync_;
  ExactIndex index_;
  SubmissionWriter submissions_;
  uint64_t host_access_count_ = 0;

  // Of windows; null: there are none.
  std::ostringstream* window_text_ = nullptr;
  uint64_t window_bytes_ = 0;
  const TakeWindow* take_ = nullptr;
  UnseenWrites unseen_;
  std::string head_;         // Of every window: comments. So far.
  std::string window_head_;  // Of this one, after the first.
  uint64_t first_submission_ = 1;
  std::optional<Error> refused_;  // By whoever takes windows.
};

}  // namespace

Result<CaptureSummary> convert_log(std::istream& log, const std::string& name, std::ostream& output,
                                   const Limits& limits) {
  return LogConverter(log, name, output, limits).run();
}

Result<CaptureSummary> convert_log_in_windows(std::istream& log, const std::string& name,
                                              uint64_t window_bytes, const TakeWindow& take,
                                              const Limits& limits) {
  std::ostringstream text;
  LogConverter converter(log, name, text, limits);
  converter.cut_into_windows(text, window_bytes, take);
  return converter.run();
}

}  // namespace interlock
