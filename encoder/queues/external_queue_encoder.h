// ExternalQueueEncoder: an encoder for several queues that is no part of this build. It may fail at
// any program, as an ExternalEncoder may (sync/external_encoder.h).
#pragma once

#include <cstdint>

#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "encoder/queues/queue_encoder.h"
#include "encoder/sync/external_encoder.h"

namespace interlock {

class ExternalQueueEncoder {
 public:
  virtual ~ExternalQueueEncoder() = default;

  // As QueueEncoderEntry::encode, of dispatches alone: check_is_dispatches()
  // (dispatch_conflicts.h). Nothing says that signals stand before their waits in what it makes,
  // nor that it runs to its end. May be called from several threads at once.
  virtual Encoding encode(const Program& program, uint32_t queue_count) = 0;

  // The same of an encoder that was given nothing before, where there can be one.
  virtual Encoding encode_afresh(const Program& program, uint32_t queue_count) {
    return encode(program, queue_count);
  }
};

// What `encoder` makes of the program, wherever it is. Errors: as QueueEncoderEntry::encode; what
// one that is no part of this build does wrong is a failure, and no error.
Result<Encoding> encode_by(const Program& program, uint32_t queue_count,
                           const QueueEncoderEntry& encoder);

}  // namespace interlock
