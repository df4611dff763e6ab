// The table itself. An entry is data and pointers to rules (kernel_rules.h), so that every backend,
// the simulator and the passes see the same kernels.
#include "encoder/kernel/kernel_table.h"

#include <algorithm>
#include <array>
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
constexpr KernelAttribute kSgdAttributes[] = {
    {"lr", &KernelParams::factor, std::nullopt, -kFloatMax, kFloatMax}};
constexpr KernelAttribute kAdamwAttributes[] = {
    {"lr", &KernelParams::factor, std::nullopt, -kFloatMax, kFloatMax},
    {"step", &KernelParams::step, std::nullopt, 1, 16'777'216},
    {"beta1", &KernelParams::beta1, 0.9, 0, kBelowOne},
    {"beta2", &KernelParams::beta2, 0.999, 0, kBelowOne},
    {"eps", &KernelParams::eps, 1e-08, 0, kFloatMax},
    {"weight_decay", &KernelParams::weight_decay, 0.01, 0, kFloatMax}};
constexpr KernelOperand kEmbeddingOperands[] = {
    {"ids", kRead, DType::kI32}, {"table", kRead}, {"y", kWrite}};
constexpr KernelOperand kEmbeddingVjpOperands[] = {
    {"ids", kRead, DType::kI32}, {"g", kRead}, {"gtable", kWrite}};
constexpr KernelOperand kCrossEntropyOperands[] = {
    {"logits", kRead}, {"labels", kRead, DType::kI32}, {"loss", kWrite}};
constexpr KernelOperand kCrossEntropyVjpOperands[] = {
    {"logits", kRead}, {"labels", kRead, DType::kI32}, {"gloss", kRead}, {"glogits", kWrite}};

constexpr KernelAttribute kFillAttributes[] = {{"value", &KernelParams::byte, 0.0, 0, 255}};
constexpr KernelAttribute kScaleAttributes[] = {
    {"factor", &KernelParams::factor, std::nullopt, -kFloatMax, kFloatMax}};
constexpr KernelAttribute kNormAttributes[] = {{"eps", &KernelParams::eps, 1e-05, 0, kFloatMax}};
constexpr KernelAttribute kRopeAttributes[] = {
    {"base", &KernelParams::base, 10000.0, 1, kFloatMax},
    {"start", &KernelParams::start, 0.0, 0, kRopeStartMax}};

constexpr OperandExtents kPerRow = {Extent::kRows};
constexpr OperandExtents kPerCol = {Extent::kCols};
constexpr OperandExtents kMatrix = {Extent::kRows, Extent::kCols};
constexpr OperandExtents kLeft = {Extent::kRows, Extent::kInner};
constexpr OperandExtents kRight = {Extent::kInner, Extent::kCols};
constexpr OperandExtents kWhole = {Extent::kRows, Extent::kInnerAndCols};
constexpr OperandExtents kSameShapes[] = {kMatrix, kMatrix, kMatrix};
constexpr OperandExtents kConcatShapes[] = {kLeft, kMatrix, kWhole};
constexpr OperandExtents kSplitShapes[] = {kWhole, kLeft, kMatrix};
constexpr OperandExtents kTransposeShapes[] = {kMatrix, {Extent::kCols, Extent::kRows}};
constexpr OperandExtents kColSumShapes[] = {kMatrix, kPerCol};
constexpr OperandExtents kColSumVjpShapes[] = {kPerCol, kMatrix};
constexpr OperandExtents kRowSumShapes[] = {kMatrix, kPerRow};
constexpr OperandExtents kRowSumVjpShapes[] = {kPerRow, kMatrix};
constexpr OperandExtents kMatmulNnShapes[] = {kLeft, kRight, kMatrix};
constexpr OperandExtents kMatmulNtShapes[] = {kLeft, {Extent::kCols, Extent::kInner}, kMatrix};
constexpr OperandExtents kMatmulTnShapes[] = {{Extent::kInner, Extent::kRows}, kRight, kMatrix};
// A body takes ids and labels modulo the table, as unsigned numbers: so no bytes make it read
// outside, and what a slice may touch is known without them.
constexpr OperandExtents kEmbeddingShapes[] = {kPerRow, kRight, kMatrix};
constexpr OperandExtents kEmbeddingVjpShapes[] = {{Extent::kInner}, kRight, kMatrix};
constexpr OperandExtents kCrossEntropyShapes[] = {kMatrix, kPerRow, kPerRow, kMatrix};
constexpr OperandExtents kNormShapes[] = {kMatrix, kPerCol, kMatrix, kMatrix, kMatrix};
constexpr OperandExtents kLayerNormShapes[] = {kMatrix, kPerCol, kPerCol, kMatrix};

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

