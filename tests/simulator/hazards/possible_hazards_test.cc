// Hazards that may be none: on bytes that approximate dispatches need not touch, and after own
// reads.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/range.h"
#include "encoder/program/words.h"
#include "encoder/text/printer.h"
#include "fuzz/generate/queue_generator.h"
#include "simulator/chains/chain_search.h"
#include "simulator/facts/find_facts.h"
#include "simulator/hazards/hazards.h"
#include "simulator/order/happens_before.h"
#include "simulator/order/in_reference_order.h"
#include "simulator/order/reference_order.h"
#include "simulator/report/check.h"
#include "simulator/report/expectations.h"
#include "simulator/report/report.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/queue_texts.h"

namespace interlock::possible_hazards_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Program program_of(const std::string& statements) {
  return reference_run(
      program_with_queues("interlock 1\nmemory m 64\nmemory n 64\nmemory out 64\n" + statements));
}

std::string text_of(const Program& program, const Finding& finding) {
  return fmt::format("{}{}{} {} {}", finding.is_possible ? "possible " : "",
                     finding.is_after_own_read ? "own-read " : "", word_of(finding.kind),
                     program.reference_of(finding.first.dispatch),
                     program.reference_of(finding.second->dispatch));
}

struct Found {
  std::vector<std::string> findings;
  std::vector<std::string> noted;
};

Found found_in(const std::string& statements, const CheckOptions& options = {}) {
  const Program program = program_of(statements);
  const CheckReport report = check(program, options);
  Found found;
  for (const Finding& finding : report.findings)
    found.findings.push_back(text_of(program, finding));
  for (const Finding& finding : report.noted) found.noted.push_back(text_of(program, finding));
  return found;
}

TEST(PossibleHazards, AreThoseWithAnApproximateDispatch) {
  const std::string text =
      "a: dispatch A writes m approximate\n"
      "b: dispatch B reads m writes n\n"
      "c: dispatch C reads n writes out\n";
  EXPECT_THAT(found_in(text).findings, ElementsAre("RAW b c"));
  EXPECT_THAT(found_in(text).noted, ElementsAre("possible RAW a b"));
  CheckOptions counted;
  counted.counts_possible = true;
  EXPECT_THAT(found_in(text, counted).findings, ElementsAre("possible RAW a b", "RAW b c"));
  EXPECT_THAT(found_in(text, counted).noted, IsEmpty());
}

TEST(PossibleHazards, AreThoseWithAnApproximateAccessOfTheHost) {
  const std::string text =
      "a: dispatch A reads m writes n\n"
      "submit\n"
      "b: host writes m approximate\n"
      "c: host writes m[0:16]\n";
  EXPECT_THAT(found_in(text).findings, ElementsAre("WAR a c"));
  EXPECT_THAT(found_in(text).noted, ElementsAre("possible WAR a b"));
}

// Not a word of it without `approximate`.
TEST(PossibleHazards, AreCertainWhereTheDispatchesAreExact) {
  EXPECT_THAT(found_in("a: dispatch A writes m\nb: dispatch B reads m writes n\n").findings,
              ElementsAre("RAW a b"));
}

TEST(PossibleHazards, HideNoCertainOneBehindThem) {
  const std::string text =
      "a: dispatch A writes m\n"
      "b: dispatch B writes m approximate\n"
      "c: dispatch C reads m writes out\n";
  EXPECT_THAT(found_in(text).findings, ElementsAre("RAW a c"));
  EXPECT_THAT(found_in(text).noted, ElementsAre("possible WAW a b", "possible RAW b c"));
}

TEST(PossibleHazards, AreCertainOnTheArgumentsOfAnIndirectDispatch) {
  const std::string text =
      "a: dispatch A writes m[0:16] n\n"
      "b: dispatch B indirect m[0:16] reads n writes out approximate\n";
  EXPECT_THAT(found_in(text).findings, ElementsAre("RAW a b"));
  EXPECT_THAT(found_in(text).noted, IsEmpty());
}

