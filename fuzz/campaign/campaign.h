// Campaign: generates programs from a seed, judges each with the oracle stack, and keeps one
// minimized, replayable file per cause. Every run is a function of (seed, run number), so a find
// reproduces alone, and the files do not depend on the number of jobs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "encoder/program/stop.h"
#include "encoder/queues/queue_encoder.h"
#include "encoder/sync/encoder.h"
#include "fuzz/generate/generator.h"
#include "fuzz/judge/cause.h"
#include "fuzz/judge/oracles.h"
#include "fuzz/judge/pass_chain.h"
#include "fuzz/judge/queue_judges.h"
#include "simulator/facts/fact.h"

namespace interlock {

// In how many runs a signature was seen.
struct SignatureCount {
  std::string signature;
  uint64_t run_count = 0;
};

struct CampaignFind {
  std::string signature;  // With kernels.
  Cause cause;  // The file is out_dir/<its name>.ilk; with all signatures <signature>.ilk.
  std::vector<SignatureCount> signatures;  // With this cause, its own too; the most frequent first.
  uint64_t seed = 1;
  uint64_t run_index = 0;
  Program program;           // Minimized, as the encoder under test encoded it, with evidence.
  Program given;             // To the encoder or the passes: the minimized program.
  PlanOptions plan;          // With it, to passes.
  std::string text;          // What the file holds: comment lines and the program.
  std::string path;          // Empty if nothing was written.
  std::optional<Fact> fact;  // Of `program`; none if no exact check of accesses found it.
  bool is_observable = false;
  bool differs_on_cpu = false;
  bool is_better_one = false;            // Another find of its cause was saved before it.
  bool is_known = false;                 // An earlier campaign of the folder has found its cause.
  uint64_t original_dispatch_count = 0;  // Both without what a `backward` statement appends.
  uint64_t dispatch_count = 0;           // Of `program`.
  std::vector<std::string> notes;        // Further comment lines of the file.
  // What a pass of others did instead of giving an answer, or the same one twice: sentences.
  // Then `program` is `given`. Empty: it answered.
  std::string failure;
};

// A run that the device did not execute: it was lost, or silent, or its process died.
struct DeviceFailure {
  uint64_t run_index = 0;
  std::string message;  // A complete sentence.
  std::string path;     // The program, as it was given to the device; empty if nothing was written.
};

// What a device made of the programs of a campaign.
struct DeviceSummary {
  uint64_t program_count = 0;  // Executed to the end.
  uint64_t refused_count = 0;  // The device lacks what they need.
  uint64_t failure_count = 0;
  std::vector<DeviceFailure> failures;  // The first of them.
  bool is_given_up = false;             // Too many failures in a row; the campaign ended with that.
  uint64_t schedule_count = 0;          // In witness mode.
  uint64_t predicted_output_count = 0;  // As in DeviceReport.
  uint64_t diverging_output_count = 0;
  uint64_t judged_dispatch_count = 0;
  double bound_ratio_max = 0;
  uint64_t clean_trial_count = 0;   // In overlap mode, of programs without a hazard.
  uint64_t hazard_trial_count = 0;  // Of programs with one.
  uint64_t hazard_divergence_count = 0;
  uint64_t hazard_program_count = 0;
  uint64_t diverging_program_count = 0;  // Of those, that diverged in any trial.
};

struct CampaignProgress {
  uint64_t run_count = 0;          // Those that the journal told of, too.
  uint64_t planned_run_count = 0;  // 0: the campaign ends by time.
  uint64_t failing_run_count = 0;  // Runs with a finding, known signatures too.
  uint64_t find_count = 0;         // Distinct, kept.
  // Findings by cause, the most frequent first; with all signatures by signature.
  std::vector<SignatureCount> findings;
  // Signatures seen: kinds of hazard x relations x kernels; of a guided campaign those of cells.h.
  uint64_t cell_count = 0;
  double seconds = 0;             // Of this process,
  uint64_t judged_run_count = 0;  // which judged so many.
  double seconds_left = 0;        // Of a campaign that ends by time.
  double seconds_since_new = 0;   // Since a cell or a find was new; in this process.
};

struct JournalBlock;
class Guide;

struct CampaignOptions {
  const EncoderEntry* encoder =
      nullptr;  // Null: programs as they stand, with barriers of their own.
  const QueueEncoderEntry* queue_encoder = nullptr;  // If some, in its place.
  // If some: unplanned programs go through these passes, then through the encoder, and are compared
  // with what the reference chain makes of them (pass_chain.h). Not both of the first two. With
  // `generator.has_queues`, or a queue encoder, a planner that takes queues alone: programs are put
  // on several queues first, by that encoder or by a right one that each run draws.
  const BackwardEntry* backward = nullptr;
  const ReplayEntry* replay = nullptr;
  const PlannerEntry* planner = nullptr;
  uint64_t seed = 1;
  uint64_t first_run = 0;  // Run numbers first_run, first_run + 1, …
  uint64_t run_count = 10'000;
  // Of a shard (merge.h), the runs of the campaign that it is a part of; else 0.
  uint64_t whole_begin = 0;
  uint64_t whole_end = 0;
  std::string shard;   // "I/N" of it.
  double seconds = 0;  // If positive: until then, and run_count does not count.
  // Created if missing. Empty: nothing is written. With a journal (journal.h), from which the same
  // campaign goes on where it was ended or killed; others of the same subject, with another seed,
  // say, add to what was found, and do no run again.
  std::string out_dir;
  uint32_t job_count = 1;
  // Stop after so many distinct finds; 0: never. A find that no output shows counts after 1024 more
  // runs: they may have one that an output shows.
  uint64_t find_limit = 0;
  // One find per signature instead of one per cause. So it is with programs as they stand, whose
  // barriers nobody is to blame for.
  bool keeps_all_signatures = false;
  // What else the command line must say to ask the same passes, as " --exec-timeout=2".
  std::string encoder_flags;
  // Of passes that are not part of this build: what tells them from the same ones changed; else 0.
  uint64_t encoder_digest = 0;
  uint64_t finds_per_shape = 3;  // Kernel pairs looked at per (kind, scope, alias shape).
  GeneratorOptions generator;
  OracleOptions oracles;           // `encoder` in it is overwritten.
  QueueJudgeOptions queue_judges;  // Of programs of several queues as they stand.
  // Programs that reach what none before them has are kept, and mutated (guide.h). Requires: an
  // encoder, for one queue or for several, without other passes and without a device; first_run is
  // 0.
  bool is_guided = false;
  // With it: before so many runs nothing is mutated, for the generator finds most bugs sooner; with
  // a corpus it does not count. No option of the command line.
  uint64_t unguided_run_count = 1024;
  // Likewise: these are the first programs (corpus.h), as --corpus=NAME gives them.
  std::vector<ProgramDraft> corpus;
  std::string corpus_name;
  uint64_t corpus_digest = 0;
  const Guide* guide = nullptr;  // Set by the campaign.
  // If some, runs are not judged: this gives what they came to elsewhere, block by block in their
  // order, and none after the last (merge.h).
  std::function<Result<std::optional<JournalBlock>>()> next_block;
  Stop* stop = nullptr;  // For ^C: ends soon, with what was found saved.
  // Called from the calling thread, some 10 times a second at most.
  std::function<void(const CampaignProgress&)> on_progress;
  // Called once before the first run, if the journal tells of runs of this campaign or of finds.
  std::function<void(const CampaignProgress&)> on_recall;
  // Called after each write of the journal: where tests end the process.
  std::function<void()> on_journal_write;
  // Called from the calling thread as each find is saved, in order of run_index; and as a better
  // one of its cause takes its place.
  std::function<void(const CampaignFind&)> on_find;
  // Likewise, as each program is saved that the device failed on.
  std::function<void(const DeviceFailure&)> on_device_failure;
};

struct CampaignReport {
  uint64_t run_count = 0;
  uint64_t failing_run_count = 0;
  uint64_t cpu_run_count = 0;
  std::vector<CampaignFind> finds;  // Those of earlier campaigns of the folder, too.
  DeviceSummary device;
  bool was_complete = false;  // The journal says that the campaign had come to its end.
  // Bugs of Interlock itself; each with the run, the stage and, if one was written, the file of the
  // minimized program. The campaign stops at the first.
  std::vector<std::string> disagreements;
  bool was_stopped = false;
  // A pass that is no part of this build hung too often, and is not asked any more: the campaign
  // ended with that, and the same one goes on where it was.
  bool is_given_up = false;
  // Of a guided campaign: it ended within so many runs, and what they reach was not counted. Else
  // 0, and of the runs of its seed: cells reached, programs kept for that; and how many of the
  // cells are branches of the encoder.
  uint64_t uncounted_run_count = 0;
  uint64_t cell_count = 0;
  uint64_t parent_count = 0;
  uint64_t branch_cell_count = 0;
};

// A device that fails is opened anew for the next program, so the finds are those of a campaign
// without the failure. After five failures in a row the campaign ends.
// Errors: out_dir cannot be created or written, or its journal not be read (journal.h).
Result<CampaignReport> run_campaign(const CampaignOptions& options);

// The draft that run `run_index` of a campaign judges, or puts its passes to; of a guided one, that
// of the generator.
ProgramDraft draft_of_run(const CampaignOptions& options, uint64_t run_index);

PassChain chain_of(const CampaignOptions& options);

}  // namespace interlock
