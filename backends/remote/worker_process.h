// WorkerProcess: a process of its own for the device, which may hang or die on its own.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "encoder/program/result.h"

namespace interlock {

class WorkerProcess {
 public:
  // Starts the command; the first word is the path of a program. Its standard input and output are
  // one socket, descriptor() is the other end of it. It is in a process group of its own, so that
  // ^C on a terminal does not reach it. Errors: the program cannot be started.
  static Result<std::unique_ptr<WorkerProcess>> start(const std::vector<std::string>& command);

  // Closes the socket, which is how a worker knows that it is done, and ends the process if it is
  // still there a second later.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  int descriptor() const { return descriptor_; }
  pid_t id() const { return process_; }

  // Ends the process, unless it ends by itself within the time. Returns how it ended: "was ended by
  // signal 11 (Segmentation fault)", "ended with status 2", "was stopped", "cannot be stopped";
  // "is over" of one that was ended before.
  std::string end(std::chrono::milliseconds patience);

  // After end(): the status with which the process ended by itself; none if it did not.
  std::optional<int> exit_status() const { return exit_status_; }

 private:
  WorkerProcess(pid_t process, int descriptor) : process_(process), descriptor_(descriptor) {}

  pid_t process_;  // -1: it is over.
  int descriptor_;
  std::optional<int> exit_status_;
};

}  // namespace interlock