// A slice is a block of bytes.
constexpr KernelEntry bytewise(KernelEntry entry) {
  entry.is_bytewise = true;
  entry.bind = bind_bytewise;
  entry.sliced = Extent::kElements;
  entry.smallest_block = kByteBlock;
  return entry;
}

// A slice is a block of elements.
constexpr KernelEntry elementwise(KernelEntry entry) {
  entry.bind = bind_elementwise;
  entry.sliced = Extent::kElements;
  entry.smallest_block = kElementBlock;
  return entry;
}

// A slice is some columns, `smallest_block` of them at once or more, or one by one.
constexpr KernelEntry by_cols(KernelEntry entry, uint64_t smallest_block = 0) {
  entry.sliced = Extent::kCols;
  entry.smallest_block = smallest_block;
  return entry;
}

constexpr KernelEntry parts(KernelEntry entry) {
  entry.bind = bind_parts;
  return entry;
}

constexpr KernelEntry rope(KernelEntry entry) {
  entry.bind = bind_rope;
  entry.attributes = kRopeAttributes;
  return entry;
}

constexpr KernelEntry norm(KernelEntry entry) {
  entry.attributes = kNormAttributes;
  return entry;
}

constexpr auto kKernels = std::to_array<KernelEntry>({
    bytewise({.name = "fill",
              .summary = "y = value, bytewise",
              .operands = kFillOperands,
              .attributes = kFillAttributes}),
    bytewise({.name = "copy", .summary = "y = x, bytewise", .operands = kUnaryOperands}),
    elementwise({.name = "add",
                 .summary = "y = a + b",
                 .operands = kBinaryOperands,
                 .identical_pairs = kBinaryPairs}),
    elementwise({.name = "mul",
                 .summary = "y = a * b, elementwise",
                 .operands = kBinaryOperands,
                 .identical_pairs = kBinaryPairs}),
    elementwise({.name = "scale",
                 .summary = "y = factor * x",
                 .operands = kUnaryOperands,
                 .attributes = kScaleAttributes,
                 .identical_pairs = kUnaryPairs}),
    elementwise({.name = "silu",
                 .summary = "y = x / (1 + exp(-x))",
                 .operands = kUnaryOperands,
                 .identical_pairs = kUnaryPairs}),
    elementwise({.name = "silu_vjp",
                 .summary = "gx = g s (1 + x (1 - s)), s = 1 / (1 + exp(-x))",
                 .operands = kSiluVjpOperands,
                 .identical_pairs = kBinaryPairs}),
    elementwise({.name = "accumulate",
                 .summary = "acc = acc + g",
                 .operands = kAccumulateOperands,
                 .identical_pairs = kUpdatePairs}),
    elementwise({.name = "sgd",
                 .summary = "p = p - lr g",
                 .operands = kSgdOperands,
                 .attributes = kSgdAttributes,
                 .identical_pairs = kUpdatePairs}),
    elementwise({.name = "adamw",
                 .summary = "p, m, v: a step of Adam with decoupled weight decay",
                 .operands = kAdamwOperands,
                 .attributes = kAdamwAttributes,
                 .identical_pairs = kAdamwPairs}),
    parts({.name = "concat",
           .summary = "y[rows, inner + cols] = a[rows, inner] before b[rows, cols]",
           .operands = kBinaryOperands,
           .shapes = kConcatShapes}),
    parts({.name = "split",
           .summary = "ga[rows, inner], gb[rows, cols] = the columns of g[rows, inner + cols]",
           .operands = kSplitOperands,
           .shapes = kSplitShapes}),
    by_cols({.name = "transpose",
             .summary = "y[cols, rows] = x[rows, cols]^T",
             .operands = kUnaryOperands,
             .shapes = kTransposeShapes}),
    by_cols({.name = "col_sum",
             .summary = "y[cols] = sum of x[rows, cols] over rows",
             .operands = kUnaryOperands,
             .shapes = kColSumShapes},
            kColumnBlock),
    {.name = "col_sum_vjp",
     .summary = "gx[rows, cols] = g[cols] in every row",
     .operands = kSumVjpOperands,
     .shapes = kColSumVjpShapes},
    {.name = "row_sum",
     .summary = "y[rows] = sum of x[rows, cols] over cols",
     .operands = kUnaryOperands,
     .shapes = kRowSumShapes},
    {.name = "row_sum_vjp",
     .summary = "gx[rows, cols] = g[rows] in every column",
     .operands = kSumVjpOperands,
     .shapes = kRowSumVjpShapes},
    {.name = "matmul_nn",
     .summary = "y[rows, cols] = a[rows, inner] b[inner, cols]",
     .operands = kBinaryOperands,
     .shapes = kMatmulNnShapes},
    {.name = "matmul_nt",
     .summary = "y[rows, cols] = a[rows, inner] b[cols, inner]^T",
     .operands = kBinaryOperands,
     .shapes = kMatmulNtShapes},
    {.name = "matmul_tn",
     .summary = "y[rows, cols] = a[inner, rows]^T b[inner, cols]",
     .operands = kBinaryOperands,
     .shapes = kMatmulTnShapes},
    {.name = "softmax",
     .summary = "y = exp(x - max(x)) / sum(exp(x - max(x))), per row",
     .operands = kUnaryOperands,
     .identical_pairs = kUnaryPairs,
     .shapes = kSameShapes},
    {.name = "softmax_vjp",
     .summary = "gx = y (g - sum(y g)), per row",
     .operands = kSoftmaxVjpOperands,
     .identical_pairs = kBinaryPairs,
     .shapes = kSameShapes},
    {.name = "softmax_vjp_stream",
     .summary = "softmax_vjp through gx: copies g there, then works on it",
     .operands = kSoftmaxVjpStreamOperands,
     .identical_pairs = kSoftmaxVjpStreamPairs,
     .shapes = kSameShapes},
    {.name = "embedding",
     .summary = "row r of y is row ids[r] of table",
     .operands = kEmbeddingOperands,
     .shapes = kEmbeddingShapes},
    {.name = "embedding_vjp",
     .summary = "row k of gtable is the sum of the rows r of g with ids[r] = k",
     .operands = kEmbeddingVjpOperands,
     .shapes = kEmbeddingVjpShapes},
    rope({.name = "rope",
          .summary = "pair i of row r turned by (r + start) base^(-2i / cols)",
          .operands = kUnaryOperands,
          .identical_pairs = kUnaryPairs,
          .shapes = kSameShapes}),
    rope({.name = "rope_vjp",
          .summary = "pair i of row r turned back by (r + start) base^(-2i / cols)",
          .operands = kSumVjpOperands,
          .identical_pairs = kUnaryPairs,
          .shapes = kSameShapes}),
    {.name = "cross_entropy",
     .summary = "loss = log(sum(exp(logits))) - logits[label], per row",
     .operands = kCrossEntropyOperands,
     .shapes = kCrossEntropyShapes},
    {.name = "cross_entropy_vjp",
     .summary = "glogits = (softmax(logits) - onehot(label)) gloss, per row",
     .operands = kCrossEntropyVjpOperands,
     .identical_pairs = kCrossEntropyVjpPairs,
     .shapes = kCrossEntropyShapes},
    norm({.name = "rms_norm",
          .summary = "y = x w / sqrt(mean(x^2) + eps), per row",
          .operands = kRmsNormOperands,
          .identical_pairs = kRmsNormPairs,
          .shapes = kNormShapes}),
    norm({.name = "rms_norm_vjp",
          .summary = "gx, and per row the terms of gw, of rms_norm",
          .operands = kNormVjpOperands,
          .identical_pairs = kNormVjpPairs,
          .shapes = kNormShapes}),
    norm({.name = "rms_norm_vjp_stream",
          .summary = "rms_norm_vjp through gx: copies x there, then works on it",
          .operands = kRmsNormVjpStreamOperands,
          .identical_pairs = kRmsNormVjpStreamPairs,
          .shapes = kNormShapes}),
    norm({.name = "layer_norm",
          .summary = "y = w (x - mean(x)) / sqrt(var(x) + eps) + b, per row",
          .operands = kLayerNormOperands,
          .identical_pairs = kLayerNormPairs,
          .shapes = kLayerNormShapes}),
    norm({.name = "layer_norm_vjp",
          .summary = "gx, and per row the terms of gw, of layer_norm",
          .operands = kNormVjpOperands,
          .identical_pairs = kNormVjpPairs,
          .shapes = kNormShapes}),
    {.name = "mix",
     .summary =
         "any accesses: outputs are hashes of all bytes read; the meaning of opaque dispatches",
     .is_variadic = true,
     .is_bytewise = true},
});

