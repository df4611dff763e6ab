#include "fuzz/generate/update_dispatch.h"

#include <string>
#include <utility>

#include <fmt/format.h>

namespace interlock {

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
  sketch.emit(std::string(kernel), operands, std::move(attributes));
}

}  // namespace interlock
