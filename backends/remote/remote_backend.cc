// Every request has one reply. Where none comes, the worker is ended, and what it was asked for
// fails; where the reply says that the device is lost, the worker goes too, and with it whatever
// its driver still holds.
#include "backends/remote/remote_backend.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "encoder/program/error_of.h"
#include "encoder/text/printer.h"
#include "simulator/order/in_reference_order.h"

namespace interlock {
namespace {

constexpr std::chrono::milliseconds kDeathPatience{1000};
constexpr double kTimeoutMaxSeconds = 86'400;  // A clock of nanoseconds ends somewhere.

}  // namespace

Error RemoteBackend::lose_worker(ChannelStatus status) const {
  // A process that closes its socket is about to end, and how it does tells more than a kill.
  const bool is_ending = status == ChannelStatus::kClosed;
  const std::string end = worker_->end(is_ending ? kDeathPatience : std::chrono::milliseconds{0});
  worker_.reset();
  switch (status) {
    case ChannelStatus::kSilent:
      lost_ =
          error_of("The worker process of backend '{}' did not answer within {} seconds and {}.",
                   options_.name, options_.timeout_seconds, end);
      break;
    case ChannelStatus::kStopped:
      lost_ = error_of("The worker process of backend '{}' did not answer before the stop.",
                       options_.name);
      break;
    default:
      lost_ =
          error_of("The worker process of backend '{}' {} before it answered.", options_.name, end);
  }
  return *lost_;
}

Result<WorkerReply> RemoteBackend::ask(const WorkerRequest& request) const {
  const std::string message = bytes_of(request);
  const std::chrono::milliseconds timeout(
      int64_t(std::min(options_.timeout_seconds, kTimeoutMaxSeconds) * 1000));
  const ChannelPatience patience{std::chrono::steady_clock::now() + timeout, options_.stop};
  std::string answer;
  ChannelStatus status = send_message(worker_->descriptor(), message, patience);
  if (status == ChannelStatus::kDone) {
    status = receive_message(worker_->descriptor(), answer, patience);
  }
  if (status != ChannelStatus::kDone) return lose_worker(status);
  auto reply = reply_of(answer);
  if (!reply) return lose_worker(ChannelStatus::kClosed);
  return reply;
}

Result<Success> RemoteBackend::open() const {
  if (worker_ != nullptr) return Success{};
  auto worker = WorkerProcess::start(options_.command);
  if (!worker) {
    lost_ = worker.error();
    return *lost_;
  }
  worker_ = std::move(*worker);
  auto reply = ask({.is_description = true});
  if (!reply) return reply.error();
  description_ = std::move(*reply);
  if (!description_.availability.is_available) {
    lost_ = Error{description_.availability.reason};
    worker_.reset();
    return *lost_;
  }
  lost_.reset();
  return Success{};
}

Availability RemoteBackend::availability() const {
  const std::lock_guard lock(mutex_);
  if (lost_) return {false, lost_->message};
  auto opened = open();
  if (!opened) return {false, opened.error().message};
  return description_.availability;
}

Result<MemoryImage> RemoteBackend::run(const Program& program, const Schedule& schedule,
                                       ExecutionMode mode) {
  const std::lock_guard lock(mutex_);
  // Callers that took turns at a worker that hangs would wait for each other's grace.
  if (options_.stop != nullptr && options_.stop->is_requested()) {
    return error_of("Backend '{}' was not asked: a stop came before.", options_.name);
  }
  auto opened = open();
  if (!opened) return opened.error();
  auto reply = ask({false, mode, schedule, print(as_in_text(program))});
  if (!reply) return reply.error();
  if (!reply->availability.is_available) {
    lost_ = Error{reply->error.empty() ? reply->availability.reason : reply->error};
    worker_.reset();
  }
  if (!reply->error.empty()) return Error{std::move(reply->error), reply->error_kind};
  return std::move(reply->image);
}

bool RemoteBackend::supports(ExecutionMode mode) const {
  const std::lock_guard lock(mutex_);
  return mode == ExecutionMode::kWitness || description_.has_overlap;
}

Capabilities RemoteBackend::capabilities() const {
  const std::lock_guard lock(mutex_);
  return description_.capabilities;
}

}  // namespace interlock
