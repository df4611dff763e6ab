// Requests are checked against what a backend takes for granted, since they come from outside.
#include "backends/remote/serve.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>

#include "backends/remote/channel.h"
#include "backends/remote/message.h"
#include "backends/remote/request_check.h"
#include "encoder/program/check.h"
#include "encoder/text/parser.h"

namespace interlock {
namespace {

// To end in order; shorter than the patience of the process that started this one.
constexpr std::chrono::milliseconds kEndGrace{500};

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

// Asks of the backend only what it must be able to do.
Result<MemoryImage> run(const WorkerRequest& request, ProgramOfText& programs, Backend& backend) {
  const Result<Program>& program = programs(request.program);
  if (!program) return program.error();
  if (!backend.supports(request.mode)) {
    return Error{"The backend of this worker has no overlap mode."};
  }
  auto checked = check_executable(*program, request.schedule);
  if (!checked) return checked.error();
  return backend.run(*program, request.schedule, request.mode);
}

void put_error(const Error& error, WorkerReply& reply) {
  reply.error = error.message;
  reply.error_kind = error.kind;
}

WorkerReply reply_to(const Result<WorkerRequest>& asked, ProgramOfText& programs,
                     Backend& backend) {
  WorkerReply reply;
  const WorkerRequest request = asked ? *asked : WorkerRequest{};
  if (!asked) {
    put_error(asked.error(), reply);
  } else if (!request.is_description) {
    auto image = run(request, programs, backend);
    if (image) {
      reply.image = std::move(*image);
    } else {
      put_error(image.error(), reply);
    }
  }
  reply.availability = backend.availability();
  reply.has_overlap = backend.supports(ExecutionMode::kOverlap);
  if (request.is_description && reply.availability.is_available) {
    reply.capabilities = backend.capabilities();
  }
  return reply;
}

// Returns only if the descriptor is no socket.
void end_with_socket(int descriptor) {
  int type = 0;
  socklen_t size_bytes = sizeof type;
  if (getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size_bytes) != 0) return;
  pollfd watched{descriptor, 0, 0};  // A hang-up is reported unasked.
  while ((watched.revents & (POLLHUP | POLLERR | POLLNVAL)) == 0) poll(&watched, 1, -1);
  std::this_thread::sleep_for(kEndGrace);
  _exit(EXIT_FAILURE);
}

}  // namespace

void serve(Backend& backend, int in, int out) {
  ProgramOfText programs;
  std::string message;
  while (receive_message(in, message) == ChannelStatus::kDone) {
    const std::string reply = bytes_of(reply_to(request_of(message), programs, backend));
    if (send_message(out, reply) != ChannelStatus::kDone) return;
  }
}

void serve_as_worker(Backend& backend) {
  // A driver that hangs would keep this thread from noticing that nobody asks any more.
  std::thread([] { end_with_socket(STDIN_FILENO); }).detach();
  const int out = dup(STDOUT_FILENO);
  INTERLOCK_CHECK(out >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0);
  serve(backend, STDIN_FILENO, out);
}

}  // namespace interlock
