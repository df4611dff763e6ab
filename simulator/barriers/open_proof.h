// OpenProof: what the readers of certificates of waits have in common, the verdict so far and the
// steps that are left.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "simulator/barriers/wait_certificate.h"

namespace interlock {

class OpenProof {
 public:
  explicit OpenProof(uint64_t step_limit) : steps_left_(step_limit) {}

  const WaitProof& proof() const { return proof_; }

 protected:
  // Each returns false where there is no more to read.
  bool fail(std::string defect) {
    proof_.defect = std::move(defect);
    return false;
  }
  bool fail(const NeededWait& wait, std::string_view why) {
    return fail(fmt::format("The pair of dispatches {} and {} {}.", wait.first.index,
                            wait.second.index, why));
  }
  bool spend(uint64_t steps) {
    cut_short_if(steps > steps_left_);
    steps_left_ -= std::min(steps, steps_left_);
    return !proof_.is_cut_short;
  }
  bool cut_short_if(bool is_too_much) {
    proof_.is_cut_short = is_too_much;
    return !is_too_much;
  }

 private:
  uint64_t steps_left_;
  WaitProof proof_;
};

}  // namespace interlock
