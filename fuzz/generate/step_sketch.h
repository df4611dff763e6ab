// StepSketch: an unplanned program while it is made. It knows which values a dispatch may read now,
// so that every program is valid by construction.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/draft.h"
#include "simulator/schedules/choice.h"

namespace interlock {

using StepShape = std::vector<uint64_t>;
using StepOperands = std::vector<std::pair<AccessMode, size_t>>;  // Values, by index.
using Attributes = std::vector<std::pair<std::string, std::string>>;

struct StepValue {
  std::string name;
  StepShape shape;  // Of f32.
  size_t root = 0;  // Views share the value of another.
  bool is_view = false;
  bool is_alive = true;  // Its bytes hold it: a dispatch may read it.
  bool is_pinned = false;
};

class StepSketch {
 public:
  explicit StepSketch(Choice& choice) : choice_(choice) {}

  // A value of this shape that a dispatch may read now; a new one with initial values if need be.
  size_t pick_input(const StepShape& shape);

  // Any value that a dispatch may read now; none if there is none.
  std::optional<size_t> pick_any();

  size_t add_input(const StepShape& shape);
  size_t add_output(const StepShape& shape);

  // A window of some value that is alive; nothing if none is large enough.
  void add_view(const StepShape& shape);

  // A new value on the bytes of `donor`, which ends with the next dispatch.
  // Requires: can_donate(donor).
  size_t add_donation(size_t donor);
  bool can_donate(size_t donor) const;

  // A dispatch to emit. Operands are in the order of their modes.
  DispatchDraft dispatch_of(const std::string& kernel, const StepOperands& operands,
                            Attributes attributes = {}) const;

  // Appends a dispatch; it gets a label.
  void emit(DispatchDraft dispatch);

  void reset() {
    has_reset_ = true;
    statements_.emplace_back(LifetimeDraft{"", LifetimeKind::kReset, "m0", ""});
  }
  void pin(size_t value);
  void unpin(size_t value);
  void free(size_t value);  // Ends it, and its views.

  // Memories, tensors, outputs and statements. Some of the values that are alive are outputs.
  ProgramDraft finish();

  const StepValue& value(size_t index) const { return values_[index]; }
  std::optional<size_t> find(const std::string& name) const;
  bool is_alive(const std::string& name) const;
  uint32_t dispatch_count() const { return dispatch_count_; }

 private:
  size_t add(TensorDraft draft, StepValue value);
  void end_all_of(size_t root);
  // The values that a dispatch may read now and that fit.
  template <typename Fits>
  std::vector<size_t> alive(Fits fits) const;

  Choice& choice_;
  std::vector<StepValue> values_;
  std::vector<TensorDraft> tensors_;  // By value.
  std::vector<ItemDraft> statements_;
  uint32_t dispatch_count_ = 0;
  uint64_t next_seed_ = 1;
  bool has_reset_ = false;
};

}  // namespace interlock
