// Subject: what a campaign puts to the test. An encoder is one, a chain of passes the other
// (encoder_subject.cc, queue_subject.cc, queue_program_subject.cc, pass_subject.cc); the campaign
// and the keeper of its finds know this only. Everything of a run is a function of the options and
// the run number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "encoder/program/draft.h"
#include "encoder/program/finding_kind.h"
#include "encoder/program/program.h"
#include "encoder/sync/external_encoder.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/campaign/cells.h"
#include "fuzz/judge/cause.h"
#include "fuzz/judge/oracles.h"
#include "fuzz/minimize/minimizer.h"
#include "simulator/facts/fact.h"

namespace interlock {

inline constexpr size_t kCacheLineBytes = 64;

// What is kept of one run; most runs leave nothing. Neighbours are those of other workers, who must
// not wait for each other's cache lines.
struct RunOutcome {
  alignas(kCacheLineBytes) bool ran = false;
  bool ran_on_cpu = false;
  // A pass of others hung too often before, and is not asked any more: then `ran` is false.
  bool is_not_asked = false;
  std::vector<std::string> signatures;  // Distinct, in the order of the facts.
  std::vector<Cell> cells;              // That no run before it reached (guide.h).
  std::vector<InternalDisagreement> disagreements;
  bool has_hazard = false;
  DeviceReport device;

  // Adds the signature unless it is there, and notes hazards.
  void add(const Fact& fact, std::string signature);
  void add(std::string signature);
  // Adds the word of the failure, or notes that nothing was asked.
  void add(const EncodeFailure& failure);
};

struct MinimizedDisagreement {
  Program program;  // As it was judged.
  uint64_t original_dispatch_count = 0;
};

// Any function but cause_of() may be called from several threads.
class Subject {
 public:
  // Requires: `options` outlives this.
  explicit Subject(const CampaignOptions& options) : options_(options) {}
  virtual ~Subject() = default;

  // The draft of a run, before the subject has seen it.
  virtual ProgramDraft draft(uint64_t run_index) const = 0;

  virtual RunOutcome judge(uint64_t run_index) const = 0;

  // Of a guided campaign: the cells of a run, judged or not, that `known` has not. None where a
  // stop came.
  virtual std::vector<Cell> new_cells(uint64_t /*run_index*/, const CellSet& /*known*/) const {
    return {};
  }

  // Of a run that has the signature: its program made small, with evidence.
  virtual CampaignFind minimized_find(uint64_t run_index, const std::string& signature) const = 0;

  // The program of a run as it was judged. Requires: it has been.
  Program program(uint64_t run_index) const;

  // The smallest program found on which the same stage disagrees.
  // Requires: the draft of the run builds, and that stage disagrees on it.
  MinimizedDisagreement minimized_disagreement(uint64_t run_index, OracleStage stage) const;

  // What the find is due to. Requires: minimized_find() made it.
  virtual Cause cause_of(const CampaignFind& find) = 0;

  // Whether there is anybody whom a find can be blamed on; else each signature is kept.
  virtual bool has_causes() const = 0;

  // Whether finds of one signature have one cause.
  virtual bool has_one_cause_per_signature() const = 0;

  // Whether an output of an execution can show a finding of this kind.
  virtual bool can_show(FindingKind kind) const = 0;

  // Whether the programs run on devices.
  virtual bool runs_on_devices() const = 0;

  // Whether excess barriers are its doing.
  virtual bool counts_barriers() const { return false; }

 protected:
  using Judgement = std::function<std::vector<InternalDisagreement>(const Program& given)>;

  const CampaignOptions& options() const { return options_; }

  // In a guided campaign: the program of the run, of the corpus or a mutant. None: the generator
  // makes it.
  std::optional<Program> guided_program(uint64_t run_index) const;
  // Likewise: whether what the run reaches is counted as it is judged.
  bool counts_cells(uint64_t run_index) const;
  // Operands of one dispatch that may not overlap are the program's doing, and the generator's
  // never are: a mutant is no case for an encoder then.
  bool breaks_contract(const std::vector<Fact>& facts) const;

  OracleOptions oracles() const;
  MinimizeOptions minimize_options() const;

 private:
  // What the subject makes of the program, with what else the run draws; nothing where it has an
  // error.
  virtual std::optional<Program> made_of(const Program& given, uint64_t run_index) const = 0;
  // Judges programs as those of the run are judged; what else the run draws is drawn once.
  virtual Judgement judgement_of(uint64_t run_index) const = 0;

  const CampaignOptions& options_;
};

// Requires: `options` outlives what is returned. So below.
std::unique_ptr<Subject> subject_of(const CampaignOptions& options);

// Of an encoder, or of programs of one queue as they stand; of an encoder for several queues; of
// programs of several queues as they stand; of other passes. What subject_of() selects from.
std::unique_ptr<Subject> encoder_subject(const CampaignOptions& options);
std::unique_ptr<Subject> queue_subject(const CampaignOptions& options);
std::unique_ptr<Subject> queue_program_subject(const CampaignOptions& options);
std::unique_ptr<Subject> pass_subject(const CampaignOptions& options);

// Of the generators of a run. Runs of neighbouring seeds and numbers have nothing in common.
uint64_t seed_of_run(uint64_t seed, uint64_t run_index);

}  // namespace interlock
