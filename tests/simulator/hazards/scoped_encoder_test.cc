// `interlock-scoped` against the simulator's checks, and against a search of chains: it leaves no
// hazard, places as many barriers as `interlock`, and nothing of its scopes can go.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "encoder/sync/encoder.h"
#include "encoder/sync/interlock_scoped_encoder.h"
#include "encoder/sync/recording_sink.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/testing/matchers.h"
#include "simulator/barriers/redundancy.h"
#include "simulator/chains/chain_hazards.h"
#include "simulator/facts/find_facts.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"
#include "tests/simulator/judges/removal_judge.h"
#include "tests/simulator/judges/value_ledger.h"
#include "tests/simulator/programs/random_lifetime_programs.h"
#include "tests/simulator/programs/staged_texts.h"

namespace interlock::scoped_encoder_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Program parsed(const std::string& text) {
  ParseOptions options;
  options.reads_every_queue = true;
  Result<Program> program = parse(text, "test.ilk", options);
  EXPECT_TRUE(program.has_value()) << (program ? "" : program.error().message) << "\n" << text;
  return program ? *std::move(program) : Program{};
}

Program encoded(const Program& program, std::string_view encoder = "interlock-scoped") {
  return encode(program, *find_encoder(encoder)->create());
}

// The barriers of "interlock-scoped", as text.
std::vector<std::string> barriers_of(const std::string& statements) {
  const Program result =
      encoded(parsed("interlock 1\nmemory a 64\nmemory b 64\nmemory c 64\n" + statements));
  std::vector<std::string> barriers;
  for (const Dependency& dependency : result.dependencies) {
    barriers.push_back(text_of(dependency.source) + " -> " + text_of(dependency.destination));
  }
  EXPECT_EQ(barriers.size(), result.barriers.size());
  return barriers;
}

TEST(InterlockScoped, NamesTheCacheThatIsFlushedAndTheOneThatLooksAgain) {
  EXPECT_THAT(barriers_of("dispatch A writes a\ndispatch B reads a\n"),
              ElementsAre("compute.write -> compute.read"));
  EXPECT_THAT(barriers_of("dispatch A writes a\ndispatch B uniform a[0:16]\n"),
              ElementsAre("compute.write -> compute.uniform"));
  EXPECT_THAT(barriers_of("dispatch A writes a\ndispatch B writes a\n"),
              ElementsAre("compute.write -> compute.write"));
  EXPECT_THAT(barriers_of("dispatch fill writes a value=1\ndispatch copy reads a writes b\n"),
              ElementsAre("copy.write -> copy.read"));
  EXPECT_THAT(barriers_of("dispatch A writes a\ndispatch B indirect a[0:12] writes b\n"),
              ElementsAre("compute.write -> indirect.read"));
}

// A file may ask of any program what an encoder makes of it, as if its statements were of one
// queue.
TEST(InterlockScoped, KnowsTheHostAsAStage) {
  EXPECT_THAT(barriers_of("tensor t u8[64] at a+0\nhost writes a\ndispatch A reads a writes b\n"
                          "host reads b\ndestroy t\n"),
              ElementsAre("host.write -> compute.read", "compute.write -> host.read"));
}

TEST(InterlockScoped, FlushesNothingForAWriteAfterARead) {
  EXPECT_THAT(barriers_of("dispatch A reads a\ndispatch B writes a\n"),
              ElementsAre("compute -> compute"));
  EXPECT_THAT(barriers_of("dispatch A reads a\ndispatch fill writes a value=1\n"),
              ElementsAre("compute -> copy"));
  EXPECT_THAT(barriers_of("dispatch A indirect a[0:12]\ndispatch B writes a\n"),
              ElementsAre("indirect -> compute"));
}

TEST(InterlockScoped, UnitesWhatOneBarrierIsNeededFor) {
  EXPECT_THAT(barriers_of("dispatch A writes a\ndispatch fill writes b value=1\n"
                          "dispatch B reads a b\ndispatch copy reads a writes c\n"),
              ElementsAre("compute.write|copy.write -> compute.read|copy.read"));
  EXPECT_THAT(barriers_of("dispatch A reads a writes b\ndispatch B reads b writes a\n"),
              ElementsAre("compute.write -> compute.read"));
}

