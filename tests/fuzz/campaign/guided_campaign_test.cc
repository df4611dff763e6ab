// Guided campaigns: what reaches a new cell is a parent, mutants of parents are programs like any
// other, and what comes of it depends on the seed and the corpus alone.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "encoder/program/stop.h"
#include "encoder/queues/queue_encoder.h"
#include "encoder/sync/encoder.h"
#include "encoder/text/files.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/campaign/cells.h"
#include "fuzz/campaign/guide.h"
#include "fuzz/campaign/journal.h"
#include "fuzz/campaign/subject.h"
#include "fuzz/external/branch_counters.h"
#include "fuzz/judge/findings.h"
#include "simulator/bytes/byte_segments.h"
#include "tests/fuzz/campaign/campaign_folders.h"
#include "tests/program_count.h"

namespace interlock::guided_campaign_test {
namespace {

using campaign_folders::campaign_of;
using campaign_folders::Files;
using campaign_folders::files_in;
using campaign_folders::fresh_folder;
using campaign_folders::reported;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::UnorderedElementsAre;

CampaignOptions guided_campaign_of(std::string_view encoder, uint64_t run_count,
                                   const std::string& folder) {
  CampaignOptions options = campaign_of(encoder, run_count, folder);
  options.is_guided = true;
  options.unguided_run_count = kGenerationRuns;  // So that fewer programs will do.
  return options;
}

std::vector<std::string> cells_of(std::string_view text) {
  const Program program = parse(text).value();
  const Program encoded = encode(program, *find_encoder("mlx-2024")->create());
  const ByteSegments segments(encoded);
  ConflictNotes notes;
  ConflictObserver* const observers[] = {&notes};
  scan_conflicts(encoded, segments, observers);
  std::vector<std::string> names;
  for (const Cell cell : new_cells_of(encoded, notes, {}, {})) names.push_back(cell_name(cell));
  return names;
}

TEST(Cells, NameTheConflictAndWhatOrdersIt) {
  constexpr std::string_view kText =
      "interlock 1\nmemory a 64\nmemory b 64\nmemory c 64\n"
      "dispatch X writes c[0:4]\ndispatch X writes a[0:4]\ndispatch fill writes b[0:4] value=1\n"
      "dispatch Y reads a[0:8]\ndispatch Y writes b[0:4]\n"
      "dispatch Y reads b[0:4]\ndispatch Y reads a[0:4]\n";
  // A reader of `a` behind a barrier; the writer of `b` needs none of its own. A reader of `a`
  // behind one more, which that of `b` needed.
  EXPECT_THAT(cells_of(kText),
              IsSupersetOf({"RAW-overlap-Opaque-full", "RAW-overlap-full-after-1",
                            "WAW-same_range-fill-full", "WAW-same_range-full-after-2",
                            "RAW-same_range-several-after-1"}));
  // An encoder that misses a write after a read.
  EXPECT_THAT(cells_of("interlock 1\nmemory a 64\ndispatch X reads a[0:4]\n"
                       "dispatch X writes a[0:4]\n"),
              ElementsAre("WAR-same_range-Opaque-missed", "WAR-same_range-missed-after-0"));
  EXPECT_THAT(cells_of("interlock 1\nmemory a 64\ndispatch X reads a[0:4]\n"
                       "dispatch X reads a[0:4]\n"),
              IsEmpty());
}

// Of several queues: an edge, a signal that is waited for, the queue, or nothing of that.
TEST(Cells, NameWhatOrdersQueues) {
  const auto names_of = [](std::string_view text) {
    const Program program = parse(text, "it", {.reads_every_queue = true}).value();
    std::vector<std::string> names;
    for (const Cell cell : new_cells_of(program, CellSet())) names.push_back(cell_name(cell));
    return names;
  };
  EXPECT_THAT(
      names_of("interlock 1\np: queue serial\nq: queue serial\nmemory a 64\nmemory b 64\n"
               "dispatch X writes a[0:4] on p\ndispatch X writes b[0:4] on p\n"
               "signal s=1 on p\ndispatch Y writes b[4:8] on p\nwait s=1 on q\n"
               "dispatch Z reads b[0:4] on q\ndispatch Z reads b[4:8] on q\n"
               "dispatch Z writes a[0:4] on p\n"),
      UnorderedElementsAre("RAW-same_range-Opaque-signal", "RAW-same_range-signal-after-1",
                           "RAW-same_range-Opaque-indirect", "RAW-same_range-indirect-after-0",
                           "WAW-same_range-Opaque-queue", "WAW-same_range-queue-after-0"));
  EXPECT_THAT(names_of("interlock 1\ng: queue graph\nmemory a 64\n"
                       "A: dispatch X writes a[0:4] on g\nB: dispatch X reads a[0:4] after A on g\n"
                       "dispatch X writes a[0:4] after B on g\n"),
              IsSupersetOf({"RAW-same_range-Opaque-edge", "WAR-same_range-Opaque-edge",
                            "WAW-same_range-Opaque-indirect"}));
}

TEST(Cells, AreNewOnce) {
  CellSet known;
  uint64_t count = 0;
  for (const char* name : {"WAR-view-full-after-0", "RAW-view-full-after-32", "branch-0-0",
                           "branch-1000-7", "WAW-same_range-Opaque-missed"}) {
    const Cell cell = cell_of(name).value();
    EXPECT_EQ(cell_name(cell), name);
    EXPECT_FALSE(known.contains(cell));
    EXPECT_TRUE(known.add(cell));
    EXPECT_FALSE(known.add(cell));
    EXPECT_TRUE(known.contains(cell));
    EXPECT_EQ(known.size(), ++count);
  }
  for (const char* name :
       {"", "WAR", "WAR-view", "WAR-view-full", "WAR-view-full-after-3", "WAR-view-full-after-64",
        "WAR-view-no_kernel-full", "branch-1-8", "branch-99999999-1", "branch-01-1"}) {
    EXPECT_FALSE(cell_of(name)) << name;
  }
}

CampaignOptions guided_campaign_on_queues(std::string_view encoder, uint64_t run_count) {
  CampaignOptions options = guided_campaign_of("none", run_count, "");
  options.encoder = nullptr;
  options.queue_encoder = find_queue_encoder(encoder);
  options.unguided_run_count = 64;
  return options;
}

TEST(GuidedCampaign, LeavesTheSameFilesWhateverTheNumberOfJobs) {
  CampaignOptions on_queues = guided_campaign_on_queues("mlx-fences", is_slow_build() ? 80 : 150);
  for (CampaignOptions one : {guided_campaign_of("mlx-2024", 300, ""), on_queues}) {
    one.out_dir = fresh_folder("one");
    CampaignOptions two = one;
    two.out_dir = fresh_folder("two");
    two.job_count = 2;
    const CampaignReport first = reported(one);
    const CampaignReport second = reported(two);
    EXPECT_GT(first.cell_count, 20u);
    EXPECT_EQ(first.cell_count, second.cell_count);
    Files files = files_in(one.out_dir);
    EXPECT_EQ(files.size(), 1 + first.finds.size() + first.parent_count);
    EXPECT_EQ(files_in(two.out_dir), files);
    std::filesystem::remove_all(one.out_dir);
    std::filesystem::remove_all(two.out_dir);
  }
}

// Its file says which cells, and the journal that no run before it had them.
TEST(GuidedCampaign, KeepsWhatReachesANewCell) {
  const CampaignOptions options =
      guided_campaign_of("interlock", is_slow_build() ? 280 : 600, fresh_folder("parents"));
  const CampaignReport report = reported(options);
  EXPECT_THAT(report.finds, IsEmpty());
  const Files files = files_in(options.out_dir);
  EXPECT_EQ(files.size(), 1 + report.parent_count);
  JournalReader reader(files.at("campaign.journal"), "it");
  std::set<std::string> cells;
  std::set<uint64_t> parents;
  for (auto record = reader.next(); record && *record; record = reader.next()) {
    const auto* const block = std::get_if<JournalBlock>(&**record);
    if (block == nullptr) continue;
    for (size_t i = 0; i < block->outcomes.size(); ++i) {
      const RunOutcome& run = block->outcomes[i];
      for (const Cell cell : run.cells) {
        EXPECT_TRUE(cells.insert(cell_name(cell)).second) << cell_name(cell);
      }
      if (run.cells.empty()) continue;
      const uint64_t run_index = block->first_run + i;
      parents.insert(run_index);
      const std::string& text = files.at(fmt::format("parents/3-{}.ilk", run_index));
      EXPECT_THAT(text, HasSubstr("the first to reach " + cell_name(run.cells.front())));
      EXPECT_THAT(text, HasSubstr(fmt::format("--guided --seed=3 --runs={}\n", run_index + 1)));
      EXPECT_TRUE(parse(text));
    }
  }
  // What the first generation reached, the journal does not say.
  EXPECT_LT(cells.size(), report.cell_count);
  EXPECT_LT(parents.size(), report.parent_count);
  EXPECT_FALSE(parents.empty()) << "A mutant or a later program is a parent, too.";
  // Those of the first generation are had again by a campaign that goes on after it.
  bool is_any_first = false;
  for (uint64_t run = 0; run < kGenerationRuns; ++run) {
    const auto file = files.find(fmt::format("parents/3-{}.ilk", run));
    if (file == files.end()) continue;
    is_any_first = true;
    EXPECT_THAT(file->second,
                HasSubstr(fmt::format("--guided --seed=3 --runs={}\n", kGenerationRuns + 1)));
  }
  EXPECT_TRUE(is_any_first);
  std::string all_parents;
  for (const auto& [path, text] : files) all_parents += text.substr(0, text.find("memory"));
  EXPECT_THAT(all_parents, HasSubstr("-after-16"));
  std::filesystem::remove_all(options.out_dir);
}

RunOutcome outcome_with(std::string_view cell) {
  RunOutcome outcome;
  outcome.ran = true;
  outcome.cells = {cell_of(cell).value()};
  return outcome;
}

// The generator's programs in the first generation, and half of them later.
TEST(Guide, MutatesTheParentsOfEarlierGenerations) {
  CampaignOptions options = guided_campaign_of("interlock", 1, "");
  Guide guide(options);
  options.guide = &guide;
  const auto subject = subject_of(options);
  EXPECT_FALSE(guide.waits_for_count(kGenerationRuns - 1));
  EXPECT_TRUE(guide.waits_for_count(kGenerationRuns));
  ASSERT_TRUE(guide.count_first_generation(*subject, false));
  EXPECT_FALSE(guide.waits_for_count(kGenerationRuns));
  const uint64_t parent_count = guide.parent_count();
  EXPECT_GT(parent_count, 50u);
  for (uint64_t run = 0; run < kGenerationRuns; ++run) EXPECT_FALSE(guide.program_of_run(run));
  CampaignOptions unguided = options;
  unguided.guide = nullptr;
  const uint64_t end = 2 * kGenerationRuns;
  uint64_t mutant_count = 0;
  for (uint64_t run = kGenerationRuns; run < end; ++run) {
    const bool is_mutant = guide.program_of_run(run).has_value();
    mutant_count += is_mutant;
    const bool is_fresh = print(subject->draft(run)) == print(draft_of_run(unguided, run));
    EXPECT_EQ(is_fresh, !is_mutant) << run;
  }
  // Of 255 with even odds, but for mutants that are no programs.
  EXPECT_GT(mutant_count, 80u);
  EXPECT_LT(mutant_count, 160u);
  const std::string before = print(subject->draft(end - 2));
  // A parent of the same generation is for the next one, and cells that are known make none.
  ASSERT_TRUE(guide.take(kGenerationRuns, outcome_with("branch-1-0"), *subject, false));
  EXPECT_EQ(print(subject->draft(end - 2)), before);
  EXPECT_EQ(guide.parent_count(), parent_count + 1);
  std::vector<RunOutcome> outcomes = {outcome_with("branch-1-0"), outcome_with("branch-2-0"),
                                      outcome_with("branch-2-0")};
  guide.keep_only_new(outcomes);
  EXPECT_THAT(outcomes[0].cells, IsEmpty());
  EXPECT_THAT(outcomes[1].cells, ElementsAre(cell_of("branch-2-0").value()));
  EXPECT_THAT(outcomes[2].cells, IsEmpty());
}

// By making the programs again, and without judging them.
TEST(Guide, CountsLaterWhatIsCountedAsItIsJudged) {
  CampaignOptions options = guided_campaign_of("mlx-2024", 1, "");
  Guide guide(options);
  options.guide = &guide;
  const auto subject = subject_of(options);
  EXPECT_THAT(subject->judge(3).cells, IsEmpty());
  ASSERT_TRUE(guide.count_first_generation(*subject, false));
  uint64_t new_count = 0;
  for (uint64_t run = kGenerationRuns; run < kGenerationRuns + 64; ++run) {
    const std::vector<Cell> cells = subject->judge(run).cells;
    EXPECT_EQ(subject->new_cells(run, guide.cells()), cells) << run;
    new_count += !cells.empty();
  }
  EXPECT_GT(new_count, 10u);
}

// Whatever was made of it by then means nothing.
TEST(Guide, CountsNothingInPart) {
  CampaignOptions options = guided_campaign_of("none", 1, "");
  Stop stop;
  stop.request_at_poll(500);
  options.stop = &stop;
  Guide guide(options);
  options.guide = &guide;
  const auto subject = subject_of(options);
  ASSERT_TRUE(guide.count_first_generation(*subject, false));
  ASSERT_TRUE(stop.is_requested());
  EXPECT_TRUE(guide.waits_for_count(kGenerationRuns));
  EXPECT_EQ(guide.cells().size(), 0u);
  EXPECT_EQ(guide.parent_count(), 0u);
}

// Where nothing is mutated it is the campaign without guidance, and another one that goes further
// goes on from it as if it had been there from the beginning.
TEST(GuidedCampaign, IsAnUnguidedOneInItsFirstGeneration) {
  CampaignOptions options = guided_campaign_of("mlx-2024", 60, fresh_folder("first"));
  CampaignOptions unguided = options;
  unguided.is_guided = false;
  unguided.out_dir.clear();
  const CampaignReport first = reported(options);
  const CampaignReport other = reported(unguided);
  EXPECT_EQ(first.uncounted_run_count, kGenerationRuns);
  EXPECT_EQ(first.failing_run_count, other.failing_run_count);
  EXPECT_GT(first.failing_run_count, 0u);
  EXPECT_EQ(first.cell_count, 0u);
  EXPECT_FALSE(std::filesystem::exists(options.out_dir + "/parents"));
  options.run_count = kGenerationRuns + 30;
  const CampaignReport longer = reported(options);
  EXPECT_EQ(longer.uncounted_run_count, 0u);
  Files files = files_in(options.out_dir);
  CampaignOptions at_once = options;
  at_once.out_dir = fresh_folder("at_once");
  EXPECT_EQ(reported(at_once).cell_count, longer.cell_count);
  Files files_at_once = files_in(at_once.out_dir);
  files.erase("campaign.journal");
  files_at_once.erase("campaign.journal");
  EXPECT_EQ(files, files_at_once);
  EXPECT_GT(longer.parent_count, 50u);
  std::filesystem::remove_all(options.out_dir);
  std::filesystem::remove_all(at_once.out_dir);
}

// Mutants whose operands may not overlap as they do are nobody's finding.
TEST(GuidedCampaign, FindsNothingInARightEncoder) {
  for (const char* encoder : {"interlock", "interlock-scoped", "ggml-vulkan-reorder"}) {
    CampaignOptions options = guided_campaign_of(encoder, proof_count(20'000, 500, 5), "");
    options.oracles.judges_excess = std::string(encoder) == "interlock";
    const CampaignReport report = reported(options);
    for (const std::string& disagreement : report.disagreements) ADD_FAILURE() << disagreement;
    EXPECT_EQ(report.failing_run_count, 0u) << encoder;
    for (const CampaignFind& find : report.finds) ADD_FAILURE() << find.text;
  }
}

TEST(GuidedCampaign, FindsNothingInARightEncoderForSeveralQueues) {
  for (const QueueEncoderEntry& encoder : queue_encoder_registry()) {
    if (encoder.is_broken) continue;
    const auto run_count = static_cast<uint64_t>(proof_count(20'000, 400, 5));
    const CampaignReport report = reported(guided_campaign_on_queues(encoder.name, run_count));
    for (const std::string& disagreement : report.disagreements) ADD_FAILURE() << disagreement;
    for (const CampaignFind& find : report.finds) ADD_FAILURE() << find.text;
    EXPECT_GT(report.parent_count, 20u) << encoder.name;
  }
}

// Of what is loaded, while it is counted: guards of others count nothing.
TEST(BranchCounters, TellWhichWereTakenAndAboutHowOften) {
  BranchCounters counters;
  uint8_t inline_counters[20] = {};
  uint32_t guards[3] = {};
  uint32_t guards_of_others[2] = {};
  counters.add_guards(guards_of_others, guards_of_others + 2);
  EXPECT_FALSE(counters.has_some());
  counters.begin_loading();
  counters.add_counters(inline_counters, inline_counters + 20);
  counters.add_guards(guards, guards + 3);
  counters.end_loading();
  EXPECT_TRUE(counters.has_some());
  EXPECT_EQ(guards_of_others[1], 0u);
  counters.count_guard(guards[0]);  // Not yet.
  counters.begin_counting(1000);
  EXPECT_THAT(counters.taken(), IsEmpty());
  inline_counters[1] = 1;
  inline_counters[19] = 200;
  counters.count_guard(guards_of_others[1]);
  for (int i = 0; i < 5; ++i) counters.count_guard(guards[2]);
  counters.count_place(1000);
  counters.count_place(1004);
  // Twenty, then one for each guard and one that none has, then places of code.
  EXPECT_THAT(counters.taken(),
              ElementsAre(1 * 8 + 0, 19 * 8 + 7, 23 * 8 + 3, 24 * 8 + 0, 28 * 8 + 0));
  counters.clear();
  EXPECT_THAT(counters.taken(), IsEmpty());
  counters.end_counting();
  counters.count_place(1000);
  EXPECT_THAT(counters.taken(), IsEmpty());
}

}  // namespace
}  // namespace interlock::guided_campaign_test
