#include "backends/remote/serve.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "backends/remote/channel.h"
#include "backends/remote/message.h"
#include "encoder/check.h"
#include "encoder/text.h"

namespace interlock {
namespace {

// The text comes from a Program that exists.
ParseOptions without_limits() {
  ParseOptions options;
  options.limits.file_bytes = UINT64_MAX;
  options.limits.line_bytes = UINT64_MAX;
  return options;
}

// Programs arrive several times in a row, with another schedule each time.
class ProgramOfText {
 public:
  const Result<Program>& operator()(const std::string& text) {
    if (text != text_ || text_.empty()) {
      program_ = parse(text, "<request>", without_limits());
      text_ = text;
    }
    return program_;
  }

 private:
  std::string text_;
  Result<Program> program_ = Error{};
};

WorkerReply reply_to(const WorkerRequest& request, ProgramOfText& programs, Backend& backend) {
  WorkerReply reply;
  if (!request.is_description) {
    const Result<Program>& program = programs(request.program);
    auto image = program ? backend.run(*program, request.schedule, request.mode)
                         : Result<MemoryImage>(program.error());
    if (image) {
      reply.image = std::move(*image);
    } else {
      reply.error = image.error().message;
    }
  }
  reply.availability = backend.availability();
  reply.has_overlap = backend.supports(ExecutionMode::kOverlap);
  if (request.is_description && reply.availability.is_available) {
    reply.capabilities = backend.capabilities();
  }
  return reply;
}

}  // namespace

void serve(Backend& backend, int in, int out) {
  ProgramOfText programs;
  std::string message;
  while (receive_message(in, message) == ChannelStatus::kDone) {
    const auto request = request_of(message);
    if (!request) return;
    const std::string reply = bytes_of(reply_to(*request, programs, backend));
    if (send_message(out, reply) != ChannelStatus::kDone) return;
  }
}

void serve_as_worker(Backend& backend) {
  // A driver that hangs would keep the process from noticing that its parent is gone.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int out = dup(STDOUT_FILENO);
  INTERLOCK_CHECK(out >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0);
  serve(backend, STDIN_FILENO, out);
}

}  // namespace interlock
