#include "fuzz/generate/mutator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <variant>

#include "encoder/assemble/build.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/generate/draft_positions.h"
#include "fuzz/judge/findings.h"
#include "fuzz/judge/oracles.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"

namespace interlock::mutator_test {
namespace {

// What fits of the draft, in order: as the fuzz target reads a mutant.
Program lenient_build(const ProgramDraft& draft) {
  ParseOptions options;
  options.skips_invalid_lines = true;
  return parse(print(draft), "mutant", options).value();
}

bool is_mutant_of(const ProgramDraft& draft) {
  const auto* memory = std::get_if<MemoryDraft>(&draft.items[0]);
  return memory != nullptr && memory->name == "a";
}

std::string labels_of(const ProgramDraft& draft) {
  std::string labels;
  for (const ItemDraft& item : draft.items) {
    if (const auto* dispatch = std::get_if<DispatchDraft>(&item)) labels += dispatch->label + ' ';
  }
  return labels;
}

TEST(Mutator, GivesDraftsWhoseRestIsAProgram) {
  SeededChoice choice(1);
  ProgramDraft draft;
  uint64_t dispatch_count = 0;
  const int count = program_count(3000, 10);
  for (int i = 0; i < count; ++i) {
    draft = mutate(draft, choice);
    const Program program = lenient_build(draft);
    dispatch_count += program.dispatches.size();
    const auto parsed = parse(print(program));
    ASSERT_TRUE(parsed) << parsed.error().message << "\n" << print(program);
  }
  EXPECT_GT(dispatch_count, uint64_t(count));
}

// Or what names them would be left out.
TEST(Mutator, KeepsMemoriesAndTensorsAheadOfStatements) {
  SeededChoice choice(3);
  ProgramDraft draft;
  for (int i = 0; i < program_count(1000, 5); ++i) {
    draft = mutate(draft, choice);
    const auto declares_bytes = [](const ItemDraft& item) {
      return std::holds_alternative<MemoryDraft>(item) || std::holds_alternative<TensorDraft>(item);
    };
    const auto touches_bytes = [](const ItemDraft& item) {
      return std::holds_alternative<DispatchDraft>(item) ||
             std::holds_alternative<LifetimeDraft>(item);
    };
    const auto first = std::find_if(draft.items.begin(), draft.items.end(), touches_bytes);
    ASSERT_TRUE(std::none_of(first, draft.items.end(), declares_bytes))
        << print(lenient_build(draft));
  }
}

TEST(Mutator, LeavesOutWhatNoLongerFits) {
  ProgramDraft draft;
  draft.items.emplace_back(MemoryDraft{"a", 16});
  DispatchDraft dispatch;
  dispatch.kernel = "Produce";
  dispatch.operands.push_back({AccessMode::kWrite, "a", ByteRange{0, 4}});
  draft.items.emplace_back(dispatch);
  dispatch.operands[0].name = "gone";
  draft.items.emplace_back(dispatch);
  EXPECT_FALSE(build(draft));
  EXPECT_EQ(lenient_build(draft).dispatches.size(), 1u);
}

TEST(Mutator, BringsHazardsAliasingAndBothKindsOfBarrier) {
  if (is_slow_build()) GTEST_SKIP() << "Shares of many programs.";
  SeededChoice choice(2);
  GeneratorOptions options;
  options.has_barriers = true;
  uint64_t hazards = 0;
  uint64_t aliases = 0;
  uint64_t ordered = 0;
  uint64_t clean = 0;
  for (int i = 0; i < 2000; ++i) {
    SeededChoice fresh(static_cast<uint64_t>(i));
    const Program program = lenient_build(mutate(generate(fresh, options), choice, options));
    const auto findings = find_exactly(program);
    clean += findings.empty();
    for (const Fact& fact : findings) {
      aliases += std::holds_alternative<AliasViolation>(fact);
      const auto* const hazard = std::get_if<Hazard>(&fact);
      hazards += hazard != nullptr;
      ordered += hazard != nullptr && hazard->is_ordered;
    }
  }
  EXPECT_GT(hazards, 100u);
  EXPECT_GT(aliases, 20u);
  EXPECT_GT(ordered, 20u);
  EXPECT_GT(clean, 100u);
}

// The second methods must agree on mutants too: on programs that no generator would make.
TEST(Mutator, MakesProgramsOnWhichOurMethodsAgree) {
  SeededChoice choice(3);
  GeneratorOptions options;
  options.has_barriers = true;
  ProgramDraft draft;
  for (uint64_t i = 0; i < static_cast<uint64_t>(program_count(4000)); ++i) {
    draft = draft_of(lenient_build(mutate(draft, choice, options)));
    const OracleReport report = judge(lenient_build(draft), {}, i);
    ASSERT_TRUE(report.disagreements.empty())
        << word_of(report.disagreements[0].stage) << ": " << report.disagreements[0].message << "\n"
        << print(draft);
  }
}

// What a change can bring. Each count over 2000 mutants of programs that have none of it may lie
// between two thirds and three halves of what it is today.
TEST(Mutator, MakesEveryChangeAboutAsOftenAsIntended) {
  std::map<std::string, int> counts;
  SeededChoice choice(5);
  const ProgramDraft plain = draft_of(parse("interlock 1\nmemory a 64\nmemory b 64\n"
                                            "tensor x u8[8] at a+0\ntensor y u8[8] at a+16\n"
                                            "tensor z u8[8] at b+0\noutput x\n"
                                            "d0: dispatch K reads x writes y\nbarrier\n"
                                            "d1: dispatch L reads y writes z\n"
                                            "d2: dispatch M reads z b[8:16] writes x\n")
                                          .value());
  for (int i = 0; i < 2000; ++i) {
    const ProgramDraft mutant = mutate(plain, choice);
    if (mutant.items.empty() || !is_mutant_of(mutant)) continue;  // A fresh program.
    ++counts["mutant"];
    std::map<std::string, bool> has;
    int dispatch_count = 0;
    int barrier_count = 0;
    int same_operand_count = 0;
    for (const ItemDraft& item : mutant.items) {
      if (const auto* dispatch = std::get_if<DispatchDraft>(&item)) {
        ++dispatch_count;
        has["partial"] |= dispatch->is_partial;
        for (const OperandDraft& operand : dispatch->operands) {
          has["update"] |= operand.mode == AccessMode::kUpdate;
          has["atomic"] |= operand.mode == AccessMode::kAtomic;
          same_operand_count += operand.name == "b" && operand.slice == ByteRange{8, 16};
          has["range"] |= operand.slice && !(*operand.slice == ByteRange{8, 16});
        }
      } else if (const auto* barrier = std::get_if<BarrierDraft>(&item)) {
        ++barrier_count;
        has["execution"] |= barrier->kind == BarrierKind::kExecution;
      } else if (const auto* tensor = std::get_if<TensorDraft>(&item)) {
        has["donation"] |= tensor->placement == Placement::kDonation;
        has["view"] |= tensor->placement == Placement::kView;
        has["moved"] |= tensor->placement == Placement::kPlaced && tensor->offset_bytes % 16 != 0;
      }
    }
    has["no output"] = positions_of<OutputDraft>(mutant).empty();
    has["fewer dispatches"] = dispatch_count < 3;
    has["more dispatches"] = dispatch_count > 3;
    has["operand again"] = dispatch_count == 3 && same_operand_count > 1;
    has["fewer barriers"] = barrier_count < 1;
    has["more barriers"] = barrier_count > 1;
    has["another order"] = labels_of(mutant) != "d0 d1 d2 " && dispatch_count == 3;
    for (const auto& [change, is_there] : has) counts[change] += is_there;
  }
  const std::map<std::string, int> today = {{"another order", 232},  {"atomic", 40},
                                            {"donation", 72},        {"execution", 279},
                                            {"fewer barriers", 194}, {"fewer dispatches", 228},
                                            {"more barriers", 192},  {"more dispatches", 222},
                                            {"moved", 109},          {"mutant", 1357},
                                            {"no output", 213},      {"operand again", 14},
                                            {"partial", 41},         {"range", 389},
                                            {"update", 46},          {"view", 48}};
  for (const auto& [change, count] : today) {
    EXPECT_GE(counts[change], count * 2 / 3) << change;
    EXPECT_LE(counts[change], count * 3 / 2) << change;
  }
}

// One in four is fresh.
TEST(Mutator, GivesAFreshProgramNowAndThen) {
  SeededChoice choice(6);
  const ProgramDraft named = draft_of(parse("interlock 1\nmemory only 64\n").value());
  int fresh_count = 0;
  for (int i = 0; i < 1000; ++i) {
    const ProgramDraft mutant = mutate(named, choice);
    fresh_count += std::none_of(mutant.items.begin(), mutant.items.end(), [](const auto& item) {
      const auto* memory = std::get_if<MemoryDraft>(&item);
      return memory != nullptr && memory->name.ends_with("only");
    });
  }
  EXPECT_GT(fresh_count, 180);
  EXPECT_LT(fresh_count, 320);
}

// Mutants of programs with captures, with lifetimes and with scoped barriers have them, too, now
// and then twice; others do not get them.
TEST(Mutator, BringsReplaysAndScopesOnlyWhereThereAreSome) {
  const std::string body =
      "tensor x f32[4] = random(1)\ntensor y f32[4]\ncapture c\ndispatch silu reads x writes y\n"
      "end\nreplay c\nbarrier compute.write -> compute.read\nreplay c\n";
  const ProgramDraft draft = draft_of(parse("interlock 1\n" + body).value());
  const ProgramDraft plain = draft_of(
      parse("interlock 1\nmemory a 64\ndispatch K reads a\nbarrier\ndispatch K reads a\n").value());
  SeededChoice choice(7);
  int three_replays = 0;
  int two_scopes = 0;
  for (int i = 0; i < 1000; ++i) {
    const Program mutant = lenient_build(mutate(draft, choice));
    three_replays += mutant.replays.size() > 2;
    int scope_count = 0;
    for (const Barrier& barrier : mutant.barriers)
      scope_count += barrier.kind == BarrierKind::kScoped;
    two_scopes += scope_count > 1;
    const Program other = lenient_build(mutate(plain, choice));
    EXPECT_TRUE(other.replays.empty());
    for (const Barrier& barrier : other.barriers) EXPECT_NE(barrier.kind, BarrierKind::kScoped);
  }
  EXPECT_GT(three_replays, 30);
  EXPECT_GT(two_scopes, 30);
}

TEST(LenientBuild, LeavesOutTheItemsThatDoNotFitAndWhatNamesThem) {
  ProgramDraft draft = draft_of(parse("interlock 1\nmemory a 64\ntensor x u8[4] at a+0 = iota\n"
                                      "tensor y u8[4] at a+8 = iota\n"
                                      "d0: dispatch K order=0 reads x\n"
                                      "d1: dispatch K order=1 reads y\n"
                                      "d2: dispatch K order=2 reads x\n")
                                    .value());
  std::get<TensorDraft>(draft.items[2]).offset_bytes = 2;  // Two values on one byte.
  draft.items.emplace_back(CaptureDraft{"open"});
  draft.items.push_back(draft.items[3]);
  EXPECT_FALSE(build(draft));
  EXPECT_EQ(print(lenient_build(draft)),
            "interlock 1\nmemory a 64\ntensor x u8[4] at a+0 = iota\n"
            "d0: dispatch K order=0 reads x\nd2: dispatch K order=2 reads x\n");
}

// The statements of a child are the first ones of one parent and then the last ones of the other,
// all lengths of either occur, and names are kept apart in every second one.
TEST(CrossOver, TakesAPrefixAndASuffix) {
  const auto parent = [](const std::string& kernel) {
    std::string text = "interlock 1\nmemory m0 64\n";
    for (int i = 0; i < 4; ++i) text += "dispatch " + kernel + std::to_string(i) + " reads m0\n";
    return draft_of(parse(text).value());
  };
  const ProgramDraft first = parent("First");
  const ProgramDraft second = parent("Second");
  SeededChoice choice(4);
  std::set<std::string> children;
  int apart_count = 0;
  for (int i = 0; i < 400; ++i) {
    const Program child = lenient_build(cross_over(first, second, choice));
    std::string kernels;
    for (const Dispatch& dispatch : child.dispatches) {
      kernels += child.name(dispatch.kernel_name);
      kernels += ' ';
    }
    children.insert(kernels);
    apart_count += child.memories.size() == 2;
  }
  std::set<std::string> expected;
  for (int head = 0; head <= 4; ++head) {
    for (int tail = 0; tail <= 4; ++tail) {
      std::string kernels;
      for (int i = 0; i < head; ++i) kernels += "First" + std::to_string(i) + " ";
      for (int i = tail; i < 4; ++i) kernels += "Second" + std::to_string(i) + " ";
      expected.insert(kernels);
    }
  }
  EXPECT_EQ(children, expected);
  EXPECT_GT(apart_count, 150);
  EXPECT_LT(apart_count, 250);
}

// What was being recorded where the prefix ends is closed, so that the suffix is executed.
TEST(CrossOver, ClosesARecordingThatThePrefixLeavesOpen) {
  const ProgramDraft first = draft_of(
      parse("interlock 1\nmemory m0 64\ncapture c\ndispatch A reads m0\nend\nreplay c\n").value());
  const ProgramDraft second =
      draft_of(parse("interlock 1\nmemory m0 64\ndispatch B reads m0\n").value());
  SeededChoice choice(8);
  int open_count = 0;
  for (int i = 0; i < 100; ++i) {
    const ProgramDraft child = cross_over(first, second, choice);
    bool is_recording = false;
    for (const ItemDraft& item : child.items) {
      if (std::holds_alternative<CaptureDraft>(item)) is_recording = true;
      if (std::holds_alternative<EndDraft>(item)) is_recording = false;
    }
    EXPECT_FALSE(is_recording);
    open_count +=
        positions_of<CaptureDraft>(child).size() > positions_of<ReplayDraft>(child).size();
  }
  EXPECT_GT(open_count, 20);
}

}  // namespace
}  // namespace interlock::mutator_test
