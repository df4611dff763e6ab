#include "fuzz/generate/generator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <tuple>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/kernel/kernel_table.h"
#include "encoder/sync/encoder.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/judge/findings.h"
#include "fuzz/judge/oracles.h"
#include "simulator/hazards/alias_contracts.h"
#include "simulator/schedules/choice.h"
#include "tests/fuzz/generate/any_bytes.h"
#include "tests/program_count.h"

namespace interlock::generator_test {
namespace {

constexpr uint64_t kSeedCount = program_count(20'000);
// Which takes longer than to make them.
const uint64_t kBuiltCount = tries_all() ? kSeedCount : program_count(5'000, 20);

GeneratorOptions options_of(uint64_t seed) {
  GeneratorOptions options;
  options.has_barriers = seed % 2 == 0;
  options.gives_roots_own_memories = seed % 3 == 0;
  return options;
}

ProgramDraft generated(uint64_t seed, const GeneratorOptions& options,
                       FeatureCounts* counts = nullptr) {
  SeededChoice choice(seed);
  return generate(choice, options, counts);
}

TEST(Generator, MakesOnlyProgramsThatBuildAndKeepTheirAliasContracts) {
  for (uint64_t seed = 0; seed < kBuiltCount; ++seed) {
    const GeneratorOptions options = options_of(seed);
    const auto program = build(generated(seed, options));
    ASSERT_TRUE(program) << "seed " << seed << ": " << program.error().message;
    ASSERT_TRUE(find_alias_violations(*program).empty()) << "seed " << seed << "\n"
                                                         << print(*program);
    ASSERT_LE(program->dispatches.size(), options.max_dispatches) << "seed " << seed;
  }
}

TEST(Generator, UsesEveryFeature) {
  FeatureCounts counts;
  for (uint64_t seed = 0; seed < kSeedCount; ++seed) generated(seed, options_of(seed), &counts);
  std::printf("%-16s occurrences in %d programs\n", "feature", static_cast<int>(kSeedCount));
  for (int i = 0; i < kFeatureCount; ++i) {
    const std::string word(word_of(static_cast<Feature>(i)));
    std::printf("%-16s %llu\n", word.c_str(), static_cast<unsigned long long>(counts.counts[i]));
    // The rarest occurs some 7000 times; a hundredth of that means that it was lost.
    EXPECT_GT(counts.counts[i], is_slow_build() ? 0u : 70u) << word;
  }
}

TEST(Generator, EmitsEveryKernelOfTheTable) {
  constexpr uint64_t kPrograms = program_count(5'000);
  std::vector<uint64_t> counts(kernel_table().size());
  for (uint64_t seed = 0; seed < kPrograms; ++seed) {
    const auto program = build(generated(seed, options_of(seed)));
    ASSERT_TRUE(program);
    for (const Dispatch& dispatch : program->dispatches) ++counts[dispatch.kernel.index];
  }
  for (size_t i = 0; i < counts.size(); ++i) {
    const std::string name(kernel_table()[i].name);
    std::printf("%-16s %llu\n", name.c_str(), static_cast<unsigned long long>(counts[i]));
    // The rarest occurs in every thirtieth program; a third of that means that it is being lost.
    EXPECT_GT(counts[i], is_slow_build() ? 0 : kPrograms / 100) << name;
  }
}

TEST(Generator, GivesTheSameProgramForTheSameSeed) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    EXPECT_EQ(print(generated(seed, options_of(seed))), print(generated(seed, options_of(seed))));
  }
  EXPECT_NE(print(generated(1, {})), print(generated(2, {})));
}

template <typename Element, typename Fields>
bool have_same(const std::vector<Element>& a, const std::vector<Element>& b, Fields fields_of) {
  return std::ranges::equal(a, b, {}, fields_of, fields_of);
}

// All that a program of one queue without barriers of its own consists of.
void expect_same_lists(const Program& a, const Program& b) {
  EXPECT_EQ(a.names, b.names);
  EXPECT_EQ(a.outputs, b.outputs);
  EXPECT_TRUE(have_same(a.memories, b.memories, [](const Memory& m) {
    return std::tuple(m.name, m.size_bytes, m.is_scratch, m.is_implicit, m.is_unified,
                      m.atom_bytes);
  }));
  EXPECT_TRUE(have_same(a.tensors, b.tensors, [](const Tensor& t) {
    return std::tuple(t.name, t.dtype, t.shape, t.placement, t.source, t.initial.kind,
                      t.initial.seed, t.initial.values, t.memory, t.range.begin, t.range.end,
                      t.root);
  }));
  EXPECT_TRUE(have_same(a.statements, b.statements, [](const Statement& s) {
    return std::tuple(s.kind, s.queue, s.index, s.label);
  }));
  EXPECT_TRUE(have_same(a.dispatches, b.dispatches, [](const Dispatch& d) {
    return std::tuple(d.statement, d.kernel_name, d.kernel, d.slice_count, d.order, d.first_access,
                      d.access_count, d.first_attribute, d.attribute_count, d.atomic_op,
                      d.is_partial, d.host);
  }));
  EXPECT_TRUE(have_same(a.accesses, b.accesses, [](const Access& x) {
    return std::tuple(x.memory, x.tensor, x.range.begin, x.range.end, x.mode, x.is_sliced,
                      x.is_undeclared, x.stride);
  }));
  EXPECT_TRUE(have_same(a.attributes, b.attributes, [](const Attribute& x) {
    return std::tuple(x.key, x.text, x.number, x.is_number);
  }));
  EXPECT_EQ(a.has_program_order, b.has_program_order);
}

// So campaigns need neither drafts nor the rules where they do not try texts.
TEST(Generator, BuildsTheProgramThatItsDraftAndItsTextSay) {
  for (uint64_t seed = 0; seed < kBuiltCount; ++seed) {
    SCOPED_TRACE(seed);
    GeneratorOptions options = options_of(seed);
    if (seed % 16 == 1) options.max_dispatches = 200;
    const ProgramDraft draft = generated(seed, options);
    SeededChoice choice(seed);
    const Program built = generate_program(choice, options).value();
    const Program parsed = parse(print(draft)).value();
    const Program by_the_rules = build(draft).value();
    ASSERT_EQ(print(by_the_rules), print(parsed));
    ASSERT_EQ(print(built), print(parsed));
    ASSERT_NO_FATAL_FAILURE(expect_same_lists(built, parsed));
    ASSERT_NO_FATAL_FAILURE(expect_same_lists(built, by_the_rules));
    if (HasFailure()) return;
  }
}

TEST(Generator, GivesRootsTheirOwnMemoriesOnRequest) {
  GeneratorOptions options;
  options.gives_roots_own_memories = true;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    const auto program = build(generated(seed, options));
    ASSERT_TRUE(program);
    for (const Tensor& tensor : program->tensors) {
      EXPECT_TRUE(tensor.placement != Placement::kPlaced || tensor.range.begin == 0u);
    }
  }
}

TEST(Generator, MakesProgramsOfAnyBytesInWhichARightEncoderLeavesNothing) {
  for_any_bytes(program_count(300, 10), 1, [](Choice& choice, int size) {
    const auto program = build(generate(choice, options_of(size)));
    ASSERT_TRUE(program) << "size " << size << ": " << program.error().message;
    EXPECT_TRUE(find_alias_violations(*program).empty()) << print(*program);
    if (program->has_program_order) return;
    const Program encoded = encode_with(*program, find_encoder("interlock"));
    EXPECT_TRUE(find_exactly(encoded).empty()) << print(encoded);
  });
}

TEST(Generator, PlacesBarriersOnlyOnRequest) {
  uint64_t with = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    GeneratorOptions options;
    EXPECT_TRUE(build(generated(seed, options)).value().barriers.empty());
    options.has_barriers = true;
    with += !build(generated(seed, options)).value().barriers.empty();
  }
  EXPECT_GT(with, 100u);
}

}  // namespace
}  // namespace interlock::generator_test
