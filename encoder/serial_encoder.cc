#include "encoder/serial_encoder.h"

namespace interlock {

void SerialEncoder::encode(const EncoderDispatch& dispatch, CommandSink& sink) {
  if (!is_first_) sink.issue_barrier(BarrierKind::kFull);
  is_first_ = false;
  sink.issue_dispatch(dispatch.id);
}

}  // namespace interlock
