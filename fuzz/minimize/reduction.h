// Reduction: the state of one minimization, and the passes that propose smaller drafts to it. A
// pass proposes; attempt() alone decides.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <variant>

#include "encoder/program/draft.h"
#include "fuzz/generate/draft_positions.h"
#include "fuzz/minimize/minimizer.h"

namespace interlock {

class Reduction {
 public:
  // Requires: the predicate holds for `draft`.
  Reduction(ProgramDraft draft, const ProgramPredicate& keeps, const MinimizeOptions& options);

  // The smallest draft so far.
  const ProgramDraft& current() const { return current_; }

  // Item number `at` of it. Requires: it is an `Item`. So below.
  template <typename Item>
  const Item& item(size_t at) const {
    return std::get<Item>(current_.items[at]);
  }

  // Takes the candidate over iff it costs less, builds, and the predicate holds for it.
  bool attempt(ProgramDraft candidate);

  // Attempts the current draft after `change` of item number `at`; copies nothing once is_over().
  template <typename Item, typename Change>
  bool attempt_change(size_t at, Change change) {
    if (is_over()) return false;
    ProgramDraft candidate = current_;
    change(std::get<Item>(candidate.items[at]));
    return attempt(std::move(candidate));
  }

  // Attempts item number `at` without each of the elements of a list of it, from the back; at least
  // `count_min` stay. `list` is the member, or a function that gives a reference to it.
  template <typename Item, typename List>
  void drop_elements(size_t at, List list, size_t count_min = 0) {
    for (size_t k = std::invoke(list, item<Item>(at)).size(); k-- > 0;) {
      if (std::invoke(list, item<Item>(at)).size() <= count_min) return;
      attempt_change<Item>(at, [&](Item& changed) { erase_at(std::invoke(list, changed), k); });
    }
  }

  // Calls `visit` with the positions of all items of this type, as they are now, until is_over().
  template <typename Item, typename Visit>
  void for_each(Visit visit) const {
    for (const size_t at : positions_of<Item>(current_)) {
      if (is_over()) return;
      visit(at);
    }
  }

  // True once the budget is spent or a stop was asked for; passes then return.
  bool is_over() const;

  bool keeps_names() const { return options_.keeps_names; }

  uint64_t evaluation_count() const { return evaluation_count_; }
  uint64_t step_count() const { return step_count_; }

 private:
  ProgramDraft current_;
  ProgramCost cost_;
  uint64_t dispatch_count_;  // As they are executed, once a step was kept.
  const ProgramPredicate& keeps_;
  const MinimizeOptions& options_;
  uint64_t evaluation_count_ = 0;
  uint64_t step_count_ = 0;
};

// reduction_structure.cc: less of everything.
void drop_statements(Reduction& reduction);  // All kinds of them, in halves, then singly.
void drop_outputs(Reduction& reduction);     // All output lines, then single tensors.
void move_outputs(
    Reduction& reduction);  // To what they are made of; of backward passes reads, too.
void drop_declarations(Reduction& reduction);  // What nothing refers to.
void drop_operands(Reduction& reduction);      // Of opaque dispatches; attributes, partial.
void drop_sources(Reduction& reduction);       // Views and donations that can be plain tensors.

// reduction_captures.cc: captures, with all replays; of one that is replayed once, what it records
// stays.
void drop_captures(Reduction& reduction);

// reduction_values.cc: simpler values.
void simplify_kernels(Reduction& reduction);       // To copy and to opaque; one opaque name.
void simplify_operands(Reduction& reduction);      // Slices to what they name, updates to writes.
void shrink_shapes(Reduction& reduction);          // An extent wherever it occurs.
void settle_initial_values(Reduction& reduction);  // None without a reader, else random(1, 2, …).
void rename_by_first_use(Reduction& reduction);    // Generated names only.

// reduction_scopes.cc: barriers that say less.
void simplify_barriers(Reduction& reduction);  // Kinds, dependencies, scopes, operands.

// reduction_queues.cc: fewer edges and parts of signals, no stages, and the default queue.
void simplify_queues(Reduction& reduction);

// reduction_ranges.cc: fewer bytes, further to the left.
// Returns the draft without the bytes that nothing lies on, but for alignment; if it
// `shrinks_ranges`, of memories without tensors with one byte for each stretch between the ends of
// ranges. Cost: O(n log n) for the n operands and tensors, for each memory.
ProgramDraft with_closed_gaps(ProgramDraft draft, bool shrinks_ranges);
void merge_memories(Reduction& reduction);
void shrink_ranges(Reduction& reduction);
void close_gaps(Reduction& reduction);

}  // namespace interlock