// Rules of shapes look up the extents of each operand.
static_assert(std::ranges::all_of(kKernels, [](const KernelEntry& entry) {
  return entry.is_variadic || entry.shapes.size() >= entry.operands.size() ||
         (entry.shapes.empty() && entry.sliced == Extent::kElements);
}));

}  // namespace

std::span<const KernelEntry> kernel_table() { return kKernels; }

const KernelEntry& kernel_entry(KernelId id) {
  INTERLOCK_CHECK(id.index < kKernels.size());
  return kKernels[id.index];
}

KernelId mix_kernel() {
  static const KernelId id = *find_kernel("mix");
  return id;
}

bool is_opaque(const Program& program, const Dispatch& dispatch) {
  return dispatch.kernel == mix_kernel() && is_opaque_kernel(program.name(dispatch.kernel_name));
}

Stage stage_of(const Dispatch& dispatch) {
  if (dispatch.host != HostAccess::kNone) return Stage::kHost;
  const KernelEntry& entry = kernel_entry(dispatch.kernel);
  const bool is_a_copy = entry.is_bytewise && !entry.is_variadic;  // mix is variadic.
  return is_a_copy ? Stage::kCopy : dispatch.stage;
}

Stage stage_of(const Dispatch& dispatch, const Access& access) {
  return access.mode == AccessMode::kIndirect ? Stage::kIndirect : stage_of(dispatch);
}

