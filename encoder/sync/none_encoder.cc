#include "encoder/sync/none_encoder.h"

namespace interlock {

void NoneEncoder::encode(const EncoderDispatch& dispatch, CommandSink& sink) {
  sink.issue_dispatch(dispatch.id);
}

}  // namespace interlock
