#include "fuzz/generate/transformer_kernels.h"

#include <string>
#include <utility>
#include <vector>

namespace interlock {
namespace {

void read(ProgramSketch& sketch, std::vector<SketchOperand>& operands, SketchShape shape,
          DType dtype = DType::kF32) {
  operands.push_back(sketch.operand(AccessMode::kRead, sketch.pick_input(shape, dtype)));
}

void write(ProgramSketch& sketch, std::vector<SketchOperand>& operands, SketchShape shape,
           const std::vector<size_t>& in_place) {
  operands.push_back(sketch.operand(AccessMode::kWrite,
                                    sketch.pick_output(shape, DType::kF32, operands, in_place)));
}

}  // namespace

void emit_embedding(ProgramSketch& sketch, const Extents& extents) {
  std::vector<SketchOperand> operands;
  read(sketch, operands, {0, extents.rows}, DType::kI32);
  read(sketch, operands, {extents.inner, extents.cols});
  write(sketch, operands, {extents.rows, extents.cols}, {});
  sketch.emit("embedding", operands);
}

void emit_rope(ProgramSketch& sketch, const Extents& extents) {
  const SketchShape pairs = {extents.rows, even(extents.cols)};
  std::vector<SketchOperand> operands;
  read(sketch, operands, pairs);
  write(sketch, operands, pairs, {0});
  sketch.emit("rope", operands, {{"start", sketch.choice().chance(1, 2) ? "0" : "3"}});
}

void emit_cross_entropy(ProgramSketch& sketch, const Extents& extents) {
  std::vector<SketchOperand> operands;
  read(sketch, operands, {extents.rows, extents.cols});
  read(sketch, operands, {0, extents.rows}, DType::kI32);
  write(sketch, operands, {0, extents.rows}, {});
  sketch.emit("cross_entropy", operands);
}

}  // namespace interlock