TEST(PossibleHazards, AreNoAliasAndNothingOfValues) {
  EXPECT_THAT(found_in("dispatch A reads m[0:8] writes m[4:12] approximate\n").findings, IsEmpty());
  EXPECT_THAT(found_in("dispatch A reads m actual writes n approximate\n").findings, IsEmpty());
  const Program program = program_with_queues(
      "interlock 1\nmemory m 64\ntensor t f32[4] at m+0\ndispatch A reads t writes m[32:64] "
      "approximate\n");
  EXPECT_THAT(check(program).findings, IsEmpty());
}

TEST(PossibleHazards, MayBeExpectedAndNeedNot) {
  const auto holds = [](const std::string& expectation, bool counts) {
    const Program program = program_of(
        "a: dispatch A writes m approximate\nb: dispatch B reads m writes n\n" + expectation);
    CheckOptions options;
    options.counts_possible = counts;
    const CheckReport report = check(program, options);
    return is_as_expected(program, report, judge_expectations(program, report));
  };
  EXPECT_TRUE(holds("expect RAW a b\n", false));
  EXPECT_TRUE(holds("expect RAW a b\n", true));
  EXPECT_TRUE(holds("expect clean\n", false));
  EXPECT_FALSE(holds("expect clean\n", true));
  EXPECT_TRUE(holds("", false));
  EXPECT_FALSE(holds("", true));
  EXPECT_FALSE(holds("expect WAW a b\n", false));
}

// There the host touches more than its operands say (host_atoms.h).
bool has_atoms(const Program& program) {
  return std::ranges::any_of(program.memories,
                             [](const Memory& memory) { return memory.atom_bytes > 0; });
}

using Key = std::tuple<FindingKind, DispatchId, DispatchId>;

// By definition: the hazards of the program, and those that stay when what is not certain goes.
TEST(PossibleHazards, AreThoseThatNoCertainByteHas) {
  int possible_count = 0;
  int certain_count = 0;
  for (int seed = 0; seed < share_count(4000, 2); ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    const Program program = reference_run(program_with_queues(generated_queue_program(choice)));
    if (std::ranges::none_of(program.dispatches, &Dispatch::is_approximate)) continue;
    if (has_atoms(program)) continue;
    std::set<Key> all;
    std::set<Key> certain;
    const auto key = [](const Hazard& h) {
      return Key{h.kind, h.first.dispatch, h.second.dispatch};
    };
    for (const Hazard& h : find_all_hazards(program, HappensBefore(program)).hazards) {
      all.insert(key(h));
    }
    // Each pair by itself, every operand that is not certain struck out of the two.
    for (const auto& [kind, first, second] : all) {
      Program exact = program;
      for (Dispatch& dispatch : exact.dispatches) {
        if (!dispatch.is_approximate) continue;
        for (uint32_t k = 0; k < dispatch.access_count; ++k) {
          Access& access = exact.accesses[dispatch.first_access + k];
          if (access.mode != AccessMode::kIndirect) access.range = {};
        }
      }
      if (hazard_kinds(exact, HappensBefore(exact), first, second).has(kind)) {
        certain.insert({kind, first, second});
      }
    }
    FactOptions options{.group = FactGroup::kAccesses};
    options.lists_all_pairs = true;
    options.lists_possible = true;
    std::set<Key> told;
    for (const Fact& fact : find_facts(program, options).facts) {
      const auto* const hazard = std::get_if<Hazard>(&fact);
      if (hazard == nullptr) continue;
      told.insert(key(*hazard));
      ASSERT_EQ(hazard->is_possible, !certain.contains(key(*hazard))) << "seed " << seed;
      (hazard->is_possible ? possible_count : certain_count) += 1;
    }
    ASSERT_EQ(told, all) << "seed " << seed;
  }
  const int least_count = share_count(4000, 2) / (is_slow_build() ? 60 : 20);
  EXPECT_GT(possible_count, least_count);
  EXPECT_GT(certain_count, least_count);
}

