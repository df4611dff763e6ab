// Guide: which programs a guided campaign goes on from. Runs go in generations. Whatever reached a
// cell (cells.h) that no run before it had reached is a parent of all later generations, whose runs
// are, one half, mutants of parents, and the other the programs of the generator that an unguided
// campaign has. So a run is a function of the seed and of what earlier generations came to, which
// the journal tells; neither the number of jobs nor a kill can be seen in it.
//
// The first generation is that of an unguided campaign, or has mutants of the corpus alone. What it
// reaches is counted once a second one begins, by making its programs again: so a campaign that
// ends before costs no more than one without guidance. An encoder outside of this process is asked
// once, so there each run is counted as it is judged.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/program/draft.h"
#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/campaign/cells.h"
#include "fuzz/campaign/subject.h"

namespace interlock {

inline constexpr uint64_t kGenerationRuns = 256;  // But of the first.
// Of the folder of a campaign.
inline constexpr std::string_view kParentsFolder = "parents";
inline constexpr uint64_t kParentsMax = 4096;  // Of a seed; cells count beyond it, too.
// Of a folder: what each reached is kept.
inline constexpr size_t kGuidedSeedsMax = 128;

class Guide {
 public:
  // Requires: `options` outlives this. Its seed is that of the runs that are told or asked of.
  explicit Guide(const CampaignOptions& options);

  uint64_t first_generation_runs() const;

  // How many runs from this one on can be judged at once, whatever they come to.
  uint64_t runs_at_once(uint64_t run_index) const;

  // Whether the run is of the first generation, and what that reaches is counted later.
  bool is_counted_later(uint64_t run_index) const {
    return counts_later_ && run_index < first_generation_runs();
  }

  // Whether there is something that the run, or any before it, needs counted first.
  bool waits_for_count(uint64_t run_index) const {
    return counts_later_ && run_index >= first_generation_runs() && !state().is_counted;
  }

  // Counts what the first generation reached, and takes it, as take() does. A stop of the campaign
  // ends it early, without effect. Cost: some 15 microseconds for a program of 16 dispatches.
  // Errors: as take().
  Result<Success> count_first_generation(const Subject& subject, bool is_told);

  // The program of the run, of the corpus or a mutant; none: that of the generator. May be called
  // from several threads. Requires: all earlier generations were taken, and nothing
  // waits_for_count().
  std::optional<Program> program_of_run(uint64_t run_index) const;

  // The cells that runs of this seed have reached by now.
  const CellSet& cells() const;

  // How many of them are branches of the encoder.
  uint64_t branch_cell_count() const { return state().branch_cell_count; }

  // Of runs in their order, leaves to each the cells that none before it has reached.
  void keep_only_new(std::span<RunOutcome> outcomes) const;

  // Takes what a run of `subject` came to, in the order of runs: the cells that it has are reached,
  // and if it has some it is a parent, whose file is written in the folder of the campaign unless
  // `is_told`. Errors: it cannot be written. So below.
  Result<Success> take(uint64_t run_index, const RunOutcome& outcome, const Subject& subject,
                       bool is_told);

  // Writes what is told and has no file, since a kill came between.
  Result<Success> end_recall();

  uint64_t parent_count() const;  // Without the corpus.

 private:
  struct Parent {
    uint64_t run_index = 0;
    ProgramDraft draft;
    std::string path;  // Empty: there is no folder.
    std::string text;
  };
  struct SeedState {
    bool is_counted = false;  // What the first generation reaches.
    CellSet cells;
    uint64_t branch_cell_count = 0;
    std::vector<Parent> parents;  // By run.
  };

  const SeedState& state() const;
  uint64_t generation_begin(uint64_t run_index) const;
  Result<Success> take_cells(uint64_t run_index, const RunOutcome& outcome, const Subject& subject,
                             bool is_told);
  size_t count_of_generation(const SeedState& state, uint64_t run_index) const;
  const ProgramDraft& candidate(const SeedState& state, size_t index) const;
  // Errors: there are kGuidedSeedsMax others.
  Result<Success> begin_seed();
  static Result<Success> write(const Parent& parent);

  const CampaignOptions& options_;
  const bool counts_later_;
  std::map<uint64_t, SeedState> states_;  // By seed.
};

}  // namespace interlock
