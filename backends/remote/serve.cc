// Requests are checked against what a backend takes for granted, since they come from outside.
#include "backends/remote/serve.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backends/remote/channel.h"
#include "backends/remote/message.h"
#include "encoder/kernel/kernel_binding.h"
#include "encoder/program/check.h"
#include "encoder/program/error_of.h"
#include "encoder/text/parser.h"
#include "simulator/order/in_reference_order.h"

namespace interlock {
namespace {

// To end in order; shorter than the patience of the process that started this one.
constexpr std::chrono::milliseconds kEndGrace{500};

// The pieces of a dispatch, sorted, must follow one another from the first slice to the last.
class ExecutionCheck {
 public:
  ExecutionCheck(const Program& program, const Schedule& schedule)
      : program_(program), schedule_(schedule), dispatches_(program.dispatches.size()) {}

  Result<Success> take(const Step& step) {
    if (step.dispatch.index >= dispatches_.size()) {
      return error_of("The schedule names dispatch {} of a program that has {}.",
                      step.dispatch.index, dispatches_.size());
    }
    DispatchSteps& steps = dispatches_[step.dispatch.index];
    const bool ends_waiting = step.kind == StepKind::kCommit || step.kind == StepKind::kDrop;
    const bool is_part = ends_waiting && step.slice_count > 0;
    if (is_part || step.kind == StepKind::kFetch) {
      auto taken = take_bytes(step);
      if (!taken) return taken;
    }
    if (step.kind == StepKind::kFetch) {
      steps.has_fetched = true;
      return Success{};
    }
    if (ends_waiting) {
      if (!steps.is_waiting) {
        return error_of("The schedule commits {}, which has no late writes.",
                        program_.description_of(step.dispatch));
      }
      steps.is_waiting = is_part;
      return Success{};
    }
    if (steps.has_fetched && steps.is_waiting) {
      return error_of("The schedule runs a part of {} that has fetched while another part waits.",
                      program_.description_of(step.dispatch));
    }
    steps.is_waiting |= step.kind == StepKind::kRunLate;
    steps.pieces.push_back({step.first_slice, step.slice_count});
    return Success{};
  }

  Result<Success> finish() {
    for (uint32_t d = 0; d < dispatches_.size(); ++d) {
      DispatchSteps& steps = dispatches_[d];
      const DispatchId id(d);
      if (steps.is_waiting) {
        return error_of("The schedule never commits the late writes of {}.",
                        program_.description_of(id));
      }
      const uint64_t slice_count = slice_count_of(program_, program_.dispatch(id));
      std::sort(steps.pieces.begin(), steps.pieces.end());
      uint64_t end = 0;
      for (const auto& [first, count] : steps.pieces) {
        if (first != end || count > slice_count - end) return not_once(id, slice_count);
        end += count;
      }
      if (end != slice_count) return not_once(id, slice_count);
    }
    return Success{};
  }

 private:
  struct DispatchSteps {
    std::vector<std::pair<uint64_t, uint64_t>> pieces;  // First slice and count.
    bool is_waiting = false;                            // For a commit.
    bool has_fetched = false;
  };

  // Of a step that names bytes, and not slices.
  Result<Success> take_bytes(const Step& step) {
    const uint64_t end = uint64_t{step.first_slice} + step.slice_count;
    if (end > schedule_.bytes.size()) {
      return error_of("The schedule names bytes {} to {} of a list of {}.", step.first_slice, end,
                      schedule_.bytes.size());
    }
    for (const StepBytes& place : schedule_.bytes_of(step)) {
      const size_t memory = place.memory.index;
      const bool is_there = memory < program_.memories.size() &&
                            place.range.begin <= place.range.end &&
                            place.range.end <= program_.memories[memory].size_bytes;
      if (!is_there) return Error{"The schedule names bytes of no memory of the program."};
      if (place.range.size_bytes() > kExecutionLimitBytes - byte_count_) {
        return error_of("The steps of the schedule name more than {} bytes, the execution limit.",
                        kExecutionLimitBytes);
      }
      byte_count_ += place.range.size_bytes();
    }
    return Success{};
  }

  Error not_once(DispatchId id, uint64_t slice_count) const {
    return error_of("The schedule does not run each of the {} slices of {} once.", slice_count,
                    program_.description_of(id));
  }

  const Program& program_;
  const Schedule& schedule_;
  std::vector<DispatchSteps> dispatches_;
  uint64_t byte_count_ = 0;  // That steps name.
};

// The text comes from a Program that exists.
ParseOptions without_limits() {
  ParseOptions options;
  options.limits.input_bytes = UINT64_MAX;
  options.limits.line_bytes = UINT64_MAX;
  options.reads_every_queue = true;
  return options;
}

// Programs arrive several times in a row, with another schedule each time.
class ProgramOfText {
 public:
  const Result<Program>& operator()(const std::string& text) {
    if (text != text_ || text_.empty()) {
      program_ = parse(text, "<request>", without_limits());
      if (program_) program_ = reference_run(*program_);
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

Result<Success> check_executable(const Program& program, const Schedule& schedule) {
  ExecutionCheck check(program, schedule);
  for (const Step& step : schedule.steps) {
    auto taken = check.take(step);
    if (!taken) return taken;
  }
  return check.finish();
}

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
