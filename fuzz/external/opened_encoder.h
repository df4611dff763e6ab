// Encoders that the command line names and no registry has: "exec:COMMAND", "lib:FILE".
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "encoder/program/result.h"
#include "encoder/program/stop.h"
#include "encoder/sync/encoder.h"
#include "encoder/sync/external_encoder.h"
#include "fuzz/external/exec_encoder.h"

namespace interlock {

struct ExternalOptions {
  double exec_timeout_seconds = kExecTimeoutSeconds;
  const Stop* stop = nullptr;
};

// What keeps an entry alive.
struct OpenedEncoder {
  std::string name;
  std::unique_ptr<ExternalEncoder> encoder;
  EncoderEntry entry;
};

// Whether it is the name of such an encoder, there or not.
bool is_external_name(std::string_view name);

// What changes where the encoder does, as far as the name shows it: of the library, and of the
// files among the words of the command. Not 0. What those load in turn it does not see. Requires:
// is_external_name(name). Cost: linear in the files.
uint64_t digest_of_external(std::string_view name);

// Errors: those of ExecEncoder::open() and LibraryEncoder::open(). Requires:
// is_external_name(name).
Result<std::unique_ptr<OpenedEncoder>> open_encoder(const std::string& name,
                                                    const ExternalOptions& options);

}  // namespace interlock
