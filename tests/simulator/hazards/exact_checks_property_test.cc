// The exact checks against the slow and obvious ones (reference_checks.h): on all programs below a
// bound, then on random ones with fixed seeds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "encoder/assemble/build.h"
#include "encoder/text/printer.h"
#include "simulator/barriers/barrier_bounds.h"
#include "simulator/order/happens_before.h"
#include "tests/program_count.h"
#include "tests/simulator/judges/reference_checks.h"
#include "tests/simulator/programs/choices.h"
#include "tests/simulator/programs/random_programs.h"

namespace interlock::exact_checks_property_test {

void PrintTo(const Hazard& hazard, std::ostream* os) {
  *os << word_of(hazard.kind) << " " << hazard.first.dispatch.index << "." << hazard.first.access
      << " " << hazard.second.dispatch.index << "." << hazard.second.access << " ["
      << hazard.overlap.begin << ":" << hazard.overlap.end << "]"
      << (hazard.is_ordered ? " ordered" : "");
}

void PrintTo(const ReorderedRead& read, std::ostream* os) {
  *os << "reader " << static_cast<int32_t>(read.reader.index) << "." << read.access << " sees "
      << static_cast<int32_t>(read.seen_writer.index) << " for "
      << static_cast<int32_t>(read.right_writer.index) << " in " << read.memory.index << "["
      << read.bytes.begin << ":" << read.bytes.end << "]";
}

namespace {

using ::testing::ElementsAreArray;
using ::testing::IsSubsetOf;

// Hazards and bounds against the reference; what `check` lists is part of all pairs, and empty only
// if these are.
void expect_hazards_as_in_reference(const Program& program) {
  SCOPED_TRACE(print(program));
  const HappensBefore order(program);
  const std::vector<Hazard> hazards = find_hazards(program, order).hazards;
  const std::vector<Hazard> all = find_all_hazards(program, order).hazards;
  EXPECT_THAT(hazards, ElementsAreArray(reference_hazards(program)));
  EXPECT_THAT(all, ElementsAreArray(reference_all_hazards(program)));
  EXPECT_THAT(hazards, IsSubsetOf(all));
  EXPECT_EQ(hazards.empty(), all.empty());
  const BarrierBounds bounds = barrier_bounds(program);
  EXPECT_EQ(bounds.fewest_barriers, reference_fewest_barriers(program));
  EXPECT_EQ(bounds.longest_chain, reference_longest_chain(program));
}

Program build_valid(const ProgramDraft& draft) {
  Result<Program> program = build(draft);
  EXPECT_TRUE(program.has_value()) << (program ? "" : program.error().message);
  return program ? std::move(program).value() : Program{};
}

// Gives the dispatches a random program order, sometimes close to issue order, and makes memories
// scratch.
ProgramDraft with_program_order(ProgramDraft draft, Choice& choice) {
  const uint64_t spread = choice.below(4) * choice.below(8);
  uint64_t index = 0;
  for (ItemDraft& item : draft.items) {
    if (auto* memory = std::get_if<MemoryDraft>(&item)) {
      memory->is_scratch = choice.chance(1, 4);
    } else if (auto* dispatch = std::get_if<DispatchDraft>(&item)) {
      // Distinct: the index decides among equal keys.
      dispatch->order = (index + choice.below(spread + 1)) * 100 + index;
      ++index;
    }
  }
  return draft;
}

// Empties some ranges: they conflict with nothing.
ProgramDraft with_empty_ranges(ProgramDraft draft, Choice& choice) {
  for (ItemDraft& item : draft.items) {
    if (auto* dispatch = std::get_if<DispatchDraft>(&item)) {
      for (OperandDraft& operand : dispatch->operands) {
        if (operand.slice.has_value() && choice.chance(1, 12)) {
          operand.slice->end = operand.slice->begin;
        }
      }
    }
  }
  return draft;
}

TEST(ExactChecks, AgreeWithTheDefinitionsOnAllTinyPrograms) {
  // 2 bytes, 3 dispatches, no atomics; then 1 byte, 4 dispatches, with them.
  for (const TinyProgramOptions& options :
       {TinyProgramOptions{.dispatch_count = 3, .memory_bytes = 2, .mode_count = 4},
        TinyProgramOptions{.dispatch_count = 4, .memory_bytes = 1, .mode_count = 5}}) {
    const int count = share_count(options.dispatch_count == 3 ? 36'864 : 16'875, 10, 300);
    ShareOfChoices choice(count);
    int program_count = 0;
    do {
      expect_hazards_as_in_reference(tiny_program(choice, options));
      ++program_count;
    } while (choice.advance() && !::testing::Test::HasFailure());
    EXPECT_EQ(program_count, count);
  }
}

TEST(ExactChecks, AgreeWithTheDefinitionsOnRandomPrograms) {
  SeededChoice choice(1);
  uint64_t hazardous_count = 0;
  for (int i = 0; i < share_count(20'000, 8, 120) && !::testing::Test::HasFailure(); ++i) {
    const Program program =
        build_valid(with_empty_ranges(random_draft(choice, {.dispatch_count_max = 7}), choice));
    expect_hazards_as_in_reference(program);
    hazardous_count += !find_hazards(program, HappensBefore(program)).hazards.empty();
  }
  // Both outcomes are well covered.
  EXPECT_GT(hazardous_count, static_cast<uint64_t>(share_count(5'000, 8, 120)));
  EXPECT_LT(hazardous_count, static_cast<uint64_t>(share_count(19'000, 8, 120)));
}

TEST(ExactChecks, AgreeWithTheDefinitionsOnWideRandomPrograms) {
  // Many distinct endpoints: trees of several levels, ranges that span many segments.
  const RandomProgramOptions options{.dispatch_count_min = 8,
                                     .dispatch_count_max = 14,
                                     .operand_count_max = 4,
                                     .memory_count = 3,
                                     .memory_bytes = 90,
                                     .range_bytes_max = 60,
                                     .barrier_percent = 20};
  SeededChoice choice(2);
  for (int i = 0; i < program_count(150, 12) && !::testing::Test::HasFailure(); ++i) {
    const Program program = random_program(choice, options);
    SCOPED_TRACE(print(program));
    const HappensBefore order(program);
    EXPECT_THAT(find_hazards(program, order).hazards, ElementsAreArray(reference_hazards(program)));
    EXPECT_THAT(find_all_hazards(program, order).hazards,
                ElementsAreArray(reference_all_hazards(program)));
  }
}

TEST(ExactChecks, ListAtMostAsManyHazardsAsTheLimitAndSayWhetherThereAreMore) {
  const auto expect_the_first = [](const HazardList& some, std::vector<Hazard> all) {
    EXPECT_EQ(some.has_more, all.size() > 3);
    EXPECT_EQ(some.is_complete(), all.size() <= 3);
    all.resize(std::min<size_t>(all.size(), 3));
    EXPECT_EQ(some.hazards, all);
  };
  SeededChoice choice(3);
  for (int i = 0; i < 200; ++i) {
    const Program program = random_program(choice);
    const HappensBefore order(program);
    expect_the_first(find_hazards(program, order, {.limit = 3}),
                     find_hazards(program, order).hazards);
    expect_the_first(find_all_hazards(program, order, 3), find_all_hazards(program, order).hazards);
  }
}

TEST(FindAliasViolations, AgreesWithTheDefinitionOnRandomPrograms) {
  SeededChoice choice(4);
  uint64_t violation_count = 0;
  for (int i = 0; i < share_count(20'000, 2) && !::testing::Test::HasFailure(); ++i) {
    const Program program = build_valid(with_empty_ranges(
        random_draft(choice, {.dispatch_count_max = 4, .operand_count_max = 4}), choice));
    SCOPED_TRACE(print(program));
    const std::vector<AliasViolation> violations = find_alias_violations(program);
    EXPECT_EQ(violations, reference_alias_violations(program));
    violation_count += violations.size();
  }
  EXPECT_GT(violation_count, static_cast<uint64_t>(share_count(10'000, 2)));
}

// Without atomics the two writers of a difference are determined; with them, which member of a row
// is named is a choice, so only where the reads differ is compared.
ReorderedRead without_writers(ReorderedRead read) {
  read.seen_writer = DispatchId();
  read.right_writer = DispatchId();
  read.bytes.end = read.bytes.begin;
  return read;
}

// The lowest differing byte of each (reader, access, memory), in order.
std::vector<ReorderedRead> lowest_differences(const std::vector<ReorderedRead>& reads) {
  std::vector<ReorderedRead> lowest;
  for (const ReorderedRead& read : reads) {
    const ReorderedRead bare = without_writers(read);
    const auto is_same_place = [&](const ReorderedRead& other) {
      return other.reader == bare.reader && other.access == bare.access &&
             other.memory == bare.memory;
    };
    if (std::none_of(lowest.begin(), lowest.end(), is_same_place)) {
      lowest.push_back(bare);
    }
  }
  return lowest;
}

TEST(FindReordered, AgreesWithTheDefinitionOnRandomPrograms) {
  SeededChoice choice(5);
  uint64_t reordered_count = 0;
  for (int i = 0; i < share_count(20'000, 5, 160) && !::testing::Test::HasFailure(); ++i) {
    const bool has_atomics = i % 2 == 1;
    const Program program = build_valid(with_program_order(
        random_draft(choice, {.dispatch_count_max = 7, .has_atomics = has_atomics}), choice));
    SCOPED_TRACE(print(program));
    const std::vector<ReorderedRead> found = find_reordered(program);
    const std::vector<ReorderedRead> expected = reference_reordered(program);
    if (has_atomics) {
      EXPECT_THAT(lowest_differences(found), ElementsAreArray(lowest_differences(expected)));
    } else {
      EXPECT_THAT(found, ElementsAreArray(expected));
    }
    for (const ReorderedRead& read : found) {
      EXPECT_NE(read.seen_writer, read.right_writer);
    }
    reordered_count += !found.empty();
  }
  EXPECT_GT(reordered_count, static_cast<uint64_t>(share_count(2'000, 5, 160)));
  EXPECT_LT(reordered_count, static_cast<uint64_t>(share_count(17'000, 5, 160)));
}

}  // namespace
}  // namespace interlock::exact_checks_property_test
