// Passes of graphics: dispatches in the stage `graphics`, of what they touch as a whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vulkan/vulkan_core.h>

#include <optional>
#include <string>
#include <vector>

#include "capture/log/graphics_records.h"
#include "capture/log/run_records.h"
#include "tests/capture/convert/synthetic_log.h"

namespace interlock::convert_graphics_test {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

constexpr uint64_t kQueue = 100;
constexpr uint64_t kCommands = 200;
constexpr uint64_t kSecondary = 201;
constexpr uint64_t kImage = 9;
constexpr uint64_t kPass = 30;
constexpr uint32_t kGeneral = VK_IMAGE_LAYOUT_GENERAL;
constexpr uint32_t kColorLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL;
constexpr uint32_t kUndefined = VK_IMAGE_LAYOUT_UNDEFINED;
constexpr uint32_t kLoad = VK_ATTACHMENT_LOAD_OP_LOAD;
constexpr uint32_t kClear = VK_ATTACHMENT_LOAD_OP_CLEAR;
constexpr uint32_t kStore = VK_ATTACHMENT_STORE_OP_STORE;
constexpr uint64_t kCopy = VK_PIPELINE_STAGE_2_COPY_BIT;
constexpr uint64_t kCopyWrite = VK_ACCESS_2_TRANSFER_WRITE_BIT;
constexpr uint64_t kOutput = VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT;
constexpr uint64_t kOutputWrite = VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT;
constexpr uint64_t kOutputAccess = kOutputWrite | VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT;

// A vertex shader that loads from the storage buffer at binding 0.
std::vector<uint32_t> vertex_shader() {
  return shader_of(R"(
    OpCapability Shader
    OpMemoryModel Logical GLSL450
    OpEntryPoint Vertex %main "main"
    OpDecorate %from DescriptorSet 0
    OpDecorate %from Binding 0)",
                   R"(
    %from = OpVariable %ptr_block StorageBuffer
    %main = OpFunction %void None %fn
    %start = OpLabel
    %p = OpAccessChain %ptr %from %zero %zero
    %x = OpLoad %uint %p
    OpReturn
    OpFunctionEnd)");
}

void add_image(SyntheticLog& log, uint64_t handle) {
  log.append(AllocateMemoryRecord{handle, 64, 0});
  CreateImageRecord image;
  image.image = handle;
  image.type = VK_IMAGE_TYPE_2D;
  image.format = VK_FORMAT_R8G8B8A8_UNORM;
  image.width = image.height = 4;
  image.depth = image.mip_count = image.layer_count = image.sample_count = 1;
  log.append(image);
  log.append(BindImageRecord{handle, handle, 0, 0});
  log.append(CreateImageViewRecord{
      handle, handle, VK_IMAGE_VIEW_TYPE_2D, {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}});
}

// An image of 64 bytes in m1, and a framebuffer of it, or of two, both with its handle.
SyntheticLog log_with_image() {
  SyntheticLog log;
  log.append(QueueRecord{1, kQueue, 0, 0});
  add_image(log, kImage);
  log.append(CreateFramebufferRecord{kImage, {kImage}});
  log.append(BeginCommandsRecord{kCommands, 0});
  return log;
}

CreateRenderPassRecord render_pass(uint32_t load_op, uint32_t initial_layout,
                                   std::vector<SubpassDependencyFields> dependencies = {}) {
  CreateRenderPassRecord record;
  record.render_pass = kPass;
  record.attachments = {{load_op, kStore, initial_layout, kColorLayout}};
  record.subpasses = {{{{AttachmentUse::kColor, 0, kColorLayout}}}};
  record.dependencies = std::move(dependencies);
  return record;
}

// From copies before to the attachments.
SubpassDependencyFields from_copies() {
  return {VK_SUBPASS_EXTERNAL, 0, kCopy, kCopyWrite, kOutput, kOutputAccess};
}

