#include "fuzz/external/exec_queue_encoder.h"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "fuzz/external/external_queues.h"

namespace interlock {
namespace {

// Edges to all that came before, of 1,000 operations.
constexpr size_t kEdgeBytes = 8 << 20;

// To see that the command can be started.
std::string first_question(QueueKind kind) {
  return fmt::format(
      "interlock 1\n# {}\nmemory a 64\n"
      "dispatch First writes a  # write a 0 64\ndispatch Second reads a  # read a 0 64\n",
      remark_of({kind, 0}));
}

// What `answer` makes of `given`.
Encoding encoding_on_queues(const Program& given, FramedAnswer answer, const QueuesAsked& asked) {
  if (answer.failure) return {{}, std::move(answer.failure), {}};
  Result<Program> encoded = queue_answer_of(given, answer.text, asked);
  if (encoded) return {std::move(*encoded), std::nullopt, {}};
  return {{}, EncodeFailure{EncodeFailureKind::kIllegal, encoded.error().message}, {}};
}

}  // namespace

Result<std::unique_ptr<ExecQueueEncoder>> ExecQueueEncoder::open(QueueKind kind,
                                                                 ExecOptions options) {
  options.noun = "encoder";
  options.answer_bytes_more = kEdgeBytes;
  auto processes = ProcessPool::open(std::move(options), first_question(kind));
  if (!processes) return processes.error();
  return std::unique_ptr<ExecQueueEncoder>(new ExecQueueEncoder(kind, std::move(*processes)));
}

Encoding ExecQueueEncoder::encode(const Program& program, uint32_t queue_count) {
  const QueuesAsked asked{kind_, queue_count};
  const Program given = without_queues(program);
  return encoding_on_queues(given, processes_->ask(queue_question_text(given, asked)), asked);
}

Encoding ExecQueueEncoder::encode_afresh(const Program& program, uint32_t queue_count) {
  const QueuesAsked asked{kind_, queue_count};
  const Program given = without_queues(program);
  return encoding_on_queues(given, processes_->ask_afresh(queue_question_text(given, asked)),
                            asked);
}

}  // namespace interlock
