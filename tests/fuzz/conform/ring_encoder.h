// RingEncoder: a right encoder but that it knows the latest `kAccessesMax` accesses alone, as one
// with a table of fixed size does.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>

#include "encoder/sync/encoder.h"

namespace interlock {

template <size_t kAccessesMax>
class RingEncoder final : public Encoder {
 public:
  void encode(const EncoderDispatch& dispatch, CommandSink& sink) override {
    if (has_conflict(dispatch)) wait_for_all(sink);
    for (const Access& access : dispatch.accesses) {
      ring_.push_back({access, dispatch.atomic_op});
      if (ring_.size() > kAccessesMax) ring_.pop_front();
    }
    sink.issue_dispatch(dispatch.id);
  }
  void wait_for_all(CommandSink& sink) override {
    sink.issue_barrier(BarrierKind::kFull);
    ring_.clear();
  }

 private:
  struct Earlier {
    Access access;
    AtomicOp atomic_op;
  };

  bool has_conflict(const EncoderDispatch& dispatch) const {
    for (const Access& access : dispatch.accesses) {
      for (const Earlier& earlier : ring_) {
        if (conflicts(earlier.access, access, earlier.atomic_op == dispatch.atomic_op)) return true;
      }
    }
    return false;
  }

  std::deque<Earlier> ring_;
};

template <size_t kAccessesMax>
std::unique_ptr<Encoder> make_ring_encoder() {
  return std::make_unique<RingEncoder<kAccessesMax>>();
}

}  // namespace interlock