// The second barrier brings what the first one could not know of: b is read after it.
TEST(InterlockScoped, AsksTheLastBarrierForWhatNoEarlierOneBrought) {
  EXPECT_THAT(barriers_of("dispatch fill writes b value=1\ndispatch A writes a\n"
                          "dispatch B reads a\ndispatch B writes a\ndispatch C reads b\n"),
              ElementsAre("compute.write -> compute.read",
                          "compute|copy.write -> compute.read|compute.write"));
  EXPECT_THAT(barriers_of("dispatch A writes a b\ndispatch B reads a writes c\n"
                          "dispatch C reads b c\n"),
              ElementsAre("compute.write -> compute.read", "compute.write -> compute.read"));
}

TEST(InterlockScoped, LetsAtomicsOfOneOperationOverlapAndAsksAllOfThem) {
  EXPECT_THAT(barriers_of("dispatch A atomics a[0:4] atomic=add\n"
                          "dispatch A atomics a[0:4] atomic=add\n"
                          "dispatch B reads a\n"),
              ElementsAre("compute.write -> compute.read"));
  // The second one reads what was filled, although the first one stands between.
  EXPECT_THAT(barriers_of("dispatch fill writes a value=1\n"
                          "dispatch A atomics a[0:4] atomic=add\n"
                          "dispatch A atomics a[0:4] atomic=add\n"),
              ElementsAre("copy.write -> compute.read|compute.write"));
}

// Nothing is left over for a destroy to wait for; what destroys ask for, is a stage.
TEST(InterlockScoped, WaitsForTheStagesOfWhatIsDestroyed) {
  const std::string tensor = "tensor t u8[64] at a+0\n";
  EXPECT_THAT(barriers_of(tensor + "dispatch fill writes t value=1\ndestroy t\n"),
              ElementsAre("copy -> compute"));
  EXPECT_THAT(barriers_of(tensor + "dispatch copy reads t writes b\ndispatch A reads t writes c\n"
                                   "dispatch B reads c\ndestroy t\ndispatch C writes a\n"),
              ElementsAre("compute.write|copy -> compute.read"));
}

TEST(InterlockScoped, TellsASinkWithoutScopesOfFullBarriers) {
  class Barriers final : public CommandSink {
   public:
    void issue_dispatch(DispatchId /*id*/) override { ++dispatch_count; }
    void issue_barrier(BarrierKind kind) override { full_count += kind == BarrierKind::kFull; }
    int dispatch_count = 0;
    int full_count = 0;
  };
  const Program program = parsed(
      "interlock 1\nmemory a 64\ndispatch A reads a\n"
      "dispatch B writes a\ndispatch C reads a\n");
  InterlockScopedEncoder encoder;
  Barriers barriers;
  issue_all(program, encoder, barriers);
  EXPECT_EQ(barriers.dispatch_count, 3);
  EXPECT_EQ(barriers.full_count, 2);
  encoder.wait_for_all(barriers);
  EXPECT_EQ(barriers.full_count, 3);
}

bool has_hazard(const Program& program) {
  for (const Fact& fact : find_facts(program, {.group = FactGroup::kAccesses}).facts) {
    if (std::holds_alternative<Hazard>(fact)) return true;
  }
  return false;
}

bool is_wrong(const Program& program) {
  return has_hazard(program) || !pending_by_ledger(program).empty();
}

// Calls visit(program, what) with one access less, or one stage less that has none.
template <typename Visit>
void without_one_bit(const Program& program, Visit visit) {
  for (size_t i = 0; i < program.dependencies.size(); ++i) {
    for (Scope Dependency::*const side : {&Dependency::source, &Dependency::destination}) {
      const Scope whole = program.dependencies[i].*side;
      StageMask empty_stages = whole.stages;
      for (size_t k = 0; k < kStageAccessCount; ++k) {
        const auto access = static_cast<StageAccess>(k);
        if ((whole.accesses & bit_of(access)) == 0) continue;
        empty_stages &= static_cast<StageMask>(~bit_of(stage_of(access)));
        Program fewer = program;
        (fewer.dependencies[i].*side).accesses &= static_cast<AccessMask>(~bit_of(access));
        visit(fewer, text_of(access));
      }
      for (const Stage stage : kStages) {
        if ((empty_stages & bit_of(stage)) == 0 || whole.stages == bit_of(stage)) continue;
        Program fewer = program;
        (fewer.dependencies[i].*side).stages &= static_cast<StageMask>(~bit_of(stage));
        visit(fewer, text_of(stage));
      }
    }
  }
}

