#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "encoder/backward/vjp_rules.h"
#include "encoder/kernel/kernel_table.h"
#include "fuzz/generate/table_dispatches.h"

namespace interlock {
namespace {

// Of an operand of a forward kernel.
SketchShape shape_of(const KernelEntry& forward, int operand, const Extents& extents) {
  const auto [rows, cols, inner] = extents;
  const bool is_output = forward.operands[static_cast<size_t>(operand)].mode == AccessMode::kWrite;
  const bool joins = forward.name == "concat";
  if (joins || forward.name == "split") {
    if (is_output == joins) return {rows, inner + cols};
    const bool is_first = operand == (joins ? 0 : 1);
    return {rows, is_first ? inner : cols};
  }
  if (forward.name == "transpose" && is_output) return {cols, rows};
  if (forward.name.starts_with("matmul") && !is_output) {
    const bool is_transposed = forward.name == (operand == 0 ? "matmul_tn" : "matmul_nt");
    const SketchShape a = is_transposed ? SketchShape{inner, rows} : SketchShape{rows, inner};
    const SketchShape b = is_transposed ? SketchShape{cols, inner} : SketchShape{inner, cols};
    return operand == 0 ? a : b;
  }
  if (forward.name == "embedding") {
    if (operand == 0) return {0, rows};
    return operand == 1 ? SketchShape{inner, cols} : SketchShape{rows, cols};
  }
  if (forward.name == "cross_entropy" && operand > 0) return {0, rows};
  if (forward.name == "rope") return {rows, even(cols)};
  const bool is_per_column = forward.name.ends_with("norm") && !is_output && operand > 0;
  if (is_per_column || (is_output && forward.name == "col_sum")) return {0, cols};
  if (is_output && forward.name == "row_sum") return {0, rows};
  return {rows, cols};
}

class BackwardGroup {
 public:
  BackwardGroup(ProgramSketch& sketch, const VjpRule& rule, const Extents& extents)
      : sketch_(sketch),
        rule_(rule),
        forward_(kernel_entry(find_kernel(rule.kernel).value())),
        extents_(extents) {}

  void emit(const std::function<void()>& between) {
    pick_what_is_given();
    // Only intermediates order a group: the gradient of a weight may as well come first.
    const bool is_reversed = rule_.intermediate_shapes.empty() && sketch_.choice().chance(1, 2);
    const size_t count = rule_.dispatches.size();
    for (size_t i = 0; i < count; ++i) {
      if (!emit_dispatch(rule_.dispatches[is_reversed ? count - 1 - i : i])) return;
      between();
    }
  }

 private:
  SketchShape shape_of_value(VjpValue value) const {
    const bool is_intermediate = value.kind == VjpValueKind::kIntermediate;
    const int operand =
        is_intermediate ? rule_.intermediate_shapes[static_cast<size_t>(value.index)] : value.index;
    return shape_of(forward_, operand, extents_);
  }

  DType dtype_of(VjpValue value) const {
    return value.kind == VjpValueKind::kPrimal
               ? forward_.operands[static_cast<size_t>(value.index)].dtype
               : DType::kF32;
  }

  void pick_what_is_given() {
    for (const VjpDispatch& dispatch : rule_.dispatches) {
      for (const VjpValue value : dispatch.operands) {
        const bool is_given =
            value.kind == VjpValueKind::kPrimal || value.kind == VjpValueKind::kCotangent;
        if (!is_given || find(value)) continue;
        tensors_.emplace_back(value, sketch_.pick_input(shape_of_value(value), dtype_of(value)));
      }
    }
  }

  // Returns false if an earlier dispatch took the bytes of what this one reads.
  bool emit_dispatch(const VjpDispatch& dispatch) {
    // A VJP that streams has the operands of the other, and bears less in place.
    const auto stream = find_kernel(std::string(dispatch.kernel) + "_stream");
    const bool streams = stream && sketch_.choice().chance(1, 2);
    const KernelEntry& entry =
        kernel_entry(streams ? *stream : find_kernel(dispatch.kernel).value());
    std::vector<SketchOperand> operands;
    operands.reserve(dispatch.operands.size());
    for (size_t i = 0; i < dispatch.operands.size(); ++i) {
      const VjpValue value = dispatch.operands[i];
      if (entry.operands[i].mode == AccessMode::kRead) {
        const SketchTensorIndex tensor = find(value).value();
        if (!sketch_.tensor(tensor).is_alive) return false;
        operands.push_back(sketch_.operand(AccessMode::kRead, tensor));
        continue;
      }
      OperandPositions in_place;
      for (const auto& [input, output] : entry.identical_pairs) {
        if (output == static_cast<int>(i)) in_place.push_back(static_cast<size_t>(input));
      }
      const SketchTensorIndex tensor =
          sketch_.pick_output(shape_of_value(value), DType::kF32, operands, in_place);
      tensors_.emplace_back(value, tensor);
      operands.push_back(sketch_.operand(AccessMode::kWrite, tensor));
    }
    std::vector<std::pair<std::string, std::string>> attributes;
    if (entry.name == "scale") attributes.emplace_back("factor", "0.25");
    sketch_.emit(entry.name, operands, std::move(attributes));
    return true;
  }

  std::optional<SketchTensorIndex> find(VjpValue value) const {
    for (const auto& [known, tensor] : tensors_) {
      if (known == value) return tensor;
    }
    return std::nullopt;
  }

  ProgramSketch& sketch_;
  const VjpRule& rule_;
  const KernelEntry& forward_;
  const Extents& extents_;
  std::vector<std::pair<VjpValue, SketchTensorIndex>> tensors_;
};

}  // namespace

void emit_backward_group(ProgramSketch& sketch, const Extents& extents, uint32_t dispatch_count_max,
                         const std::function<void()>& between) {
  const VjpRule& rule = vjp_rules()[sketch.choice().below(vjp_rules().size())];
  if (rule.dispatches.size() > dispatch_count_max) return;
  BackwardGroup(sketch, rule, extents).emit(between);
}

}  // namespace interlock
