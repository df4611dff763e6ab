// ExactDevice: a device whose dispatches note what they touch (--exact). The basic idea is that
// compute pipelines are created with instrumented modules (capture/spirv/instrument.h) and with a
// layout that has one set more, that of the layer; that each dispatch gets a slot, which is bound
// there; and that after each submission a fence of the layer's says when its slots can be read.
// The layer waits for no fence that the application may not have waited for: so it adds no
// deadlock.
//
// The calls that it sees stand in exact_*_calls.cc; each goes on to the function that logs it.
#pragma once

#include <volk.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/layer/devices.h"
#include "capture/layer/exact_objects.h"
#include "capture/layer/exact_slots.h"
#include "capture/spirv/instrument.h"

namespace interlock {

struct ExactPipeline {
  std::shared_ptr<const InstrumentedModule> module;  // Null: it is as the application made it.
  std::shared_ptr<const ExactPipelineLayout> layout;
};

using SlotList = std::vector<std::shared_ptr<ExactSlot>>;

struct ExactBoundSet {
  VkDescriptorSet set = VK_NULL_HANDLE;      // Null: it was pushed.
  std::shared_ptr<const ExactSet> contents;  // As they are when a dispatch looks.
  std::vector<uint32_t> dynamic_offsets;
  uint64_t prefix = 0;        // Of the layout that it was bound with.
  bool is_disturbed = false;  // By a set that the layer bound.
};

// A command buffer.
struct ExactCommands {
  uint64_t pool = 0;
  bool is_primary = true;
  std::shared_ptr<const ExactPipeline> pipeline;
  std::map<uint32_t, ExactBoundSet> sets;
  std::shared_ptr<SlotList> slots = std::make_shared<SlotList>();
  std::vector<std::shared_ptr<SlotList>> executed;  // Of secondary ones.
};

// A submission that is not known to be complete.
struct ExactSubmission {
  uint64_t number = 0;
  VkFence fence = VK_NULL_HANDLE;         // The layer's.
  uint64_t fence_of_application = 0;      // 0: it gave none.
  std::map<ExactSlot*, uint64_t> counts;  // How often each of its slots is executed.
  SlotList slots;
};

class ExactDevice {
 public:
  ExactDevice(const Device& device, const VkPhysicalDeviceLimits& limits);

  // False if nothing can be measured on this device.
  bool open();
  // Reads what is complete, and destroys what it made. Requires: the device is idle.
  void close();

  // Everything below is for who holds this.
  std::mutex mutex;
  ExactObjects objects;

  // exact_pipelines.cc:
  void create_own_layout(const VkPipelineLayoutCreateInfo& info, VkPipelineLayout layout);
  // The pipelines of a call, with instrumented modules where there can be; the result is that of
  // the call.
  VkResult create_pipelines(VkPipelineCache cache, uint32_t count,
                            const VkComputePipelineCreateInfo* infos,
                            const VkAllocationCallbacks* allocator, VkPipeline* pipelines);
  void add_module(VkShaderModule module, const VkShaderModuleCreateInfo& info);
  std::shared_ptr<const ExactPipeline> pipeline(VkPipeline handle) const;

  ExactCommands& commands(VkCommandBuffer handle) { return commands_[handle]; }
  // Forgets what was recorded, and waits for nothing: slots of a submission whose fence is not
  // signalled yet stay its own until they are read. Requires: it is not executing, as Vulkan has
  // it.
  void reset(ExactCommands& commands);
  void reset_pool(uint64_t pool);
  void free(VkCommandBuffer handle);

  void bind_sets(ExactCommands& commands, VkPipelineLayout layout, uint32_t first_set,
                 std::span<const VkDescriptorSet> sets, std::span<const uint32_t> offsets);
  void push_set(ExactCommands& commands, VkPipelineLayout layout, uint32_t number,
                const std::vector<SetWriteFields>& writes);

  // Binds a slot for the dispatch that comes next. Its number, or 0 if nothing is noted.
  uint64_t prepare_dispatch(VkCommandBuffer handle);

  // exact_submissions.cc:
  // Of the slots that the command buffers execute, which are in use from here on, so that nobody
  // clears them; null if there are none. Ends in follow() or in cancel(). Cost: their slots.
  std::unique_ptr<ExactSubmission> prepare_submission(const std::vector<VkCommandBuffer>& all);
  // Where it could not be submitted. Cost: its slots.
  void cancel(std::unique_ptr<ExactSubmission> submission);
  // Once it was submitted.
  void follow(VkQueue queue, std::unique_ptr<ExactSubmission> submission, VkFence fence);
  // Reads what is complete; first waits for those that were submitted with one of these fences,
  // which the application knows to be complete, or for all. Requires, for all: the device is idle.
  void collect();
  void collect_after(uint32_t count, const VkFence* fences);
  void collect_all();

 private:
  std::shared_ptr<const InstrumentedModule> instrumented(const std::vector<uint32_t>& code);
  // The code of a stage; empty if it is not known.
  std::vector<uint32_t> code_of(const VkPipelineShaderStageCreateInfo& stage) const;
  std::shared_ptr<ExactSlot> make_slot(const ExactPipeline& pipeline,
                                       const ExactCommands& commands);
  // How an element is measured in this dispatch; none if it is not.
  std::optional<SlotElement> element_of(const MeasuredBinding& measured, uint32_t element,
                                        const ExactCommands& commands) const;
  // Binds a set of number `number` by the layer's own layout.
  void bind_set(VkCommandBuffer handle, const ExactPipelineLayout& layout, uint32_t number,
                VkDescriptorSet set, const std::vector<uint32_t>& offsets) const;
  // Binds again what an earlier slot disturbed, and a dispatch with this layout may use (14.2.2).
  void restore_sets(VkCommandBuffer handle, const ExactPipelineLayout& layout,
                    ExactCommands& commands) const;
  // Notes what a set that was bound by the layer's own layout disturbs.
  void note_disturbed(const ExactPipelineLayout& layout, ExactCommands& commands) const;
  void bind_slot(VkCommandBuffer handle, const ExactPipeline& pipeline, ExactCommands& commands,
                 const ExactSlot& slot);
  void read(const ExactSubmission& submission);
  static void end_uses(const ExactSubmission& submission);
  void collect_if(bool waits, const auto& is_known);
  void collect_if_used(const SlotList& slots);
  void remark(const std::string& what) const;

  const Device& device_;
  // Whether one storage buffer more of compute stays within the limits of the device.
  bool has_room_for_buffer(const ExactPipelineLayout& layout) const;

  VkPhysicalDeviceLimits limits_;
  uint32_t own_set_;
  SlotArena arena_;
  std::shared_ptr<ExactSlot> sink_;  // Of dispatches for which there is no slot.
  std::map<uint64_t, std::vector<uint32_t>> modules_;
  std::map<std::vector<uint32_t>, std::shared_ptr<const InstrumentedModule>> instrumented_;
  std::map<uint64_t, std::shared_ptr<const ExactPipeline>> pipelines_;
  std::map<uint64_t, VkPipelineLayout> own_layouts_;  // By the last of its prefixes.
  std::map<VkCommandBuffer, ExactCommands> commands_;
  std::vector<std::unique_ptr<ExactSubmission>> pending_;  // In the order of submission.
  std::vector<VkFence> free_fences_;
};

// Whether this process was asked for it.
bool exact_is_asked_for();

// Nothing if this device cannot.
void open_exact(Device& device, const VkPhysicalDeviceLimits& limits);
void close_exact(Device& device);

}  // namespace interlock
