// SerialEncoder: no two dispatches overlap. The safest encoder, and the slowest on a device.
#pragma once

#include "encoder/sync/encoder.h"

namespace interlock {

// Issues a full barrier before every dispatch but the first.
class SerialEncoder final : public Encoder {
 public:
  void encode(const EncoderDispatch& dispatch, CommandSink& sink) override;
  void wait_for_all(CommandSink& sink) override;

 private:
  bool is_first_ = true;
};

}  // namespace interlock
