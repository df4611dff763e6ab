// ExecQueueEncoder: an encoder for several queues that is a command, in any language
// (docs/exec.md).
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "encoder/queues/external_queue_encoder.h"
#include "fuzz/external/process_pool.h"

namespace interlock {

class ExecQueueEncoder final : public ExternalQueueEncoder {
 public:
  // Of queues of this kind. Errors: those of ProcessPool::open(). Requires: it is one of
  // asked_queue_kinds() (external_queues.h).
  static Result<std::unique_ptr<ExecQueueEncoder>> open(QueueKind kind, ExecOptions options);

  Encoding encode(const Program& program, uint32_t queue_count) override;

  // Asks a new process, and ends it.
  Encoding encode_afresh(const Program& program, uint32_t queue_count) override;

 private:
  ExecQueueEncoder(QueueKind kind, std::unique_ptr<ProcessPool> processes)
      : kind_(kind), processes_(std::move(processes)) {}

  QueueKind kind_;
  std::unique_ptr<ProcessPool> processes_;
};

}  // namespace interlock
