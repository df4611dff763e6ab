#include "tests/encoder/backward/training_step.h"

#include <fmt/format.h>

#include "encoder/program/check.h"
#include "encoder/text/parser.h"

namespace interlock {
namespace {

class TrainingStep {
 public:
  explicit TrainingStep(const TrainingStepOptions& options) : options_(options) {}

  std::string run();

 private:
  void add_weights(uint64_t layer);
  void add_forward(uint64_t batch, uint64_t layer);
  void add_backward(uint64_t batch, uint64_t layer);
  void tensor(const std::string& name, uint64_t rows, uint64_t cols) {
    tensors_ += fmt::format("tensor {} f32[{},{}]\n", name, rows, cols);
  }
  void activation(const std::string& name) { tensor(name, options_.rows, options_.cols); }
  void add_gradient(uint64_t batch, const std::string& name, const std::string& part);

  const TrainingStepOptions options_;
  std::string tensors_;
  std::string outputs_;
  std::string dispatches_;
};

void TrainingStep::add_weights(uint64_t layer) {
  const uint64_t matrix_bytes = options_.cols * options_.cols * 4;
  const uint64_t stride = 2 * matrix_bytes + options_.cols * 4;
  tensors_ += fmt::format(
      "tensor u{0} f32[{1},{1}] at weights+{2} = random({3})\n"
      "tensor d{0} f32[{1},{1}] at weights+{4} = random({5})\n"
      "tensor s{0} f32[{1}] at weights+{6} = ones\n",
      layer, options_.cols, layer * stride, 2 * layer + 1, layer * stride + matrix_bytes,
      2 * layer + 2, layer * stride + 2 * matrix_bytes);
}

// b is the micro-batch, l the layer; x is the layer's input.
void TrainingStep::add_forward(uint64_t batch, uint64_t layer) {
  const std::string at = fmt::format("{}_{}", batch, layer);
  for (const char* name : {"n", "h", "a", "o"}) activation(name + at);
  activation(fmt::format("x{}_{}", batch, layer + 1));
  dispatches_ += fmt::format(
      "dispatch rms_norm reads x{0} s{1} writes n{0}\n"
      "dispatch matmul_nn reads n{0} u{1} writes h{0}\n"
      "dispatch silu reads h{0} writes a{0}\n"
      "dispatch matmul_nn reads a{0} d{1} writes o{0}\n"
      "dispatch add reads o{0} x{0} writes x{2}_{3}\n",
      at, layer, batch, layer + 1);
}

// Gradients of the first micro-batch are the sum so far.
void TrainingStep::add_gradient(uint64_t batch, const std::string& name, const std::string& part) {
  if (batch == 0) return;
  const std::string before = batch == 1 ? "p0_" + name : fmt::format("t{}_{}", batch - 1, name);
  dispatches_ += fmt::format("dispatch add reads {} {} writes t{}_{}\n", before, part, batch, name);
}

void TrainingStep::add_backward(uint64_t batch, uint64_t layer) {
  const std::string at = fmt::format("{}_{}", batch, layer);
  for (const char* name : {"ga", "gh", "gn", "gr", "rows", "gx"}) activation(name + at);
  for (const std::string& name : {fmt::format("u{}", layer), fmt::format("d{}", layer)}) {
    tensor(fmt::format("p{}_{}", batch, name), options_.cols, options_.cols);
    if (batch > 0) tensor(fmt::format("t{}_{}", batch, name), options_.cols, options_.cols);
    const bool is_last = batch + 1 == options_.batch_count;
    if (is_last) outputs_ += fmt::format("output {}{}_{}\n", batch == 0 ? "p" : "t", batch, name);
  }
  const std::string gy = fmt::format("gx{}_{}", batch, layer + 1);
  dispatches_ += fmt::format(
      "dispatch matmul_nt reads {1} d{2} writes ga{0}\n"
      "dispatch matmul_tn reads a{0} {1} writes p{3}_d{2}\n"
      "dispatch mul reads ga{0} h{0} writes gh{0}\n"
      "dispatch matmul_nt reads gh{0} u{2} writes gn{0}\n"
      "dispatch matmul_tn reads n{0} gh{0} writes p{3}_u{2}\n"
      "dispatch rms_norm_vjp reads x{0} s{2} gn{0} writes gr{0} rows{0}\n"
      "dispatch add reads gr{0} {1} writes gx{0}\n",
      at, gy, layer, batch);
  add_gradient(batch, fmt::format("d{}", layer), fmt::format("p{}_d{}", batch, layer));
  add_gradient(batch, fmt::format("u{}", layer), fmt::format("p{}_u{}", batch, layer));
}

std::string TrainingStep::run() {
  const uint64_t weight_bytes =
      options_.layer_count * (2 * options_.cols * options_.cols + options_.cols) * 4;
  for (uint64_t layer = 0; layer < options_.layer_count; ++layer) add_weights(layer);
  for (uint64_t batch = 0; batch < options_.batch_count; ++batch) {
    tensors_ += fmt::format("tensor x{}_0 f32[{},{}] = random({})\n", batch, options_.rows,
                            options_.cols, 1000 + batch);
    for (uint64_t layer = 0; layer < options_.layer_count; ++layer) add_forward(batch, layer);
    const std::string last = fmt::format("{}_{}", batch, options_.layer_count);
    activation("gx" + last);
    dispatches_ += fmt::format("dispatch scale reads x{0} writes gx{0} factor=0.5\n", last);
    for (uint64_t layer = options_.layer_count; layer-- > 0;) add_backward(batch, layer);
  }
  return fmt::format("interlock 1\nmemory weights {}\n{}{}{}", weight_bytes, tensors_, outputs_,
                     dispatches_);
}

}  // namespace

Program training_step(const TrainingStepOptions& options) {
  const Result<Program> program = parse(TrainingStep(options).run(), "training step");
  INTERLOCK_CHECK(program.has_value());
  return *program;
}

}  // namespace interlock
