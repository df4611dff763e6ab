// The basic idea: earlier values of a tensor are sources, and its last one stops them. A second
// step of training depends on the first weights through the second ones alone.
#include "encoder/backward/backward_versions.h"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/error_of.h"
#include "encoder/program/names.h"

namespace interlock {
namespace {

constexpr BackwardFlow::Sources kAll = ~BackwardFlow::Sources{0};

struct VersionCheck {
  Result<Success> check() const {
    std::vector<size_t> written;  // Positions in wrt.
    for (size_t i = 0; i < graph.wrt.size(); ++i) {
      if (values.versions_of(graph.wrt_tensors[i]).size() > 1) written.push_back(i);
    }
    for (size_t i = 0; i < written.size(); i += BackwardFlow::kSourcesMax) {
      const size_t count = std::min(written.size() - i, BackwardFlow::kSourcesMax);
      if (auto checked = check_each(std::span(written).subspan(i, count)); !checked) {
        return checked;
      }
    }
    return Success{};
  }

  Result<Success> check_each(std::span<const size_t> positions) const {
    BackwardFlow flow(program, values, kernels);
    stop_at_optimizers(flow);
    for (const uint32_t value : graph.wrt) {
      const BackwardValue& last = values.value(value);
      const bool is_weight = last.writer.is_some() && last.is_only_updated;
      if (is_weight && value != graph.loss) flow.stop(value, kAll);
    }
    for (size_t i = 0; i < positions.size(); ++i) {
      const BackwardFlow::Sources bit = BackwardFlow::Sources{1} << i;
      const uint32_t last = graph.wrt[positions[i]];
      for (const BackwardVersion& version : values.versions_of(graph.wrt_tensors[positions[i]])) {
        if (version.value != last) flow.start(version.value, bit);
      }
      flow.stop(last, bit);
    }
    flow.run();
    for (size_t i = 0; i < positions.size(); ++i) {
      if ((flow.reaching(graph.loss) >> i & 1) != 0) return error_at(positions[i]);
    }
    return Success{};
  }

  void stop_at_optimizers(BackwardFlow& flow) const {
    const KernelId sgd = *find_kernel("sgd");
    const KernelId adamw = *find_kernel("adamw");
    for (const Dispatch& dispatch : program.dispatches) {
      if (dispatch.kernel != sgd && dispatch.kernel != adamw) continue;
      const auto accesses = program.accesses_of(dispatch);
      for (size_t a = 0; a < accesses.size(); ++a) {
        const bool is_left = !accesses[a].only_reads() && accesses[a].tensor.is_some();
        if (is_left) flow.stop(values.of_operand(dispatch, a), kAll);
      }
    }
  }

  Error error_at(size_t position) const {
    const TensorId wrt = graph.wrt_tensors[position];
    const std::string name = in_quotes(program.name(program.tensor(wrt).name));
    const BackwardVersion& last = values.versions_of(wrt).back();
    const std::string writer = last.adoption.is_some() ? program.description_of(last.adoption)
                                                       : program.description_of(last.writer);
    return error_of(
        "The loss {} depends on what {} held before {}, and the gradient is that by what {} holds now; take it before, or leave {} as it is and write another tensor.",
        in_quotes(program.name(program.tensor(graph.loss_tensor).name)), name, writer, name, name);
  }

  const Program& program;
  const BackwardValues& values;
  const GradientKernels& kernels;
  const BackwardGraph& graph;
};

}  // namespace

Result<Success> check_versions(const Program& program, const BackwardValues& values,
                               const GradientKernels& kernels, const BackwardGraph& graph) {
  return VersionCheck{program, values, kernels, graph}.check();
}

}  // namespace interlock
