// ExecEncoder: an encoder that is a command, in any language. Processes of it are given programs as
// text and write them with their sync (docs/exec.md says how).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "encoder/program/result.h"
#include "encoder/sync/external_encoder.h"
#include "fuzz/external/process_pool.h"

namespace interlock {

class ExecEncoder final : public ExternalEncoder {
 public:
  // Errors: those of ProcessPool::open().
  static Result<std::unique_ptr<ExecEncoder>> open(ExecOptions options);

  // Requires: the program has one queue, and no host.
  Encoding encode(const Program& program) override;

  // Asks a new process, and ends it.
  Encoding encode_afresh(const Program& program) override;

  // Of the processes that are idle.
  std::optional<uint64_t> resident_bytes() override;

 private:
  explicit ExecEncoder(std::unique_ptr<ProcessPool> processes) : processes_(std::move(processes)) {}

  std::unique_ptr<ProcessPool> processes_;
};

}  // namespace interlock
