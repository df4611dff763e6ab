// ExecEncoder: an encoder that is a command, in any language. Processes of it are given programs as
// text and write them with their sync (docs/exec.md says how).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "encoder/program/result.h"
#include "encoder/program/stop.h"
#include "encoder/sync/external_encoder.h"
#include "fuzz/external/framed_process.h"

namespace interlock {

inline constexpr double kExecTimeoutSeconds = 10;
inline constexpr double kExecTimeoutMaxSeconds = 3600;
// More than minimizing a hang tries.
inline constexpr uint64_t kHangsInARowMax = 16;

struct ExecOptions {
  std::string command;  // As FramedProcess::start() takes it.
  double timeout_seconds = kExecTimeoutSeconds;
  const Stop* stop = nullptr;  // Ends the wait for an answer within half a second.
};

class ExecEncoder final : public ExternalEncoder {
 public:
  // Errors: the command is empty or has a line break; the shell does not find it, or may not start
  // it. It is asked for a small program for that, and what else goes wrong with that is found
  // later.
  static Result<std::unique_ptr<ExecEncoder>> open(ExecOptions options);
  ~ExecEncoder() override;

  // Asks a process that is idle, and starts one if none is: as many as there are callers at once.
  // Requires: the program has one queue, and no host. After kHangsInARowMax hangs in a row nothing
  // is asked any more, and each program is told to be one: a campaign ends.
  Encoding encode(const Program& program) override;

  // Asks a new process, and ends it.
  Encoding encode_afresh(const Program& program) override;

  // Of the processes that are idle.
  std::optional<uint64_t> resident_bytes() override;

 private:
  explicit ExecEncoder(ExecOptions options) : options_(std::move(options)) {}

  // Leaves no process after a failure.
  Encoding ask(std::unique_ptr<FramedProcess>& process, const Program& program);

  ExecOptions options_;
  std::atomic<uint64_t> hangs_in_a_row_{0};
  std::mutex mutex_;
  std::vector<std::unique_ptr<FramedProcess>> idle_;
};

}  // namespace interlock