void add_clear(SyntheticLog& log) {
  TransferEndFields end;
  end.handle = kImage;
  end.is_image = 1;
  end.range = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  log.append(TransferRecord{kCommands, TransferUse::kClear, {{{}, {end}}}});
}

void add_pass(SyntheticLog& log) {
  log.append(BeginPassRecord{kCommands, kPass, kImage, {}});
  log.append(DrawRecord{kCommands, 0, 0, 0, {}});
  log.append(EndPassRecord{kCommands});
}

// A pipeline of the shader above, with vertices of binding 0, and a set with buffer 1.
void add_pipeline(SyntheticLog& log) {
  for (const uint64_t buffer : {1, 2, 3, 4}) log.add_buffer(buffer);
  log.append(CreateSetLayoutRecord{1, 0, {{0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, 0}}});
  log.append(CreatePipelineLayoutRecord{1, {1}});
  CreateGraphicsPipelineRecord pipeline;
  pipeline.pipeline = pipeline.layout = 1;
  pipeline.stages = {{VK_SHADER_STAGE_VERTEX_BIT, 0, vertex_shader(), "main"}};
  pipeline.vertex_bindings = {0};
  log.append(pipeline);
  log.append(AllocateSetsRecord{1, {1}, {1}, {}});
  log.append(UpdateSetsRecord{{{1, 0, 0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, {{1, 0, 512}}}}, {}});
}

void bind(SyntheticLog& log, uint64_t commands) {
  constexpr uint32_t kPoint = VK_PIPELINE_BIND_POINT_GRAPHICS;
  log.append(BindPipelineRecord{commands, kPoint, 1});
  log.append(BindSetsRecord{commands, kPoint, 1, 0, {1}, {}});
}

// Understood, but for what the test says.
ConvertedLog submitted(SyntheticLog& log) {
  log.submit(kQueue, kCommands);
  ConvertedLog result = converted(log.bytes());
  EXPECT_EQ(result.error, "") << result.text;
  return result;
}

// A clear of the image by a command, and a pass on it.
ConvertedLog after_a_clear(const CreateRenderPassRecord& pass) {
  SyntheticLog log = log_with_image();
  log.append(pass);
  add_pipeline(log);
  bind(log, kCommands);
  add_clear(log);
  add_pass(log);
  ConvertedLog result = submitted(log);
  EXPECT_THAT(result.summary.not_understood, IsEmpty());
  return result;
}

TEST(ConvertGraphics, TellsAPassAsADispatchOfWhatItTouches) {
  const ConvertedLog result = after_a_clear(render_pass(kClear, kUndefined, {from_copies()}));
  EXPECT_THAT(result.text, HasSubstr("s1.b0.c1: dispatch RenderPass1 in graphics "
                                     "reads m2[0:512] writes m1[0:64] partial approximate\n"));
  EXPECT_THAT(result.text, HasSubstr("discards m1[0:64]"));
  EXPECT_EQ(result.summary.pass_count, 1u);
  EXPECT_EQ(result.summary.draw_count, 1u);
  EXPECT_THAT(findings_of(result.text), IsEmpty());
}

TEST(ConvertGraphics, OrdersAPassByItsDependencies) {
  // What is loaded is read, and what is drawn is written.
  const auto unordered =
      ElementsAre(HasSubstr("RAW hazard: s1.b0.c1"), HasSubstr("WAW hazard: s1.b0.c1"));
  EXPECT_THAT(findings_of(after_a_clear(render_pass(kLoad, kColorLayout)).text), unordered);
  EXPECT_THAT(findings_of(after_a_clear(render_pass(kLoad, kColorLayout, {from_copies()})).text),
              IsEmpty());
  // One that makes nothing visible orders neither.
  SubpassDependencyFields execution = from_copies();
  execution.destination_accesses = 0;
  EXPECT_THAT(findings_of(after_a_clear(render_pass(kLoad, kColorLayout, {execution})).text),
              unordered);
}

