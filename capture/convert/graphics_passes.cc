#include "capture/convert/graphics_passes.h"

#include <fmt/format.h>
#include <vulkan/vulkan_core.h>

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "encoder/program/limits.h"

namespace interlock {
namespace {

constexpr size_t kPassOperandsMax = Limits().access_count_per_dispatch;

// Operands of draws are put together once there are as many.
constexpr size_t kLooseOperandsMax = 1024;
// As many different ones a pass has at most; what is more is not understood.
constexpr size_t kDifferentOperandsMax = 1u << 14;

// Beside VK_ATTACHMENT_LOAD_OP_CLEAR and DONT_CARE, which write: of extensions, too.
bool overwrites(uint32_t load_op) {
  return load_op == VK_ATTACHMENT_LOAD_OP_CLEAR || load_op == VK_ATTACHMENT_LOAD_OP_DONT_CARE;
}

bool is_read_only(uint32_t layout) {
  return layout == VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL ||
         layout == VK_IMAGE_LAYOUT_DEPTH_READ_ONLY_OPTIMAL ||
         layout == VK_IMAGE_LAYOUT_STENCIL_READ_ONLY_OPTIMAL ||
         layout == VK_IMAGE_LAYOUT_READ_ONLY_OPTIMAL ||
         layout == VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
}

auto key_of(const CapturedOperand& operand) {
  return std::tuple(operand.mode, operand.bytes.memory->number, operand.bytes.range.begin,
                    operand.bytes.range.end);
}

// Each once.
std::vector<CapturedOperand> without_copies(std::vector<CapturedOperand> operands) {
  std::ranges::sort(operands, {}, [](const auto& operand) { return key_of(operand); });
  const auto rest = std::unique(operands.begin(), operands.end(), [](const auto& a, const auto& b) {
    return key_of(a) == key_of(b);
  });
  operands.erase(rest, operands.end());
  return operands;
}

// Those that stand where there is none from outside before the first subpass that uses an
// attachment, or to outside after the last, for its change of layout (8.1).
constexpr uint64_t kAttachmentReads = VK_ACCESS_2_INPUT_ATTACHMENT_READ_BIT |
                                      VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT |
                                      VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT;
constexpr uint64_t kAttachmentWrites =
    VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT | VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT;

SubpassDependencyFields implicit_before() {
  SubpassDependencyFields fields;
  fields.source_subpass = VK_SUBPASS_EXTERNAL;
  fields.source_stages = VK_PIPELINE_STAGE_2_TOP_OF_PIPE_BIT;
  fields.destination_stages = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
  fields.destination_accesses = kAttachmentReads | kAttachmentWrites;
  return fields;
}

SubpassDependencyFields implicit_after() {
  SubpassDependencyFields fields;
  fields.destination_subpass = VK_SUBPASS_EXTERNAL;
  fields.source_stages = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
  fields.source_accesses = kAttachmentWrites;
  fields.destination_stages = VK_PIPELINE_STAGE_2_BOTTOM_OF_PIPE_BIT;
  return fields;
}

CapturedDependency global_of(const SubpassDependencyFields& fields) {
  CapturedDependency dependency;
  dependency.fields.source_stages = fields.source_stages;
  dependency.fields.source_accesses = fields.source_accesses;
  dependency.fields.destination_stages = fields.destination_stages;
  dependency.fields.destination_accesses = fields.destination_accesses;
  return dependency;
}

}  // namespace

void GraphicsPasses::note(std::string_view what) {
  summary_.note(what);
  is_understood_ = false;
}

bool GraphicsPasses::take_understood() { return std::exchange(is_understood_, true); }

void GraphicsPasses::begin(const BeginPassCommand& command, PassPlace place) {
  abandon();
  if (command.render_pass == nullptr) return note("a render pass that is not known");
  const CreateRenderPassRecord& info = command.render_pass->info;
  if (info.subpasses.empty()) return note("a render pass without a subpass");
  ++summary_.pass_count;
  OpenPass& pass = pass_.emplace(OpenPass());
  pass.render_pass = command.render_pass;
  pass.views = command.views;
  for (const PassAttachmentFields& fields : info.attachments) {
    pass.attachments.push_back({fields.initial_layout, false});
  }
  pass.kernel = !command.label.empty() ? opaque_name_from(command.label)
                : command.render_pass->number == 0
                    ? "Rendering"
                    : fmt::format("RenderPass{}", command.render_pass->number);
  pass.place = std::move(place);
  enter_subpass();
}

void GraphicsPasses::next(PassPlace place) {
  if (!pass_ || pass_->subpass + 1 >= pass_->render_pass->info.subpasses.size()) {
    return note("a subpass that its render pass has not");
  }
  write_subpass();
  ++pass_->subpass;
  pass_->place = std::move(place);
  enter_subpass();
}

bool GraphicsPasses::has_image(uint32_t attachment) const {
  if (attachment >= pass_->views.size()) return false;
  const auto& view = pass_->views[attachment];
  return view != nullptr && view->image != nullptr && view->image->memory != nullptr;
}

void GraphicsPasses::enter_subpass() {
  OpenPass& pass = *pass_;
  pass.changes.clear();
  pass.operands.clear();
  const std::vector<AttachmentUseFields>& uses =
      pass.render_pass->info.subpasses[pass.subpass].uses;
  const std::vector<SubpassDependencyFields> all = dependencies_into(pass.subpass);
  writer_.add_steps(1 + uses.size() * (1 + all.size()));
  if (writer_.is_full()) return;
  for (const AttachmentUseFields& use : uses) {
    if (!has_image(use.attachment)) {
      note("an attachment that is not known");
      continue;
    }
    Attachment& attachment = pass.attachments[use.attachment];
    if (attachment.layout != use.layout) {
      std::vector<SubpassDependencyFields> dependencies = all;
      std::erase_if(dependencies, [&](const SubpassDependencyFields& fields) {
        return (fields.source_subpass == VK_SUBPASS_EXTERNAL) == attachment.is_used;
      });
      if (dependencies.empty() && !attachment.is_used) dependencies = {implicit_before()};
      pass.changes.push_back(change_of(use.attachment, use.layout, dependencies));
      attachment.layout = use.layout;
    }
    touch(use);
  }
  for (const AttachmentUseFields& use : uses) pass.attachments[use.attachment].is_used = true;
}

void GraphicsPasses::touch(const AttachmentUseFields& use) {
  const OpenPass& pass = *pass_;
  const PassAttachmentFields& fields = pass.render_pass->info.attachments[use.attachment];
  const std::vector<CapturedBytes> parts = bytes_of(*pass.views[use.attachment]);
  const bool is_first = !pass.attachments[use.attachment].is_used;
  const bool is_last = pass.render_pass->last_uses[use.attachment] == pass.subpass;
  const bool begins_new = is_first && overwrites(fields.load_op);
  // Store operations write, also where the subpass cannot (8.5).
  bool writes = begins_new || (is_last && fields.store_op != VK_ATTACHMENT_STORE_OP_NONE);
  bool reads = is_first && fields.load_op == VK_ATTACHMENT_LOAD_OP_LOAD;
  switch (use.use) {
    case AttachmentUse::kInput:
    case AttachmentUse::kShadingRate:
      reads = true;
      break;
    case AttachmentUse::kColor:
    case AttachmentUse::kDepth:
      // What was overwritten in this pass is not read from outside.
      reads = reads || !begins_new;
      writes = writes || !is_read_only(use.layout);
      break;
    case AttachmentUse::kResolve:
      writes = true;
      break;
  }
  if (reads) add(parts, AccessMode::kRead);
  if (writes) add(parts, AccessMode::kWrite);
}

void GraphicsPasses::add(const std::vector<CapturedBytes>& parts, AccessMode mode) {
  for (const CapturedBytes& part : bounds_of(parts)) {
    writer_.add_steps(1);
    if (mode == AccessMode::kUpdate) {
      pass_->operands.push_back({part, AccessMode::kRead});
      pass_->operands.push_back({part, AccessMode::kWrite});
    } else {
      pass_->operands.push_back({part, mode});
    }
  }
}

void GraphicsPasses::add(const DrawnBytes& bytes, AccessMode mode) {
  if (bytes.buffer == nullptr || bytes.buffer->memory == nullptr) {
    return note("a draw from a buffer that is not known");
  }
  add(bytes_of(*bytes.buffer, bytes.offset_bytes, bytes.size_bytes), mode);
}

void GraphicsPasses::draw(const DrawCommand& command, const GraphicsState& bound) {
  ++summary_.draw_count;
  if (!pass_) return note("a draw outside of a pass");
  if (pass_->operands.size() > kLooseOperandsMax) {
    writer_.add_steps(pass_->operands.size());
    pass_->operands = without_copies(std::move(pass_->operands));
    if (pass_->operands.size() > kDifferentOperandsMax) {
      return note("a pass of graphics with more accesses than are looked at");
    }
  }
  DispatchOperands operands = operands_of(bound, {}, addresses_, nullptr, summary_);
  is_understood_ = is_understood_ && operands.is_understood;
  writer_.add_steps(operands.step_count);
  for (const CapturedOperand& operand : operands.operands) add({operand.bytes}, operand.mode);
  for (const auto& [binding, bytes] : bound.vertices) {
    const CapturedPipeline* const pipeline = bound.pipeline.get();
    const bool is_used = pipeline != nullptr && (pipeline->has_any_vertices ||
                                                 pipeline->vertex_bindings.contains(binding));
    // Without a buffer it reads nothing.
    if (is_used && bytes.buffer != nullptr) add(bytes, AccessMode::kRead);
  }
  if (command.is_indexed) {
    DrawnBytes indices = bound.indices.indices;
    constexpr uint64_t kIndicesMax = 1ull << 32;
    if (command.index_count < kIndicesMax && command.first_index < kIndicesMax) {
      indices.offset_bytes += command.first_index * bound.indices.index_bytes;
      indices.size_bytes = command.index_count * bound.indices.index_bytes;
    }
    add(indices, AccessMode::kRead);
  }
  for (const DrawnBytes& arguments : command.arguments) add(arguments, AccessMode::kIndirect);
}

CapturedDependency GraphicsPasses::change_of(
    uint32_t attachment, uint32_t to,
    const std::vector<SubpassDependencyFields>& dependencies) const {
  CapturedDependency change;
  const CapturedImageView& view = *pass_->views[attachment];
  change.image = view.image;
  DependencyFields& fields = change.fields;
  fields.object = DependencyObject::kImage;
  fields.range = view.range;
  if (view.is_of_volume) {
    fields.range.first_layer = 0;
    fields.range.layer_count = 1;
  }
  fields.old_layout = pass_->attachments[attachment].layout;
  fields.new_layout = to;
  fields.source_family = fields.destination_family = VK_QUEUE_FAMILY_IGNORED;
  // It comes after what all of them make available, and before what they make visible to.
  for (const SubpassDependencyFields& each : dependencies) {
    fields.source_stages |= each.source_stages;
    fields.source_accesses |= each.source_accesses;
    fields.destination_stages |= each.destination_stages;
    fields.destination_accesses |= each.destination_accesses;
  }
  return change;
}

std::vector<SubpassDependencyFields> GraphicsPasses::dependencies_into(size_t subpass) const {
  const auto& all = pass_->render_pass->info.dependencies;
  writer_.add_steps(all.size());
  std::vector<SubpassDependencyFields> found;
  std::ranges::copy_if(all, std::back_inserter(found), [&](const SubpassDependencyFields& fields) {
    return fields.destination_subpass == subpass && fields.source_subpass != subpass;
  });
  return found;
}

std::vector<SubpassDependencyFields> GraphicsPasses::dependencies_out_of_pass() const {
  const auto& all = pass_->render_pass->info.dependencies;
  writer_.add_steps(all.size());
  std::vector<SubpassDependencyFields> found;
  std::ranges::copy_if(all, std::back_inserter(found), [](const SubpassDependencyFields& fields) {
    return fields.destination_subpass == VK_SUBPASS_EXTERNAL;
  });
  return found;
}

void GraphicsPasses::write_barrier(const std::string& label, const PassPlace& place,
                                   bool comes_before,
                                   const std::vector<SubpassDependencyFields>& dependencies,
                                   const std::vector<CapturedOperand>& operands,
                                   const std::vector<CapturedDependency>& changes) {
  BarrierDraft draft;
  draft.label = label;
  draft.queue = place.queue;
  draft.kind = BarrierKind::kScoped;
  std::vector<CapturedDependency> globals;
  for (const SubpassDependencyFields& fields : dependencies) globals.push_back(global_of(fields));
  const DependencyPlace where{place.family};
  std::vector<DependencyDraft> changing = dependencies_of(changes, where, writer_, summary_);
  size_t operand_count = 0;
  for (const DependencyDraft& each : changing) operand_count += each.operands.size();
  // One of its scopes ends at the subpass. Before it, all is made available, and visible what it
  // touches; after it, what it touched is made both.
  for (DependencyDraft& each : dependencies_of(globals, where, writer_, summary_)) {
    const Scope source = each.source;
    const Scope destination = each.destination;
    each.destination.accesses = 0;
    if (!comes_before) each.source.accesses = 0;
    draft.dependencies.push_back(each);
    if (source.accesses == 0 && destination.accesses == 0) continue;
    for (const CapturedOperand& operand : operands) {
      if (operand_count >= Limits().operand_count_per_barrier) {
        summary_.remark("dependencies of a render pass that touches more than a barrier can name");
        break;
      }
      ++operand_count;
      each.operands.push_back(writer_.operand(operand.bytes, AccessMode::kRead));
    }
    if (each.operands.empty()) continue;
    each.source = source;
    each.destination = destination;
    draft.dependencies.push_back(std::move(each));
  }
  draft.dependencies.insert(draft.dependencies.begin(), changing.begin(), changing.end());
  if (draft.dependencies.size() > Limits().dependency_count_per_barrier) {
    note("a render pass with more dependencies than a barrier may have");
    draft.dependencies.resize(Limits().dependency_count_per_barrier);
  }
  if (!draft.dependencies.empty()) writer_.add(draft);
}

void GraphicsPasses::write_subpass() {
  OpenPass& pass = *pass_;
  writer_.add_steps(pass.operands.size());
  std::vector<CapturedOperand> operands =
      disjoint_operands(without_copies(std::move(pass.operands)));
  pass.operands.clear();
  if (operands.size() > kPassOperandsMax) {
    note("a pass of graphics that touches more ranges than a dispatch may have");
    operands.resize(kPassOperandsMax);
  }
  write_barrier(pass.place.label + ".before", pass.place, true, dependencies_into(pass.subpass),
                operands, pass.changes);
  DispatchDraft draft;
  draft.label = pass.place.label;
  draft.queue = pass.place.queue;
  draft.kernel = pass.kernel;
  draft.stage = Stage::kGraphics;
  bool has_writes = false;
  for (const CapturedOperand& operand : operands) {
    has_writes = has_writes || operand.mode == AccessMode::kWrite ||
                 operand.mode == AccessMode::kUpdate || operand.mode == AccessMode::kAtomic;
    draft.operands.push_back(writer_.operand(operand.bytes, operand.mode));
  }
  draft.is_partial = has_writes;
  draft.is_approximate = !operands.empty();
  if (draft.is_approximate) ++summary_.approximate_count;
  writer_.add(draft);
  pass.all_operands.insert(pass.all_operands.end(), operands.begin(), operands.end());
}

void GraphicsPasses::end(const PassPlace& place) {
  if (!pass_) return note("the end of a pass that has no beginning");
  write_subpass();
  OpenPass& pass = *pass_;
  const std::vector<SubpassDependencyFields> all = dependencies_out_of_pass();
  const CreateRenderPassRecord& info = pass.render_pass->info;
  std::vector<CapturedDependency> changes;
  for (uint32_t i = 0; i < info.attachments.size(); ++i) {
    writer_.add_steps(1 + all.size());
    if (writer_.is_full()) break;
    if (pass.attachments[i].layout == info.attachments[i].final_layout) continue;
    if (!has_image(i)) continue;
    // Without a use nothing says after what it comes, or before what.
    std::vector<SubpassDependencyFields> dependencies;
    if (pass.attachments[i].is_used) dependencies = all;
    if (dependencies.empty() && pass.attachments[i].is_used) dependencies = {implicit_after()};
    changes.push_back(change_of(i, info.attachments[i].final_layout, dependencies));
  }
  write_barrier(place.label + ".after", place, false, all, pass.all_operands, changes);
  pass_.reset();
}

void GraphicsPasses::abandon() {
  if (!pass_) return;
  note("a pass without an end");
  write_subpass();
  pass_.reset();
}

}  // namespace interlock
