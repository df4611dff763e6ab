#include <fmt/format.h>

#include "fuzz/workloads/forward_pass.h"
#include "fuzz/workloads/models.h"

namespace interlock {

Result<ProgramDraft> make_mlp(const WorkloadOptions& options) {
  const uint64_t rows = options.rows;
  const uint64_t cols = options.cols;
  ForwardPass pass(options.seed);
  const std::string w = pass.weight("w", {cols, cols}, true);
  const std::string gate = pass.weight("gate", {rows, cols}, false);
  // Made once and read in every batch, forward and backward: what an arena must not reset away.
  const std::string mask = pass.apply_once("mask", "silu", {gate}, {rows, cols});
  std::string h = pass.input("x", {rows, cols});
  for (uint64_t layer = 0; layer < options.layer_count; ++layer) {
    const auto name = [&](const char* part) { return fmt::format("l{}_{}", layer, part); };
    const std::string s = pass.weight(name("s"), {cols}, true);
    const std::string n = pass.apply(name("n"), "rms_norm", {h, s}, {rows, cols});
    const std::string u = pass.product(name("u"), n, w, rows, cols, cols);
    const std::string a = pass.apply(name("a"), "silu", {u}, {rows, cols});
    const std::string o = pass.product(name("o"), a, w, rows, cols, cols, true);
    const std::string m = pass.apply(name("m"), "mul", {o, mask}, {rows, cols});
    h = pass.apply(name("h"), "add", {m, h}, {rows, cols});
  }
  const std::string squares = pass.apply("squares", "mul", {h, h}, {rows, cols});
  pass.set_loss(pass.apply("loss", "row_sum", {squares}, {rows}));
  return pass.training_run(options);
}

}  // namespace interlock
