// What a finding is shown by: never by more than it is, and never by what shows nothing.
#include "fuzz/judge/evidence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "backends/registry.h"
#include "encoder/assemble/build.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/judge/findings.h"
#include "fuzz/judge/replay.h"
#include "fuzz/minimize/minimizer.h"
#include "simulator/schedules/displacements.h"
#include "tests/program_count.h"

namespace interlock::evidence_test {
namespace {

Program parsed(const std::string& text) {
  auto program = parse("interlock 1\n" + text);
  EXPECT_TRUE(program) << program.error().message;
  return std::move(program).value();
}

// "rR": the kinds of those hazards that lie between the two dispatches, a letter each.
std::string kinds_among(const std::vector<Hazard>& hazards, const FactPlace& place) {
  std::string kinds;
  for (const Hazard& hazard : hazards) {
    const bool is_pair = hazard.first.dispatch == place.first.dispatch &&
                         hazard.second.dispatch == place.second->dispatch;
    if (is_pair) kinds += "RrW"[static_cast<size_t>(hazard.kind)];
  }
  std::sort(kinds.begin(), kinds.end());
  kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
  return kinds;
}

std::string listed_kinds(const Program& program, const Fact& fact) {
  return kinds_among(find_hazards(program, HappensBefore(program)).hazards,
                     place_of(program, fact));
}

std::string all_kinds(const Program& program, const Fact& fact) {
  return kinds_among(find_all_hazards(program, HappensBefore(program)).hazards,
                     place_of(program, fact));
}

bool are_among(const std::string& kinds, const std::string& allowed) {
  return std::includes(allowed.begin(), allowed.end(), kinds.begin(), kinds.end());
}

// True iff the minimized program has the finding, of a pair with none but these kinds.
bool keeps_kinds(const Program& small, const std::string& signature, const std::string& listed,
                 const std::string& all) {
  for (const Fact& other : find_exactly(small)) {
    const bool is_kept = signature_of(small, other) == signature &&
                         are_among(listed_kinds(small, other), listed) &&
                         are_among(all_kinds(small, other), all);
    if (is_kept) return true;
  }
  return false;
}

// Of the first finding of each run, and of all whose pair has kinds that others hide: what hides
// them may go, so that they would come to light in what is left.
TEST(Evidence, ShrinksAPairToNoKindThatItDidNotHave) {
  CampaignOptions options;
  options.encoder = find_encoder("none");
  options.seed = 5;
  int hidden_count = 0;
  for (uint64_t run = 0; run < (is_slow_build() ? 5 : 31); ++run) {
    const Program program = build(draft_of_run(options, run)).value();
    const Program encoded = encode_with(program, options.encoder);
    bool is_first = true;
    for (const Fact& fact : find_exactly(encoded)) {
      if (!std::holds_alternative<Hazard>(fact)) continue;
      const std::string listed = listed_kinds(encoded, fact);
      const std::string all = all_kinds(encoded, fact);
      hidden_count += listed != all;
      if (listed == all && !is_first) continue;
      is_first = false;
      const std::string signature = signature_of(encoded, fact);
      const Program small = minimize_fact(program, options.encoder, fact).program;
      EXPECT_TRUE(keeps_kinds(encode_with(small, options.encoder), signature, listed, all))
          << "Run " << run << ": " << signature << " had " << listed << " of " << all << "\n"
          << print(small);
    }
  }
  EXPECT_GE(hidden_count, is_slow_build() ? 10 : 30);
}

// Of programs whose order is another one than the text's, what a schedule changes may be what was
// wrong before: then a replay, which compares with program order, shows nothing.
TEST(Evidence, HasOfTheCpuWhatAReplayShows) {
  const CampaignOptions options;
  int reordered_count = 0;
  int shown_count = 0;
  for (uint64_t run = 0; reordered_count < (is_slow_build() ? 10 : 60); ++run) {
    const Program program = build(draft_of_run(options, run)).value();
    const std::vector<Fact> facts = find_exactly(program);
    const bool is_reordered = std::any_of(facts.begin(), facts.end(), [](const Fact& f) {
      return std::holds_alternative<ReorderedRead>(f);
    });
    if (!is_reordered || find_exactly(program).empty()) continue;
    const HappensBefore order(program);
    for (const Fact& fact : facts) {
      if (!std::holds_alternative<Hazard>(fact)) continue;
      const Evidence evidence = find_evidence(program, fact, EvidenceLevel::kBackend);
      if (evidence.level < EvidenceLevel::kShadow) continue;
      const auto report = replay(program, schedule_of(program, order, evidence.witness).value(),
                                 *find_backend("cpu"));
      ASSERT_TRUE(report) << report.error().message;
      ++reordered_count;
      if (evidence.level < EvidenceLevel::kBackend) continue;
      ++shown_count;
      EXPECT_TRUE(report->diverges) << run << "\n" << print(program);
    }
  }
  EXPECT_GT(shown_count, reordered_count / 4);
}

// The reverse: late is right, and issue order is what differs.
TEST(Evidence, IsOfTheShadowMachineAloneWhereTheWitnessIsProgramOrder) {
  const Program program = parsed(
      "memory a 4\nmemory b 4\n"
      "w: dispatch W order=1 writes a\n"
      "r: dispatch R order=0 reads a writes b\n");
  const std::vector<Fact> facts = find_exactly(program);
  const auto hazard =
      std::find_if(facts.begin(), facts.end(), [](const Fact& f) { return is_hazard(kind_of(f)); });
  ASSERT_NE(hazard, facts.end());
  const Evidence evidence = find_evidence(program, *hazard, EvidenceLevel::kBackend);
  EXPECT_EQ(evidence.level, EvidenceLevel::kShadow);
  EXPECT_FALSE(evidence.witness.empty());
}

// Runs that would take more steps than there are left are not made: the machine, its two runs, and
// those of the CPU.
TEST(Evidence, IsWhatTheStepsSufficeFor) {
  const Program program =
      parsed("memory a 64\nmemory b 64\ndispatch A reads a writes b[0:4]\ndispatch B writes a\n");
  const Fact fact = find_exactly(program).front();
  const uint64_t cpu_steps = 2 * execution_steps(program);
  EXPECT_EQ(execution_steps(program), 64u + 64 + 64 + 4 + 64);
  EXPECT_EQ(find_evidence(program, fact, EvidenceLevel::kBackend).level, EvidenceLevel::kBackend);
  uint64_t enough = 1000 + cpu_steps;
  EXPECT_EQ(find_evidence(program, fact, EvidenceLevel::kBackend, &enough).level,
            EvidenceLevel::kBackend);
  EXPECT_GT(enough, 0u);
  for (uint64_t steps : {uint64_t{0}, uint64_t{3 * 64}, 3 * 64 + cpu_steps - 1}) {
    const EvidenceLevel level = steps <= 3 * 64 ? EvidenceLevel::kExact : EvidenceLevel::kShadow;
    EXPECT_EQ(find_evidence(program, fact, EvidenceLevel::kBackend, &steps).level, level);
    EXPECT_EQ(steps, 0u);
  }
}

}  // namespace
}  // namespace interlock::evidence_test
