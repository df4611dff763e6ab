// Whether a destroy must wait, against the definition: some dispatch since the last barrier
// accesses a byte of the tensor.
#include "encoder/sync/pending_accesses.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "encoder/text/parser.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"

namespace interlock::pending_accesses_test {
namespace {

// What PendingAccesses says of each statement that may have to wait: "0" or "1" in their order.
std::string waits_in(const Program& program) {
  PendingAccesses pending(program);
  std::string waits;
  for (const Statement& statement : program.statements) {
    if (statement.kind == StatementKind::kDispatch) {
      pending.see_dispatch(DispatchId(statement.index));
    } else if (statement.kind == StatementKind::kBarrier) {
      const Barrier& barrier = program.barriers[statement.index];
      const auto parts = program.dependencies_of(barrier);
      pending.see_barrier(parts.empty() ? kAllStages : parts[0].source.stages);
    } else {
      const Lifetime& lifetime = program.lifetimes[statement.index];
      const bool waits_here = pending.destroys_at(lifetime) && pending.is_pending(lifetime.tensor);
      waits += waits_here ? '1' : '0';
    }
  }
  return waits;
}

std::string waits_in(const std::string& statements) {
  return waits_in(parse("interlock 1\nmemory m 16\nmemory n 16\ntensor low u8[4] at m+0\n"
                        "tensor mid u8[4] at m+4\ntensor high u8[4] at m+8\n"
                        "tensor other u8[4] at n+4\n" +
                        statements)
                      .value());
}

TEST(PendingAccesses, AreOfTheBytesThatAreDestroyedAlone) {
  EXPECT_EQ(waits_in("dispatch K reads mid\ndestroy low\ndestroy high\ndestroy mid\n"), "001");
  EXPECT_EQ(waits_in("dispatch K reads low high\ndestroy mid\n"), "0");
  EXPECT_EQ(waits_in("dispatch K reads low high\ndestroy mid\ndestroy low\ndestroy high\n"), "011");
  EXPECT_EQ(waits_in("dispatch K reads m[3:5]\ndestroy low\ndestroy high\ndestroy mid\n"), "101");
  EXPECT_EQ(waits_in("dispatch K reads m[12:16]\ndestroy high\ndestroy other\n"), "00");
  EXPECT_EQ(waits_in("dispatch K reads other\ndestroy mid\ndestroy other\n"), "01");
  EXPECT_EQ(waits_in("dispatch K reads mid[2:2]\ndestroy mid\n"), "0");
}

TEST(PendingAccesses, EndAtABarrier) {
  EXPECT_EQ(waits_in("dispatch K reads mid\nbarrier\ndestroy mid\n"), "0");
  EXPECT_EQ(waits_in("barrier\ndispatch K reads mid\ndestroy mid\n"), "1");
}

TEST(PendingAccesses, MatterToTheLastUnpinOfADestroy) {
  EXPECT_EQ(waits_in("pin mid\npin mid\ndestroy mid\ndispatch K reads mid\nunpin mid\nunpin mid\n"),
            "00001");
  EXPECT_EQ(waits_in("pin mid\ndispatch K reads mid\nunpin mid\ndestroy mid\n"), "001");
  EXPECT_EQ(waits_in("pin mid\nfree mid\ndispatch K reads mid\nunpin mid\n"), "000");
}

// Tensors side by side, inside one another and across each other, over two memories.
TEST(PendingAccesses, AreThoseOfTheObviousDefinition) {
  SeededChoice choice(1);
  int wait_count = 0;
  int other_count = 0;
  for (int i = 0; i < program_count(4'000); ++i) {
    constexpr uint64_t kBytes = 12;
    struct Piece {
      uint64_t memory, begin, end;
    };
    const auto random_piece = [&] {
      const uint64_t a = choice.below(kBytes);
      const uint64_t size = 1 + choice.below(std::min<uint64_t>(kBytes - a, 5));
      return Piece{choice.below(2), a, a + size};
    };
    std::string text = "interlock 1\nmemory m0 12\nmemory m1 12\n";
    std::vector<Piece> tensors(1 + choice.below(6));
    for (size_t t = 0; t < tensors.size(); ++t) {
      tensors[t] = random_piece();
      text += "tensor t" + std::to_string(t) + " u8[" +
              std::to_string(tensors[t].end - tensors[t].begin) + "] at m" +
              std::to_string(tensors[t].memory) + "+" + std::to_string(tensors[t].begin) + "\n";
    }
    std::vector<Piece> pending;
    std::string expected;
    for (uint64_t k = 4 + choice.below(16); k > 0; --k) {
      const uint64_t sort = choice.below(6);
      if (sort == 0) {
        text += "barrier\n";
        pending.clear();
      } else if (sort < 4) {
        const Piece piece = random_piece();
        pending.push_back(piece);
        text += "dispatch K reads m" + std::to_string(piece.memory) + "[" +
                std::to_string(piece.begin) + ":" + std::to_string(piece.end) + "]\n";
      } else {
        const size_t t = choice.below(tensors.size());
        text += "destroy t" + std::to_string(t) + "\n";
        const bool must_wait = std::any_of(pending.begin(), pending.end(), [&](const Piece& piece) {
          return piece.memory == tensors[t].memory && piece.begin < tensors[t].end &&
                 tensors[t].begin < piece.end;
        });
        expected += must_wait ? '1' : '0';
        ++(must_wait ? wait_count : other_count);
      }
    }
    ASSERT_EQ(waits_in(parse(text).value()), expected) << text;
  }
  EXPECT_GT(wait_count, program_count(2'000));
  EXPECT_GT(other_count, program_count(2'000));
}

}  // namespace
}  // namespace interlock::pending_accesses_test
