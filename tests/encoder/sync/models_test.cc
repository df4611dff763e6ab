// What each model does that a right encoder would not, and what it does all the same: programs of
// two or three dispatches, each beside the smallest change that makes the difference go away.

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "encoder/sync/mlx.h"
#include "fuzz/testing/programs.h"

namespace interlock::models_test {
namespace {

// Where the encoder puts barriers: one letter per command, 'D' or '|'.
std::string placement(std::string_view encoder, const std::string& statements) {
  const Program result =
      encode_with(encoder, "memory a 64\nmemory b 64\nmemory c 64\n" + statements);
  std::string letters;
  for (const Statement& statement : result.statements) {
    letters += statement.kind == StatementKind::kBarrier ? '|' : 'D';
  }
  return letters;
}

// MLX #3630: the bias gradient reads the cotangent, then the VJP writes it as gx.
constexpr const char* kDonatedCotangent = R"(
dispatch Reduce reads a writes b
dispatch Vjp reads c writes a
)";

TEST(Mlx2024, MissesWriteAfterRead) {
  EXPECT_EQ(placement("mlx-2024", kDonatedCotangent), "DD");
  EXPECT_EQ(placement("interlock", kDonatedCotangent), "D|D");
}

// In-place: the operand is bound as input and as output, and still only writers are looked up.
TEST(Mlx2024, MissesWriteAfterReadByAnUpdate) {
  EXPECT_EQ(placement("mlx-2024", "dispatch A reads a writes b\ndispatch B updates a\n"), "DD");
}

TEST(Mlx2024, SeesReadAfterWriteAndWriteAfterWrite) {
  EXPECT_EQ(placement("mlx-2024", "dispatch A writes a\ndispatch B reads a\n"), "D|D");
  EXPECT_EQ(placement("mlx-2024", "dispatch A writes a\ndispatch B writes a\n"), "D|D");
}

TEST(Mlx2026, SeesWriteAfterRead) { EXPECT_EQ(placement("mlx-2026", kDonatedCotangent), "D|D"); }

TEST(Mlx2026, RemembersReadersAcrossDispatchesWithoutABarrier) {
  const std::string text = "dispatch A reads a\ndispatch B reads b\ndispatch C writes a\n";
  EXPECT_EQ(placement("mlx-2026", text), "DD|D");
}

TEST(Mlx2026, ForgetsReadersAtABarrier) {
  const std::string text =
      "dispatch A reads a writes b\ndispatch B reads b writes c\ndispatch C writes a\n";
  EXPECT_EQ(placement("mlx-2026", text), "D|DD");
}

// The dispatch after a barrier is the first of the new sets.
TEST(Mlx2026, RemembersTheDispatchBehindABarrier) {
  const std::string text = "dispatch A writes b\ndispatch B reads b c\ndispatch C writes c\n";
  EXPECT_EQ(placement("mlx-2026", text), "D|D|D");
}

// Offsets are ignored, so disjoint slices conflict; in memories of their own they do not.
TEST(Mlx, TakesDisjointSlicesForAConflict) {
  const std::string slices = "dispatch A writes a[0:4]\ndispatch B reads a[32:36]\n";
  const std::string memories = "dispatch A writes a[0:4]\ndispatch B reads b[32:36]\n";
  for (const std::string_view encoder : {"mlx-2024", "mlx-2026"}) {
    EXPECT_EQ(placement(encoder, slices), "D|D") << encoder;
    EXPECT_EQ(placement(encoder, memories), "DD") << encoder;
  }
  EXPECT_EQ(placement("interlock", slices), "DD");
}

// MLX #1561: one barrier per dispatch, however many of its operands ask for one.
TEST(Mlx, InsertsOneBarrierForTwoHazardsOfOneDispatch) {
  const std::string text = "dispatch A writes a\ndispatch B writes b\ndispatch C reads a b\n";
  EXPECT_EQ(placement("mlx-2024", text), "DD|D");
  EXPECT_EQ(placement("mlx-2026", text), "DD|D");
}

class BarrierCounter final : public CommandSink {
 public:
  void issue_dispatch(DispatchId /*id*/) override {}
  void issue_barrier(BarrierKind /*kind*/) override { ++count; }

  int count = 0;
};

// As a new one, with readers and writers before it.
TEST(Mlx, ForgetsWhatItKnowsWhereItIsTold) {
  Access read;
  read.memory = MemoryId(0);
  read.range = {0, 64};
  Access write = read;
  write.mode = AccessMode::kWrite;
  BarrierCounter barriers;
  Mlx2026Encoder encoder;
  const auto encode = [&](const Access& access) {
    encoder.encode({DispatchId(0), {&access, 1}, AtomicOp::kNone}, barriers);
    return barriers.count;
  };
  EXPECT_EQ(encode(read), 0);
  encoder.forget();
  EXPECT_EQ(encode(write), 0);
  encoder.forget();
  EXPECT_EQ(encode(read), 0);
  EXPECT_EQ(encode(write), 1);
}

TEST(Models, TakeAtomicsOfOneOperationForAConflict) {
  const std::string text =
      "dispatch A atomics a[0:4] atomic=add\ndispatch B atomics a[0:4] atomic=add\n";
  EXPECT_EQ(placement("mlx-2024", text), "D|D");
  EXPECT_EQ(placement("mlx-2026", text), "D|D");
  EXPECT_EQ(placement("ggml-metal", text), "D|D");
  EXPECT_EQ(placement("interlock", text), "DD");
}

// The off-by-one: a range conflicts with one that starts where it ends, but not the other way
// round.
TEST(GgmlMetal, TakesARangeThatEndsWhereAnEarlierOneStartsForAConflict) {
  const std::string below = "dispatch A writes a[16:32]\ndispatch B writes a[0:16]\n";
  const std::string above = "dispatch A writes a[0:16]\ndispatch B writes a[16:32]\n";
  const std::string apart = "dispatch A writes a[16:32]\ndispatch B writes a[0:15]\n";
  EXPECT_EQ(placement("ggml-metal", below), "D|D");
  EXPECT_EQ(placement("ggml-metal", above), "DD");
  EXPECT_EQ(placement("ggml-metal", apart), "DD");
  EXPECT_EQ(placement("interlock", below), "DD");
}

TEST(GgmlMetal, SeesEveryKindOfConflict) {
  EXPECT_EQ(placement("ggml-metal", "dispatch A writes a[0:4]\ndispatch B reads a[3:8]\n"), "D|D");
  EXPECT_EQ(placement("ggml-metal", "dispatch A reads a[0:4]\ndispatch B writes a[3:8]\n"), "D|D");
  EXPECT_EQ(placement("ggml-metal", "dispatch A writes a[0:4]\ndispatch B writes a[3:8]\n"), "D|D");
}

TEST(GgmlMetal, OverlapsReads) {
  EXPECT_EQ(placement("ggml-metal", "dispatch A reads a\ndispatch B reads a\n"), "DD");
}

// llama.cpp#16412 looked at the first four sources only; the model restates the fixed loop.
TEST(GgmlMetal, LooksAtEverySource) {
  EXPECT_EQ(placement("ggml-metal",
                      "dispatch A writes a[40:48]\n"
                      "dispatch B reads b[0:4] b[8:12] b[16:20] b[24:28] a[40:48] writes c\n"),
            "D|D");
}

}  // namespace
}  // namespace interlock::models_test
