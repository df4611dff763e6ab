// Reduction: the state of one minimization, and the passes that propose smaller drafts to it. A
// pass proposes; attempt() alone decides.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "encoder/program/draft.h"
#include "fuzz/minimize/minimizer.h"

namespace interlock {

class Reduction {
 public:
  // Requires: the predicate holds for `draft`.
  Reduction(ProgramDraft draft, const ProgramPredicate& keeps, const MinimizeOptions& options);

  // The smallest draft so far.
  const ProgramDraft& current() const { return current_; }

  // Takes the candidate over iff it costs less, builds, and the predicate holds for it.
  bool attempt(ProgramDraft candidate);

  // True once the budget is spent or a stop was asked for; passes then return.
  bool is_over() const;

  uint64_t evaluation_count() const { return evaluation_count_; }
  uint64_t step_count() const { return step_count_; }

 private:
  ProgramDraft current_;
  ProgramCost cost_;
  const ProgramPredicate& keeps_;
  const MinimizeOptions& options_;
  uint64_t evaluation_count_ = 0;
  uint64_t step_count_ = 0;
};

// reduction_structure.cc: less of everything.
void drop_statements(Reduction& reduction);  // All kinds of them, in halves, then singly.
void drop_captures(Reduction& reduction);    // With all replays; with one, what it stands for.
void drop_outputs(Reduction& reduction);     // All output lines, then single tensors.
void move_outputs(
    Reduction& reduction);  // To what they are made of; of backward passes reads, too.
void drop_declarations(Reduction& reduction);  // What nothing refers to.
void drop_operands(Reduction& reduction);      // Of opaque dispatches; attributes, partial.
void drop_sources(Reduction& reduction);       // Views and donations that can be plain tensors.

// reduction_values.cc: simpler values.
void simplify_kernels(Reduction& reduction);       // To copy and to opaque; one opaque name.
void simplify_operands(Reduction& reduction);      // Slices to what they name, updates to writes.
void shrink_shapes(Reduction& reduction);          // An extent wherever it occurs.
void settle_initial_values(Reduction& reduction);  // None without a reader, else random(1, 2, …).
void rename_by_first_use(Reduction& reduction);    // Generated names only.

// reduction_scopes.cc: barriers that say less.
void simplify_barriers(Reduction& reduction);  // Kinds, dependencies, scopes, operands.

// reduction_ranges.cc: fewer bytes, further to the left.
void merge_memories(Reduction& reduction);
void shrink_ranges(Reduction& reduction);
void close_gaps(Reduction& reduction);

}  // namespace interlock