// Returns how many stages and accesses cannot go.
template <typename IsWrong>
int expect_nothing_can_go(const Program& program, IsWrong is_wrong_now) {
  int count = 0;
  without_one_bit(program, [&](const Program& fewer, const std::string& what) {
    EXPECT_TRUE(is_wrong_now(fewer)) << what << " can go from\n" << print(program);
    ++count;
  });
  for (size_t i = 0; i < program.barriers.size(); ++i) {
    EXPECT_TRUE(is_wrong_now(without_barrier(program, BarrierId(i))))
        << "barrier " << i << " can go from\n"
        << print(program);
  }
  return count;
}

TEST(InterlockScoped, IsCleanWithAsManyBarriersAsInterlockAndNothingCanGo) {
  SeededChoice choice(91);
  const int count = proof_count(100'000, 670, 13);
  int piece_count = 0;
  for (int i = 0; i < count && !HasFailure(); ++i) {
    const Program program = parsed(random_staged_text(choice, 9));
    const Program result = encoded(program);
    EXPECT_FALSE(has_hazard(result)) << print(result);
    EXPECT_EQ(result.barriers.size(), encoded(program, "interlock").barriers.size())
        << print(result);
    piece_count += expect_nothing_can_go(result, has_hazard);
  }
  EXPECT_GT(piece_count, 2 * count);
  if (!HasFailure()) {
    print_proof(count,
                "scoped barriers of the encoder are as few as full ones, leave no hazard, "
                "and no stage and no access of theirs can go");
  }
}

// By a search of chains, byte by byte, which knows no clocks.
TEST(InterlockScoped, LeavesNoPairOfBytesWithoutAChain) {
  SeededChoice choice(92);
  for (int i = 0; i < program_count(1'500) && !HasFailure(); ++i) {
    const Program result = parsed(print(encoded(parsed(random_staged_text(choice, 7)))));
    const auto hazards = chain_hazards_of(result);
    ASSERT_TRUE(hazards.has_value());
    EXPECT_THAT(*hazards, IsEmpty()) << print(result);
    const auto is_wrong_now = [&](const Program& fewer) {
      return !chain_hazards_of(parsed(print(fewer)))->empty();
    };
    if (i % 8 == 0) expect_nothing_can_go(result, is_wrong_now);
  }
}

TEST(InterlockScoped, LeavesNothingPendingAtADestroyAndNothingCanGo) {
  SeededChoice choice(93);
  int barrier_count = 0;
  for (int i = 0; i < program_count(1'500) && !HasFailure(); ++i) {
    const Program program = i % 2 == 0
                                ? random_holding_program(choice, 8 + choice.below(12))
                                : random_lifetime_program(choice, {.statement_count_max = 14});
    const bool has_pins = program.has_any(LifetimeKind::kPin);
    const Program result = encoded(program);
    EXPECT_FALSE(is_wrong(result)) << print(result);
    EXPECT_EQ(result.barriers.size(), encoded(program, "interlock").barriers.size())
        << print(program) << print(result);
    barrier_count += static_cast<int>(result.barriers.size());
    // A destroy of a pinned tensor asks for a barrier that may not be needed.
    if (!has_pins) expect_nothing_can_go(result, is_wrong);
  }
  EXPECT_GT(barrier_count, program_count(1'500) / 2);
}

TEST(InterlockScoped, PlacesTheBarriersOfInterlockOnRecordedStreams) {
  for (const std::string name : {"llama24-nobarrier", "llama24kv-metal", "train-metal-4"}) {
    const Program program =
        program_in(INTERLOCK_SOURCE_DIR "/corpus/streams/ggml-" + name + ".ilk");
    const Program result = encoded(program);
    EXPECT_THAT(result, IsHazardFree()) << name;
    EXPECT_EQ(result.barriers.size(), encoded(program, "interlock").barriers.size()) << name;
    EXPECT_THAT(find_scoped_redundant(result, UINT64_MAX).redundant, IsEmpty()) << name;
  }
}

}  // namespace
}  // namespace interlock::scoped_encoder_test
