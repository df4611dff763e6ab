// CommandLists: what each command buffer has recorded. What is bound is among its commands, so that
// a list takes no more memory than the log that it is from; what sets hold counts when they are
// submitted, as Vulkan has it where sets may be updated after they are bound, and elsewhere they
// may not change in between.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "capture/convert/captured_addresses.h"
#include "capture/convert/object_state.h"
#include "capture/convert/objects.h"
#include "capture/convert/place_notes.h"
#include "capture/log/command_records.h"
#include "capture/log/exact_records.h"
#include "capture/log/graphics_records.h"

namespace interlock {

// Whether descriptors of this VkDescriptorType take an offset where their set is bound.
bool is_dynamic(uint32_t type);

// How many such offsets the bindings below `binding_end` take: those of a set stand by binding and
// element.
uint64_t dynamic_count(const CapturedSetLayout& layout, uint64_t binding_end = UINT64_MAX);

struct BoundSet {
  std::shared_ptr<CapturedSet> set;
  std::vector<uint32_t> dynamic_offsets;  // Of its dynamic buffers, by binding and element.
  bool is_pushed = false;                 // It is no set of the application.
};

struct BindPipelineCommand {
  std::shared_ptr<CapturedPipeline> pipeline;
  bool is_graphics = false;  // For draws; else for dispatches. So the next two.
};

struct BindSetsCommand {
  bool is_graphics = false;
  std::map<uint64_t, BoundSet> sets;  // By number.
};

// What was pushed stays but for what is pushed on it.
struct PushSetCommand {
  bool is_graphics = false;
  uint32_t number = 0;
  std::shared_ptr<const CapturedSet> pushed;
};

struct PushConstantsCommand {
  bool is_of_compute = false;   // For dispatches.
  bool is_of_graphics = false;  // For draws.
  uint64_t offset_bytes = 0;
  std::vector<uint8_t> bytes;
};

struct DispatchCommand {
  bool is_indirect = false;
  std::shared_ptr<CapturedBuffer> arguments;  // Of an indirect one.
  uint64_t arguments_offset_bytes = 0;
  std::string label;  // Of the application, the innermost; empty: none.
  uint64_t slot = 0;  // Under which number it notes what it touches; 0: it does not.
};

// Bytes of a buffer that a draw reads.
struct DrawnBytes {
  std::shared_ptr<CapturedBuffer> buffer;
  uint64_t offset_bytes = 0;
  uint64_t size_bytes = 0;  // Or "whole size".
};

struct BindVertexBuffersCommand {
  uint32_t first_binding = 0;
  std::vector<DrawnBytes> buffers;
};

struct BindIndexBufferCommand {
  DrawnBytes indices;
  uint32_t index_bytes = 0;  // Of one of them.
};

struct DrawCommand {
  bool is_indexed = false;
  uint64_t first_index = 0;
  uint64_t index_count = 0;           // UINT64_MAX: it is not known.
  std::vector<DrawnBytes> arguments;  // Of an indirect one, and their count.
};

// Also of a pass without a render pass: it is as one of a single subpass, whose layouts stay.
struct BeginPassCommand {
  std::shared_ptr<const CapturedRenderPass> render_pass;  // Null: it is not known.
  CapturedViews views;
  std::string label;  // Of the application, the innermost; empty: none.
};

struct NextSubpassCommand {};

struct EndPassCommand {};

// What is bound where a command stands.
struct BoundState {
  std::shared_ptr<CapturedPipeline> pipeline;
  std::map<uint64_t, BoundSet> sets;
  PushedConstants pushed;
};

// The same for draws.
struct GraphicsState : BoundState {
  std::map<uint32_t, DrawnBytes> vertices;  // By binding.
  BindIndexBufferCommand indices;
};

// Ends with the buffers and images that they name at that time.
struct TransferEnd {
  TransferEndFields fields;
  std::shared_ptr<CapturedBuffer> buffer;
  std::shared_ptr<CapturedImage> image;
};

struct TransferRegion {
  std::optional<TransferEnd> from;
  std::optional<TransferEnd> to;
};

struct TransferCommand {
  TransferUse use = TransferUse::kCopy;
  std::vector<TransferRegion> regions;
};

struct CapturedDependency {
  DependencyFields fields;
  std::shared_ptr<CapturedBuffer> buffer;
  std::shared_ptr<CapturedImage> image;
};

struct BarrierCommand {
  uint64_t number = 0;  // Among all barriers that were recorded, from 0.
  std::vector<CapturedDependency> dependencies;
};

struct SetEventCommand {
  uint64_t event = 0;
  bool has_dependencies = false;
  std::vector<CapturedDependency> dependencies;
};

struct WaitEventsCommand {
  std::vector<uint64_t> events;
  std::vector<CapturedDependency> dependencies;
};

struct ResetEventCommand {
  uint64_t event = 0;
};

struct UnknownCommand {
  std::string name;
};

struct RecordedCommands;

// What it executes has none of these.
struct ExecuteCommand {
  std::shared_ptr<const RecordedCommands> secondary;
};

using Command = std::variant<DispatchCommand, TransferCommand, BarrierCommand, SetEventCommand,
                             WaitEventsCommand, UnknownCommand, ExecuteCommand, BindPipelineCommand,
                             BindSetsCommand, PushSetCommand, BeginPassCommand, NextSubpassCommand,
                             EndPassCommand, BindVertexBuffersCommand, BindIndexBufferCommand,
                             DrawCommand, PushConstantsCommand, ResetEventCommand>;

// Those that only bind something, or reset an event: they have no place of their own.
bool is_without_place(const Command& command);

struct RecordedCommands {
  std::vector<Command> commands;
  PlaceNotes notes;
  bool executes_others = false;
  bool is_executed = false;
};

class CommandLists {
 public:
  // Requires: `objects` outlives this.
  explicit CommandLists(ObjectState& objects) : objects_(objects) {}