TEST(HazardsAfterOwnReads, AreThoseOfUpdatesThatSeeWhatTheyOverwrite) {
  constexpr std::string_view kText =
      "a: dispatch A writes m\n"
      "barrier {}\n"
      "b: dispatch B {}\n";
  const auto found = [&](std::string_view scopes, std::string_view operands) {
    return found_in(fmt::format(kText, scopes, operands));
  };
  const Found own = found("compute.write -> compute.read", "updates m");
  EXPECT_THAT(own.findings, IsEmpty());
  EXPECT_THAT(own.noted, ElementsAre("own-read WAW a b"));
  EXPECT_THAT(found("compute.write -> compute.read", "reads m writes m").noted,
              ElementsAre("own-read WAW a b"));
  EXPECT_THAT(found("compute.write -> compute.uniform", "uniform m writes m").noted,
              ElementsAre("own-read WAW a b"));
  // A byte that is not read before, one that is not seen, and no order at all.
  EXPECT_THAT(found("compute.write -> compute.read", "reads m[0:63] writes m").findings,
              testing::Contains("WAW a b"));
  EXPECT_THAT(found("compute.write -> compute.read", "writes m").findings, ElementsAre("WAW a b"));
  EXPECT_THAT(found("compute.write -> compute.read m[0:63]", "updates m").findings,
              ElementsAre("RAW a b", "WAW a b"));
  EXPECT_THAT(found("execution", "updates m").findings, ElementsAre("RAW a b", "WAW a b"));
  EXPECT_THAT(found("compute.write -> compute.read|compute.write", "updates m").noted, IsEmpty());
  CheckOptions denied;
  denied.counts_own_reads = true;
  EXPECT_THAT(
      found_in(fmt::format(kText, "compute.write -> compute.read", "updates m"), denied).findings,
      ElementsAre("own-read WAW a b"));
}

// Of a captured program in place: what its dispatches may leave untouched makes no other class of
// it.
TEST(HazardsAfterOwnReads, AreSoOfApproximateDispatches) {
  const std::string text =
      "a: dispatch A updates m partial approximate\n"
      "barrier compute.write -> compute.read\n"
      "b: dispatch B updates m partial approximate\n";
  CheckOptions possible;
  possible.counts_possible = true;
  EXPECT_THAT(found_in(text, possible).findings, IsEmpty());
  EXPECT_THAT(found_in(text).noted, ElementsAre("possible own-read WAW a b"));
  CheckOptions denied;
  denied.counts_own_reads = true;
  EXPECT_THAT(found_in(text, denied).findings, ElementsAre("possible own-read WAW a b"));
  const Program program = program_of(text);
  const std::string report = text_report(program, check(program), "FILE");
  EXPECT_THAT(report, HasSubstr("possible WAW hazard after own read: b "));
  EXPECT_THAT(report,
              HasSubstr("1 hazard after own read is not counted: --deny=own-read counts it.\n"));
  EXPECT_THAT(report, Not(HasSubstr("--possible")));
}

TEST(HazardsAfterOwnReads, AreThereOnSeveralQueuesToo) {
  const std::string text =
      "q1: queue concurrent\n"
      "a: dispatch A writes m\n"
      "signal s=1\n"
      "wait s=1 before copy on q1\n"
      "barrier copy -> compute.read on q1\n"
      "b: dispatch B updates m on q1\n";
  EXPECT_THAT(found_in(text).findings, IsEmpty());
  EXPECT_THAT(found_in(text).noted, ElementsAre("own-read WAW a b"));
}

// Of the pair, every byte that the second one's write does not see: the two are ordered there, and
// a read of the second one sees it. By a search of chains, byte by byte.
bool overwrites_what_it_reads(const Program& program, const ChainSearch& chains, DispatchId first,
                              DispatchId second) {
  const Dispatch& earlier = program.dispatch(first);
  const Dispatch& later = program.dispatch(second);
  const auto is_read = [&](const ChainSearch::Spread& spread) {
    return std::ranges::any_of(program.accesses_of(later), [&](const Access& access) {
      if (!access.reads_plainly() || access.mode == AccessMode::kIndirect) return false;
      const bool has_byte = access.memory == spread.memory && access.range.begin <= spread.byte &&
                            spread.byte < access.range.end;
      return has_byte &&
             chains.is_visible(spread, second, *read_sort_of(stage_of(later, access), access));
    });
  };
  for (const Access& a : program.accesses_of(earlier)) {
    for (const Access& b : program.accesses_of(later)) {
      if (!conflict_kinds(a, earlier.atomic_op, b, later.atomic_op).waw) continue;
      const ByteRange shared = intersection(a.range, b.range);
      for (uint64_t byte = shared.begin; byte < shared.end; ++byte) {
        const ChainSearch::Spread spread = chains.spread_of(first, a.memory, byte);
        if (chains.is_visible(spread, second, *write_sort_of(stage_of(later, b), b))) continue;
        const bool is_ordered =
            chains.executes_before(first, stage_of(earlier, a), second, stage_of(later, b));
        if (!is_ordered || !is_read(spread)) return false;
      }
    }
  }
  return true;
}

