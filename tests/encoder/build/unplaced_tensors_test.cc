// Unplaced tensors: each has a memory of its own that nothing can name, after the declared ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "encoder/sync/encoder.h"
#include "encoder/sync/interlock_encoder.h"
#include "encoder/text/parser.h"
#include "tests/encoder/text/round_trip.h"

namespace interlock::unplaced_tensors_test {
namespace {

Program parsed(const std::string& lines) {
  auto p = parse("interlock 1\n" + lines, "p.ilk");
  EXPECT_TRUE(p) << p.error().message;
  return p ? std::move(p).value() : Program{};
}

std::string error_of(const std::string& lines, const ParseOptions& options = {}) {
  const auto p = parse("interlock 1\n" + lines, "p.ilk", options);
  return p ? "no error" : p.error().message;
}

TEST(UnplacedTensor, HasAnImplicitMemoryOfExactlyItsBytes) {
  const Program p = parsed("memory a 64\ntensor h f32[3,5]\ntensor z u8[7] = zeros\n");
  ASSERT_EQ(p.memories.size(), 3u);
  const Tensor& h = p.tensors.at(0);
  EXPECT_EQ(h.placement, Placement::kUnplaced);
  EXPECT_EQ(h.memory, MemoryId(1));
  EXPECT_EQ(h.range, (ByteRange{0, 60}));
  EXPECT_EQ(h.root, TensorId(0));
  EXPECT_FALSE(h.source.is_some());
  EXPECT_EQ(p.memory(h.memory).size_bytes, 60u);
  EXPECT_TRUE(p.memory(h.memory).is_implicit);
  EXPECT_FALSE(p.memory(MemoryId(0)).is_implicit);
  EXPECT_EQ(p.name(p.memory(h.memory).name), "h");
  EXPECT_EQ(p.memory(p.tensors.at(1).memory).size_bytes, 7u);
}

TEST(UnplacedTensor, SharesItsBytesWithItsViewsAndDonationsAlone) {
  const Program p =
      parsed("tensor h f32[8]\ntensor v f32[2] view h+8\ntensor d f32[4] donates h\n");
  EXPECT_EQ(p.memories.size(), 1u);
  EXPECT_EQ(p.tensors.at(1).range, (ByteRange{8, 16}));
  EXPECT_EQ(p.tensors.at(2).root, TensorId(2));
  EXPECT_EQ(p.tensors.at(2).memory, p.tensors.at(0).memory);
}

TEST(UnplacedTensor, PrintsWithoutItsMemoryAndRoundTrips) {
  const std::string lines =
      "memory a 64\n"
      "tensor h f32[4]\n"
      "tensor x f32[4] = random(3)\n"
      "tensor d f32[2] donates h\n"
      "output h\n"
      "dispatch silu reads x writes h\n"
      "barrier compute.write -> compute.read h[0:8]\n"
      "dispatch Use reads h[4:8] a[0:4] writes d\n";
  EXPECT_EQ(expect_round_trip(parsed(lines)), "interlock 1\n" + lines);
}

// Implicit memories come after all declared ones: canonical text has no other order.
TEST(UnplacedTensor, MayStandBeforeMemories) {
  const Program p = parsed(
      "tensor h u8[4]\ndispatch A writes h\nbarrier compute.write -> compute.read h\n"
      "memory a 64\ntensor g u8[4]\nmemory b 32\ndispatch B reads h b writes a g\n");
  EXPECT_EQ(p.tensors.at(0).memory, MemoryId(2));
  EXPECT_EQ(p.tensors.at(1).memory, MemoryId(3));
  EXPECT_EQ(p.accesses.at(0).memory, MemoryId(2));
  EXPECT_EQ(p.barrier_operands.at(0).memory, MemoryId(2));
  EXPECT_EQ(p.accesses.at(2).memory, MemoryId(1));
  expect_round_trip(p);
}

TEST(UnplacedTensor, MayHaveTheNameOfAMemory) {
  const Program p = parsed("memory h 64\ntensor h u8[4]\ndispatch K reads h\n");
  EXPECT_EQ(p.accesses.at(0).memory, MemoryId(1));
  expect_round_trip(p);
}

TEST(UnplacedTensor, HasAMemoryThatNoStatementCanName) {
  EXPECT_EQ(error_of("tensor h u8[4]\ntensor g u8[2] at h+0\n"),
            "p.ilk:3:19: error: no memory 'h' is declared before tensor 'g'.");
  const Program p = parsed("tensor h u8[4]\ndispatch K reads h\n");
  EXPECT_EQ(p.accesses.at(0).tensor, TensorId(0));
}

TEST(UnplacedTensor, IsBounded) {
  EXPECT_EQ(
      error_of("tensor h u8[281474976710657]\n"),
      "p.ilk:2:10: error: tensor 'h' has 281474976710657 bytes, more than the limit of 281474976710656 for a memory.");
  EXPECT_EQ(
      error_of("tensor h f32[4294967296,4294967296]\n"),
      "p.ilk:2:10: error: tensor 'h' with f32[4294967296,4294967296] has more bytes than fit in 64 bits.");
  ParseOptions options;
  options.limits.memory_count = 2;
  EXPECT_EQ(error_of("memory a 1\ntensor h u8[1]\n", options), "no error");
  EXPECT_EQ(error_of("memory a 1\ntensor h u8[1]\ntensor g u8[1]\n", options),
            "p.ilk:4:1: error: the program has more memories than the limit of 2.");
}

TEST(UnplacedTensor, KeepsItsRulesForInitialValues) {
  EXPECT_EQ(error_of("tensor h u8[4] = random(1)\n"),
            "p.ilk:2:18: error: tensor 'h' has u8 elements; random initial values are f32.");
  EXPECT_EQ(
      error_of("tensor h u8[4] = ones\ntensor d u8[4] donates h = ones\n"),
      "p.ilk:3:28: error: tensors 'h' and 'd' both have an initial value for h[0:4]; at most one may.");
}

TEST(UnplacedTensor, IsEncodedLikeOneWithAMemoryOfItsOwn) {
  const std::string statements =
      "dispatch silu reads x writes h\n"
      "dispatch silu reads h writes x\n";
  const Program unplaced = parsed("tensor x f32[4] = ones\ntensor h f32[4]\n" + statements);
  InterlockEncoder encoder;
  EXPECT_EQ(expect_round_trip(encode(unplaced, encoder)),
            "interlock 1\ntensor x f32[4] = ones\ntensor h f32[4]\n"
            "dispatch silu reads x writes h\nbarrier\ndispatch silu reads h writes x\n");
}

}  // namespace
}  // namespace interlock::unplaced_tensors_test
