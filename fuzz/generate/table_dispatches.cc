#include "fuzz/generate/table_dispatches.h"

#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace interlock {

void emit_embedding(ProgramSketch& sketch, const Extents& extents) {
  std::vector<SketchOperand> operands;
  sketch.read(operands, {0, extents.rows}, DType::kI32);
  sketch.read(operands, {extents.inner, extents.cols});
  sketch.write(operands, {extents.rows, extents.cols});
  sketch.emit("embedding", operands);
}

void emit_rope(ProgramSketch& sketch, const Extents& extents) {
  const SketchShape pairs = {extents.rows, even(extents.cols)};
  std::vector<SketchOperand> operands;
  sketch.read(operands, pairs);
  sketch.write(operands, pairs, {0});
  sketch.emit("rope", operands, {{"start", sketch.choice().chance(1, 2) ? "0" : "3"}});
}

void emit_cross_entropy(ProgramSketch& sketch, const Extents& extents) {
  std::vector<SketchOperand> operands;
  sketch.read(operands, {extents.rows, extents.cols});
  sketch.read(operands, {0, extents.rows}, DType::kI32);
  sketch.write(operands, {0, extents.rows});
  sketch.emit("cross_entropy", operands);
}

void emit_update(ProgramSketch& sketch, SketchShape shape, std::vector<SketchOperand> operands) {
  constexpr std::string_view kKernels[] = {"accumulate", "sgd", "adamw"};
  const std::string_view kernel = kKernels[sketch.choice().below(3)];
  std::vector<std::pair<std::string, std::string>> attributes;
  if (kernel != "accumulate") attributes.emplace_back("lr", "0.125");
  if (kernel == "adamw") {
    attributes.emplace_back("step", fmt::format("{}", 1 + sketch.choice().below(100)));
  }
  const int updated_count = kernel == "adamw" ? 3 : 1;
  for (int i = 0; i < updated_count; ++i) {
    SketchOperand updated = sketch.operand(AccessMode::kUpdate, sketch.pick_input(shape));
    // The contracts would bear one that lies on the gradient.
    if (!ProgramSketch::can_write(operands, {0}, updated.memory, updated.range)) return;
    operands.push_back(std::move(updated));
  }
  sketch.note(Feature::kUpdate);
  sketch.emit(kernel, operands, std::move(attributes));
}

}  // namespace interlock
