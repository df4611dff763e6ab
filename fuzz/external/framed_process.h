// FramedProcess: a process that is given texts and answers each with a text, many in one run.
//
// A text travels after a line that says how many bytes it has: "program 812\n", then 812 bytes. A
// size up front lets a script read with one call and never look for an end, and a text may hold
// anything; a line of words is there for people who look at what is said.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "backends/remote/worker_process.h"
#include "encoder/program/result.h"
#include "encoder/program/stop.h"
#include "encoder/sync/external_encoder.h"

namespace interlock {

struct FramedLimits {
  std::string_view noun = "encoder";  // What the process is, for messages.
  double timeout_seconds = 10;        // For one answer.
  size_t answer_bytes_max = 0;
  const Stop* stop = nullptr;  // Once it is requested, an answer has half a second left.
};

// An answer, or why there is none.
struct FramedAnswer {
  std::string text;
  std::optional<EncodeFailure> failure;
};

// What a pass made of a program: what `read` makes of the text of its answer, an error of which is
// kIllegal.
template <typename Read>
Encoding encoding_of(FramedAnswer answer, const Read& read) {
  if (answer.failure) return {{}, std::move(answer.failure), {}};
  Result<Program> program = read(std::string_view(answer.text));
  if (program) return {std::move(*program), std::nullopt, {}};
  return {{}, EncodeFailure{EncodeFailureKind::kIllegal, program.error().message}, {}};
}

class FramedProcess {
 public:
  // Starts /bin/sh -c "exec COMMAND": quotes and variables mean what they mean in a shell, and the
  // process is that of the command itself. Its standard error is that of this process.
  // Errors: there is no shell, or no room for a process.
  static Result<std::unique_ptr<FramedProcess>> start(const std::string& command);

  // Sends `question` and receives the answer. After a failure the process is over, and another one
  // must be started.
  FramedAnswer ask(std::string_view question, const FramedLimits& limits);

  // The status with which the process ended, after a failure; none if it did not end by itself.
  std::optional<int> exit_status() const { return process_->exit_status(); }

  // What the process takes of memory. None where the system does not say (Linux: /proc).
  std::optional<uint64_t> resident_bytes() const;

  // Ends the process at once. Without it the end of its input lets it end by itself.
  void end_at_once() { process_->end(std::chrono::milliseconds(0)); }

 private:
  explicit FramedProcess(std::unique_ptr<WorkerProcess> process) : process_(std::move(process)) {}

  FramedAnswer fail(EncodeFailureKind kind, const std::string& message);
  FramedAnswer lose(std::string_view noun);

  std::unique_ptr<WorkerProcess> process_;
  std::string received_;  // Of the answer that is being received.
};

}  // namespace interlock
