// Binding dispatches to the kernel table: what fits, and what is said about what does not.
#include "encoder/kernel/kernel_table.h"
#include "encoder/kernel/kernel_binding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/text/parser.h"

namespace interlock::kernel_table_test {
namespace {

using testing::HasSubstr;

constexpr std::string_view kTensors = R"(interlock 1
memory m 65536
memory raw 64
tensor x f32[4,8] at m+0
tensor y f32[4,8] at m+256
tensor z f32[4,8] at m+512
tensor w f32[8] at m+1024
tensor v f32[4] at m+1280
tensor square f32[8,8] at m+2048
tensor n f32[32] at m+4096
tensor whole i32[4,8] at m+8192
tensor tall f32[8,4] at m+8448
tensor wide f32[8,16] at m+8704
tensor ids i32[4] at m+9216
tensor odd f32[4,7] at m+10240
)";

// The error about the dispatch, or "" if it fits.
std::string error_of(std::string_view dispatch, const ParseOptions& options = {}) {
  const auto program =
      parse(std::string(kTensors) + "dispatch " + std::string(dispatch) + "\n", "t", options);
  return program ? "" : program.error().message;
}

TEST(KernelTable, NamesEveryKernelOnce) {
  std::set<std::string_view> names;
  for (size_t i = 0; i < kernel_table().size(); ++i) {
    const KernelEntry& entry = kernel_table()[i];
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    EXPECT_EQ(find_kernel(entry.name), KernelId{i});
    EXPECT_FALSE(entry.summary.empty());
    for (const auto& [input, output] : entry.identical_pairs) {
      EXPECT_EQ(entry.operands[static_cast<size_t>(input)].mode, AccessMode::kRead);
      EXPECT_NE(entry.operands[static_cast<size_t>(output)].mode, AccessMode::kRead);
    }
  }
  EXPECT_EQ(find_kernel("Add"), std::nullopt);
  EXPECT_TRUE(kernel_entry(mix_kernel()).is_variadic);
}

TEST(KernelTable, AcceptsWhatFits) {
  for (const char* dispatch : {"fill writes raw[3:9]",
                               "fill writes x value=255",
                               "copy reads x writes whole",
                               "copy reads raw[0:4] writes v[4:8]",
                               "add reads x y writes z",
                               "add reads x x writes x",
                               "scale reads x writes y factor=-2e-3",
                               "silu reads w writes w",
                               "col_sum reads x writes w",
                               "row_sum reads x writes v",
                               "matmul_nn reads x square writes y",
                               "matmul_nt reads x square writes y",
                               "matmul_tn reads square square writes square",
                               "rms_norm reads x w writes y",
                               "rms_norm reads x w writes y eps=0",
                               "accumulate reads x updates y",
                               "accumulate reads n updates n",
                               "sgd reads x updates y lr=0.1",
                               "adamw reads n updates n n n lr=0.1 step=1",
                               "adamw reads x updates y z x lr=-1 step=16777216 beta1=0 beta2=0.99",
                               "concat reads square square writes wide",
                               "split reads wide writes square square",
                               "transpose reads x writes tall",
                               "transpose reads square writes square",
                               "softmax_vjp_stream reads y z writes z",
                               "rms_norm_vjp_stream reads x w y writes z x eps=0.1",
                               "softmax reads x writes x",
                               "softmax_vjp reads y z writes y",
                               "silu_vjp reads w w writes w",
                               "col_sum_vjp reads w writes x",
                               "row_sum_vjp reads v writes x",
                               "layer_norm reads x w w writes y",
                               "embedding reads ids square writes y",
                               "embedding_vjp reads ids x writes square",
                               "rope reads x writes x",
                               "rope reads x writes y base=1 start=65536",
                               "rope_vjp reads x writes y start=3",
                               "cross_entropy reads x ids writes v",
                               "cross_entropy_vjp reads x ids v writes x",
                               "layer_norm_vjp reads x w y writes z x eps=0.1",
                               "mix reads raw[0:3] updates x atomics w partial atomic=add",
                               "mix"}) {
    EXPECT_EQ(error_of(dispatch), "");
  }
}

TEST(KernelTable, RejectsOtherOperands) {
  EXPECT_THAT(error_of("add reads x writes y"),
              HasSubstr("Kernel 'add' reads a b writes y; this dispatch reads 1, writes 1"));
  EXPECT_THAT(error_of("add reads x y writes z z"), HasSubstr("this dispatch reads 2, writes 2"));
  EXPECT_THAT(error_of("silu"), HasSubstr("this dispatch has no operands"));
  EXPECT_THAT(
      error_of("accumulate reads x writes y"),
      HasSubstr("Kernel 'accumulate' reads g updates acc; this dispatch reads 1, writes 1"));
  EXPECT_THAT(error_of("accumulate updates x"), HasSubstr("this dispatch updates 1"));
  EXPECT_THAT(error_of("sgd reads x updates y partial lr=1"),
              HasSubstr("only opaque dispatches can be partial"));
  EXPECT_THAT(error_of("silu updates x"), HasSubstr("this dispatch updates 1"));
  EXPECT_THAT(error_of("silu reads x atomics y atomic=add"), HasSubstr("reads 1, atomics 1"));
  EXPECT_THAT(error_of("silu reads x writes y partial"),
              HasSubstr("only opaque dispatches can be partial"));
}

TEST(KernelTable, RejectsOperandsThatAreNoWholeF32Tensor) {
  EXPECT_THAT(error_of("silu reads x[0:4] writes y"),
              HasSubstr("Operand 'x' of kernel 'silu' is the slice 'x[0:4]'"));
  EXPECT_THAT(error_of("silu reads x writes raw"),
              HasSubstr("Operand 'y' of kernel 'silu' is the raw memory 'raw'"));
  EXPECT_THAT(error_of("silu reads x writes whole"),
              HasSubstr("has dtype i32; the kernel expects f32"));
  EXPECT_THAT(
      error_of("embedding reads v square writes y"),
      HasSubstr("Operand 'ids' of kernel 'embedding' has dtype f32; the kernel expects i32"));
  EXPECT_THAT(
      error_of("cross_entropy reads x ids[0:16] writes v"),
      HasSubstr(
          "'labels' of kernel 'cross_entropy' is the slice 'ids[0:16]'; the kernel expects a whole i32 tensor"));
}

TEST(KernelTable, RejectsShapesThatDoNotFit) {
  EXPECT_THAT(
      error_of("add reads x square writes z"),
      HasSubstr(
          "Operand 'b' of kernel 'add' has shape [8,8]; the kernel expects the shape of 'a', [4,8]"));
  EXPECT_THAT(error_of("add reads x n writes z"), HasSubstr("[32]"));  // Same size is not enough.
  EXPECT_THAT(
      error_of("col_sum reads x writes v"),
      HasSubstr("Operand 'y' of kernel 'col_sum' has shape [4]; the kernel expects [cols] = [8]"));
  EXPECT_THAT(error_of("row_sum reads x writes w"), HasSubstr("expects [rows] = [4]"));
  EXPECT_THAT(error_of("row_sum reads n writes v"), HasSubstr("expects two extents, [rows, cols]"));
  EXPECT_THAT(error_of("matmul_nn reads x x writes y"),
              HasSubstr("Operand 'b' of kernel 'matmul_nn' has shape [4,8]"));
  EXPECT_THAT(error_of("matmul_nt reads x x writes y"), HasSubstr("Operand 'y'"));
  EXPECT_THAT(error_of("matmul_tn reads x x writes y"), HasSubstr("expects [rows, cols] = [8,8]"));
  EXPECT_THAT(error_of("rms_norm reads x v writes y"), HasSubstr("expects [cols] = [8]"));
  EXPECT_THAT(error_of("softmax reads n writes n"), HasSubstr("expects two extents, [rows, cols]"));
  EXPECT_THAT(error_of("softmax reads x writes square"), HasSubstr("expects [rows, cols] = [4,8]"));
  EXPECT_THAT(error_of("softmax_vjp reads x square writes y"), HasSubstr("Operand 'g'"));
  EXPECT_THAT(error_of("silu_vjp reads x n writes y"), HasSubstr("Operand 'g'"));
  EXPECT_THAT(
      error_of("col_sum_vjp reads v writes x"),
      HasSubstr(
          "Operand 'g' of kernel 'col_sum_vjp' has shape [4]; the kernel expects [cols] = [8]"));
  EXPECT_THAT(error_of("row_sum_vjp reads w writes x"), HasSubstr("expects [rows] = [4]"));
  EXPECT_THAT(
      error_of("row_sum_vjp reads v writes n"),
      HasSubstr(
          "Operand 'gx' of kernel 'row_sum_vjp' has shape [32]; the kernel expects two extents, [rows, cols]"));
  EXPECT_THAT(error_of("layer_norm_vjp reads x w y writes z square"),
              HasSubstr("Operand 'gw_rows'"));
  EXPECT_THAT(error_of("accumulate reads x updates n"), HasSubstr("the shape of 'g', [4,8]"));
  EXPECT_THAT(error_of("adamw reads x updates x x w lr=1 step=1"), HasSubstr("Operand 'v'"));
  EXPECT_THAT(error_of("concat reads square x writes wide"), HasSubstr("Operand 'b'"));
  EXPECT_THAT(
      error_of("concat reads square tall writes wide"),
      HasSubstr(
          "Operand 'y' of kernel 'concat' has shape [8,16]; the kernel expects [rows, cols of both] = [8,12]"));
  EXPECT_THAT(error_of("split reads wide writes square tall"), HasSubstr("Operand 'g'"));
  EXPECT_THAT(error_of("split reads wide writes square w"), HasSubstr("Operand 'gb'"));
  EXPECT_THAT(error_of("transpose reads x writes y"), HasSubstr("expects [cols, rows] = [8,4]"));
  EXPECT_THAT(
      error_of("embedding reads ids x writes square"),
      HasSubstr(
          "Operand 'ids' of kernel 'embedding' has shape [4]; the kernel expects [rows] = [8]"));
  EXPECT_THAT(
      error_of("embedding reads ids odd writes y"),
      HasSubstr(
          "Operand 'y' of kernel 'embedding' has shape [4,8]; the kernel expects [rows, cols] = [4,7]"));
  EXPECT_THAT(error_of("embedding_vjp reads ids square writes x"), HasSubstr("[inner] = [8]"));
  EXPECT_THAT(
      error_of("rope reads odd writes odd"),
      HasSubstr(
          "Operand 'x' of kernel 'rope' has shape [4,7]; the kernel expects an even number of columns"));
  EXPECT_THAT(error_of("cross_entropy reads x ids writes w"), HasSubstr("[rows] = [4]"));
  EXPECT_THAT(error_of("cross_entropy_vjp reads x ids v writes square"),
              HasSubstr("Operand 'glogits' of kernel 'cross_entropy_vjp' has shape [8,8]"));
  EXPECT_THAT(
      error_of("copy reads raw writes x"),
      HasSubstr(
          "Operand 'y' of kernel 'copy' has 128 bytes; the kernel expects as many as 'x' has, 64"));
}

TEST(KernelTable, RejectsOtherAttributes) {
  EXPECT_THAT(error_of("scale reads x writes y"),
              HasSubstr("Kernel 'scale' needs the attribute 'factor'"));
  EXPECT_THAT(error_of("scale reads x writes y factor=big"),
              HasSubstr("Attribute 'factor' of kernel 'scale' is 'big'"));
  EXPECT_THAT(error_of("scale reads x writes y factor=1e39"), HasSubstr("factor"));
  EXPECT_THAT(error_of("fill writes x value=256"), HasSubstr("a whole number from 0 to 255"));
  EXPECT_THAT(error_of("fill writes x value=1.5"), HasSubstr("a whole number from 0 to 255"));
  EXPECT_THAT(error_of("fill writes x value=-1"), HasSubstr("a whole number from 0 to 255"));
  EXPECT_THAT(error_of("rms_norm reads x w writes y eps=-1"), HasSubstr("'eps'"));
  EXPECT_THAT(error_of("sgd reads x updates y"), HasSubstr("needs the attribute 'lr'"));
  EXPECT_THAT(error_of("adamw reads x updates y z x lr=1"), HasSubstr("attribute 'step'"));
  EXPECT_THAT(error_of("adamw reads x updates y z x lr=1 step=0"), HasSubstr("from 1 to"));
  EXPECT_THAT(error_of("adamw reads x updates y z x lr=1 step=1.5"), HasSubstr("a whole number"));
  EXPECT_THAT(error_of("adamw reads x updates y z x lr=1 step=1 beta1=1"), HasSubstr("'beta1'"));
  EXPECT_THAT(error_of("rope reads x writes y base=0.5"), HasSubstr("a number from 1 to"));
  EXPECT_THAT(error_of("rope reads x writes y start=65537"),
              HasSubstr("a whole number from 0 to 65536"));
  EXPECT_THAT(error_of("silu reads x writes y eps=1"),
              HasSubstr("Kernel 'silu' has no attribute 'eps'; it has none"));
  EXPECT_THAT(error_of("fill writes x valeu=1"), HasSubstr("it has 'value'"));
}

TEST(KernelTable, BoundsExtents) {
  ParseOptions options;
  options.limits.kernel_extent = 7;
  EXPECT_THAT(error_of("row_sum reads x writes v", options),
              HasSubstr("expects [rows, cols], each from 1 to 7"));
  EXPECT_EQ(error_of("add reads x y writes z", options), "");  // Blocks bound elementwise kernels.
  options.limits.kernel_extent = 8;
  EXPECT_EQ(error_of("row_sum reads x writes v", options), "");
}

// Angles are at most what sine and cosine take, whatever the limits are.
TEST(KernelTable, BoundsPositions) {
  const auto error_of_rows = [](uint64_t rows, uint64_t start) {
    ParseOptions options;
    options.limits.kernel_extent = 1 << 20;
    const std::string shape = "f32[" + std::to_string(rows) + ",2] at m+0\n";
    const auto program =
        parse("interlock 1\nmemory m 2097152\ntensor x " + shape +
                  "dispatch rope reads x writes x start=" + std::to_string(start) + "\n",
              "t", options);
    return program ? "" : program.error().message;
  };
  EXPECT_EQ(error_of_rows(131'072, 0), "");
  EXPECT_EQ(error_of_rows(65'536, 65'536), "");
  EXPECT_THAT(
      error_of_rows(65'537, 65'536),
      HasSubstr("Kernel 'rope' has 65537 rows from position 65536; it has positions below 131072"));
}

TEST(KernelTable, FillsParams) {
  const auto program = parse(std::string(kTensors) +
                             "dispatch matmul_tn reads x y writes square\n"
                             "dispatch rms_norm reads x w writes y\n"
                             "dispatch fill writes raw value=9\n");
  ASSERT_TRUE(program.has_value()) << program.error().message;
  const KernelParams matmul = params_of(*program, program->dispatches[0]);
  EXPECT_EQ(matmul.rows, 8u);
  EXPECT_EQ(matmul.cols, 8u);
  EXPECT_EQ(matmul.inner, 4u);
  const KernelParams norm = params_of(*program, program->dispatches[1]);
  EXPECT_EQ(norm.eps, 1e-05f);
  EXPECT_EQ(slice_count_of(*program, program->dispatches[1]), 4u);
  EXPECT_EQ(params_of(*program, program->dispatches[2]).byte, 9u);
}

TEST(KernelTable, SaysWhichBytesASliceTouches) {
  const auto program = parse(std::string(kTensors) +
                             "dispatch matmul_tn reads x y writes square\n"
                             "dispatch Opaque reads raw[3:9] writes x\n");
  ASSERT_TRUE(program.has_value()) << program.error().message;
  const Dispatch& matmul = program->dispatches[0];
  const KernelParams params = params_of(*program, matmul);
  const StridedRange column = slice_range_of(*program, matmul, params, 3, 0);
  EXPECT_EQ(column.run(0), (ByteRange{12, 16}));
  EXPECT_EQ(column.run(1), (ByteRange{44, 48}));
  EXPECT_EQ(column.run_count, 4u);
  const StridedRange row = slice_range_of(*program, matmul, params, 3, 2);
  EXPECT_EQ(row.run_count, 1u);
  EXPECT_EQ(row.run(0), (ByteRange{2048 + 3 * 32, 2048 + 4 * 32}));
  const Dispatch& opaque = program->dispatches[1];
  EXPECT_EQ(slice_count_of(*program, opaque), 1u);
  EXPECT_EQ(slice_range_of(*program, opaque, {}, 0, 0).run(0), (ByteRange{3, 9}));
}

TEST(KernelTable, ExecutesCopyAndFillInTheCopyStage) {
  const auto program = parse(std::string(kTensors) +
                             "dispatch copy reads raw[0:8] writes raw[8:16]\n"
                             "dispatch fill writes raw value=9\n"
                             "dispatch add reads x y writes z\n"
                             "dispatch Opaque reads raw writes x\n"
                             "dispatch mix reads raw writes x\n");
  ASSERT_TRUE(program.has_value()) << program.error().message;
  std::vector<Stage> stages;
  for (const Dispatch& dispatch : program->dispatches) stages.push_back(stage_of(dispatch));
  EXPECT_THAT(stages, testing::ElementsAre(Stage::kCopy, Stage::kCopy, Stage::kCompute,
                                           Stage::kCompute, Stage::kCompute));
}

TEST(KernelTable, HasAliasContracts) {
  const auto contract = [](std::string_view kernel, int input, int output) {
    return alias_contract_of(kernel_entry(find_kernel(kernel).value()), input, output);
  };
  EXPECT_EQ(contract("add", 0, 2), AliasContract::kIdenticalElement);
  EXPECT_EQ(contract("copy", 0, 1), AliasContract::kNever);
  EXPECT_EQ(contract("layer_norm_vjp", 2, 3), AliasContract::kIdenticalElement);
  EXPECT_EQ(contract("layer_norm_vjp", 1, 3), AliasContract::kNever);
  EXPECT_EQ(contract("matmul_nn", 0, 2), AliasContract::kNever);
  EXPECT_EQ(contract("softmax", 0, 1), AliasContract::kIdenticalElement);
  EXPECT_EQ(contract("softmax_vjp", 0, 2), AliasContract::kIdenticalElement);
  EXPECT_EQ(contract("softmax_vjp", 1, 2), AliasContract::kIdenticalElement);
  EXPECT_EQ(contract("softmax_vjp_stream", 0, 2), AliasContract::kNever);
  EXPECT_EQ(contract("softmax_vjp_stream", 1, 2), AliasContract::kIdenticalElement);
  EXPECT_EQ(contract("rms_norm_vjp_stream", 0, 3), AliasContract::kIdenticalElement);
  EXPECT_EQ(contract("rms_norm_vjp_stream", 2, 3), AliasContract::kNever);
  EXPECT_EQ(contract("rms_norm_vjp_stream", 0, 4), AliasContract::kNever);
  EXPECT_EQ(contract("rms_norm_vjp_stream", 2, 4), AliasContract::kNever);
  EXPECT_EQ(contract("accumulate", 0, 1), AliasContract::kIdenticalElement);
  EXPECT_EQ(contract("adamw", 0, 3), AliasContract::kIdenticalElement);
  EXPECT_EQ(contract("transpose", 0, 1), AliasContract::kNever);
  EXPECT_EQ(contract("silu_vjp", 1, 2), AliasContract::kIdenticalElement);
  EXPECT_EQ(contract("col_sum_vjp", 0, 1), AliasContract::kNever);
  EXPECT_EQ(contract("rope", 0, 1), AliasContract::kIdenticalElement);
  EXPECT_EQ(contract("rope_vjp", 0, 1), AliasContract::kIdenticalElement);
  EXPECT_EQ(contract("embedding", 1, 2), AliasContract::kNever);
  EXPECT_EQ(contract("cross_entropy_vjp", 0, 3), AliasContract::kIdenticalElement);
  EXPECT_EQ(contract("cross_entropy_vjp", 1, 3), AliasContract::kNever);
  EXPECT_EQ(contract("mix", 3, 7), AliasContract::kIdenticalElement);
}

}  // namespace
}  // namespace interlock::kernel_table_test
