// VJP rules as data: which kernels have one, what they save, what they append.
#include "encoder/backward/vjp_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/kernel/kernel_table.h"

namespace interlock::vjp_rules_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const VjpRule& rule_of(std::string_view kernel) {
  const VjpRule* rule = find_vjp_rule(kernel);
  EXPECT_NE(rule, nullptr) << kernel;
  return *rule;
}

std::vector<int> saved_by(std::string_view kernel, std::vector<int> inputs) {
  return saved_primals_of(rule_of(kernel), inputs);
}

std::string name_of(VjpValue value) {
  constexpr std::string_view kNames[] = {"primal", "cotangent", "gradient", "intermediate"};
  return std::string(kNames[static_cast<size_t>(value.kind)]) + std::to_string(value.index);
}

// "matmul_nt cotangent2 b gradient0", one per dispatch.
std::vector<std::string> group_of(const DispatchDraft& forward, std::vector<int> inputs) {
  std::vector<std::string> lines;
  for (const DispatchDraft& dispatch :
       vjp_group(rule_of(forward.kernel), forward, inputs, name_of)) {
    std::string line = dispatch.kernel;
    for (const OperandDraft& operand : dispatch.operands) line += " " + operand.name;
    for (const auto& [key, value] : dispatch.attributes) line += " " + key + "=" + value;
    lines.push_back(line);
  }
  return lines;
}

DispatchDraft forward_of(std::string kernel, std::vector<std::string> reads, std::string written) {
  DispatchDraft draft;
  draft.kernel = std::move(kernel);
  for (const std::string& name : reads) draft.operands.push_back({AccessMode::kRead, name, {}});
  draft.operands.push_back({AccessMode::kWrite, written, {}});
  return draft;
}

TEST(VjpRules, ExistForEveryForwardKernelOfNumbers) {
  for (const KernelEntry& entry : kernel_table()) {
    bool is_forward = !entry.is_variadic && entry.name != "fill" &&
                      entry.name.find("_vjp") == std::string_view::npos;
    for (const KernelOperand& operand : entry.operands) {
      is_forward = is_forward && operand.mode != AccessMode::kUpdate;
    }
    EXPECT_EQ(find_vjp_rule(entry.name) != nullptr, is_forward) << entry.name;
  }
}

// An input of a forward kernel is read by it; each has exactly one contribution, but ids and labels
// have none.
TEST(VjpRules, GiveOneCotangentPerInput) {
  for (const VjpRule& rule : vjp_rules()) {
    const KernelEntry& entry = kernel_entry(find_kernel(rule.kernel).value());
    std::vector<int> reads;
    for (size_t i = 0; i < entry.operands.size(); ++i) {
      const bool is_number = entry.operands[i].dtype == DType::kF32;
      if (entry.operands[i].mode == AccessMode::kRead && is_number) {
        reads.push_back(static_cast<int>(i));
      }
    }
    EXPECT_EQ(inputs_of(rule), reads) << rule.kernel;
  }
}

TEST(VjpRules, ReferToWhatIsThere) {
  for (const VjpRule& rule : vjp_rules()) {
    SCOPED_TRACE(rule.kernel);
    const KernelEntry& forward = kernel_entry(find_kernel(rule.kernel).value());
    const auto is_output = [&](int operand) {
      return forward.operands[static_cast<size_t>(operand)].mode == AccessMode::kWrite;
    };
    std::set<int> written;  // Intermediates.
    for (const VjpDispatch& dispatch : rule.dispatches) {
      const KernelEntry& entry = kernel_entry(find_kernel(dispatch.kernel).value());
      ASSERT_EQ(entry.operands.size(), dispatch.operands.size());
      for (size_t i = 0; i < dispatch.operands.size(); ++i) {
        const VjpValue value = dispatch.operands[i];
        const bool is_intermediate = value.kind == VjpValueKind::kIntermediate;
        const size_t bound =
            is_intermediate ? rule.intermediate_shapes.size() : forward.operands.size();
        ASSERT_LT(static_cast<size_t>(value.index), bound);
        if (entry.operands[i].mode == AccessMode::kWrite) {
          EXPECT_TRUE(is_intermediate || value.kind == VjpValueKind::kGradient);
          if (is_intermediate) written.insert(value.index);
        } else {
          EXPECT_NE(value.kind, VjpValueKind::kGradient);
          if (is_intermediate) {
            EXPECT_EQ(written.count(value.index), 1u);
          }
        }
        if (value.kind == VjpValueKind::kCotangent) {
          EXPECT_TRUE(is_output(value.index));
        }
      }
    }
    EXPECT_EQ(written.size(), rule.intermediate_shapes.size());
    for (const auto& [input, output] : rule.passes) {
      EXPECT_FALSE(is_output(input));
      EXPECT_TRUE(is_output(output));
    }
  }
}

