// The programs of the kit: an encoder under test is held to the rules of its interface, and the
// samples tell wrong encoders from right ones.
#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>

#include "encoder/sync/encoder.h"
#include "encoder/sync/interlock_encoder.h"
#include "encoder/text/printer.h"
#include "fuzz/testing/matchers.h"
#include "tests/encoder/sync/mutant_encoders.h"
#include "tests/fuzz/conform/ring_encoder.h"

namespace interlock::testing_programs_test {
namespace {

using testing::AllOf;
using testing::Matches;
using testing::Not;

constexpr std::string_view kThree = "memory a 64\ndispatch A\nb: dispatch B\ndispatch C\n";

// Issues what a function of the dispatch says.
class FaultyEncoder final : public Encoder {
 public:
  using Rule = void (*)(DispatchId, CommandSink&);
  explicit FaultyEncoder(Rule rule) : rule_(rule) {}
  void encode(const EncoderDispatch& dispatch, CommandSink& sink) override {
    rule_(dispatch.id, sink);
  }

 private:
  Rule rule_;
};

TEST(EncodeWith, FailsForAnEncoderThatLosesOrRepeatsDispatches) {
  const auto drops = [](DispatchId id, CommandSink& sink) {
    if (id != DispatchId(1)) sink.issue_dispatch(id);
  };
  const auto repeats = [](DispatchId id, CommandSink& sink) {
    sink.issue_dispatch(id);
    if (id == DispatchId(2)) sink.issue_dispatch(DispatchId(1));
  };
  const auto invents = [](DispatchId id, CommandSink& sink) {
    sink.issue_dispatch(DispatchId(id.index + 1));
  };
  EXPECT_NONFATAL_FAILURE(encode_with(FaultyEncoder(drops), kThree),
                          "The encoder never issues b (dispatch 1).");
  EXPECT_NONFATAL_FAILURE(encode_with(FaultyEncoder(repeats), kThree),
                          "The encoder issues b (dispatch 1) twice.");
  EXPECT_NONFATAL_FAILURE(encode_with(FaultyEncoder(invents), kThree),
                          "The encoder issues dispatch 3; there are 3.");
}

TEST(EncodeWith, FailsForAScopedBarrierWithoutScopes) {
  const auto scopeless = [](DispatchId id, CommandSink& sink) {
    sink.issue_barrier(BarrierKind::kScoped);
    sink.issue_dispatch(id);
  };
  EXPECT_NONFATAL_FAILURE(encode_with(FaultyEncoder(scopeless), kThree),
                          "The encoder issues a scoped barrier without its scopes.");
}

TEST(EncodeWith, TakesEncodersByValueByReferenceAndByName) {
  InterlockEncoder encoder;
  EXPECT_THAT(encode_with(encoder, kLayerNormVjp), HasBarrierCount(2));
  EXPECT_THAT(encode_with(InterlockEncoder(), program_of(kLayerNormVjp)), HasBarrierCount(2));
  EXPECT_THAT(encode_with("interlock", kLayerNormVjp), HasBarrierCount(2));
  EXPECT_THAT(encode_with("none", kLayerNormVjp), HasBarrierCount(0));
  EXPECT_NONFATAL_FAILURE(encode_with("nobody", kThree), "There is no encoder 'nobody'.");
}

TEST(EncodeWith, GivesWhatEncodeGives) {
  for (const SampleProgram& sample : sample_programs()) {
    for (const EncoderEntry& entry : encoder_registry()) {
      const Program program = program_of(sample.text);
      EXPECT_EQ(print(encode_with(entry.name, program)), print(encode(program, *entry.create())));
    }
  }
}

TEST(ProgramIn, ReadsAFileOrFails) {
  EXPECT_THAT(program_in(INTERLOCK_SOURCE_DIR "/corpus/bugs/mlx-3630.ilk"),
              HasHazard("WAR", "reduce", "vjp"));
  EXPECT_THAT(program_in(INTERLOCK_SOURCE_DIR "/corpus/bugs/mlx-3630.fixed.ilk"), IsHazardFree());
  EXPECT_NONFATAL_FAILURE(program_in("/nowhere/step.ilk"), "/nowhere/step.ilk");
}

TEST(ProgramOf, FailsOnTextThatDoesNotParse) {
  EXPECT_NONFATAL_FAILURE(program_of("memory a\n"), "<test>:2:9: error: ");
}

TEST(SamplePrograms, HaveNamesOfTheirOwnAndNoBarriers) {
  std::set<std::string_view> names;
  for (const SampleProgram& sample : sample_programs()) {
    EXPECT_TRUE(names.insert(sample.name).second) << sample.name;
    EXPECT_THAT(sample.text, HasBarrierCount(0)) << sample.name;
    EXPECT_FALSE(sample.trap.empty()) << sample.name;
  }
}

TEST(SamplePrograms, AreEncodedExactlyByOurEncoder) {
  for (const SampleProgram& sample : sample_programs()) {
    EXPECT_THAT(encode_with(InterlockEncoder(), sample.text),
                AllOf(IsHazardFree(), HasFewestBarriers(), HasNoUselessSync()))
        << sample.name;
  }
}

TEST(SamplePrograms, ShowEncodersThatForget) {
  for (const auto make : {&make_ring_encoder<16>, &make_ring_encoder<128>}) {
    EXPECT_TRUE(std::ranges::any_of(sample_programs(), [&](const SampleProgram& sample) {
      const std::unique_ptr<Encoder> encoder = make();
      return Matches(Not(IsHazardFree()))(encode_with(*encoder, sample.text));
    }));
  }
  for (const SampleProgram& sample : sample_programs()) {
    EXPECT_THAT(encode_with(*make_ring_encoder<100'000>(), sample.text), IsHazardFree());
  }
}

class SampleProgramsAgainst : public testing::TestWithParam<MutantEncoder> {};

// Each planted fault shows in at least one sample, an unsafe one as a hazard, an excessive one as
// a barrier too many.
TEST_P(SampleProgramsAgainst, ShowTheFault) {
  const auto shows_the_fault = [](const SampleProgram& sample) {
    const std::unique_ptr<Encoder> encoder = GetParam().create();
    const Program encoded = encode_with(*encoder, sample.text);
    return GetParam().kind == MutantKind::kUnsafe
               ? Matches(Not(IsHazardFree()))(encoded)
               : Matches(AllOf(IsHazardFree(), Not(HasFewestBarriers())))(encoded);
  };
  EXPECT_TRUE(std::any_of(sample_programs().begin(), sample_programs().end(), shows_the_fault))
      << GetParam().name << ": " << GetParam().fault;
}

INSTANTIATE_TEST_SUITE_P(EveryMutant, SampleProgramsAgainst,
                         testing::ValuesIn(mutant_encoders().begin(), mutant_encoders().end()),
                         [](const auto& mutant) {
                           std::string name(mutant.param.name);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace interlock::testing_programs_test
