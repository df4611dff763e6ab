// A Vulkan application of two dispatches with nothing between them: which part of their bindings
// each of them touches, its argument says. It checks its results: the driver executes in order.

#include <volk.h>

#include <cstdio>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "tests/capture/application/sample_device.h"

namespace interlock {
namespace {

constexpr uint32_t kTouch[] =
#include <touch.comp.inc>
    ;

constexpr uint32_t kSide = 8;  // Of the picture.

// The push constants of a dispatch.
struct Touch {
  uint32_t kind;
  uint32_t first;
  uint32_t count;
};

enum class Way { kOnce, kTwice, kAtOnce, kSecondary, kBetweenOthers, kFull, kTogether };

struct ExactMode {
  std::string_view name;
  Touch first;
  Touch second;
  Way way = Way::kOnce;
};

// Kinds are those of touch.comp. Half of 256 words, 16 of their cells, half of a picture.
constexpr ExactMode kExactModes[] = {
    {"halves-apart", {0, 0, 128}, {1, 128, 128}},
    {"halves-same", {0, 0, 128}, {1, 64, 128}},
    {"fields-apart", {2, 0, 16}, {3, 0, 16}},
    {"fields-same", {2, 0, 16}, {4, 0, 16}},
    {"atomics-apart", {5, 0, 64}, {1, 1, 128}},
    {"atomics-same", {5, 0, 64}, {1, 0, 128}},
    {"texels-apart", {6, 0, 32}, {7, 32, 32}},
    {"texels-same", {6, 0, 32}, {7, 24, 32}},
    {"elements-apart", {8, 0, 128}, {0, 129, 1}},
    {"elements-same", {8, 0, 128}, {0, 2, 1}},
    {"past-the-end", {9, 0, 64}, {1, 0, 64}},
    {"twice", {0, 0, 128}, {1, 128, 128}, Way::kTwice},
    {"at-once", {0, 0, 128}, {1, 128, 128}, Way::kAtOnce},
    {"together", {0, 0, 128}, {1, 128, 128}, Way::kTogether},
    {"secondary", {0, 0, 128}, {1, 128, 128}, Way::kSecondary},
    {"between-others", {0, 0, 128}, {1, 64, 128}, Way::kBetweenOthers},
    {"full", {0, 0, 128}, {1, 128, 128}, Way::kFull},
};

class ExactSample {
 public:
  explicit ExactSample(Way way) {
    create_picture();
    // As many storage buffers as a stage may have; the shader uses the first three of them.
    if (way == Way::kFull) spare_count_ = device_.storage_buffer_count_max() - kStorageCount;
    create_pipeline();
    write_set();
    for (uint32_t i = 0; i < kWordCount; ++i) {
      lists_[0].words[i] = lists_[1].words[i] = 7;
      cells_.words[i] = 3;
    }
    // numbers[1].z.
    numbers_.words[6] = 40;
    for (const SampleBuffer& list : lists_)
      expected_.emplace_back(list.words, list.words + kWordCount);
    expected_.emplace_back(cells_.words, cells_.words + kWordCount);
  }

  ~ExactSample() {
    const VkDevice device = device_.device();
    vkDeviceWaitIdle(device);
    vkDestroyPipeline(device, pipeline_, nullptr);
    vkDestroyPipelineLayout(device, layout_, nullptr);
    vkDestroyDescriptorPool(device, pool_, nullptr);
    vkDestroyDescriptorSetLayout(device, set_layout_, nullptr);
    vkDestroyImageView(device, view_, nullptr);
    vkDestroyImage(device, picture_, nullptr);
    vkFreeMemory(device, memory_, nullptr);
  }
  ExactSample(const ExactSample&) = delete;
  ExactSample& operator=(const ExactSample&) = delete;

