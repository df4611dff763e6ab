// Messages between a process that wants programs executed and the worker process that owns the
// device: what is asked and what is answered, as bytes of one machine.
#pragma once

#include <string>
#include <string_view>

#include "backends/interface/backend.h"
#include "encoder/program/result.h"
#include "simulator/schedules/schedule.h"

namespace interlock {

// Asks for a run, or (`is_description`) for what the backend is.
struct WorkerRequest {
  bool is_description = false;
  ExecutionMode mode = ExecutionMode::kWitness;
  Schedule schedule;
  std::string program;  // As text. The schedule is of its reference run.
};

// What the backend is; for a run also its image, or the error.
struct WorkerReply {
  Availability availability;  // After the run: a device that it lost is not available.
  bool has_overlap = false;
  Capabilities capabilities;
  std::string error;  // Empty: the run succeeded.
  ErrorKind error_kind = ErrorKind::kOther;
  MemoryImage image;
};

std::string bytes_of(const WorkerRequest& request);
std::string bytes_of(const WorkerReply& reply);

// Errors: the bytes are no such message.
Result<WorkerRequest> request_of(std::string_view bytes);
Result<WorkerReply> reply_of(std::string_view bytes);

}  // namespace interlock