  void apply(const AllocateCommandsRecord& record);
  void apply(const BeginCommandsRecord& record);
  void apply(const ResetCommandsRecord& record);
  void apply(const ResetCommandPoolRecord& record);
  void apply(const FreeCommandsRecord& record);
  void destroy_pool(uint64_t pool);
  void apply(const BindPipelineRecord& record);
  void apply(const BindSetsRecord& record);
  void apply(const PushSetRecord& record);
  void apply(const PushConstantsRecord& record);
  void apply(const ExactSlotRecord& record) { recording(record.commands).next_slot = record.slot; }
  void apply(const DispatchRecord& record);
  void apply(const DispatchIndirectRecord& record);
  void apply(const TransferRecord& record);
  void apply(const BarrierRecord& record);
  void apply(const SetEventRecord& record);
  void apply(const ResetEventRecord& record);
  void apply(const WaitEventsRecord& record);
  void apply(const ExecuteCommandsRecord& record);
  // Passes of graphics, and what is drawn in them (graphics_lists.cc).
  void apply(const BeginPassRecord& record);
  void apply(const NextSubpassRecord& record);
  void apply(const BeginRenderingRecord& record);
  void apply(const EndPassRecord& record);
  void apply(const BindVertexBuffersRecord& record);
  void apply(const BindIndexBufferRecord& record);
  void apply(const DrawRecord& record);
  void apply(const LabelRecord& record);
  void apply(const NotUnderstoodCommandRecord& record);

  // What it holds now; null if it was never recorded.
  std::shared_ptr<const RecordedCommands> find(uint64_t commands) const;
  // The same, to note something beside its commands.
  RecordedCommands* find_open(uint64_t commands);

  // How many barriers were recorded.
  uint64_t barrier_count() const { return barrier_count_; }

 private:
  struct Recording {
    uint64_t pool = 0;
    std::shared_ptr<RecordedCommands> list = std::make_shared<RecordedCommands>();
    std::vector<std::string> labels;
    std::string next_label;  // Inserted for the next command.
    uint64_t next_slot = 0;  // Of the next dispatch.
  };

  Recording& recording(uint64_t commands) { return recordings_[commands]; }
  static void reset(Recording& recording);
  static std::string take_label(Recording& recording);
  std::vector<CapturedDependency> dependencies_of(
      const std::vector<DependencyFields>& fields) const;
  TransferEnd end_of(const TransferEndFields& fields) const;

  ObjectState& objects_;
  std::map<uint64_t, Recording> recordings_;
  std::map<uint64_t, std::set<uint64_t>> commands_of_pool_;
  uint64_t barrier_count_ = 0;
};

}  // namespace interlock
