#include "fuzz/judge/signature.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/text/parser.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/generate/draft_positions.h"
#include "fuzz/judge/findings.h"
#include "tests/program_count.h"

namespace interlock::signature_test {
namespace {

std::string signature_of_first(const std::string& body,
                               SignatureDetail detail = SignatureDetail::kKernels) {
  const auto program = parse("interlock 1\nmemory a 4096\nmemory b 4096\n" + body);
  EXPECT_TRUE(program) << program.error().message;
  const auto findings = find_exactly(*program);
  EXPECT_FALSE(findings.empty());
  return findings.empty() ? "" : signature_of(*program, findings[0], detail);
}

TEST(Signature, NamesTheKindTheAliasShapeAndTheKernels) {
  EXPECT_EQ(signature_of_first("tensor g f32[4,8] at a+0 = random(1)\n"
                               "tensor gb f32[8] at b+0\n"
                               "tensor h f32[4,8] donates g\n"
                               "dispatch col_sum reads g writes gb\n"
                               "dispatch scale reads g writes h factor=2\n"),
            "WAR-donation-col_sum-scale");
}

TEST(Signature, LeavesTheKernelsOutOnRequest) {
  EXPECT_EQ(signature_of_first("dispatch A writes a[0:8]\ndispatch B reads a[0:8]\n",
                               SignatureDetail::kShape),
            "RAW-same_range");
}

TEST(Signature, CallsOpaqueKernelsOpaque) {
  EXPECT_EQ(signature_of_first("dispatch A writes a[0:8]\ndispatch B reads a[4:12]\n"),
            "RAW-overlap-Opaque-Opaque");
}

// As names of files may have it.
TEST(Signature, NamesWhatTheHostDoes) {
  ParseOptions options;
  options.reads_every_queue = true;
  const auto program =
      parse("interlock 1\nmemory a 8\ndispatch A writes a\nhost reads a\nhost writes a\n", "test",
            options);
  ASSERT_TRUE(program);
  std::vector<std::string> signatures;
  for (const Fact& fact : find_exactly(*program))
    signatures.push_back(signature_of(*program, fact));
  EXPECT_EQ(signatures, (std::vector<std::string>{"RAW-same_range-Opaque-host_reads",
                                                  "WAW-same_range-Opaque-host_writes"}));
}

TEST(Signature, TellsOrderedHazardsApart) {
  EXPECT_EQ(
      signature_of_first("dispatch A writes a[0:8]\nbarrier execution\ndispatch B writes a[0:8]\n"),
      "WAW-ordered-same_range-Opaque-Opaque");
}

TEST(Signature, KnowsViews) {
  EXPECT_EQ(signature_of_first("tensor x u8[16] at a+0\ntensor v u8[4] view x+4\n"
                               "dispatch A writes x\ndispatch B reads v\n"),
            "RAW-view-Opaque-Opaque");
}

TEST(Signature, KnowsReusedSlots) {
  EXPECT_EQ(signature_of_first("tensor x u8[16] at a+0\ntensor y u8[4] at a+4\n"
                               "dispatch A reads x\ndispatch B writes y\n"),
            "WAR-slot_reuse-Opaque-Opaque");
}

TEST(Signature, FollowsChainsOfDonations) {
  EXPECT_EQ(signature_of_first("tensor x u8[16] at a+0\ntensor y u8[16] donates x\n"
                               "tensor z u8[16] donates y\ntensor v u8[4] view z+0\n"
                               "dispatch A reads x\ndispatch B writes v\n"),
            "WAR-donation-Opaque-Opaque");
}

TEST(Signature, NamesTheOneDispatchThatAliases) {
  EXPECT_EQ(signature_of_first("dispatch A reads a[0:8] writes a[4:12]\n"), "alias-overlap-Opaque");
}

TEST(Signature, IsAFileName) { EXPECT_EQ(signature_of({}, ExcessBarriers{2, 1}), "excess"); }

// Whichever of the two comes first.
TEST(AliasShapeOf, IsThatOfThePairInEitherOrder) {
  struct Pair {
    const char* declarations;
    const char* one;
    const char* other;
    AliasShape shape;
  };
  const Pair pairs[] = {
      {"", "a[0:8]", "a[0:8]", AliasShape::kSameRange},
      {"", "a[0:8]", "a[4:12]", AliasShape::kOverlap},
      {"", "a[0:8]", "a[0:4]", AliasShape::kOverlap},
      {"", "a[0:8]", "a[4:8]", AliasShape::kOverlap},
      {"tensor x u8[16] at a+0\n", "x", "x", AliasShape::kSameRange},
      {"tensor x u8[16] at a+0\n", "x", "a[0:16]", AliasShape::kSameRange},
      {"tensor x u8[16] at a+0\n", "x", "x[2:4]", AliasShape::kOverlap},
      {"tensor x u8[16] at a+0\ntensor v u8[16] view x+0\n", "x", "v", AliasShape::kView},
      {"tensor x u8[16] at a+0\ntensor v u8[8] view x+0\ntensor w u8[8] view x+4\n", "v", "w",
       AliasShape::kView},
      {"tensor x u8[16] at a+0\ntensor y u8[16] donates x\n", "x", "y", AliasShape::kDonation},
      {"tensor x u8[16] at a+0\ntensor y u8[16] donates x\ntensor z u8[16] donates y\n", "x", "z",
       AliasShape::kDonation},
      {"tensor x u8[16] at a+0\ntensor v u8[8] view x+0\ntensor y u8[16] donates x\n", "v", "y",
       AliasShape::kDonation},
      {"tensor x u8[16] at a+0\ntensor y u8[16] at a+0\n", "x", "y", AliasShape::kSlotReuse},
      {"tensor x u8[16] at a+0\ntensor y u8[8] donates x\ntensor z u8[8] donates x\n", "y", "z",
       AliasShape::kSlotReuse},
  };
  for (const Pair& pair : pairs) {
    const std::string expected = "RAW-" + std::string(word_of(pair.shape));
    for (const auto& [first, second] :
         {std::pair(pair.one, pair.other), std::pair(pair.other, pair.one)}) {
      EXPECT_EQ(signature_of_first(std::string(pair.declarations) + "dispatch A writes " + first +
                                       "\ndispatch B reads " + second + "\n",
                                   SignatureDetail::kShape),
                expected)
          << pair.declarations << first << ' ' << second;
    }
  }
}

// Every name another, every byte elsewhere.
ProgramDraft renamed_and_moved(ProgramDraft draft) {
  constexpr uint64_t kShiftBytes = 64;
  std::map<std::string, uint64_t> memory_bytes;
  for (const ItemDraft& item : draft.items) {
    const auto* memory = std::get_if<MemoryDraft>(&item);
    if (memory != nullptr) memory_bytes[memory->name] = memory->size_bytes;
  }
  for_each_operand(draft, [&](OperandDraft& operand) {
    const auto memory = memory_bytes.find(operand.name);
    if (memory != memory_bytes.end()) {
      const ByteRange slice = operand.slice.value_or(ByteRange{0, memory->second});
      operand.slice = ByteRange{slice.begin + kShiftBytes, slice.end + kShiftBytes};
    }
    operand.name = "n_" + operand.name;
  });
  for (ItemDraft& item : draft.items) {
    if (auto* memory = std::get_if<MemoryDraft>(&item)) {
      memory->name = "n_" + memory->name;
      memory->size_bytes += kShiftBytes;
    } else if (auto* tensor = std::get_if<TensorDraft>(&item)) {
      tensor->name = "n_" + tensor->name;
      tensor->base = "n_" + tensor->base;
      if (tensor->placement == Placement::kPlaced) tensor->offset_bytes += kShiftBytes;
    } else if (auto* output = std::get_if<OutputDraft>(&item)) {
      for (std::string& name : output->tensors) name = "n_" + name;
    } else if (auto* dispatch = std::get_if<DispatchDraft>(&item)) {
      dispatch->label = "n_" + dispatch->label;
      if (dispatch->kernel.starts_with("Opaque")) dispatch->kernel = "Zeta";
    }
  }
  return draft;
}

std::vector<std::string> signatures_in(const ProgramDraft& draft, SignatureDetail detail) {
  const auto program = build(draft);
  EXPECT_TRUE(program) << program.error().message;
  std::vector<std::string> signatures;
  for (const Fact& fact : find_exactly(*program)) {
    signatures.push_back(signature_of(*program, fact, detail));
  }
  return signatures;
}

TEST(Signature, IsTheSameUnderOtherNamesAndAtOtherPlaces) {
  size_t signature_count = 0;
  for (uint64_t run = 0; run < (is_slow_build() ? 20 : 200); ++run) {
    const ProgramDraft draft = draft_of_run({}, run);
    for (const auto detail : {SignatureDetail::kShape, SignatureDetail::kKernels}) {
      const std::vector<std::string> signatures = signatures_in(draft, detail);
      EXPECT_EQ(signatures, signatures_in(renamed_and_moved(draft), detail)) << run;
      signature_count += signatures.size();
    }
  }
  EXPECT_GT(signature_count, is_slow_build() ? 50u : 500u);
}

TEST(Signature, HasTheLettersOfAFileNameAndBeginsWithItsShape) {
  for (uint64_t run = 0; run < (is_slow_build() ? 20 : 200); ++run) {
    const Program program = build(draft_of_run({}, run)).value();
    for (const Fact& fact : find_exactly(program)) {
      const std::string signature = signature_of(program, fact);
      EXPECT_EQ(signature.find_first_not_of(
                    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"),
                std::string::npos)
          << signature;
      const std::string shape = signature_of(program, fact, SignatureDetail::kShape);
      EXPECT_TRUE(signature.starts_with(shape + "-")) << signature << ' ' << shape;
    }
  }
}

TEST(Signature, NamesTheKernelsInTheirOrder) {
  const std::string tensors =
      "tensor x f32[4] at a+0 = random(1)\ntensor y f32[4] at b+0 = random(2)\n"
      "tensor z f32[4] at b+16\n";
  EXPECT_EQ(signature_of_first(tensors + "dispatch silu reads x writes y\n"
                                         "dispatch copy reads y writes z\n"),
            "RAW-same_range-silu-copy");
  EXPECT_EQ(signature_of_first(tensors + "dispatch copy reads x writes y\n"
                                         "dispatch silu reads y writes z\n"),
            "RAW-same_range-copy-silu");
}

TEST(Signature, NamesTheEndWhereItAloneReadsTheWrongValue) {
  EXPECT_EQ(signature_of_first("dispatch A order=1 writes a[0:4]\nbarrier\n"
                               "dispatch B order=0 writes a[0:4]\n"),
            "reordered-same_range-end");
}

}  // namespace
}  // namespace interlock::signature_test
