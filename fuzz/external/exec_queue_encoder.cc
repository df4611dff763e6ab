#include "fuzz/external/exec_queue_encoder.h"

#include <string>
#include <string_view>

#include "fuzz/external/external_passes.h"
#include "fuzz/external/external_program.h"
#include "fuzz/external/external_queues.h"

namespace interlock {
namespace {

// Edges to all that came before, of 1,000 operations.
constexpr size_t kEdgeBytes = 8 << 20;

}  // namespace

Result<std::unique_ptr<ExecQueueEncoder>> ExecQueueEncoder::open(QueueKind kind,
                                                                 ExecOptions options) {
  options.noun = "encoder";
  options.answer_bytes_more = kEdgeBytes;
  auto processes = ProcessPool::open(
      std::move(options), with_remark(std::string(kFirstQuestion), remark_of({kind, 0})));
  if (!processes) return processes.error();
  return std::unique_ptr<ExecQueueEncoder>(new ExecQueueEncoder(kind, std::move(*processes)));
}

Encoding ExecQueueEncoder::encode(const Program& program, uint32_t queue_count) {
  const QueuesAsked asked{kind_, queue_count};
  const Program given = without_queues(program);
  return encoding_of(processes_->ask(queue_question_text(given, asked)),
                     [&](std::string_view text) { return queue_answer_of(given, text, asked); });
}

Encoding ExecQueueEncoder::encode_afresh(const Program& program, uint32_t queue_count) {
  const QueuesAsked asked{kind_, queue_count};
  const Program given = without_queues(program);
  return encoding_of(processes_->ask_afresh(queue_question_text(given, asked)),
                     [&](std::string_view text) { return queue_answer_of(given, text, asked); });
}

}  // namespace interlock
