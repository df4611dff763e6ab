// The values of a program over a prime field: every tensor is a small matrix, an input a random
// one, and each write makes a new value (gradient_laws.h). What adopts a whole tensor has its value
// from then on; what adopts a part of one has a value of its own. What is written raw is a new
// value of every tensor on its bytes, and depends on nothing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/gradients/prime_field.h"

namespace interlock {

class GradientValues {
 public:
  // The first values of the tensors that `is_given` picks are those that they state, zeros or ones;
  // all others are random. Requires: `is_given` has an entry for each tensor.
  // Cost: linear, and the tensors in its memory for each raw write; O(d log d) if the program has
  // an order of its own.
  GradientValues(const Program& program, const std::vector<bool>& is_given);

  // Value numbers grow in program order.
  FieldMatrix value(uint32_t number) const { return values_[number]; }
  size_t count() const { return values_.size(); }

  // What the operand reads (of updates, what was there before), and what it leaves.
  uint32_t read_by(const Dispatch& dispatch, size_t operand) const {
    return read_[dispatch.first_access + operand];
  }
  uint32_t left_by(const Dispatch& dispatch, size_t operand) const {
    return left_[dispatch.first_access + operand];
  }

  // What the tensor's root holds before the dispatch at this place of program order, and after the
  // adoptions before that; at its end, if the place is the number of dispatches. Cost: logarithmic.
  uint32_t held_at(TensorId tensor, uint32_t place) const;

  // By place in program order: the dispatch; and the other way round.
  std::span<const uint32_t> order() const { return order_; }
  uint32_t place_of(DispatchId dispatch) const { return places_[dispatch.index]; }

 private:
  struct Version {
    uint32_t from;  // The first place that finds it: after the dispatch that writes it.
    uint32_t value;
  };

  // Returns its number.
  uint32_t add(const FieldMatrix& value);
  void run(const Program& program, uint32_t place);
  void adopt(const Program& program, const Lifetime& lifetime, uint32_t place);
  void overwrite(const Program& program, const Access& access, uint32_t place);

  std::vector<FieldMatrix> values_;
  std::vector<uint32_t> read_;  // By access.
  std::vector<uint32_t> left_;  // By access.
  std::vector<uint32_t> order_;
  std::vector<uint32_t> places_;   // By dispatch.
  std::vector<uint32_t> slot_of_;  // By tensor: its root; raw memories stand after the tensors.
  std::vector<uint32_t> current_;  // By slot.
  std::vector<std::vector<uint32_t>> roots_in_;  // By memory: the tensors that are roots.
  std::vector<std::vector<Version>> versions_;   // By slot.
};

}  // namespace interlock
