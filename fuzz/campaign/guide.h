// Guide: which programs a guided campaign goes on from. Runs go in generations. Whatever reached a
// cell (cells.h) that no run before it had reached is a parent of all later generations, whose runs
// are, one half, mutants of parents, and the other the programs of the generator that an unguided
// campaign has. So a run is a function of the seed and of what earlier generations came to, which
// the journal tells; neither the number of jobs nor a kill can be seen in it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "encoder/program/draft.h"
#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/campaign/cells.h"
#include "fuzz/campaign/subject.h"

namespace interlock {

inline constexpr uint64_t kGenerationRuns = 256;
inline constexpr uint64_t kParentsMax = 4096;  // Of a seed; cells count beyond it, too.

class Guide {
 public:
  // Requires: `options` outlives this. Its seed is that of the runs that are told or asked of.
  explicit Guide(const CampaignOptions& options);

  // How many runs from this one on do not depend on each other.
  static uint64_t rest_of_generation(uint64_t run_index) {
    return kGenerationRuns - run_index % kGenerationRuns;
  }

  // The program of the run, of the corpus or a mutant; none: that of the generator. May be called
  // from several threads. Requires: all earlier generations were taken.
  std::optional<Program> program_of_run(uint64_t run_index) const;

  // The cells that runs of this seed have reached by now.
  const CellSet& cells() const;

  // How many of them are branches of the encoder.
  uint64_t branch_cell_count() const { return state().branch_cell_count; }

  // Of runs in their order, leaves to each the cells that none before it has reached.
  void keep_only_new(std::span<RunOutcome> outcomes) const;

  // Takes what a run of `subject` came to, in the order of runs: its cells are reached, and if it
  // has some it is a parent, whose file is written in the folder of the campaign unless `is_told`.
  // Errors: it cannot be written. So below.
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
    CellSet cells;
    uint64_t branch_cell_count = 0;
    std::vector<Parent> parents;  // By run.
  };

  const SeedState& state() const;
  size_t count_of_generation(const SeedState& state, uint64_t run_index) const;
  const ProgramDraft& candidate(const SeedState& state, size_t index) const;
  static Result<Success> write(const Parent& parent);

  const CampaignOptions& options_;
  std::map<uint64_t, SeedState> states_;  // By seed.
};

}  // namespace interlock
