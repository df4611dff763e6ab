#include "encoder/sync/serial_encoder.h"

namespace interlock {

void SerialEncoder::encode(const EncoderDispatch& dispatch, CommandSink& sink) {
  if (!is_first_) sink.issue_barrier(BarrierKind::kFull);
  is_first_ = false;
  sink.issue_dispatch(dispatch.id);
}

void SerialEncoder::wait_for_all(CommandSink& sink) {
  sink.issue_barrier(BarrierKind::kFull);
  is_first_ = true;  // The barrier stands before the next dispatch.
}

}  // namespace interlock
