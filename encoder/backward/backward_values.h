// The values of a program, as a backward pass numbers them: each write of a tensor makes a new one,
// views of a whole tensor show the same one, and a tensor that adopts a whole one holds its value.
#pragma once

#include <cstdint>
#include <vector>

#include "encoder/program/program.h"

namespace interlock {

// True iff the tensor is its root, or a view of all of it that has the same elements.
bool is_whole(const Program& program, const Tensor& tensor);

struct BackwardValue {
  TensorId root;                // The tensor that held it first.
  uint32_t previous;            // What that tensor held before; none of the first values.
  uint32_t whole;               // What it is a part of, if its root adopted only a part of that.
  LifetimeId adoption;          // What made it such a part.
  DispatchId writer;            // None of first values and of such parts.
  bool is_only_updated = true;  // Since the first one, every write has read what was there before.
};

// One in a tensor's sequence of values.
struct BackwardVersion {
  uint32_t value = 0;
  DispatchId writer;    // What made the tensor hold it: a dispatch, or an adoption. None of the
  LifetimeId adoption;  // first version.
};

// A dispatch; or the adoption that makes the value `part`, which is a part of another one.
struct BackwardStep {
  uint32_t dispatch = 0;
  uint32_t part = 0;
  bool is_adoption = false;
};

class BackwardValues {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // Follows program order. Adoptions stand in issue order: with an order of its own, the program
  // has none. Cost: linear; O(d log d) if the program has an order of its own.
  explicit BackwardValues(const Program& program);

  const BackwardValue& value(uint32_t number) const { return values_[number]; }
  size_t count() const { return values_.size(); }
  const std::vector<BackwardStep>& steps() const { return steps_; }

  // What the operand reads or, if it does more, leaves; none of raw memory.
  uint32_t of_operand(const Dispatch& dispatch, size_t operand) const {
    return operand_values_[dispatch.first_access + operand];
  }

  // Requires: the operand is a tensor.
  uint32_t root_of(const Access& access) const { return program_.tensor(access.tensor).root.index; }

  // What the tensor's root holds, in turn; the last one is there where the program ends.
  const std::vector<BackwardVersion>& versions_of(TensorId tensor) const {
    return versions_[program_.tensor(tensor).root.index];
  }
  uint32_t current_of(TensorId tensor) const { return versions_of(tensor).back().value; }

  // True iff the dispatch reads the tensor, whole or in part, by another operand than it writes.
  bool is_read_by(const Dispatch& dispatch, uint32_t root) const;

  // True iff a later dispatch writes to its bytes, by a tensor that holds it, or that adopted or
  // lent them.
  bool is_overwritten(uint32_t value) const;

 private:
  void number_dispatch(uint32_t dispatch);
  void number_adoption(LifetimeId id);
  uint32_t add(TensorId root, uint32_t previous);

  const Program& program_;
  std::vector<BackwardValue> values_;
  std::vector<BackwardStep> steps_;
  std::vector<uint32_t> operand_values_;                // By access.
  std::vector<std::vector<BackwardVersion>> versions_;  // By root.
  std::vector<uint32_t> lender_;                        // By root: itself, or what it adopts.
  std::vector<uint32_t> last_written_;                  // By lender.
};

}  // namespace interlock