// Nearly all of these programs have none: that none is called so is what they show.
TEST(HazardsAfterOwnReads, AreThoseOfWhichEachByteIsOrderedSeenAndRead) {
  int other_count = 0;
  for (int seed = 0; seed < share_count(8000, 3); ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    const Program program = program_with_queues(generated_queue_program(choice));
    if (has_atoms(program)) continue;
    const ReferenceOrder reference = find_reference_order(program);
    if (!reference.is_text_order || !reference.cycle.empty()) continue;
    const HappensBefore order(program);
    const ChainSearch chains(program);
    for (const Hazard& hazard : find_all_hazards(program, order).hazards) {
      if (hazard.kind != FindingKind::kWriteAfterWrite) {
        ASSERT_FALSE(hazard.is_after_own_read);
        continue;
      }
      const bool is_own =
          overwrites_what_it_reads(program, chains, hazard.first.dispatch, hazard.second.dispatch);
      ASSERT_EQ(hazard.is_after_own_read, is_own) << "seed " << seed << "\n" << print(program);
      other_count += !is_own;
    }
  }
  EXPECT_GT(other_count, share_count(8000, 3) / 20);
}

// Its neighbour in an atom is not lost, whatever else is approximate.
TEST(PossibleHazards, AreNoneBesideWhatTheHostLoses) {
  const std::string text =
      "memory cached 8 noncoherent=2\ng: queue graph\nwrite: host writes cached[3:5]\n"
      "use: dispatch Use writes cached[3:6] on g\nhost invalidates cached[1:5]\n"
      "read: host reads cached[2:3]\n";
  const Found exact = found_in(text);
  EXPECT_THAT(exact.findings, ElementsAre("WAW write use", "RAW use read"));
  EXPECT_EQ(found_in(text + "host reads out approximate\n").findings, exact.findings);
}

// What need not touch anything that others do changes nothing for them.
TEST(PossibleHazards, ChangeNothingElsewhereInRandomPrograms) {
  const int count = share_count(3000, 3);
  int hazard_count = 0;
  for (int seed = 0; seed < count; ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    std::string text;
    for (std::string line : text_lines_of(print(generate_queues(choice)))) {
      if (const size_t at = line.find(" approximate"); at != std::string::npos) line.erase(at, 12);
      text += line + "\n";
      if (line == "interlock 1") text += "memory elsewhere 4\n";
    }
    const Program given = program_with_queues(text + "host reads elsewhere\n");
    if (!find_reference_order(given).cycle.empty()) continue;
    const auto hazards_of = [](const Program& program) {
      std::vector<std::string> texts;
      for (const Fact& fact : find_facts(reference_run(program)).facts) {
        const Hazard* const hazard = std::get_if<Hazard>(&fact);
        if (hazard == nullptr) continue;
        texts.push_back(fmt::format("{} {} {} {} {}", word_of(hazard->kind),
                                    hazard->first.dispatch.index, hazard->second.dispatch.index,
                                    hazard->overlap.begin, hazard->overlap.end));
      }
      return texts;
    };
    const std::vector<std::string> exact = hazards_of(given);
    hazard_count += static_cast<int>(exact.size());
    ASSERT_EQ(hazards_of(program_with_queues(text + "host reads elsewhere approximate\n")), exact)
        << "seed " << seed << "\n"
        << text;
  }
  EXPECT_GT(hazard_count, count);
}

}  // namespace
}  // namespace interlock::possible_hazards_test
