// PinHistory: which tensors are pinned after each lifetime statement, for who looks back.
#pragma once

#include <cstdint>
#include <vector>

#include "encoder/program/program.h"

namespace interlock {

class PinHistory {
 public:
  // No pins.
  PinHistory() = default;

  // Of the lifetime statements of `program` in their order. Cost: O(n log n).
  explicit PinHistory(const Program& program);

  // Whether pins of it are left after that statement. Cost: logarithmic.
  bool is_pinned(TensorId tensor, LifetimeId after) const;

 private:
  struct Entry {
    TensorId tensor;
    LifetimeId at;
    uint32_t count = 0;  // Of its pins, afterwards.
  };

  std::vector<Entry> entries_;  // Of each tensor together, in the order of the statements.
};

}  // namespace interlock
