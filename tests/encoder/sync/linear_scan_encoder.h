// A linear-scan encoder that is plainly right, with small questions as virtual functions; a mutant
// answers one of them wrongly.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "encoder/sync/encoder.h"

namespace interlock {

// One access of an earlier dispatch of the epoch, with what it needs to be compared by.
struct Tracked {
  Access access;
  AtomicOp atomic_op = AtomicOp::kNone;
  size_t read_count = 0;   // Reads of its dispatch.
  size_t write_count = 0;  // Other accesses of its dispatch.
};

inline bool modifies(const Access& access) { return !access.only_reads(); }
inline bool observes(const Access& access) { return access.mode != AccessMode::kWrite; }

class LinearScanEncoder : public Encoder {
 public:
  void encode(const EncoderDispatch& dispatch, CommandSink& sink) override {
    const std::vector<Tracked> own = tracked_accesses(dispatch);
    const bool needs_barrier = std::any_of(own.begin(), own.end(), [&](const Tracked& later) {
      return std::any_of(epoch_.begin(), epoch_.end(), [&](const Tracked& earlier) {
        return share_bytes(earlier.access, later.access) && needs_order(earlier, later);
      });
    });
    if (needs_barrier) {
      sink.issue_barrier(BarrierKind::kFull);
      epoch_.clear();
    }
    for (const Tracked& tracked : own) record(tracked, needs_barrier);
    sink.issue_dispatch(dispatch.id);
    after_dispatch(dispatch, sink);
  }

 protected:
  // How many operands the encoder looks at.
  virtual size_t operand_limit() const { return SIZE_MAX; }
  // The access as the encoder takes it down.
  virtual Access as_tracked(const Access& access) const { return access; }
  virtual bool share_bytes(const Access& earlier, const Access& later) const {
    return earlier.memory == later.memory && share_a_byte(earlier.range, later.range);
  }
  virtual bool needs_order(const Tracked& earlier, const Tracked& later) const {
    return is_raw(earlier, later) || is_war(earlier, later) || is_waw(earlier, later);
  }
  virtual void record(const Tracked& tracked, bool /*is_behind_barrier*/) {
    epoch_.push_back(tracked);
  }
  virtual void after_dispatch(const EncoderDispatch& /*dispatch*/, CommandSink& /*sink*/) {}

  static bool are_one_atomic(const Tracked& a, const Tracked& b) {
    return a.access.is_atomic() && b.access.is_atomic() && a.atomic_op == b.atomic_op &&
           a.atomic_op != AtomicOp::kNone;
  }
  static bool is_raw(const Tracked& earlier, const Tracked& later) {
    return modifies(earlier.access) && observes(later.access) && !are_one_atomic(earlier, later);
  }
  static bool is_war(const Tracked& earlier, const Tracked& later) {
    return observes(earlier.access) && modifies(later.access) && !are_one_atomic(earlier, later);
  }
  static bool is_waw(const Tracked& earlier, const Tracked& later) {
    return modifies(earlier.access) && modifies(later.access) && !are_one_atomic(earlier, later);
  }

  std::vector<Tracked> epoch_;

 private:
  std::vector<Tracked> tracked_accesses(const EncoderDispatch& dispatch) const {
    const size_t count = std::min(dispatch.accesses.size(), operand_limit());
    const auto read_count =
        static_cast<size_t>(std::count_if(dispatch.accesses.begin(), dispatch.accesses.end(),
                                          [](const Access& a) { return !modifies(a); }));
    std::vector<Tracked> result;
    for (const Access& access : dispatch.accesses.first(count)) {
      result.push_back({as_tracked(access), dispatch.atomic_op, read_count,
                        dispatch.accesses.size() - read_count});
    }
    return result;
  }
};

}  // namespace interlock