// Without a dependency of its own, the change of layout comes after nothing (8.1).
TEST(ConvertGraphics, FindsAChangeOfLayoutThatNothingOrders) {
  const ConvertedLog result = after_a_clear(render_pass(kLoad, kGeneral));
  EXPECT_THAT(result.text, HasSubstr("s1.b0.c1.before: barrier none -> "));
  EXPECT_THAT(result.text, HasSubstr(" transitions m1[0:64]\n"));
  EXPECT_THAT(findings_of(result.text), testing::Contains(HasSubstr("s1.b0.c1.before")));
  EXPECT_THAT(findings_of(after_a_clear(render_pass(kLoad, kGeneral, {from_copies()})).text),
              IsEmpty());
}

// What validation says of the end of a pass is about its subpass, whose attachments are stored
// there, or about the change of layout after it.
TEST(ConvertGraphics, AreWhatValidationNamesAtTheirEnds) {
  for (const bool is_transition : {false, true}) {
    SyntheticLog log = log_with_image();
    RunOptionsRecord options;
    options.is_validated = 1;
    log.append(options);
    log.append(render_pass(kClear, kUndefined));
    const std::string usage = is_transition ? "SYNC_IMAGE_LAYOUT_TRANSITION"
                                            : "SYNC_COLOR_ATTACHMENT_OUTPUT_COLOR_ATTACHMENT_WRITE";
    const auto say = [&](const std::string& later, const std::string& earlier,
                         const std::string& command) {
      log.append(ValidationMessageRecord{kCommands, "SYNC-HAZARD-WRITE-AFTER-WRITE",
                                         "Access info (usage: " + later +
                                             ", prior_usage: " + earlier + ", command: " + command +
                                             ", reset_no: 1)."});
    };
    add_clear(log);
    add_pass(log);
    say(usage, "SYNC_CLEAR_TRANSFER_WRITE", "vkCmdClearColorImage, seq_no: 1");
    add_clear(log);
    say("SYNC_CLEAR_TRANSFER_WRITE", usage, "vkCmdEndRenderPass, seq_no: 4");
    log.submit(kQueue, kCommands);
    const std::vector<ForeignHazard> foreign = converted(log.bytes()).summary.places.foreign();
    ASSERT_THAT(foreign, SizeIs(2));
    const CapturedPlace end{1, 0, is_transition ? 3u : 1u};
    EXPECT_EQ(foreign[0].first, (CapturedPlace{1, 0, 0}));
    EXPECT_EQ(foreign[0].second, end);
    EXPECT_EQ(foreign[1].first, end);
    EXPECT_EQ(foreign[1].second, (CapturedPlace{1, 0, 4}));
  }
}

TEST(ConvertGraphics, ChangesLayoutsAfterAPass) {
  for (const bool is_waited_for : {false, true}) {
    SyntheticLog log = log_with_image();
    CreateRenderPassRecord pass = render_pass(kClear, kUndefined);
    pass.attachments.front().final_layout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
    if (is_waited_for) {
      pass.dependencies = {{0, VK_SUBPASS_EXTERNAL, kOutput, kOutputWrite, kCopy, kCopyWrite}};
    }
    log.append(pass);
    add_pipeline(log);
    bind(log, kCommands);
    add_pass(log);
    add_clear(log);
    const ConvertedLog result = submitted(log);
    EXPECT_THAT(result.text, HasSubstr("s1.b0.c2.after: barrier "));
    // The clear is ordered neither with the pass nor with the change of layout.
    const auto unordered = testing::UnorderedElementsAre(
        HasSubstr("WAW hazard: s1.b0.c3 (dispatch 1) writes m1[0:64], which s1.b0.c0 "),
        HasSubstr("WAR hazard: s1.b0.c3 (dispatch 1) writes m1[0:64], which s1.b0.c2.after "),
        HasSubstr("WAW hazard: s1.b0.c3 (dispatch 1) writes m1[0:64], which s1.b0.c2.after "));
    if (is_waited_for) {
      EXPECT_THAT(findings_of(result.text), IsEmpty()) << result.text;
    } else {
      EXPECT_THAT(findings_of(result.text), unordered) << result.text;
    }
  }
}

