#include "fuzz/external/exec_encoder.h"

#include <string>
#include <string_view>

#include "fuzz/external/external_program.h"

namespace interlock {
Result<std::unique_ptr<ExecEncoder>> ExecEncoder::open(ExecOptions options) {
  options.noun = "encoder";
  auto processes = ProcessPool::open(std::move(options), std::string(kFirstQuestion));
  if (!processes) return processes.error();
  return std::unique_ptr<ExecEncoder>(new ExecEncoder(std::move(*processes)));
}

Encoding ExecEncoder::encode(const Program& program) {
  const Program given = without_sync(program);
  return encoding_of(processes_->ask(question_text(given)),
                     [&](std::string_view text) { return answer_of(given, text); });
}

Encoding ExecEncoder::encode_afresh(const Program& program) {
  const Program given = without_sync(program);
  return encoding_of(processes_->ask_afresh(question_text(given)),
                     [&](std::string_view text) { return answer_of(given, text); });
}

std::optional<uint64_t> ExecEncoder::resident_bytes() { return processes_->resident_bytes(); }

}  // namespace interlock
