// The rules, one after another as the kernel table has the kernels; then what can be asked of them.
#include "encoder/backward/vjp_rules.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "encoder/program/check.h"
#include "encoder/program/registry.h"

namespace interlock {
namespace {

constexpr VjpValue primal(int operand) { return {VjpValueKind::kPrimal, operand}; }
constexpr VjpValue cotangent(int operand) { return {VjpValueKind::kCotangent, operand}; }
constexpr VjpValue gradient(int operand) { return {VjpValueKind::kGradient, operand}; }
constexpr VjpValue intermediate(int number) { return {VjpValueKind::kIntermediate, number}; }

// y = f(x), forward operands x y: the cotangent alone is enough.
constexpr VjpValue kFromCotangent[] = {cotangent(1), gradient(0)};

// y = a + b
constexpr std::pair<int, int> kAddPasses[] = {{0, 2}, {1, 2}};

// y = a * b, elementwise: ga = g b, gb = g a.
constexpr VjpValue kMulA[] = {cotangent(2), primal(1), gradient(0)};
constexpr VjpValue kMulB[] = {cotangent(2), primal(0), gradient(1)};

constexpr VjpValue kFromInput[] = {primal(0), cotangent(1), gradient(0)};   // silu
constexpr VjpValue kFromOutput[] = {primal(1), cotangent(1), gradient(0)};  // softmax

// y = a b: ga = g b^T, gb = a^T g.
constexpr VjpValue kMatmulNnA[] = {cotangent(2), primal(1), gradient(0)};
constexpr VjpValue kMatmulNnB[] = {primal(0), cotangent(2), gradient(1)};
// y = a b^T: ga = g b, gb = g^T a.
constexpr VjpValue kMatmulNtA[] = {cotangent(2), primal(1), gradient(0)};
constexpr VjpValue kMatmulNtB[] = {cotangent(2), primal(0), gradient(1)};
// y = a^T b: ga = b g^T, gb = a g.
constexpr VjpValue kMatmulTnA[] = {primal(1), cotangent(2), gradient(0)};
constexpr VjpValue kMatmulTnB[] = {primal(0), cotangent(2), gradient(1)};

// x w → y and x w b → y. Per row the terms of gw; their column sums are gw, those of g are gb.
constexpr VjpValue kRmsNorm[] = {primal(0), primal(1), cotangent(2), gradient(0), intermediate(0)};
constexpr VjpValue kLayerNorm[] = {primal(0), primal(1), cotangent(3), gradient(0),
                                   intermediate(0)};
constexpr VjpValue kNormWeight[] = {intermediate(0), gradient(1)};
constexpr VjpValue kLayerNormBias[] = {cotangent(3), gradient(2)};
constexpr int kNormIntermediates[] = {0};

// y = a beside b: both cotangents at once. And g = ga beside gb, from the cotangents of its parts.
constexpr VjpValue kConcat[] = {cotangent(2), gradient(0), gradient(1)};
constexpr VjpValue kSplit[] = {cotangent(1), cotangent(2), gradient(0)};
// ids table → y: ids have no cotangent.
constexpr VjpValue kEmbeddingTable[] = {primal(0), cotangent(2), gradient(1)};
// logits labels → loss
constexpr VjpValue kCrossEntropyLogits[] = {primal(0), primal(1), cotangent(2), gradient(0)};

constexpr VjpDispatch kCopyGroup[] = {{"copy", kFromCotangent}};
constexpr VjpDispatch kMulGroup[] = {{"mul", kMulA}, {"mul", kMulB}};
constexpr VjpDispatch kScaleGroup[] = {{"scale", kFromCotangent}};
constexpr VjpDispatch kSiluGroup[] = {{"silu_vjp", kFromInput}};
constexpr VjpDispatch kConcatGroup[] = {{"split", kConcat}};
constexpr VjpDispatch kSplitGroup[] = {{"concat", kSplit}};
constexpr VjpDispatch kTransposeGroup[] = {{"transpose", kFromCotangent}};
constexpr VjpDispatch kColSumGroup[] = {{"col_sum_vjp", kFromCotangent}};
constexpr VjpDispatch kRowSumGroup[] = {{"row_sum_vjp", kFromCotangent}};
constexpr VjpDispatch kMatmulNnGroup[] = {{"matmul_nt", kMatmulNnA}, {"matmul_tn", kMatmulNnB}};
constexpr VjpDispatch kMatmulNtGroup[] = {{"matmul_nn", kMatmulNtA}, {"matmul_tn", kMatmulNtB}};
constexpr VjpDispatch kMatmulTnGroup[] = {{"matmul_nt", kMatmulTnA}, {"matmul_nn", kMatmulTnB}};
constexpr VjpDispatch kSoftmaxGroup[] = {{"softmax_vjp", kFromOutput}};
constexpr VjpDispatch kEmbeddingGroup[] = {{"embedding_vjp", kEmbeddingTable}};
constexpr VjpDispatch kRopeGroup[] = {{"rope_vjp", kFromCotangent}};
constexpr VjpDispatch kCrossEntropyGroup[] = {{"cross_entropy_vjp", kCrossEntropyLogits}};
constexpr VjpDispatch kRmsNormGroup[] = {{"rms_norm_vjp", kRmsNorm}, {"col_sum", kNormWeight}};
// As MLX dispatches it, the bias first.
constexpr VjpDispatch kLayerNormGroup[] = {
    {"col_sum", kLayerNormBias}, {"layer_norm_vjp", kLayerNorm}, {"col_sum", kNormWeight}};

constexpr auto kRules = std::to_array<VjpRule>({
    {"copy", kCopyGroup, {}, {}},
    {"add", {}, kAddPasses, {}},
    {"mul", kMulGroup, {}, {}},
    {"scale", kScaleGroup, {}, {}},
    {"silu", kSiluGroup, {}, {}},
    {"concat", kConcatGroup, {}, {}},
    {"split", kSplitGroup, {}, {}},
    {"transpose", kTransposeGroup, {}, {}},
    {"col_sum", kColSumGroup, {}, {}},
    {"row_sum", kRowSumGroup, {}, {}},
    {"matmul_nn", kMatmulNnGroup, {}, {}},
    {"matmul_nt", kMatmulNtGroup, {}, {}},
    {"matmul_tn", kMatmulTnGroup, {}, {}},
    {"softmax", kSoftmaxGroup, {}, {}},
    {"embedding", kEmbeddingGroup, {}, {}},
    {"rope", kRopeGroup, {}, {}},
    {"cross_entropy", kCrossEntropyGroup, {}, {}},
    {"rms_norm", kRmsNormGroup, {}, kNormIntermediates},
    {"layer_norm", kLayerNormGroup, {}, kNormIntermediates},
});

// The operands of the dispatch that it reads, or those that it writes.
std::vector<VjpValue> values_accessed(const VjpDispatch& dispatch, AccessMode mode) {
  const KernelEntry& entry = kernel_entry(find_kernel(dispatch.kernel).value());
  INTERLOCK_CHECK(entry.operands.size() == dispatch.operands.size());
  std::vector<VjpValue> values;
  for (size_t i = 0; i < dispatch.operands.size(); ++i) {
    if (entry.operands[i].mode == mode) values.push_back(dispatch.operands[i]);
  }
  return values;
}

OperandDraft operand_of(const DispatchDraft& forward, VjpValue value, AccessMode mode,
                        const std::function<std::string(VjpValue)>& name_of) {
  if (value.kind != VjpValueKind::kPrimal) return {mode, name_of(value)};
  OperandDraft operand = forward.operands[static_cast<size_t>(value.index)];
  operand.mode = mode;
  return operand;
}

}  // namespace

std::span<const VjpRule> vjp_rules() { return kRules; }

const VjpRule* find_vjp_rule(std::string_view kernel) {
  return find_entry(vjp_rules(), kernel, &VjpRule::kernel);
}

std::vector<int> inputs_of(const VjpRule& rule) {
  std::vector<int> inputs;
  for (const auto& [input, output] : rule.passes) inputs.push_back(input);
  for (const VjpDispatch& dispatch : rule.dispatches) {
    for (const VjpValue value : dispatch.operands) {
      if (value.kind == VjpValueKind::kGradient) inputs.push_back(value.index);
    }
  }
  std::ranges::sort(inputs);
  return inputs;
}

std::vector<size_t> dispatches_of(const VjpRule& rule, std::span<const int> inputs) {
  std::vector<VjpValue> wanted;
  for (const int input : inputs) wanted.push_back(gradient(input));
  std::vector<size_t> positions;
  for (size_t i = rule.dispatches.size(); i-- > 0;) {
    const std::vector<VjpValue> written = values_accessed(rule.dispatches[i], AccessMode::kWrite);
    if (std::ranges::find_first_of(written, wanted) == written.end()) continue;
    positions.push_back(i);
    std::ranges::copy(values_accessed(rule.dispatches[i], AccessMode::kRead),
                      std::back_inserter(wanted));
  }
  std::reverse(positions.begin(), positions.end());
  return positions;
}

std::vector<int> saved_primals_of(const VjpRule& rule, std::span<const int> inputs) {
  std::vector<int> primals;
  for (const size_t position : dispatches_of(rule, inputs)) {
    for (const VjpValue value : rule.dispatches[position].operands) {
      if (value.kind == VjpValueKind::kPrimal) primals.push_back(value.index);
    }
  }
  std::sort(primals.begin(), primals.end());
  primals.erase(std::unique(primals.begin(), primals.end()), primals.end());
  return primals;
}

DispatchDraft vjp_dispatch(const VjpRule& rule, size_t position, const DispatchDraft& forward,
                           const std::function<std::string(VjpValue)>& name_of) {
  const VjpDispatch& dispatch = rule.dispatches[position];
  const KernelEntry& entry = kernel_entry(find_kernel(dispatch.kernel).value());
  DispatchDraft draft;
  draft.kernel = std::string(dispatch.kernel);
  for (size_t i = 0; i < dispatch.operands.size(); ++i) {
    draft.operands.push_back(
        operand_of(forward, dispatch.operands[i], entry.operands[i].mode, name_of));
  }
  for (const auto& attribute : forward.attributes) {
    const bool has_it = find_entry(entry.attributes, attribute.first) != nullptr;
    if (has_it) draft.attributes.push_back(attribute);
  }
  return draft;
}

std::vector<DispatchDraft> vjp_group(const VjpRule& rule, const DispatchDraft& forward,
                                     std::span<const int> inputs,
                                     const std::function<std::string(VjpValue)>& name_of) {
  INTERLOCK_CHECK(forward.kernel == rule.kernel);
  std::vector<DispatchDraft> group;
  for (const size_t position : dispatches_of(rule, inputs)) {
    group.push_back(vjp_dispatch(rule, position, forward, name_of));
  }
  return group;
}

}  // namespace interlock
