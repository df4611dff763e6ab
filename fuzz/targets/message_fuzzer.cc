// Any bytes, read as what a worker process is asked and as what it replies, give it or an error,
// never a crash, a hang or unbounded memory. What is read is written as the same bytes, and a
// schedule is refused unless a backend can execute it.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "backends/remote/message.h"
#include "backends/remote/serve.h"
#include "encoder/program/check.h"
#include "encoder/text/parser.h"

namespace interlock {
namespace {

void check_request(std::string_view bytes) {
  const Result<WorkerRequest> request = request_of(bytes);
  if (!request) return;
  INTERLOCK_CHECK(bytes_of(*request) == bytes);
  ParseOptions options;
  options.reads_every_queue = true;
  options.limits.expansion_count = 10'000;
  const Result<Program> program = parse(request->program, "fuzz.ilk", options);
  if (!program) return;
  const Result<Success> checked = check_executable(*program, request->schedule);
  INTERLOCK_CHECK(checked || !checked.error().message.empty());
}

void check_reply(std::string_view bytes) {
  const Result<WorkerReply> reply = reply_of(bytes);
  if (reply) INTERLOCK_CHECK(bytes_of(*reply) == bytes);
}

}  // namespace
}  // namespace interlock

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  interlock::check_request(bytes);
  interlock::check_reply(bytes);
  return 0;
}
