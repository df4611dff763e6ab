// RemoteBackend: a backend in a worker process of its own. A device may hang inside a call of its
// driver, or its driver may end the process; then this one notices, says so, and goes on with a new
// worker.
//
// This folder has both ends: the backend, and what a worker process does (serve.h), with the
// messages between them.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/interface/backend.h"
#include "backends/remote/channel.h"
#include "backends/remote/message.h"
#include "backends/remote/worker_process.h"
#include "encoder/program/stop.h"

namespace interlock {

struct RemoteOptions {
  std::string name;                  // Of the backend that the worker executes on.
  std::vector<std::string> command;  // Starts a worker, which calls serve_as_worker().
  double timeout_seconds = 150;      // A worker that is silent for longer is ended.
  const Stop* stop = nullptr;  // Once it is requested, nothing new is asked of the worker, and
                               // what it still does may take half a second.
};

class RemoteBackend final : public Backend {
 public:
  explicit RemoteBackend(RemoteOptions options) : options_(std::move(options)) {}

  std::string_view name() const override { return options_.name; }

  // Starts a worker, if there is none, and asks it. After a run that cost the worker its life or
  // the device: not available, and why; the next run starts a new worker.
  Availability availability() const override;
  bool supports(ExecutionMode mode) const override;
  Capabilities capabilities() const override;

  // As that of the worker's backend. Errors: also those of the process; the sentence says whether
  // it died, and how, or was silent. Runs of several host threads take turns.
  Result<MemoryImage> run(const Program& program, const Schedule& schedule,
                          ExecutionMode mode) override;

 private:
  // Starts a worker and asks what it is, if there is none.
  Result<Success> open() const;
  Result<WorkerReply> ask(const WorkerRequest& request) const;
  Error lose_worker(ChannelStatus status) const;

  RemoteOptions options_;
  // The first question, whichever it is, starts a worker.
  mutable std::mutex mutex_;
  mutable std::unique_ptr<WorkerProcess> worker_;
  mutable WorkerReply description_;
  mutable std::optional<Error> lost_;  // Why there is no worker any more, until there is one again.
};

}  // namespace interlock