// The second subpass reads what the first one writes, as an input attachment.
TEST(ConvertGraphics, TellsSubpassesApart) {
  for (const bool depends : {false, true}) {
    SyntheticLog log = log_with_image();
    CreateRenderPassRecord pass = render_pass(kClear, kGeneral);
    pass.attachments.front().final_layout = kGeneral;
    pass.subpasses = {{{{AttachmentUse::kColor, 0, kGeneral}}},
                      {{{AttachmentUse::kInput, 0, kGeneral}}}};
    if (depends) {
      pass.dependencies = {{0, 1, kOutput, kOutputWrite, VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT,
                            VK_ACCESS_2_INPUT_ATTACHMENT_READ_BIT | kOutputWrite}};
    }
    log.append(pass);
    log.append(BeginPassRecord{kCommands, kPass, kImage, {}});
    log.append(NextSubpassRecord{kCommands});
    log.append(EndPassRecord{kCommands});
    const ConvertedLog result = submitted(log);
    EXPECT_THAT(result.text, HasSubstr("s1.b0.c0: dispatch RenderPass1 in graphics"));
    EXPECT_THAT(result.text, HasSubstr("s1.b0.c1: dispatch RenderPass1 in graphics"));
    EXPECT_EQ(findings_of(result.text).empty(), depends) << result.text;
  }
}

TEST(ConvertGraphics, TakesRenderingWithoutARenderPass) {
  SyntheticLog log = log_with_image();
  add_clear(log);
  log.append(BeginRenderingRecord{
      kCommands, 0, {{AttachmentUse::kColor, kImage, kColorLayout, kLoad, kStore}}});
  log.append(EndPassRecord{kCommands});
  const ConvertedLog result = submitted(log);
  EXPECT_THAT(result.summary.not_understood, IsEmpty());
  EXPECT_THAT(result.text,
              HasSubstr("dispatch Rendering in graphics updates m1[0:64] partial approximate\n"));
  EXPECT_THAT(findings_of(result.text),
              ElementsAre(HasSubstr("RAW hazard: s1.b0.c1"), HasSubstr("WAW hazard: s1.b0.c1")));
}

TEST(ConvertGraphics, ReadsVerticesIndicesAndArguments) {
  SyntheticLog log = log_with_image();
  log.append(render_pass(kClear, kColorLayout));
  add_pipeline(log);
  bind(log, kCommands);
  log.append(BindVertexBuffersRecord{kCommands, 0, {{2, 24, VK_WHOLE_SIZE}, {1, 0, 1024}}});
  log.append(BindIndexBufferRecord{kCommands, 3, 100, 2});
  log.append(BeginPassRecord{kCommands, kPass, kImage, {}});
  log.append(DrawRecord{kCommands, 1, 10, 6, {}});
  log.append(DrawRecord{kCommands, 0, 0, UINT64_MAX, {{4, 16, 20}, {4, 8, 4}}});
  log.append(EndPassRecord{kCommands});
  const ConvertedLog result = submitted(log);
  EXPECT_THAT(result.summary.not_understood, IsEmpty());
  // Binding 1 is bound, and not of the pipeline.
  EXPECT_THAT(result.text,
              AllOf(HasSubstr("m2[0:512]"), HasSubstr("m3[24:1024]"), HasSubstr("m4[120:132]"),
                    HasSubstr("m5[8:12]"), HasSubstr("m5[16:36]"), Not(HasSubstr("m2[0:1024]"))))
      << result.text;
}