TEST(VjpRules, SayWhichPrimalsTheForwardPassMustSave) {
  EXPECT_THAT(saved_by("matmul_nn", {0, 1}), ElementsAre(0, 1));
  EXPECT_THAT(saved_by("silu", {0}), ElementsAre(0));     // Its input,
  EXPECT_THAT(saved_by("softmax", {0}), ElementsAre(1));  // but softmax its output.
  EXPECT_THAT(saved_by("layer_norm", {0, 1, 2}), ElementsAre(0, 1));
  EXPECT_THAT(saved_by("add", {0, 1}), IsEmpty());
  EXPECT_THAT(saved_by("scale", {0}), IsEmpty());
  EXPECT_THAT(saved_by("embedding", {1}), ElementsAre(0));  // Which rows, not what is in them.
  EXPECT_THAT(saved_by("rope", {0}), IsEmpty());
  EXPECT_THAT(saved_by("cross_entropy", {0}), ElementsAre(0, 1));
}

TEST(VjpRules, SaveLessForFewerInputs) {
  EXPECT_THAT(saved_by("matmul_nn", {0}), ElementsAre(1));
  EXPECT_THAT(saved_by("matmul_nn", {1}), ElementsAre(0));
  EXPECT_THAT(saved_by("layer_norm", {2}), IsEmpty());
  EXPECT_THAT(saved_by("mul", {}), IsEmpty());
}

TEST(VjpGroup, IsWhatTheInputsNeed) {
  const DispatchDraft product = forward_of("matmul_nn", {"x", "w"}, "y");
  EXPECT_THAT(group_of(product, {0, 1}),
              ElementsAre("matmul_nt cotangent2 w gradient0", "matmul_tn x cotangent2 gradient1"));
  EXPECT_THAT(group_of(product, {1}), ElementsAre("matmul_tn x cotangent2 gradient1"));
  EXPECT_THAT(group_of(product, {}), IsEmpty());
  EXPECT_THAT(group_of(forward_of("add", {"x", "w"}, "y"), {0, 1}), IsEmpty());
}

// The weight comes through an intermediate; a dispatch that computes two gradients names both.
TEST(VjpGroup, FollowsIntermediates) {
  DispatchDraft norm = forward_of("layer_norm", {"x", "w", "b"}, "y");
  norm.attributes.emplace_back("eps", "0.25");
  EXPECT_THAT(group_of(norm, {1}),
              ElementsAre("layer_norm_vjp x w cotangent3 gradient0 intermediate0 eps=0.25",
                          "col_sum intermediate0 gradient1"));
  EXPECT_THAT(group_of(norm, {2}), ElementsAre("col_sum cotangent3 gradient2"));
  EXPECT_THAT(group_of(norm, {0, 2}),
              ElementsAre("col_sum cotangent3 gradient2",
                          "layer_norm_vjp x w cotangent3 gradient0 intermediate0 eps=0.25"));
}

TEST(VjpGroup, TakesTheAttributesThatItsKernelsHave) {
  DispatchDraft scale = forward_of("scale", {"x"}, "y");
  scale.attributes.emplace_back("factor", "-3");
  EXPECT_THAT(group_of(scale, {0}), ElementsAre("scale cotangent1 gradient0 factor=-3"));
  DispatchDraft rope = forward_of("rope", {"x"}, "y");
  rope.attributes = {{"base", "500"}, {"start", "7"}};
  EXPECT_THAT(group_of(rope, {0}), ElementsAre("rope_vjp cotangent1 gradient0 base=500 start=7"));
}

TEST(VjpGroup, KeepsTheSlicesOfPrimals) {
  DispatchDraft product = forward_of("matmul_nn", {"x", "w"}, "y");
  product.operands[1].slice = ByteRange{4, 8};
  const auto group = vjp_group(rule_of("matmul_nn"), product, std::vector<int>{0}, name_of);
  ASSERT_EQ(group.size(), 1u);
  EXPECT_EQ(group[0].operands[1].slice, (ByteRange{4, 8}));
  EXPECT_EQ(group[0].operands[1].mode, AccessMode::kRead);
}

}  // namespace
}  // namespace interlock::vjp_rules_test
