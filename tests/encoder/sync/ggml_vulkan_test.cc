// The model of ggml's Vulkan encoder: which dispatches it pulls forward, and what of views it
// misses before llama.cpp#27812.

#include "encoder/sync/ggml_vulkan.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "encoder/sync/encoder.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/testing/matchers.h"
#include "simulator/hazards/data_flow.h"
#include "tests/program_count.h"

namespace interlock::ggml_vulkan_test {
namespace {

using testing::IsEmpty;
using testing::Not;

Program encoded(std::string_view encoder, const std::string& body) {
  ParseOptions options;
  options.reads_one_queue = true;
  const Result<Program> program = parse("interlock 1\n" + body, "test.ilk", options);
  EXPECT_TRUE(program.has_value()) << (program ? "" : program.error().message);
  return program ? encode(*program, *find_encoder(encoder)->create()) : Program{};
}

// Kernel names and barriers, in a row: "A B | C".
std::string order_of(const Program& program) {
  std::string text;
  for (const Statement& statement : program.statements) {
    if (!text.empty()) text += ' ';
    if (statement.kind == StatementKind::kDispatch) {
      text += program.name(program.dispatches[statement.index].kernel_name);
    } else {
      text += statement.kind == StatementKind::kBarrier ? "|" : "split";
    }
  }
  return text;
}

std::string order_of(std::string_view encoder, const std::string& body) {
  return order_of(encoded(encoder, body));
}

constexpr char kState[] = R"(
memory m 64
memory n 64
memory o 64
tensor state u8[64] at m+0
tensor old u8[16] view state+0
tensor new u8[16] view state+0
tensor x u8[64] at n+0
tensor y u8[64] at o+0
)";

TEST(GgmlVulkan, PullsForwardWhatDependsOnNothingThatIsLeft) {
  const std::string body = std::string(kState) +
                           "dispatch A writes x\ndispatch B reads x\n"
                           "dispatch C writes y\ndispatch D reads y\n";
  EXPECT_EQ(order_of("ggml-vulkan-reorder", body), "A C | B D");
  EXPECT_EQ(order_of("ggml-vulkan-27805", body), "A C | B D");
}

// C overtakes A2, whose turn it is not yet, and so A2's reader B, once the views have had theirs.
TEST(GgmlVulkan, MissesAWriteThroughAnotherViewThanTheReadBeforeIt) {
  const std::string body = std::string(kState) +
                           "dispatch A writes x\ndispatch A2 reads x writes y\n"
                           "dispatch B reads y old\ndispatch C writes new\n";
  EXPECT_EQ(order_of("ggml-vulkan-27805", body), "A | A2 C | B");
  EXPECT_EQ(order_of("ggml-vulkan-reorder", body), "A | A2 | B | C");
  // The barriers fit the new order: no hazard, and the wrong value all the same.
  const Program wrong = encoded("ggml-vulkan-27805", body);
  EXPECT_THAT(find_reordered(wrong), Not(IsEmpty()));
  EXPECT_THAT(find_reordered(encoded("ggml-vulkan-reorder", body)), IsEmpty());
}

// A view that is there before the write hides it; one that comes after it is a view of what was
// written.
TEST(GgmlVulkan, MissesAReadThroughAViewThatWasThereBeforeTheWrite) {
  const std::string write =
      "dispatch A writes x\ndispatch A2 reads x writes y\ndispatch B reads y writes new\n";
  const std::string late = std::string(kState) + write + "dispatch C reads old\n";
  EXPECT_EQ(order_of("ggml-vulkan-27805", late), "A | A2 | B | C");
  const std::string early =
      std::string(kState) + "dispatch Z reads old\n" + write + "dispatch C reads old\n";
  EXPECT_EQ(order_of("ggml-vulkan-27805", early), "A Z | A2 C | B");
  EXPECT_EQ(order_of("ggml-vulkan-reorder", early), "A Z | A2 | B | C");
}

TEST(GgmlVulkan, LooksNineteenNodesAhead) {
  for (const int distance : {19, 20}) {
    std::string body = std::string(kState) + "dispatch First writes x\n";
    for (int i = 1; i < distance; ++i) body += "dispatch Next updates x\n";
    body += "dispatch Last writes y\n";
    const std::string order = order_of("ggml-vulkan-reorder", body);
    EXPECT_EQ(order.starts_with("First Last"), distance == 19) << order;
  }
}

TEST(GgmlVulkan, KeepsTheOrderOfWhatSharesBytesInOtherWays) {
  const std::string donated = std::string(kState) +
                              "tensor z u8[64] donates y\ndispatch A writes x\n"
                              "dispatch B reads x y\ndispatch C writes z\n";
  EXPECT_EQ(order_of("ggml-vulkan-27805", donated), "A | B | C");
  const std::string ranges = std::string(kState) +
                             "dispatch A writes x\ndispatch B reads x o[0:4]\n"
                             "dispatch C writes o[2:8]\n";
  EXPECT_EQ(order_of("ggml-vulkan-27805", ranges), "A | B | C");
}

TEST(GgmlVulkan, EndsAGraphWhereACommandBufferEndsOrBytesAreDestroyed) {
  const std::string body = std::string(kState) + "dispatch A writes x\ndispatch B reads x\n";
  EXPECT_EQ(order_of("ggml-vulkan-reorder", body + "split\ndispatch C writes y\n"),
            "A | B split C");
  const Program destroyed =
      encoded("ggml-vulkan-reorder", body + "destroy x\ndispatch C writes y\n");
  EXPECT_EQ(print(destroyed).find("dispatch C") > print(destroyed).find("destroy x"), true);
  EXPECT_THAT(destroyed, HasBarrierCount(2));
}

// As many as there may be, each of the one before.
TEST(GgmlVulkan, TakesViewsOfViews) {
  std::string body = "memory m 64\nmemory n 64\ntensor v0 u8[64] at m+0\n";
  constexpr int kViewCount = program_count(120'000, 6);
  for (int i = 1; i <= kViewCount; ++i) {
    body += fmt::format("tensor v{} u8[64] view v{}+0\n", i, i - 1);
  }
  body += fmt::format("dispatch A writes v0\ndispatch B reads v{} writes n\n", kViewCount);
  EXPECT_EQ(order_of("ggml-vulkan-reorder", body), "A | B");
}

}  // namespace
}  // namespace interlock::ggml_vulkan_test
