#include "fuzz/workloads/forward_pass.h"

#include <cmath>

#include <fmt/format.h>

namespace interlock {
namespace {

TensorDraft tensor_of(const std::string& name, std::vector<uint64_t> shape,
                      InitialValue initial = {}, DType dtype = DType::kF32) {
  return {.name = name,
          .dtype = dtype,
          .shape = std::move(shape),
          .placement = Placement::kUnplaced,
          .initial = std::move(initial)};
}

DispatchDraft dispatch_of(const std::string& name, const std::string& kernel,
                          const std::vector<std::string>& reads,
                          ForwardPass::Attributes attributes) {
  DispatchDraft dispatch{.label = name, .kernel = kernel, .attributes = std::move(attributes)};
  for (const std::string& read : reads) dispatch.operands.push_back({AccessMode::kRead, read, {}});
  dispatch.operands.push_back({AccessMode::kWrite, name, {}});
  return dispatch;
}

}  // namespace

std::string ForwardPass::weight(const std::string& name, std::vector<uint64_t> shape,
                                bool is_trained) {
  weights_.push_back(tensor_of(name, std::move(shape), {InitialKind::kRandom, next_seed_++, {}}));
  if (is_trained) trained_.push_back(name);
  return name;
}

std::string ForwardPass::input(const std::string& name, std::vector<uint64_t> shape) {
  values_.push_back(tensor_of(name, std::move(shape), {InitialKind::kRandom, next_seed_++, {}}));
  return name;
}

// The numbers themselves are drawn for each micro-batch.
std::string ForwardPass::ids(const std::string& name, uint64_t count, uint64_t bound) {
  values_.push_back(
      tensor_of(name, {count}, {InitialKind::kValues, next_seed_++, {}}, DType::kI32));
  id_bounds_[name] = bound;
  return name;
}

std::string ForwardPass::apply(const std::string& name, const std::string& kernel,
                               const std::vector<std::string>& reads, std::vector<uint64_t> shape,
                               Attributes attributes) {
  values_.push_back(tensor_of(name, std::move(shape)));
  dispatches_.push_back(dispatch_of(name, kernel, reads, std::move(attributes)));
  return name;
}

std::string ForwardPass::apply_once(const std::string& name, const std::string& kernel,
                                    const std::vector<std::string>& reads,
                                    std::vector<uint64_t> shape, Attributes attributes) {
  saved_.push_back(tensor_of(name, std::move(shape)));
  prologue_.push_back(dispatch_of(name, kernel, reads, std::move(attributes)));
  return name;
}

std::string ForwardPass::product(const std::string& name, const std::string& x,
                                 const std::string& w, uint64_t rows, uint64_t inner, uint64_t cols,
                                 bool is_transposed) {
  const std::string raw =
      apply(name + "_raw", is_transposed ? "matmul_nt" : "matmul_nn", {x, w}, {rows, cols});
  const float factor = 1 / std::sqrt(static_cast<float>(inner));
  return apply(name, "scale", {raw}, {rows, cols}, {{"factor", fmt::format("{}", factor)}});
}

}  // namespace interlock
