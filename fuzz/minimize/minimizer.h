// Minimizer: shrinks a program, in structure, to what a property needs. Every step removes or
// simplifies items of the draft and is kept only if the property still holds and the cost falls, so
// the end is a fixpoint: no single step that is tried makes the program smaller.
#pragma once

#include <cstdint>
#include <functional>

#include "encoder/plan/planner.h"
#include "encoder/program/draft.h"
#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "encoder/program/stop.h"
#include "encoder/sync/encoder.h"
#include "fuzz/judge/pass_chain.h"
#include "fuzz/judge/signature.h"
#include "simulator/facts/fact.h"

namespace interlock {

// Must be true of a program for it to be kept. Deterministic.
using ProgramPredicate = std::function<bool(const Program& program)>;

struct MinimizeProgress {
  uint64_t evaluation_count = 0;
  uint64_t dispatch_count = 0;  // Of the smallest program so far.
};

struct MinimizeOptions {
  SignatureDetail detail = SignatureDetail::kKernels;  // What minimize_fact() keeps.
  bool lists_possible = false;  // Hazards that are only possible are findings (FactOptions).
  // Names stay those of a person or a recorder: memories are not merged, and opaque kernels, labels
  // and declarations not renamed. What is left is as small otherwise.
  bool keeps_names = false;
  uint64_t evaluation_limit = 100'000;  // Of reductions; a slice is found before them.
  // minimize_program() starts at a slice (slice.h) where evaluating the whole program takes more
  // steps: a tenth of a second.
  uint64_t whole_steps_max = 1 << 26;
  Stop* stop = nullptr;  // Ends early with the smallest program so far. Null: the installed one.
  // Called for every step that is kept, and now and then between them.
  std::function<void(const MinimizeProgress&)> on_progress;
};

// Findings of a large program for which slices are looked at.
inline constexpr size_t kSlicedFactsMax = 16;

struct MinimizeReport {
  Program program;
  uint64_t evaluation_count = 0;  // Of the predicate.
  uint64_t step_count = 0;        // Steps that were kept.
  bool is_fixpoint = true;        // False: stopped early.
};

// What steps reduce, compared member by member; a step that is kept makes it strictly smaller.
struct ProgramCost {
  uint64_t statements = 0;
  uint64_t items = 0;    // Memories, tensors, outputs, initial values, operands.
  uint64_t kernels = 0;  // The sum of how complex each kernel is; attributes; partial, atomic.
  uint64_t bytes = 0;    // The sum of memory sizes, range sizes and shape extents.
  uint64_t offsets = 0;  // The sum of offsets.
  uint64_t letters = 0;  // The sum of name lengths, and of distance to canonical names.

  auto operator<=>(const ProgramCost&) const = default;
};
ProgramCost cost_of(const ProgramDraft& draft);

// Returns the smallest program reached for which `keeps` holds. Witness and expectations are
// dropped first: they speak of the program as it was. Requires: keeps(build(draft)). Cost:
// typically 50 to 700 evaluations.
MinimizeReport minimize(const ProgramDraft& draft, const ProgramPredicate& keeps,
                        const MinimizeOptions& options = {});

// Minimizes for the signature of `fact`, which judging with `encoder` (null: as it stands)
// gives, and keeps it observable if it is. Its pair of dispatches gets no kind of hazard that it
// does not have. The result is the program before encoding.
MinimizeReport minimize_fact(const Program& program, const EncoderEntry* encoder, const Fact& fact,
                             const MinimizeOptions& options = {});

// What `interlock minimize FILE` does: takes a finding of the program as it stands, minimizes for
// it, and attaches the evidence. The finding is what an `expect` line singles out besides missing
// sync (a gradient, else a clobber, …), else the first that is seen to be observable
// within kEvidenceStepsMax, else the first of all.
// Of a large program it is one of the first kSlicedFactsMax, observable in a slice, which is where
// the search starts; where no slice shows it, at the whole program.
// Errors: the program has no finding.
Result<MinimizeReport> minimize_program(const Program& program,
                                        const MinimizeOptions& options = {});

// Shrinks `program` as long as the passes still give it a finding of this signature, no finding of
// a kind that it did not have, and the reference chain none at all. Damage that the CPU shows
// stays. Requires: the passes give it such a finding.
// Defined in minimize_passes.cc.
MinimizeReport minimize_passes(const PassChain& chain, const Program& program,
                               const PlanOptions& plan, const std::string& signature,
                               const MinimizeOptions& options);

}  // namespace interlock
