// Modes of the sample application that draw: one triangle, over the whole of an image.
#include <volk.h>

#include <cstdint>

#include "tests/capture/application/sample_modes.h"
#include "tests/capture/application/sample_picture.h"

namespace interlock {
namespace {

constexpr uint32_t kVertexCode[] =
#include <whole.vert.inc>
    ;
constexpr uint32_t kFragmentCode[] =
#include <seven.frag.inc>
    ;

template <size_t kWords>
VkPipelineShaderStageCreateInfo stage_of(VkDevice device, VkShaderStageFlagBits stage,
                                         const uint32_t (&code)[kWords]) {
  VkShaderModuleCreateInfo info = {VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  info.codeSize = sizeof(code);
  info.pCode = code;
  VkPipelineShaderStageCreateInfo result = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO};
  require(vkCreateShaderModule(device, &info, nullptr, &result.module), "vkCreateShaderModule");
  result.stage = stage;
  result.pName = "main";
  return result;
}

// A pass that clears the image and draws; with a dependency on what comes after it, or without.
class SamplePass {
 public:
  SamplePass(const SampleDevice& device, const SamplePicture& picture, bool is_waited_for)
      : device_(device) {
    create_pass(is_waited_for);
    VkImageViewCreateInfo view = {VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
    view.image = picture.image();
    view.viewType = VK_IMAGE_VIEW_TYPE_2D;
    view.format = kPictureFormat;
    view.subresourceRange = SamplePicture::kAll;
    require(vkCreateImageView(device.device(), &view, nullptr, &view_), "vkCreateImageView");
    VkFramebufferCreateInfo framebuffer = {VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO};
    framebuffer.renderPass = pass_;
    framebuffer.attachmentCount = 1;
    framebuffer.pAttachments = &view_;
    framebuffer.width = kPictureWidth;
    framebuffer.height = kPictureHeight;
    framebuffer.layers = 1;
    require(vkCreateFramebuffer(device.device(), &framebuffer, nullptr, &framebuffer_),
            "vkCreateFramebuffer");
    create_pipeline();
  }
  ~SamplePass() {
    vkDestroyPipeline(device_.device(), pipeline_, nullptr);
    vkDestroyFramebuffer(device_.device(), framebuffer_, nullptr);
    vkDestroyImageView(device_.device(), view_, nullptr);
    vkDestroyRenderPass(device_.device(), pass_, nullptr);
  }
  SamplePass(const SamplePass&) = delete;
  SamplePass& operator=(const SamplePass&) = delete;

  void record(VkCommandBuffer commands) const {
    VkRenderPassBeginInfo begin = {VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
    const VkClearValue clear = {};
    begin.renderPass = pass_;
    begin.framebuffer = framebuffer_;
    begin.renderArea.extent = {kPictureWidth, kPictureHeight};
    begin.clearValueCount = 1;
    begin.pClearValues = &clear;
    vkCmdBeginRenderPass(commands, &begin, VK_SUBPASS_CONTENTS_INLINE);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline_);
    vkCmdDraw(commands, 3, 1, 0, 0);
    vkCmdEndRenderPass(commands);
  }

 private:
  void create_pass(bool is_waited_for) {
    VkAttachmentDescription attachment = {};
    attachment.format = kPictureFormat;
    attachment.samples = VK_SAMPLE_COUNT_1_BIT;
    attachment.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR;
    attachment.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
    attachment.initialLayout = VK_IMAGE_LAYOUT_UNDEFINED;
    attachment.finalLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
    const VkAttachmentReference color = {0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    VkSubpassDescription subpass = {};
    subpass.colorAttachmentCount = 1;
    subpass.pColorAttachments = &color;
    VkSubpassDependency after = {};
    after.dstSubpass = VK_SUBPASS_EXTERNAL;
    after.srcStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT;
    after.srcAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT;
    after.dstStageMask = VK_PIPELINE_STAGE_TRANSFER_BIT;
    after.dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT;
    VkRenderPassCreateInfo info = {VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO};
    info.attachmentCount = info.subpassCount = 1;
    info.pAttachments = &attachment;
    info.pSubpasses = &subpass;
    info.dependencyCount = is_waited_for ? 1 : 0;
    info.pDependencies = &after;
    require(vkCreateRenderPass(device_.device(), &info, nullptr, &pass_), "vkCreateRenderPass");
  }

  void create_pipeline() {
    const VkPipelineShaderStageCreateInfo stages[] = {
        stage_of(device_.device(), VK_SHADER_STAGE_VERTEX_BIT, kVertexCode),
        stage_of(device_.device(), VK_SHADER_STAGE_FRAGMENT_BIT, kFragmentCode)};
    const VkPipelineVertexInputStateCreateInfo vertices = {
        VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
    VkPipelineInputAssemblyStateCreateInfo assembly = {
        VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO};
    assembly.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
    const VkViewport area = {0, 0, kPictureWidth, kPictureHeight, 0, 1};
    const VkRect2D scissor = {{0, 0}, {kPictureWidth, kPictureHeight}};
    VkPipelineViewportStateCreateInfo viewport = {
        VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO};
    viewport.viewportCount = viewport.scissorCount = 1;
    viewport.pViewports = &area;
    viewport.pScissors = &scissor;
    VkPipelineRasterizationStateCreateInfo raster = {
        VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO};
    raster.lineWidth = 1;
    VkPipelineMultisampleStateCreateInfo samples = {
        VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO};
    samples.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT;
    VkPipelineColorBlendAttachmentState channels = {};
    channels.colorWriteMask = VK_COLOR_COMPONENT_R_BIT;
    VkPipelineColorBlendStateCreateInfo blend = {
        VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO};
    blend.attachmentCount = 1;
    blend.pAttachments = &channels;
    VkGraphicsPipelineCreateInfo info = {VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO};
    info.stageCount = 2;
    info.pStages = stages;
    info.pVertexInputState = &vertices;
    info.pInputAssemblyState = &assembly;
    info.pViewportState = &viewport;
    info.pRasterizationState = &raster;
    info.pMultisampleState = &samples;
    info.pColorBlendState = &blend;
    info.layout = device_.layout();
    info.renderPass = pass_;
    require(
        vkCreateGraphicsPipelines(device_.device(), VK_NULL_HANDLE, 1, &info, nullptr, &pipeline_),
        "vkCreateGraphicsPipelines");
    for (const VkPipelineShaderStageCreateInfo& stage : stages) {
      vkDestroyShaderModule(device_.device(), stage.module, nullptr);
    }
  }

  const SampleDevice& device_;
  VkRenderPass pass_ = VK_NULL_HANDLE;
  VkImageView view_ = VK_NULL_HANDLE;
  VkFramebuffer framebuffer_ = VK_NULL_HANDLE;
  VkPipeline pipeline_ = VK_NULL_HANDLE;
};

// The image is drawn and copied.
void draw_and_copy(Sample& sample, bool is_waited_for) {
  const SamplePicture picture(sample.device);
  const SamplePass pass(sample.device, picture, is_waited_for);
  const VkCommandBuffer commands = sample.device.begin();
  pass.record(commands);
  picture.copy_to(commands, sample.c);
  sample.device.run(commands);
}

}  // namespace

void run_pass(Sample& sample) { draw_and_copy(sample, true); }

void run_unordered_pass(Sample& sample) { draw_and_copy(sample, false); }

}  // namespace interlock
