// NoneEncoder: every dispatch may overlap every other. Every conflict becomes a hazard: what a
// program looks like before anybody has synchronized it.
#pragma once

#include "encoder/sync/encoder.h"

namespace interlock {

// Issues no barrier.
class NoneEncoder final : public Encoder {
 public:
  void encode(const EncoderDispatch& dispatch, CommandSink& sink) override;
  void wait_for_all(CommandSink& /*sink*/) override {}
};

}  // namespace interlock
