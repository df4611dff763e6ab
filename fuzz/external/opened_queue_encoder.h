// Encoders for several queues that the command line names and no registry has: "exec:COMMAND".
#pragma once

#include <memory>
#include <string>

#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "encoder/queues/external_queue_encoder.h"
#include "encoder/queues/queue_encoder.h"
#include "fuzz/external/opened_encoder.h"

namespace interlock {

// What keeps an entry alive.
struct OpenedQueueEncoder {
  std::string name;
  std::unique_ptr<ExternalQueueEncoder> encoder;
  QueueEncoderEntry entry;
};

// Errors: those of ExecQueueEncoder::open(); `kind` is not the word of a kind that can be asked
// for; "lib:FILE" is of one queue. Requires: is_external_name(name).
Result<std::unique_ptr<OpenedQueueEncoder>> open_queue_encoder(const std::string& name,
                                                               const std::string& kind,
                                                               const ExternalOptions& options);

}  // namespace interlock
