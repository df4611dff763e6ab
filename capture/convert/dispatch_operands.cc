#include "capture/convert/dispatch_operands.h"

#include <vulkan/vulkan_core.h>

#include <algorithm>
#include <map>
#include <utility>

namespace interlock {
namespace {

// Of a dispatch. What is read has at most 256 ranges, but neighbours may be one.
constexpr uint64_t kDescriptorsOfADispatchMax = 1u << 14;

constexpr uint64_t kArgumentBytes = 12;  // VkDispatchIndirectCommand.

// What happens to the bytes from a position on, as counts of operands that have begun and not
// ended.
struct Change {
  int read = 0;
  int write = 0;
};

// Bytes that are read, and bytes that are written, as operands that do not overlap: what is both is
// updated. Others stay as they are. Requires: none has rows.
std::vector<CapturedOperand> disjoint_operands(const std::vector<CapturedOperand>& operands) {
  std::vector<CapturedOperand> result;
  // By the number of the memory, which is the same for the same program.
  std::map<uint64_t, std::pair<std::shared_ptr<CapturedMemory>, std::map<uint64_t, Change>>>
      changes;
  for (const CapturedOperand& operand : operands) {
    const bool is_plain = operand.mode == AccessMode::kRead || operand.mode == AccessMode::kWrite;
    if (!is_plain) {
      result.push_back(operand);
      continue;
    }
    auto& [memory, at] = changes[operand.bytes.memory->number];
    memory = operand.bytes.memory;
    Change& begin = at[operand.bytes.range.begin];
    Change& end = at[operand.bytes.range.end];
    const bool is_read = operand.mode == AccessMode::kRead;
    (is_read ? begin.read : begin.write) += 1;
    (is_read ? end.read : end.write) -= 1;
  }
  for (const auto& [number, of_memory] : changes) {
    const auto& [memory, at] = of_memory;
    Change now;
    uint64_t before = 0;
    for (const auto& [position, change] : at) {
      if (position > before && (now.read > 0 || now.write > 0)) {
        const AccessMode mode = now.write == 0  ? AccessMode::kRead
                                : now.read == 0 ? AccessMode::kWrite
                                                : AccessMode::kUpdate;
        const bool goes_on = !result.empty() && result.back().mode == mode &&
                             result.back().bytes.memory == memory &&
                             result.back().bytes.range.end == before;
        if (goes_on) {
          result.back().bytes.range.end = position;
        } else {
          result.push_back({{memory, {before, position}, {}}, mode});
        }
      }
      now.read += change.read;
      now.write += change.write;
      before = position;
    }
  }
  std::ranges::stable_sort(result, {}, &CapturedOperand::mode);
  return result;
}

class OperandFinder {
 public:
  OperandFinder(const BoundState& bound, const DispatchCommand& dispatch, CaptureSummary& summary)
      : bound_(bound), dispatch_(dispatch), summary_(summary) {}

  DispatchOperands find() {
    if (dispatch_.is_indirect) add_arguments();
    const CapturedPipeline* const pipeline = bound_.pipeline.get();
    if (pipeline == nullptr || !pipeline->accesses) {
      note("a dispatch whose shader is not known");
    } else {
      if (pipeline->accesses->has_addresses) note("a shader that uses addresses of buffers");
      if (pipeline->accesses->has_unbound) note("a shader that uses a variable without a binding");
      for (const BindingUse& use : pipeline->accesses->bindings) add_binding(use);
    }
    result_.operands = disjoint_operands(operands_);
    return std::move(result_);
  }

 private:
  void note(std::string_view what) {
    summary_.note(what);
    result_.is_understood = false;
  }

  void add(const std::vector<CapturedBytes>& parts, AccessMode mode) {
    for (const CapturedBytes& part : bounds_of(parts)) operands_.push_back({part, mode});
  }

  void add_arguments() {
    if (dispatch_.arguments == nullptr || dispatch_.arguments->memory == nullptr) {
      return note("a dispatch whose arguments are in a buffer that is not known");
    }
    add(bytes_of(*dispatch_.arguments, dispatch_.arguments_offset_bytes, kArgumentBytes),
        AccessMode::kIndirect);
  }

