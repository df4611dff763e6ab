// ProcessPool: the processes of one command, as many as there are callers at once, each of which
// answers many questions.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encoder/program/result.h"
#include "encoder/program/stop.h"
#include "fuzz/external/framed_process.h"

namespace interlock {

inline constexpr double kExecTimeoutSeconds = 10;
inline constexpr double kExecTimeoutMaxSeconds = 3600;
// More than minimizing a hang tries.
inline constexpr uint64_t kHangsInARowMax = 16;

struct ExecOptions {
  std::string command;  // As FramedProcess::start() takes it.
  double timeout_seconds = kExecTimeoutSeconds;
  const Stop* stop = nullptr;         // Ends the wait for an answer within half a second.
  std::string_view noun = "encoder";  // What it is, for messages.
  // An answer may have so many bytes more than eight times the question.
  size_t answer_bytes_more = 64 << 10;
};

class ProcessPool {
 public:
  // Starts one process and asks it `first_question`. What goes wrong with that is found again
  // later, but for a command that cannot be started.
  // Errors: the command is empty or has a control character; the shell does not find it, or may not
  // start it.
  static Result<std::unique_ptr<ProcessPool>> open(ExecOptions options,
                                                   const std::string& first_question);
  ~ProcessPool();
  ProcessPool(const ProcessPool&) = delete;
  ProcessPool& operator=(const ProcessPool&) = delete;

  // Asks a process that is idle, and starts one if none is. After a failure there is one process
  // less. After kHangsInARowMax hangs in a row nothing is asked any more: the failure is kNotAsked.
  // May be called from several threads at once.
  FramedAnswer ask(const std::string& question);

  // Asks a new process, and ends it.
  FramedAnswer ask_afresh(const std::string& question);

  // Of the processes that are idle. None where the system does not say.
  std::optional<uint64_t> resident_bytes();

 private:
  explicit ProcessPool(ExecOptions options) : options_(std::move(options)) {}

  FramedLimits limits_for(const std::string& question) const;
  // Leaves no process after a failure.
  FramedAnswer ask(std::unique_ptr<FramedProcess>& process, const std::string& question);

  ExecOptions options_;
  std::atomic<uint64_t> hangs_in_a_row_{0};
  std::mutex mutex_;
  std::vector<std::unique_ptr<FramedProcess>> idle_;
};

}  // namespace interlock
