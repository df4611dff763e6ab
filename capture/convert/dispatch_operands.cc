#include "capture/convert/dispatch_operands.h"

#include <vulkan/vulkan_core.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "capture/convert/addressed_operands.h"
#include "capture/convert/measured_rows.h"
#include "encoder/program/limits.h"

namespace interlock {
namespace {

// Of a dispatch. What is read has at most 256 ranges, but neighbours may be one.
constexpr uint64_t kDescriptorsOfADispatchMax = 1u << 14;

// Ranges of what was measured, and the parts of images that they are, for the same reason: a few
// bytes of a log can ask for many.
constexpr uint64_t kMeasuredStepsMax = 1u << 22;

constexpr size_t kOperandsOfADispatchMax = Limits().access_count_per_dispatch;

constexpr uint64_t kArgumentBytes = 12;  // VkDispatchIndirectCommand.

// What happens to the bytes from a position on, as counts of operands that have begun and not
// ended.
struct Change {
  int read = 0;
  int write = 0;
};

class OperandFinder {
 public:
  OperandFinder(const BoundState& bound, const DispatchCommand& dispatch,
                const CapturedAddresses& addresses, const ExactAccessesRecord* measured,
                CaptureSummary& summary)
      : bound_(bound), dispatch_(dispatch), addresses_(addresses), summary_(summary) {
    if (measured == nullptr) return;
    result_.is_exact = measured->is_shared == 0;
    for (const MeasuredElementFields& element : measured->elements) {
      measured_[{element.set, element.binding, element.element}].push_back(&element);
    }
  }

