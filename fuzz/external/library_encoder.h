// LibraryEncoder: an encoder in a shared library, through the C interface of interlock_encoder.h.
#pragma once

#include <cstdint>
#include <memory>
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

  // Of this process, which the library is in.
  std::optional<uint64_t> resident_bytes() override;

 private:
  explicit LibraryEncoder(void* library) : library_(library) {}

  void* library_;
  LibraryFunctions functions_;
};

}  // namespace interlock
