// The two encoders that look at no access. NoneEncoder: every dispatch may overlap every other.
// Every conflict becomes a hazard: what a program looks like before anybody has synchronized it.
// SerialEncoder: no two dispatches overlap. The safest encoder, and the slowest on a device.
#pragma once

#include "encoder/sync/encoder.h"

namespace interlock {

// Issues no barrier.
class NoneEncoder final : public Encoder {
 public:
  void encode(const EncoderDispatch& dispatch, CommandSink& sink) override {
    sink.issue_dispatch(dispatch.id);
  }
  void wait_for_all(CommandSink& /*sink*/) override {}
};

// Issues a full barrier before every dispatch but the first.
class SerialEncoder final : public Encoder {
 public:
  void encode(const EncoderDispatch& dispatch, CommandSink& sink) override {
    if (!is_first_) sink.issue_barrier(BarrierKind::kFull);
    is_first_ = false;
    sink.issue_dispatch(dispatch.id);
  }
  void wait_for_all(CommandSink& sink) override {
    sink.issue_barrier(BarrierKind::kFull);
    is_first_ = true;  // The barrier stands before the next dispatch.
  }

 private:
  bool is_first_ = true;
};

}  // namespace interlock