std::optional<StageAccess> read_sort_of(Stage stage, const Access& access) {
  if (!access.reads_plainly() && !access.is_atomic()) return std::nullopt;
  if (stage == Stage::kHost) return StageAccess::kHostRead;
  if (access.mode == AccessMode::kIndirect) return StageAccess::kIndirectRead;
  const bool is_uniform = access.mode == AccessMode::kUniform;
  switch (stage) {
    case Stage::kCopy:
      return StageAccess::kCopyRead;
    case Stage::kGraphics:
      return is_uniform ? StageAccess::kGraphicsUniform : StageAccess::kGraphicsRead;
    case Stage::kTransition:
      return StageAccess::kTransitionRead;
    default:
      return is_uniform ? StageAccess::kComputeUniform : StageAccess::kComputeRead;
  }
}

std::optional<StageAccess> write_sort_of(Stage stage, const Access& access) {
  if (!access.writes_plainly() && !access.is_atomic()) return std::nullopt;
  return write_sort_of(stage);
}

AliasContract alias_contract_of(const KernelEntry& entry, int input, int output) {
  if (entry.is_variadic) return AliasContract::kIdenticalElement;
  const auto& pairs = entry.identical_pairs;
  const bool is_identical =
      std::find(pairs.begin(), pairs.end(), std::pair{input, output}) != pairs.end();
  return is_identical ? AliasContract::kIdenticalElement : AliasContract::kNever;
}

}  // namespace interlock
