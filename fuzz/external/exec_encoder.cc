#include "fuzz/external/exec_encoder.h"

#include <string>

#include "fuzz/external/external_program.h"

namespace interlock {
namespace {

constexpr const char* kFirstQuestion =
    "interlock 1\nmemory a 64\n"
    "dispatch First writes a  # write a 0 64\ndispatch Second reads a  # read a 0 64\n";

// What `answer` makes of `given`.
Encoding encoding_of(const Program& given, FramedAnswer answer) {
  if (answer.failure) return {{}, std::move(answer.failure), {}};
  Result<Program> encoded = answer_of(given, answer.text);
  if (encoded) return {std::move(*encoded), std::nullopt, {}};
  return {{}, EncodeFailure{EncodeFailureKind::kIllegal, encoded.error().message}, {}};
}

}  // namespace

Result<std::unique_ptr<ExecEncoder>> ExecEncoder::open(ExecOptions options) {
  options.noun = "encoder";
  auto processes = ProcessPool::open(std::move(options), kFirstQuestion);
  if (!processes) return processes.error();
  return std::unique_ptr<ExecEncoder>(new ExecEncoder(std::move(*processes)));
}

Encoding ExecEncoder::encode(const Program& program) {
  const Program given = without_sync(program);
  return encoding_of(given, processes_->ask(question_text(given)));
}

Encoding ExecEncoder::encode_afresh(const Program& program) {
  const Program given = without_sync(program);
  return encoding_of(given, processes_->ask_afresh(question_text(given)));
}

std::optional<uint64_t> ExecEncoder::resident_bytes() { return processes_->resident_bytes(); }

}  // namespace interlock
