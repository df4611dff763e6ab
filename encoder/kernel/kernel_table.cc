// The table itself. An entry is data and pointers to rules (kernel_rules.h), so that every backend,
// the simulator and the passes see the same kernels.
#include "encoder/kernel/kernel_table.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "encoder/kernel/kernel_rules.h"
#include "encoder/program/check.h"
#include "encoder/program/names.h"

namespace interlock {
namespace {

constexpr AccessMode kRead = AccessMode::kRead;
constexpr AccessMode kWrite = AccessMode::kWrite;
constexpr AccessMode kUpdate = AccessMode::kUpdate;

constexpr KernelOperand kFillOperands[] = {{"y", kWrite}};
constexpr KernelOperand kUnaryOperands[] = {{"x", kRead}, {"y", kWrite}};
constexpr KernelOperand kBinaryOperands[] = {{"a", kRead}, {"b", kRead}, {"y", kWrite}};
constexpr KernelOperand kSumVjpOperands[] = {{"g", kRead}, {"gx", kWrite}};
constexpr KernelOperand kSiluVjpOperands[] = {{"x", kRead}, {"g", kRead}, {"gx", kWrite}};
constexpr KernelOperand kSoftmaxVjpOperands[] = {{"y", kRead}, {"g", kRead}, {"gx", kWrite}};
constexpr KernelOperand kSoftmaxVjpStreamOperands[] = {
    {"y", kRead}, {"g", kRead}, {.name = "gx", .mode = kWrite, .streams = true}};
constexpr KernelOperand kAccumulateOperands[] = {{"g", kRead}, {"acc", kUpdate}};
constexpr KernelOperand kSgdOperands[] = {{"g", kRead}, {"p", kUpdate}};
constexpr KernelOperand kAdamwOperands[] = {
    {"g", kRead}, {"p", kUpdate}, {"m", kUpdate}, {"v", kUpdate}};
constexpr KernelOperand kSplitOperands[] = {{"g", kRead}, {"ga", kWrite}, {"gb", kWrite}};
constexpr KernelOperand kRmsNormOperands[] = {{"x", kRead}, {"w", kRead}, {"y", kWrite}};
constexpr KernelOperand kLayerNormOperands[] = {
    {"x", kRead}, {"w", kRead}, {"b", kRead}, {"y", kWrite}};
constexpr KernelOperand kNormVjpOperands[] = {
    {"x", kRead}, {"w", kRead}, {"g", kRead}, {"gx", kWrite}, {"gw_rows", kWrite}};
constexpr KernelOperand kRmsNormVjpStreamOperands[] = {
    {"x", kRead},
    {"w", kRead},
    {"g", kRead},
    {.name = "gx", .mode = kWrite, .streams = true},
    {"gw_rows", kWrite}};

constexpr double kFloatMax = std::numeric_limits<float>::max();
constexpr double kBelowOne = 1 - 0x1p-24;  // The largest f32 below 1.
constexpr KernelAttribute kSgdAttributes[] = {{"lr", std::nullopt, -kFloatMax, kFloatMax}};
constexpr KernelAttribute kAdamwAttributes[] = {{"lr", std::nullopt, -kFloatMax, kFloatMax},
                                                {"step", std::nullopt, 1, 16'777'216, true},
                                                {"beta1", 0.9, 0, kBelowOne},
                                                {"beta2", 0.999, 0, kBelowOne},
                                                {"eps", 1e-08, 0, kFloatMax},
                                                {"weight_decay", 0.01, 0, kFloatMax}};
constexpr KernelOperand kEmbeddingOperands[] = {
    {"ids", kRead, DType::kI32}, {"table", kRead}, {"y", kWrite}};
constexpr KernelOperand kEmbeddingVjpOperands[] = {
    {"ids", kRead, DType::kI32}, {"g", kRead}, {"gtable", kWrite}};
constexpr KernelOperand kCrossEntropyOperands[] = {
    {"logits", kRead}, {"labels", kRead, DType::kI32}, {"loss", kWrite}};
constexpr KernelOperand kCrossEntropyVjpOperands[] = {
    {"logits", kRead}, {"labels", kRead, DType::kI32}, {"gloss", kRead}, {"glogits", kWrite}};

constexpr KernelAttribute kFillAttributes[] = {{"value", 0.0, 0, 255, true}};
constexpr KernelAttribute kScaleAttributes[] = {{"factor", std::nullopt,
                                                 std::numeric_limits<float>::lowest(),
                                                 std::numeric_limits<float>::max(), false}};
constexpr KernelAttribute kNormAttributes[] = {
    {"eps", 1e-05, 0, std::numeric_limits<float>::max(), false}};
constexpr KernelAttribute kRopeAttributes[] = {
    {"base", 10000.0, 1, std::numeric_limits<float>::max(), false},
    {"start", 0.0, 0, kRopeStartMax, true}};

// Bodies make their row sums and maxima first, then read all of an element before they write it: so
// an output may lie exactly on an input that has the same element at the same place.
constexpr std::pair<int, int> kUnaryPairs[] = {{0, 1}};
constexpr std::pair<int, int> kBinaryPairs[] = {{0, 2}, {1, 2}};
// An update on the very gradient is one of equal terms: deterministic, and no planner asks for it.
constexpr std::pair<int, int> kUpdatePairs[] = {{0, 1}};
constexpr std::pair<int, int> kAdamwPairs[] = {{0, 1}, {0, 2}, {0, 3}};
constexpr std::pair<int, int> kRmsNormPairs[] = {{0, 2}};
constexpr std::pair<int, int> kLayerNormPairs[] = {{0, 3}};
constexpr std::pair<int, int> kCrossEntropyVjpPairs[] = {{0, 3}};
constexpr std::pair<int, int> kNormVjpPairs[] = {{0, 3}, {2, 3}, {0, 4}, {2, 4}};
// Streaming bodies first copy one input to gx, and read the others on the way: gx may lie on the
// one and on no other. The terms of gw come before that copy, from inputs still needed after it.
constexpr std::pair<int, int> kSoftmaxVjpStreamPairs[] = {{1, 2}};
constexpr std::pair<int, int> kRmsNormVjpStreamPairs[] = {{0, 3}};

KernelEntry bytewise(std::string_view name, std::string_view summary,
                     std::span<const KernelOperand> operands,
                     std::span<const KernelAttribute> attributes) {
  return {name, summary, operands,      attributes,        false,
          true, {},      bind_bytewise, block_slice_count, byte_block_range};
}

KernelEntry elementwise(std::string_view name, std::string_view summary,
                        std::span<const KernelOperand> operands,
                        std::span<const KernelAttribute> attributes,
                        std::span<const std::pair<int, int>> pairs) {
  return {name,  summary, operands,         attributes,        false,
          false, pairs,   bind_elementwise, block_slice_count, element_block_range};
}

KernelEntry by_rows(std::string_view name, std::string_view summary,
                    std::span<const KernelOperand> operands, decltype(KernelEntry::bind) bind,
                    decltype(KernelEntry::slice_range) slice_range) {
  return {name, summary, operands, {}, false, false, {}, bind, row_slice_count, slice_range};
}

KernelEntry rope(std::string_view name, std::string_view summary,
                 std::span<const KernelOperand> operands) {
  return {name,  summary,     operands,  kRopeAttributes, false,
          false, kUnaryPairs, bind_rope, row_slice_count, same_row_range};
}

KernelEntry softmax(std::string_view name, std::string_view summary,
                    std::span<const KernelOperand> operands,
                    std::span<const std::pair<int, int>> pairs) {
  return {name,      summary,         operands,      {}, false, false, pairs,
          bind_rows, row_slice_count, same_row_range};
}

KernelEntry norm(std::string_view name, std::string_view summary,
                 std::span<const KernelOperand> operands,
                 std::span<const std::pair<int, int>> pairs,
                 StridedRange (*slice_range)(const KernelParams&, uint64_t, int)) {
  return {name,  summary, operands,  kNormAttributes, false,
          false, pairs,   bind_rows, row_slice_count, slice_range};
}

KernelEntry matmul(std::string_view name, std::string_view summary,
                   decltype(KernelEntry::bind) bind,
                   StridedRange (*slice_range)(const KernelParams&, uint64_t, int)) {
  return {name, summary, kBinaryOperands, {}, false, false, {}, bind, row_slice_count, slice_range};
}

KernelEntry mix() {
  return {"mix",
          "any accesses: outputs are hashes of all bytes read; the meaning of opaque dispatches",
          {},
          {},
          true,
          true,
          {},
          nullptr,
          nullptr,
          nullptr};
}

std::span<const KernelEntry> table() {
  static const auto entries = std::to_array<KernelEntry>({
      bytewise("fill", "y = value, bytewise", kFillOperands, kFillAttributes),
      bytewise("copy", "y = x, bytewise", kUnaryOperands, {}),
      elementwise("add", "y = a + b", kBinaryOperands, {}, kBinaryPairs),
      elementwise("mul", "y = a * b, elementwise", kBinaryOperands, {}, kBinaryPairs),
      elementwise("scale", "y = factor * x", kUnaryOperands, kScaleAttributes, kUnaryPairs),
      elementwise("silu", "y = x / (1 + exp(-x))", kUnaryOperands, {}, kUnaryPairs),
      elementwise("silu_vjp", "gx = g s (1 + x (1 - s)), s = 1 / (1 + exp(-x))", kSiluVjpOperands,
                  {}, kBinaryPairs),
      elementwise("accumulate", "acc = acc + g", kAccumulateOperands, {}, kUpdatePairs),
      elementwise("sgd", "p = p - lr g", kSgdOperands, kSgdAttributes, kUpdatePairs),
      elementwise("adamw", "p, m, v: a step of Adam with decoupled weight decay", kAdamwOperands,
                  kAdamwAttributes, kAdamwPairs),
      by_rows("concat", "y[rows, inner + cols] = a[rows, inner] before b[rows, cols]",
              kBinaryOperands, bind_concat, concat_range),
      by_rows("split", "ga[rows, inner], gb[rows, cols] = the columns of g[rows, inner + cols]",
              kSplitOperands, bind_split, split_range),
      KernelEntry{"transpose",
                  "y[cols, rows] = x[rows, cols]^T",
                  kUnaryOperands,
                  {},
                  false,
                  false,
                  {},
                  bind_transpose,
                  transpose_slice_count,
                  transpose_range},
      KernelEntry{"col_sum",
                  "y[cols] = sum of x[rows, cols] over rows",
                  kUnaryOperands,
                  {},
                  false,
                  false,
                  {},
                  bind_col_sum,
                  col_sum_slice_count,
                  col_sum_range},
      by_rows("col_sum_vjp", "gx[rows, cols] = g[cols] in every row", kSumVjpOperands,
              bind_col_sum_vjp, col_sum_vjp_range),
      by_rows("row_sum", "y[rows] = sum of x[rows, cols] over cols", kUnaryOperands, bind_row_sum,
              row_sum_range),
      by_rows("row_sum_vjp", "gx[rows, cols] = g[rows] in every column", kSumVjpOperands,
              bind_row_sum_vjp, row_sum_vjp_range),
      matmul("matmul_nn", "y[rows, cols] = a[rows, inner] b[inner, cols]", bind_matmul_nn,
             matmul_range),
      matmul("matmul_nt", "y[rows, cols] = a[rows, inner] b[cols, inner]^T", bind_matmul_nt,
             matmul_range),
      matmul("matmul_tn", "y[rows, cols] = a[inner, rows]^T b[inner, cols]", bind_matmul_tn,
             matmul_tn_range),
      softmax("softmax", "y = exp(x - max(x)) / sum(exp(x - max(x))), per row", kUnaryOperands,
              kUnaryPairs),
      softmax("softmax_vjp", "gx = y (g - sum(y g)), per row", kSoftmaxVjpOperands, kBinaryPairs),
      softmax("softmax_vjp_stream", "softmax_vjp through gx: copies g there, then works on it",
              kSoftmaxVjpStreamOperands, kSoftmaxVjpStreamPairs),
      by_rows("embedding", "row r of y is row ids[r] of table", kEmbeddingOperands, bind_embedding,
              embedding_range),
      by_rows("embedding_vjp", "row k of gtable is the sum of the rows r of g with ids[r] = k",
              kEmbeddingVjpOperands, bind_embedding_vjp, embedding_vjp_range),
      rope("rope", "pair i of row r turned by (r + start) base^(-2i / cols)", kUnaryOperands),
      rope("rope_vjp", "pair i of row r turned back by (r + start) base^(-2i / cols)",
           kSumVjpOperands),
      by_rows("cross_entropy", "loss = log(sum(exp(logits))) - logits[label], per row",
              kCrossEntropyOperands, bind_cross_entropy, cross_entropy_range),
      KernelEntry{"cross_entropy_vjp",
                  "glogits = (softmax(logits) - onehot(label)) gloss, per row",
                  kCrossEntropyVjpOperands,
                  {},
                  false,
                  false,
                  kCrossEntropyVjpPairs,
                  bind_cross_entropy,
                  row_slice_count,
                  cross_entropy_range},
      norm("rms_norm", "y = x w / sqrt(mean(x^2) + eps), per row", kRmsNormOperands, kRmsNormPairs,
           rms_norm_range),
      norm("rms_norm_vjp", "gx, and per row the terms of gw, of rms_norm", kNormVjpOperands,
           kNormVjpPairs, norm_vjp_range),
      norm("rms_norm_vjp_stream", "rms_norm_vjp through gx: copies x there, then works on it",
           kRmsNormVjpStreamOperands, kRmsNormVjpStreamPairs, norm_vjp_range),
      norm("layer_norm", "y = w (x - mean(x)) / sqrt(var(x) + eps) + b, per row",
           kLayerNormOperands, kLayerNormPairs, layer_norm_range),
      norm("layer_norm_vjp", "gx, and per row the terms of gw, of layer_norm", kNormVjpOperands,
           kNormVjpPairs, norm_vjp_range),
      mix(),
  });
  return entries;
}

}  // namespace

std::span<const KernelEntry> kernel_table() { return table(); }

const KernelEntry& kernel_entry(KernelId id) {
  INTERLOCK_CHECK(id.index < table().size());
  return table()[id.index];
}

std::optional<KernelId> find_kernel(std::string_view name) {
  for (size_t i = 0; i < table().size(); ++i) {
    if (table()[i].name == name) return KernelId{i};
  }
  return std::nullopt;
}

KernelId mix_kernel() {
  static const KernelId id = *find_kernel("mix");
  return id;
}

bool is_opaque(const Program& program, const Dispatch& dispatch) {
  return dispatch.kernel == mix_kernel() && is_opaque_kernel(program.name(dispatch.kernel_name));
}

Stage stage_of(const Dispatch& dispatch) {
  const KernelEntry& entry = kernel_entry(dispatch.kernel);
  const bool is_a_copy = entry.is_bytewise && !entry.is_variadic;  // mix is variadic.
  return is_a_copy ? Stage::kCopy : Stage::kCompute;
}

std::optional<StageAccess> read_sort_of(Stage stage, const Access& access) {
  INTERLOCK_CHECK(stage == Stage::kCompute || stage == Stage::kCopy);
  if (!access.reads() && !access.is_atomic()) return std::nullopt;
  if (access.mode == AccessMode::kUniform) return StageAccess::kComputeUniform;
  return stage == Stage::kCompute ? StageAccess::kComputeRead : StageAccess::kCopyRead;
}

std::optional<StageAccess> write_sort_of(Stage stage, const Access& access) {
  INTERLOCK_CHECK(stage == Stage::kCompute || stage == Stage::kCopy);
  if (!access.writes() && !access.is_atomic()) return std::nullopt;
  return stage == Stage::kCompute ? StageAccess::kComputeWrite : StageAccess::kCopyWrite;
}

AliasContract alias_contract_of(const KernelEntry& entry, int input, int output) {
  if (entry.is_variadic) return AliasContract::kIdenticalElement;
  const auto& pairs = entry.identical_pairs;
  const bool is_identical =
      std::find(pairs.begin(), pairs.end(), std::pair{input, output}) != pairs.end();
  return is_identical ? AliasContract::kIdenticalElement : AliasContract::kNever;
}

}  // namespace interlock
