// Lifetime statements: what they mean in a program, their errors, and that passes keep them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "encoder/sync/encoder.h"
#include "encoder/sync/interlock_encoder.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "tests/encoder/text/round_trip.h"

namespace interlock::lifetime_statements_test {
namespace {

Program parsed(const std::string& lines) {
  auto p = parse("interlock 1\n" + lines, "p.ilk");
  EXPECT_TRUE(p) << p.error().message;
  return p ? std::move(p).value() : Program{};
}

// Its last line is line 6.
constexpr const char* kPreamble =
    "memory m 64\n"
    "tensor x f32[4] at m+0\n"
    "tensor v f32[2] view x+0\n"
    "tensor a f32[4]\n"
    "tensor odd u8[16] at m+17\n";

std::string error_of(const std::string& lines) {
  const auto p = parse("interlock 1\n" + std::string(kPreamble) + lines, "p.ilk");
  return p ? "no error" : p.error().message;
}

TEST(LifetimeStatement, RoundTripsWithItsLabel) {
  const std::string lines = std::string(kPreamble) +
                            "w: dispatch K writes x\n"
                            "pin x\n"
                            "clear: reset m\n"
                            "unpin x\n"
                            "adopt a = x\n"
                            "barrier\n"
                            "free a\n"
                            "gone: destroy x\n"
                            "dispatch K reads a\n"
                            "expect use-after-free clear w\n"
                            "expect use-after-free 5 1\n"
                            "expect use-after-free gone\n"
                            "expect clobber w 1\n"
                            "expect clobber w\n"
                            "expect uninitialized w\n";
  EXPECT_EQ(expect_round_trip(parsed(lines)),
            "interlock 1\n" + std::string(lines).replace(lines.find("free 5 1"), 8, "free gone 1"));
}

TEST(LifetimeStatement, AdoptedBytesAreThoseOfTheSource) {
  const Program p = parsed(
      "tensor a f32[2]\ntensor va f32[1] view a+4\nmemory m 64\ntensor x f32[4] at m+16\n"
      "adopt a = x\ndispatch K reads a va[0:2]\ntensor late f32[1] view a+0\n"
      "barrier compute.write -> compute.read late\n");
  ASSERT_EQ(p.memories.size(), 1u);
  EXPECT_EQ(p.tensors[0].range, (ByteRange{16, 24}));
  EXPECT_EQ(p.tensors[1].range, (ByteRange{20, 24}));
  EXPECT_EQ(p.accesses[0].range, (ByteRange{16, 24}));
  EXPECT_EQ(p.accesses[1].range, (ByteRange{20, 22}));
  EXPECT_EQ(p.accesses[1].memory, MemoryId(0));
  EXPECT_EQ(p.barrier_operands[0].range, (ByteRange{16, 20}));
  EXPECT_EQ(p.lifetimes[0].memory, MemoryId(0));
  expect_round_trip(p);
}

TEST(LifetimeStatement, HasErrorsWithAPosition) {
  EXPECT_EQ(error_of("free y"), "p.ilk:7:6: error: no tensor 'y' is declared before this free.");
  EXPECT_EQ(
      error_of("free v"),
      "p.ilk:7:6: error: tensor 'v' is a view; lifetimes are those of values, and this one is 'x'.");
  EXPECT_EQ(error_of("reset x"), "p.ilk:7:7: error: no memory 'x' is declared before this reset.");
  EXPECT_EQ(error_of("unpin x"),
            "p.ilk:7:7: error: tensor 'x' is not pinned here; every unpin ends one pin before it.");
  EXPECT_EQ(error_of("pin x\nunpin x\nunpin x").substr(0, 10), "p.ilk:9:7:");
  EXPECT_EQ(
      error_of("free x on q1"),
      "p.ilk:7:1: error: the statement is about several queues, the host, graphics, transitions or rows of bytes, which is not taken here: `interlock check` judges it, `interlock run` executes it.");
  EXPECT_EQ(error_of("free"),
            "p.ilk:7:5: error: found the end of the line; expected the name of a tensor.");
  EXPECT_EQ(error_of("free x x"), "p.ilk:7:8: error: found 'x'; expected the end of the line.");
  EXPECT_EQ(error_of("adopt a x"),
            "p.ilk:7:9: error: found 'x'; expected '=' and the tensor whose bytes are adopted.");
  EXPECT_EQ(
      error_of("adopt x = x"),
      "p.ilk:7:7: error: tensor 'x' has a place of its own; what is adopted into is declared without one.");
  EXPECT_EQ(error_of("dispatch K reads a\nadopt a = x"),
            "p.ilk:8:7: error: tensor 'a' is in use before it adopts the bytes of 'x'.");
  EXPECT_EQ(
      error_of("tensor b f32[5]\nadopt b = x"),
      "p.ilk:8:11: error: tensor 'b' has 20 bytes, more than 'x' (16 bytes), which it adopts.");
  EXPECT_EQ(
      error_of("tensor b u8[2]\nadopt b = odd"),
      "p.ilk:8:11: error: tensor 'odd' starts at byte 17; adopted bytes start at a multiple of 4.");
  EXPECT_EQ(
      error_of("adopt a = x\ntensor b f32[4]\nadopt b = a"),
      "p.ilk:9:11: error: the bytes of 'a' are adopted themselves; name the tensor that they come from.");
  EXPECT_EQ(error_of("tensor y f32[4] at m+48\nadopt a = x\nadopt a = y"),
            "p.ilk:9:11: error: tensor 'a' adopts the bytes of 'x' already; it has one place.");
  EXPECT_EQ(
      error_of("tensor b f32[4] = ones\nadopt b = x"),
      "p.ilk:8:7: error: tensor 'b' has an initial value, or a donation of it has; it holds nothing before it adopts the bytes of 'x'.");
  EXPECT_EQ(
      error_of("adopt a = x\ntensor d f32[1] donates a = ones"),
      "p.ilk:8:29: error: tensor 'd' has an initial value, and its bytes are adopted ones, which hold what was written there.");
  EXPECT_EQ(error_of("adopt a = x\ndispatch K reads a\nadopt a = x"), "no error");
}

TEST(LifetimeStatement, IsWhatAUseAfterFreeNames) {
  EXPECT_EQ(
      error_of("d: dispatch K\nexpect use-after-free d d"),
      "p.ilk:8:23: error: label 'd' stands on a dispatch; expected a free, a destroy or a reset.");
  EXPECT_EQ(error_of("p: pin x\nexpect use-after-free p"),
            "p.ilk:8:23: error: 'p' is a pin; expected a free, a destroy or a reset.");
  EXPECT_EQ(error_of("expect use-after-free 0"),
            "p.ilk:7:23: error: there is no lifetime statement '0'; 0 stand before this line.");
  EXPECT_EQ(error_of("f: free x\nexpect RAW f f"),
            "p.ilk:8:12: error: label 'f' stands on a lifetime statement; expected a dispatch.");
  EXPECT_EQ(error_of("d: dispatch K\nexpect uninitialized d d"),
            "p.ilk:8:24: error: 'uninitialized' concerns one dispatch, and 'd' is a second.");
}

TEST(LifetimeStatement, StaysBehindTheDispatchesThatItFollows) {
  InterlockEncoder encoder;
  const Program p = parsed(std::string(kPreamble) +
                           "pin x\n"
                           "dispatch A writes x\n"
                           "barrier\n"
                           "clear: reset m\n"
                           "dispatch B reads x\n"
                           "unpin x\n"
                           "dispatch C reads x\n"
                           "gone: free x\n");
  EXPECT_EQ(expect_round_trip(encode(p, encoder)), "interlock 1\n" + std::string(kPreamble) +
                                                       "pin x\n"
                                                       "dispatch A writes x\n"
                                                       "barrier\n"
                                                       "clear: reset m\n"
                                                       "dispatch B reads x\n"
                                                       "unpin x\n"
                                                       "dispatch C reads x\n"
                                                       "gone: free x\n");
}

// Issues the dispatches in another order.
class SwappingEncoder final : public Encoder {
 public:
  void encode(const EncoderDispatch& dispatch, CommandSink& /*sink*/) override {
    ids_.insert(ids_.begin(), dispatch.id);
  }
  void finish(CommandSink& sink) override {
    for (const DispatchId id : ids_) sink.issue_dispatch(id);
  }

 private:
  std::vector<DispatchId> ids_;
};

TEST(LifetimeStatement, WaitsForAllDispatchesThatItFollowsInAnotherOrder) {
  SwappingEncoder encoder;
  const Program p = parsed(std::string(kPreamble) +
                           "pin x\ndispatch A writes x\nunpin x\ndispatch B writes a\nfree x\n");
  EXPECT_EQ(print(encode(p, encoder)), "interlock 1\n" + std::string(kPreamble) +
                                           "pin x\n"
                                           "dispatch B order=1 writes a\n"
                                           "dispatch A order=0 writes x\n"
                                           "unpin x\n"
                                           "free x\n");
}

}  // namespace
}  // namespace interlock::lifetime_statements_test
