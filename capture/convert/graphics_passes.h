// GraphicsPasses: passes of graphics as opaque dispatches in the stage `graphics`, one for each
// subpass. The basic idea is that what happens within a subpass is ordered by rasterization, or by
// the application, among itself, and only what it touches as a whole meets the rest: attachments,
// by their load and store operations, and what the shaders, the vertices and the arguments of its
// draws are. The dependencies of a render pass, and its changes of layout, are barriers around.
// Terms: Vulkan 1.3, 8.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/convert/barrier_text.h"
#include "capture/convert/captured_addresses.h"
#include "capture/convert/command_lists.h"
#include "capture/convert/dispatch_operands.h"
#include "capture/convert/program_writer.h"
#include "capture/convert/summary.h"

namespace interlock {

// Where a command is executed.
struct PassPlace {
  std::string label;               // Of the command.
  std::string queue;               // Empty: the default one.
  std::optional<uint32_t> family;  // Of the queue, if it is known.
};

class GraphicsPasses {
 public:
  // Requires: both outlive this.
  GraphicsPasses(const CapturedAddresses& addresses, ProgramWriter& writer, CaptureSummary& summary)
      : addresses_(addresses), writer_(writer), summary_(summary) {}

  bool is_open() const { return pass_.has_value(); }

  void begin(const BeginPassCommand& command, PassPlace place);
  void next(PassPlace place);
  void end(const PassPlace& place);
  // Writes what is there of a pass whose end never comes.
  void abandon();
  void draw(const DrawCommand& command, const GraphicsState& bound);

  // Whether all was understood since the last call; else the summary says what was not.
  bool take_understood();

 private:
  // Of an attachment, so far.
  struct Attachment {
    uint32_t layout = 0;
    bool is_used = false;
  };

  struct OpenPass {
    std::shared_ptr<const CapturedRenderPass> render_pass;
    CapturedViews views;
    std::vector<Attachment> attachments;
    std::string kernel;
    size_t subpass = 0;
    PassPlace place;                          // Of the subpass.
    std::vector<CapturedDependency> changes;  // Of layouts, before the subpass.
    std::vector<CapturedOperand> operands;    // Of the subpass: plain reads and writes, and others.
    std::vector<CapturedOperand> all_operands;  // Of those before.
  };

  void note(std::string_view what);
  // Its attachments, as they are where it begins.
  void enter_subpass();
  // Its barrier, and what it touches.
  void write_subpass();
  void touch(const AttachmentUseFields& use);
  void add(const std::vector<CapturedBytes>& parts, AccessMode mode);
  void add(const DrawnBytes& bytes, AccessMode mode);
  // The change of an attachment's layout in the dependencies that these are.
  CapturedDependency change_of(uint32_t attachment, uint32_t to,
                               const std::vector<SubpassDependencyFields>& dependencies) const;
  bool has_image(uint32_t attachment) const;
  std::vector<SubpassDependencyFields> dependencies_into(size_t subpass) const;
  std::vector<SubpassDependencyFields> dependencies_out_of_pass() const;
  // One barrier: dependencies of the pass, for what `operands` are, with changes of layout.
  void write_barrier(const std::string& label, const PassPlace& place, bool comes_before,
                     const std::vector<SubpassDependencyFields>& dependencies,
                     const std::vector<CapturedOperand>& operands,
                     const std::vector<CapturedDependency>& changes);

  const CapturedAddresses& addresses_;
  ProgramWriter& writer_;
  CaptureSummary& summary_;
  std::optional<OpenPass> pass_;
  bool is_understood_ = true;
};

}  // namespace interlock