  DispatchOperands find() {
    if (dispatch_.is_indirect) add_arguments();
    const CapturedPipeline* const pipeline = bound_.pipeline.get();
    if (pipeline == nullptr || !pipeline->accesses) {
      note("a dispatch whose shader is not known");
    } else {
      if (pipeline->accesses->has_unbound) note("a shader that uses a variable without a binding");
      for (const BindingUse& use : pipeline->accesses->bindings) add_binding(use);
      add_addressed(pipeline->accesses->addresses);
    }
    result_.operands = disjoint_operands(operands_);
    if (!measured_.empty()) result_.operands = with_rows(result_.operands);
    if ((!measured_.empty() || has_any_address_) &&
        result_.operands.size() > kOperandsOfADispatchMax) {
      result_.operands = disjoint_operands(bounded(result_.operands));
      summary_.remark("a dispatch whose ranges are too many to be told");
      result_.is_exact = false;
    }
    result_.is_exact = result_.is_exact && result_.is_understood;
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

  void add_addressed(const std::vector<AddressUse>& uses) {
    if (uses.empty()) return;
    result_.has_addresses = true;
    const AddressedOperands found =
        addressed_operands_of(uses, bound_.pushed, addresses_, summary_);
    operands_.insert(operands_.end(), found.operands.begin(), found.operands.end());
    result_.is_exact = false;
    result_.is_understood = result_.is_understood && found.is_understood;
    result_.step_count += found.step_count;
    has_any_address_ = found.may_be_any;
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
      ++result_.step_count;
      if (++descriptor_count_ > kDescriptorsOfADispatchMax) {
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
      if (!add_measured(descriptor, offset_bytes, use, element)) {
        result_.is_exact = false;
        add_descriptor(descriptor, offset_bytes, use);
      }
    }
  }

  // What of the descriptor was touched. False if that is not known.
  bool add_measured(const CapturedDescriptor& descriptor, uint64_t offset_bytes,
                    const BindingUse& use, uint64_t element) {
    const auto found = measured_.find({use.set, use.binding, element});
    if (found == measured_.end()) {
      // A sampler, or nothing: there is nothing to measure.
      return !measured_.empty() &&
             (descriptor.type == VK_DESCRIPTOR_TYPE_SAMPLER || descriptor.handle == 0);
    }
    const size_t before = operands_.size();
    for (const MeasuredElementFields* const fields : found->second) {
      ++result_.step_count;
      const bool is_known =
          add_ranges(descriptor, offset_bytes, *fields, fields->loads, AccessMode::kRead) &&
          add_ranges(descriptor, offset_bytes, *fields, fields->stores, AccessMode::kWrite);
      if (!is_known) {
        operands_.resize(before);
        return false;
      }
      if (fields->is_past != 0 && fields->is_image != 0) {
        // Such a store has no effect, and such a load reads no memory.
        summary_.remark("an image that was reached past its end");
      } else if (fields->is_past != 0) {
        // Without robust access it may reach other memory, and with it other parts of the buffer.
        note("a binding that was reached past its end (what is further is not known)");
      }
      result_.is_exact = result_.is_exact && fields->is_bounded == 0;
    }
    return true;
  }

  // False if the ranges are none, or too many.
  bool add_ranges(const CapturedDescriptor& descriptor, uint64_t offset_bytes,
                  const MeasuredElementFields& fields, const std::vector<uint64_t>& ranges,
                  AccessMode mode) {
    result_.step_count += ranges.size();
    // They ascend, so that no part comes twice.
    const bool ascends = std::ranges::adjacent_find(ranges, std::greater_equal()) == ranges.end();
    if (ranges.size() % 2 != 0 || !ascends) return false;
    for (size_t i = 0; i + 1 < ranges.size(); i += 2) {
      if (result_.step_count > kMeasuredStepsMax) return false;
      std::optional<std::vector<CapturedBytes>> parts;
      if (fields.is_image != 0) {
        parts = texels_of(descriptor, fields, ranges[i], ranges[i + 1]);
      } else {
        parts =
            granules_of(descriptor, offset_bytes, fields.granule_shift, ranges[i], ranges[i + 1]);
      }
      if (!parts) return false;
      const size_t before = operands_.size();
      const bool is_uniform = descriptor.type == VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER ||
                              descriptor.type == VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC;
      add(*parts, is_uniform ? AccessMode::kUniform : mode);
      result_.step_count += operands_.size() - before;
    }
    return true;
  }

  static std::optional<std::vector<CapturedBytes>> texels_of(const CapturedDescriptor& descriptor,
                                                             const MeasuredElementFields& fields,
                                                             uint64_t begin, uint64_t end) {
    if (descriptor.view == nullptr || !has_memory(descriptor.view->image)) return std::nullopt;
    if (descriptor.view->is_of_volume) return std::nullopt;
    return bytes_of_texels(*descriptor.view->image, descriptor.view->range,
                           {fields.width, fields.height, fields.depth}, begin, end);
  }

  static std::optional<std::vector<CapturedBytes>> granules_of(const CapturedDescriptor& descriptor,
                                                               uint64_t offset_bytes,
                                                               uint32_t shift, uint64_t begin,
                                                               uint64_t end) {
    constexpr uint32_t kShiftMax = 2;
    if (!has_memory(descriptor.buffer) || shift > kShiftMax) return std::nullopt;
    const uint64_t size_bytes = std::min(descriptor.range_bytes, descriptor.buffer->size_bytes);
    const uint64_t first = std::min(begin, size_bytes) << shift;
    const uint64_t last = std::min(std::min(end, size_bytes) << shift, size_bytes);
    if (first >= last || offset_bytes > descriptor.buffer->size_bytes)
      return std::vector<CapturedBytes>();
    return bytes_of(*descriptor.buffer, offset_bytes + first, last - first);
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
      case VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT:
        if (descriptor.view == nullptr || !has_memory(descriptor.view->image)) {
          return note_missing(descriptor);
        }
        return add_used(bytes_of(*descriptor.view), use);
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

  const BoundState& bound_;
  const DispatchCommand& dispatch_;
  const CapturedAddresses& addresses_;
  CaptureSummary& summary_;
  // By set, binding and element: several variables may have the same.
  std::map<std::tuple<uint32_t, uint32_t, uint64_t>, std::vector<const MeasuredElementFields*>>
      measured_;
  uint64_t descriptor_count_ = 0;
  bool has_any_address_ = false;  // It may touch every buffer that has one.
  std::vector<CapturedOperand> operands_;
  DispatchOperands result_;
};

}  // namespace

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

std::vector<CapturedBytes> bytes_of(const CapturedImageView& view) {
  if (view.image == nullptr) return {};
  SubresourceFields range = view.range;
  // The layers of such a view are slices of a mip: all of them.
  if (view.is_of_volume) {
    range.first_layer = 0;
    range.layer_count = 1;
  }
  return bytes_of(*view.image, range);
}

DispatchOperands operands_of(const BoundState& bound, const DispatchCommand& dispatch,
                             const CapturedAddresses& addresses,
                             const ExactAccessesRecord* measured, CaptureSummary& summary) {
  return OperandFinder(bound, dispatch, addresses, measured, summary).find();
}

}  // namespace interlock