  // As the use says; of what can only be read, a read.
  void add_used(const std::vector<CapturedBytes>& parts, const BindingUse& use) {
    if (use.is_loaded) add(parts, AccessMode::kRead);
    if (use.is_stored) add(parts, AccessMode::kWrite);
  }

  void add_binding(const BindingUse& use) {
    const auto bound = bound_.sets.find(use.set);
    if (bound == bound_.sets.end() || bound->second.set == nullptr) {
      return note("a dispatch without one of the sets that its shader uses");
    }
    const CapturedSet& set = *bound->second.set;
    const auto found = set.bindings.find(use.binding);
    // A binding that nothing was written to is not used by what runs.
    if (found == set.bindings.end()) return;
    const uint64_t dynamic_begin =
        set.layout == nullptr ? 0 : dynamic_count(*set.layout, use.binding);
    for (const auto& [element, descriptor] : found->second) {
      if (++result_.descriptor_count > kDescriptorsOfADispatchMax) {
        return note("a dispatch with more descriptors than are looked at");
      }
      uint64_t offset_bytes = descriptor.offset_bytes;
      const std::vector<uint32_t>& offsets = bound->second.dynamic_offsets;
      const uint64_t dynamic_index = dynamic_begin + element;
      if (is_dynamic(descriptor.type)) {
        if (set.layout == nullptr || dynamic_index >= offsets.size()) {
          note("a dynamic offset that is not known");
          continue;
        }
        offset_bytes += offsets[dynamic_index];
      }
      add_descriptor(descriptor, offset_bytes, use);
    }
  }

  void add_descriptor(const CapturedDescriptor& descriptor, uint64_t offset_bytes,
                      const BindingUse& use) {
    switch (descriptor.type) {
      case VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER:
      case VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC:
        if (!has_memory(descriptor.buffer)) return note_missing(descriptor);
        return add(bytes_of(*descriptor.buffer, offset_bytes, descriptor.range_bytes),
                   AccessMode::kUniform);
      case VK_DESCRIPTOR_TYPE_STORAGE_BUFFER:
      case VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC:
        if (!has_memory(descriptor.buffer)) return note_missing(descriptor);
        return add_used(bytes_of(*descriptor.buffer, offset_bytes, descriptor.range_bytes), use);
      case VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER:
      case VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER:
        if (descriptor.buffer_view == nullptr || !has_memory(descriptor.buffer_view->buffer)) {
          return note_missing(descriptor);
        }
        return add_used(
            bytes_of(*descriptor.buffer_view->buffer, descriptor.buffer_view->offset_bytes,
                     descriptor.buffer_view->range_bytes),
            use);
      case VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER:
      case VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE:
      case VK_DESCRIPTOR_TYPE_STORAGE_IMAGE:
        if (descriptor.view == nullptr || !has_memory(descriptor.view->image)) {
          return note_missing(descriptor);
        }
        return add_used(bytes_of(*descriptor.view->image, range_of(*descriptor.view)), use);
      case VK_DESCRIPTOR_TYPE_SAMPLER:
        return;
      default:
        return note("a descriptor of another type than buffers and images");
    }
  }

  template <typename Resource>
  static bool has_memory(const std::shared_ptr<Resource>& resource) {
    return resource != nullptr && resource->memory != nullptr;
  }

  // A descriptor that names nothing is never used; one that names what is not known may be.
  void note_missing(const CapturedDescriptor& descriptor) {
    if (descriptor.handle != 0) note("a descriptor of a buffer or an image that is not known");
  }

  static SubresourceFields range_of(const CapturedImageView& view) {
    SubresourceFields range = view.range;
    // The layers of such a view are slices of a mip: all of them.
    if (view.is_of_volume) {
      range.first_layer = 0;
      range.layer_count = 1;
    }
    return range;
  }

  const BoundState& bound_;
  const DispatchCommand& dispatch_;
  CaptureSummary& summary_;
  std::vector<CapturedOperand> operands_;
  DispatchOperands result_;
};

}  // namespace

DispatchOperands operands_of(const BoundState& bound, const DispatchCommand& dispatch,
                             CaptureSummary& summary) {
  return OperandFinder(bound, dispatch, summary).find();
}

}  // namespace interlock