  // Whether the results are right.
  bool run(const ExactMode& mode) {
    prepare_picture();
    const std::vector<Touch> touches = {mode.first, mode.second};
    const bool is_secondary = mode.way == Way::kSecondary;
    const VkCommandBuffer commands = device_.begin(is_secondary ? VK_COMMAND_BUFFER_LEVEL_SECONDARY
                                                                : VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    bind(commands);
    for (const Touch& touch : touches) {
      if (mode.way == Way::kBetweenOthers) dispatch_another(commands);
      dispatch(commands, touch);
      expect(touch);
    }
    if (is_secondary) {
      require(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
      const VkCommandBuffer primary = device_.begin();
      vkCmdExecuteCommands(primary, 1, &commands);
      device_.run(primary);
    } else if (mode.way == Way::kAtOnce) {
      run_at_once(commands);
    } else if (mode.way == Way::kTogether) {
      run_together(commands);
    } else {
      device_.run(commands);
      if (mode.way == Way::kTwice) submit_again(commands);
    }
    return is_as_expected();
  }

 private:
  static constexpr uint32_t kStorageCount = 3;
  static constexpr uint32_t kWordCount = kSampleBytes / sizeof(uint32_t);

  void create_picture() {
    const VkDevice device = device_.device();
    VkImageCreateInfo info = {VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
    info.imageType = VK_IMAGE_TYPE_2D;
    info.format = VK_FORMAT_R32_UINT;
    info.extent = {kSide, kSide, 1};
    info.mipLevels = info.arrayLayers = 1;
    info.samples = VK_SAMPLE_COUNT_1_BIT;
    info.usage = VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    require(vkCreateImage(device, &info, nullptr, &picture_), "vkCreateImage");
    VkMemoryRequirements needs = {};
    vkGetImageMemoryRequirements(device, picture_, &needs);
    VkMemoryAllocateInfo memory = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
    memory.allocationSize = needs.size;
    while ((needs.memoryTypeBits >> memory.memoryTypeIndex & 1) == 0) ++memory.memoryTypeIndex;
    require(vkAllocateMemory(device, &memory, nullptr, &memory_), "vkAllocateMemory");
    require(vkBindImageMemory(device, picture_, memory_, 0), "vkBindImageMemory");
    VkImageViewCreateInfo view = {VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
    view.image = picture_;
    view.viewType = VK_IMAGE_VIEW_TYPE_2D;
    view.format = info.format;
    view.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    require(vkCreateImageView(device, &view, nullptr, &view_), "vkCreateImageView");
  }

  void create_pipeline() {
    const VkDevice device = device_.device();
    const VkDescriptorSetLayoutBinding bindings[] = {
        {4, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, spare_count_, VK_SHADER_STAGE_COMPUTE_BIT, nullptr},
        {0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 2, VK_SHADER_STAGE_COMPUTE_BIT, nullptr},
        {1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr},
        {2, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr},
        {3, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr}};
    VkDescriptorSetLayoutCreateInfo set = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
    set.bindingCount = 5;
    set.pBindings = bindings;
    require(vkCreateDescriptorSetLayout(device, &set, nullptr, &set_layout_), "a set layout");
    const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(Touch)};
    VkPipelineLayoutCreateInfo layout = {VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    layout.setLayoutCount = 1;
    layout.pSetLayouts = &set_layout_;
    layout.pushConstantRangeCount = 1;
    layout.pPushConstantRanges = &range;
    require(vkCreatePipelineLayout(device, &layout, nullptr, &layout_), "a pipeline layout");
    VkShaderModuleCreateInfo code = {VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
    code.codeSize = sizeof(kTouch);
    code.pCode = kTouch;
    VkShaderModule module = VK_NULL_HANDLE;
    require(vkCreateShaderModule(device, &code, nullptr, &module), "vkCreateShaderModule");
    VkComputePipelineCreateInfo info = {VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
    info.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO};
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = module;
    info.stage.pName = "main";
    info.layout = layout_;
    require(vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &info, nullptr, &pipeline_),
            "vkCreateComputePipelines");
    vkDestroyShaderModule(device, module, nullptr);
  }

  void write_set() {
    const VkDevice device = device_.device();
    const VkDescriptorPoolSize sizes[] = {
        {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, kStorageCount + spare_count_},
        {VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 1},
        {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC, 1}};
    VkDescriptorPoolCreateInfo pool = {VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
    pool.maxSets = 1;
    pool.poolSizeCount = 3;
    pool.pPoolSizes = sizes;
    require(vkCreateDescriptorPool(device, &pool, nullptr, &pool_), "vkCreateDescriptorPool");
    VkDescriptorSetAllocateInfo info = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
    info.descriptorPool = pool_;
    info.descriptorSetCount = 1;
    info.pSetLayouts = &set_layout_;
    require(vkAllocateDescriptorSets(device, &info, &set_), "vkAllocateDescriptorSets");
    // Three at once: the last of them is the next binding.
    const VkDescriptorBufferInfo storage[] = {{lists_[0].buffer, 0, VK_WHOLE_SIZE},
                                              {lists_[1].buffer, 0, VK_WHOLE_SIZE},
                                              {cells_.buffer, 0, VK_WHOLE_SIZE}};
    const VkDescriptorImageInfo image = {VK_NULL_HANDLE, view_, VK_IMAGE_LAYOUT_GENERAL};
    const VkDescriptorBufferInfo numbers = {numbers_.buffer, 0, 64};
    VkWriteDescriptorSet writes[3] = {};
    for (VkWriteDescriptorSet& write : writes) {
      write.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
      write.dstSet = set_;
      write.descriptorCount = 1;
    }
    writes[0].descriptorCount = 3;
    writes[0].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    writes[0].pBufferInfo = storage;
    writes[1].dstBinding = 2;
    writes[1].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_IMAGE;
    writes[1].pImageInfo = &image;
    writes[2].dstBinding = 3;
    writes[2].descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC;
    writes[2].pBufferInfo = &numbers;
    vkUpdateDescriptorSets(device, 3, writes, 0, nullptr);
  }

  // All 5, before anything that is looked at.
  void prepare_picture() {
    const VkCommandBuffer commands = device_.begin();
    VkImageMemoryBarrier barrier = {VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER};
    barrier.dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
    barrier.newLayout = VK_IMAGE_LAYOUT_GENERAL;
    barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
    barrier.image = picture_;
    barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT,
                         VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, nullptr, 0, nullptr, 1, &barrier);
    VkClearColorValue colour = {};
    colour.uint32[0] = 5;
    vkCmdClearColorImage(commands, picture_, VK_IMAGE_LAYOUT_GENERAL, &colour, 1,
                         &barrier.subresourceRange);
    device_.run(commands);
    expected_.emplace_back(kSide * kSide, 5);
  }

  void bind(VkCommandBuffer commands) const {
    const uint32_t offset = 0;
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline_);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout_, 0, 1, &set_, 1,
                            &offset);
  }

  void dispatch(VkCommandBuffer commands, const Touch& touch) const {
    vkCmdPushConstants(commands, layout_, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(touch), &touch);
    vkCmdDispatch(commands, (touch.count + 63) / 64, 1, 1);
  }

  // With a layout of its own: the set is bound again.
  void dispatch_another(VkCommandBuffer commands) {
    if (other_set_ == VK_NULL_HANDLE) {
      others_[0] = device_.buffer();
      others_[1] = device_.buffer();
      other_set_ = device_.set(others_[0], others_[1]);
    }
    device_.dispatch(commands, other_set_);
    bind(commands);
  }

  // Of one command buffer, none of which waits for the other.
  void run_at_once(VkCommandBuffer commands) {
    VkFenceCreateInfo info = {VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkFence fence = VK_NULL_HANDLE;
    require(vkCreateFence(device_.device(), &info, nullptr, &fence), "vkCreateFence");
    require(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
    submit(commands, VK_NULL_HANDLE);
    submit(commands, fence);
    require(vkWaitForFences(device_.device(), 1, &fence, VK_TRUE, UINT64_MAX), "vkWaitForFences");
    vkDestroyFence(device_.device(), fence, nullptr);
  }

  // Of one command buffer twice, in one submission.
  void run_together(VkCommandBuffer commands) const {
    require(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
    const VkCommandBuffer both[] = {commands, commands};
    VkSubmitInfo info = {VK_STRUCTURE_TYPE_SUBMIT_INFO};
    info.commandBufferCount = 2;
    info.pCommandBuffers = both;
    require(vkQueueSubmit(device_.queue(), 1, &info, VK_NULL_HANDLE), "vkQueueSubmit");
    require(vkQueueWaitIdle(device_.queue()), "vkQueueWaitIdle");
  }

  void submit_again(VkCommandBuffer commands) const {
    submit(commands, VK_NULL_HANDLE);
    require(vkQueueWaitIdle(device_.queue()), "vkQueueWaitIdle");
  }

  void submit(VkCommandBuffer commands, VkFence fence) const {
    VkSubmitInfo info = {VK_STRUCTURE_TYPE_SUBMIT_INFO};
    info.commandBufferCount = 1;
    info.pCommandBuffers = &commands;
    require(vkQueueSubmit(device_.queue(), 1, &info, fence), "vkQueueSubmit");
  }

  // touch.comp, once more.
  void expect(const Touch& touch) {
    enum : size_t { kWords, kCopies, kCells, kPicture };
    constexpr uint32_t kCellWords = 10;  // id, a gap, pair, rest, a gap.
    for (uint32_t i = touch.first; i < touch.first + touch.count; ++i) {
      const auto cell = [&](uint32_t word) -> uint32_t& {
        return expected_[kCells][i * kCellWords + word];
      };
      if (touch.kind == 0) expected_[kWords][i] = i + 40;
      if (touch.kind == 1) expected_[kCopies][i] = expected_[kWords][i];
      if (touch.kind == 2) cell(2) = i;
      if (touch.kind == 2) cell(3) = 2 * i;
      if (touch.kind == 3) expected_[kCopies][i] = cell(4 + i % 5) + i;
      if (touch.kind == 4) expected_[kCopies][i] = cell(3);
      if (touch.kind == 5) expected_[kWords][touch.first] += 1;
      if (touch.kind == 6) expected_[kPicture][i] = i;
      if (touch.kind == 7) expected_[kCopies][i] = expected_[kPicture][i];
      if (touch.kind == 8) expected_[i % 2][i] = i;
    }
  }

  bool is_as_expected() const {
    const uint32_t* const found[] = {lists_[0].words, lists_[1].words, cells_.words};
    for (size_t list = 0; list < std::size(found); ++list) {
      if (std::memcmp(found[list], expected_[list].data(), kSampleBytes) == 0) continue;
      std::fprintf(stderr, "buffer %zu is not as it should be.\n", list);
      return false;
    }
    return true;
  }

  SampleDevice device_;
  SampleBuffer lists_[2] = {device_.buffer(), device_.buffer()};
  SampleBuffer cells_ = device_.buffer();
  SampleBuffer numbers_ = device_.buffer();
  SampleBuffer others_[2] = {};
  VkDescriptorSet other_set_ = VK_NULL_HANDLE;
  VkImage picture_ = VK_NULL_HANDLE;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;
  VkImageView view_ = VK_NULL_HANDLE;
  VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkPipeline pipeline_ = VK_NULL_HANDLE;
  uint32_t spare_count_ = 0;
  VkDescriptorPool pool_ = VK_NULL_HANDLE;
  VkDescriptorSet set_ = VK_NULL_HANDLE;
  std::vector<std::vector<uint32_t>> expected_;
};

int run_exact_sample(std::string_view name) {
  for (const ExactMode& mode : kExactModes) {
    if (mode.name != name) continue;
    ExactSample sample(mode.way);
    return sample.run(mode) ? 0 : 1;
  }
  std::fprintf(stderr, "There is no mode of this name.\n");
  return 2;
}

}  // namespace
}  // namespace interlock

int main(int argc, char** argv) { return argc == 2 ? interlock::run_exact_sample(argv[1]) : 2; }