TEST(ConvertGraphics, TakesDrawsOfSecondaryCommands) {
  SyntheticLog log = log_with_image();
  log.append(render_pass(kClear, kColorLayout));
  add_pipeline(log);
  log.append(BeginCommandsRecord{kSecondary, 0});
  bind(log, kSecondary);
  log.append(DrawRecord{kSecondary, 0, 0, 0, {}});
  log.append(BeginPassRecord{kCommands, kPass, kImage, {}});
  log.append(ExecuteCommandsRecord{kCommands, {kSecondary}});
  log.append(EndPassRecord{kCommands});
  const ConvertedLog result = submitted(log);
  EXPECT_THAT(result.summary.not_understood, IsEmpty());
  EXPECT_THAT(result.text, HasSubstr("reads m2[0:512] writes m1[0:64] partial approximate\n"));
}

// They order what is within, and that is told as one.
TEST(ConvertGraphics, LeavesBarriersWithinAPassOut) {
  SyntheticLog log = log_with_image();
  log.append(render_pass(kClear, kColorLayout));
  log.append(BeginPassRecord{kCommands, kPass, kImage, {}});
  log.add_barrier(kCommands, kOutput, kOutputWrite, kOutput, kOutputWrite);
  log.append(EndPassRecord{kCommands});
  const ConvertedLog result = submitted(log);
  EXPECT_THAT(result.summary.not_understood, IsEmpty());
  EXPECT_THAT(result.text, Not(HasSubstr("barrier")));
  EXPECT_THAT(result.summary.remarks,
              testing::Contains(Key(StartsWith("barriers within a pass of graphics"))));
}

// What a dependency makes visible to a pass, it makes visible to no later one.
TEST(ConvertGraphics, LetsADependencyEndWithItsPass) {
  // Nothing; and one that goes on from where the first one ended: what is available stays so.
  const SubpassDependencyFields goes_on = {VK_SUBPASS_EXTERNAL, 0, kOutput, 0, kOutput,
                                           kOutputAccess};
  for (const bool has_another : {false, true}) {
    SyntheticLog log = log_with_image();
    log.append(render_pass(kLoad, kColorLayout, {from_copies()}));
    add_image(log, kImage + 1);
    log.append(CreateFramebufferRecord{kImage + 1, {kImage + 1}});
    CreateRenderPassRecord later = render_pass(kLoad, kColorLayout);
    if (has_another) later.dependencies = {goes_on};
    later.render_pass = kPass + 1;
    log.append(later);
    add_clear(log);
    log.append(BeginPassRecord{kCommands, kPass, kImage + 1, {}});
    log.append(EndPassRecord{kCommands});
    log.append(BeginPassRecord{kCommands, kPass + 1, kImage, {}});
    log.append(EndPassRecord{kCommands});
    const ConvertedLog result = submitted(log);
    // Loaded and drawn over, where it is not visible any more.
    EXPECT_THAT(findings_of(result.text), SizeIs(has_another ? 0 : 2)) << result.text;
    EXPECT_THAT(findings_of(result.text), Each(HasSubstr("hazard: s1.b0.c3 (dispatch 2) updates")));
  }
}

TEST(ConvertGraphics, SaysWhatItDoesNotKnow) {
  SyntheticLog log = log_with_image();
  log.append(DrawRecord{kCommands, 0, 0, 0, {}});
  log.append(NextSubpassRecord{kCommands});
  log.append(EndPassRecord{kCommands});
  log.append(BeginPassRecord{kCommands, kPass, kImage, {}});
  log.append(render_pass(kClear, kColorLayout));
  log.append(BeginPassRecord{kCommands, kPass, 77, {}});
  const ConvertedLog result = submitted(log);
  EXPECT_THAT(result.summary.not_understood,
              ElementsAre(Key("a draw outside of a pass"), Key("a pass without an end"),
                          Key("a render pass that is not known"),
                          Key("a subpass that its render pass has not"),
                          Key("an attachment that is not known"),
                          Key("the end of a pass that has no beginning")));
  EXPECT_EQ(result.summary.unknown_submission_count, 1u);
}

}  // namespace
}  // namespace interlock::convert_graphics_test
