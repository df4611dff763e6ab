// Modes of the sample application whose dispatches find their buffers by address, or by a set that
// stays bound while another layout is in use.
#include <volk.h>

#include <cstring>
#include <span>

#include "tests/capture/application/sample_modes.h"

namespace interlock {
namespace {

constexpr uint32_t kAddOneAt[] =
#include <add_one_at.comp.inc>
    ;

constexpr uint32_t kAddOneByTable[] =
#include <add_one_by_table.comp.inc>
    ;

constexpr uint32_t kAddOneBeside[] =
#include <add_one_beside.comp.inc>
    ;

constexpr uint32_t kGroups = kSampleBytes / sizeof(uint32_t) / 64;

// What push constants hold, or a table.
struct Addresses {
  VkDeviceAddress from;
  VkDeviceAddress to;
};

VkDeviceAddress address_of(const Sample& sample, const SampleBuffer& buffer) {
  VkBufferDeviceAddressInfo info = {VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO};
  info.buffer = buffer.buffer;
  return vkGetBufferDeviceAddress(sample.device.device(), &info);
}

void shader_barrier(VkCommandBuffer commands) {
  VkMemoryBarrier memory = {VK_STRUCTURE_TYPE_MEMORY_BARRIER};
  memory.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
  memory.dstAccessMask = VK_ACCESS_SHADER_READ_BIT;
  vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                       VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &memory, 0, nullptr, 0, nullptr);
}

// A pipeline of this shader, with two sets of the sample and push constants.
class OtherPipeline {
 public:
  OtherPipeline(Sample& sample, std::span<const uint32_t> code) : device_(sample.device.device()) {
    const VkDescriptorSetLayout sets[] = {sample.device.set_layout(), sample.device.set_layout()};
    const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(Addresses)};
    VkPipelineLayoutCreateInfo layout = {VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    layout.setLayoutCount = 2;
    layout.pSetLayouts = sets;
    // Sets stay bound for those that have the same ranges.
    layout.pushConstantRangeCount = sample.device.has_addresses() ? 1 : 0;
    layout.pPushConstantRanges = &range;
    require(vkCreatePipelineLayout(device_, &layout, nullptr, &layout_), "a pipeline layout");
    pipeline_ = sample.device.create_pipeline(layout_, code);
  }
  ~OtherPipeline() {
    vkDeviceWaitIdle(device_);
    vkDestroyPipeline(device_, pipeline_, nullptr);
    vkDestroyPipelineLayout(device_, layout_, nullptr);
  }
  OtherPipeline(const OtherPipeline&) = delete;
  OtherPipeline& operator=(const OtherPipeline&) = delete;

  VkPipelineLayout layout() const { return layout_; }

  void bind(VkCommandBuffer commands) const {
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline_);
  }

  template <typename Constants>
  void dispatch(VkCommandBuffer commands, const Constants& constants) const {
    bind(commands);
    vkCmdPushConstants(commands, layout_, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(constants),
                       &constants);
    vkCmdDispatch(commands, kGroups, 1, 1);
  }

 private:
  VkDevice device_;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkPipeline pipeline_ = VK_NULL_HANDLE;
};

void run_at(Sample& sample, bool is_ordered) {
  const OtherPipeline pipeline(sample, kAddOneAt);
  const Addresses first = {address_of(sample, sample.a), address_of(sample, sample.b)};
  const Addresses second = {first.to, address_of(sample, sample.c)};
  const VkCommandBuffer commands = sample.device.begin();
  pipeline.dispatch(commands, first);
  if (is_ordered) shader_barrier(commands);
  pipeline.dispatch(commands, second);
  sample.device.run(commands);
}

void run_table(Sample& sample, bool is_ordered) {
  const OtherPipeline pipeline(sample, kAddOneByTable);
  const SampleBuffer table = sample.device.buffer();
  const Addresses all[] = {{address_of(sample, sample.a), address_of(sample, sample.b)},
                           {address_of(sample, sample.b), address_of(sample, sample.c)}};
  std::memcpy(table.words, all, sizeof(all));
  const VkDeviceAddress begin = address_of(sample, table);
  const VkCommandBuffer commands = sample.device.begin();
  pipeline.dispatch(commands, begin);
  if (is_ordered) shader_barrier(commands);
  pipeline.dispatch(commands, begin + sizeof(Addresses));
  sample.device.run(commands);
}

}  // namespace

void run_addresses(Sample& sample) { run_at(sample, false); }
void run_ordered_addresses(Sample& sample) { run_at(sample, true); }
void run_addresses_in_a_table(Sample& sample) { run_table(sample, false); }
void run_ordered_table(Sample& sample) { run_table(sample, true); }

// The second set stays bound while a pipeline is dispatched whose layout has the first one alone.
void run_set_that_stays(Sample& sample) {
  const OtherPipeline other(sample, kAddOneBeside);
  const VkCommandBuffer commands = sample.device.begin();
  const VkDescriptorSet sets[] = {sample.first, sample.second};
  vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, other.layout(), 0, 2, sets, 0,
                          nullptr);
  vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, sample.device.pipeline());
  vkCmdDispatch(commands, kGroups, 1, 1);
  shader_barrier(commands);
  other.bind(commands);
  vkCmdDispatch(commands, kGroups, 1, 1);
  sample.device.run(commands);
}

}  // namespace interlock
