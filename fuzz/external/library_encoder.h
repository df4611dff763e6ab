// LibraryEncoder: an encoder in a shared library, through the C interface of interlock_encoder.h.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "encoder/interlock_encoder.h"
#include "encoder/program/result.h"
#include "encoder/sync/external_encoder.h"

namespace interlock {

// The functions of a library. `wait` may be null.
struct LibraryFunctions {
  decltype(&interlock_encoder_create) create = nullptr;
  decltype(&interlock_encoder_dispatch) dispatch = nullptr;
  decltype(&interlock_encoder_wait) wait = nullptr;
  decltype(&interlock_encoder_destroy) destroy = nullptr;
};

class LibraryEncoder final : public ExternalEncoder {
 public:
  // Errors: there is no such file, or it is no library; a function is missing; it was made with
  // another version of the header.
  static Result<std::unique_ptr<LibraryEncoder>> open(const std::string& path);
  ~LibraryEncoder() override;
  LibraryEncoder(const LibraryEncoder&) = delete;
  LibraryEncoder& operator=(const LibraryEncoder&) = delete;

  // Of a new encoder of the library.
  Encoding encode(const Program& program) override;

  // If it is built with coverage (branch_counters.h). From then on it is asked for one program at a
  // time.
  bool collect_branches() override;

  // Of this process, which the library is in.
  std::optional<uint64_t> resident_bytes() override;

 private:
  explicit LibraryEncoder(void* library) : library_(library) {}

  Encoding encode_now(const Program& program);

  void* library_;
  LibraryFunctions functions_;
  bool collects_branches_ = false;
  std::mutex counted_;  // The counters are those of one program.
};

}  // namespace interlock
