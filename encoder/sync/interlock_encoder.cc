#include "encoder/sync/interlock_encoder.h"

namespace interlock {

void InterlockEncoder::encode(const EncoderDispatch& dispatch, CommandSink& sink) {
  if (tracker_.add(dispatch.accesses, dispatch.atomic_op)) sink.issue_barrier(BarrierKind::kFull);
  sink.issue_dispatch(dispatch.id);
}

void InterlockEncoder::wait_for_all(CommandSink& sink) {
  sink.issue_barrier(BarrierKind::kFull);
  tracker_.begin_epoch();
}

}  // namespace interlock
