#include "encoder/queues/given_queues.h"

#include <string>

#include "encoder/program/error_of.h"
#include "encoder/program/names.h"

namespace interlock {

bool has_given_queues(const Program& program) { return program.queues.size() > 1; }

Result<QueuesOfDispatches> given_queues(const Program& program, uint32_t queue_count) {
  if (queue_count > 0) {
    return Error{
        "the program says which queue each dispatch is on, and --queues asks to choose. Leave out "
        "one of them."};
  }
  QueuesOfDispatches result;
  std::vector<uint32_t> index_of(program.queue_count(), UINT32_MAX);
  for (const Statement& statement : program.statements) {
    const bool is_dispatch = statement.kind == StatementKind::kDispatch;
    const QueueIndex queue = statement.queue;
    if (queue == kNoQueue) {
      if (is_dispatch) result.queue_of.push_back(UINT32_MAX);
      continue;
    }
    if (!is_dispatch && statement.kind != StatementKind::kLifetime) continue;
    const QueueKind kind = program.kind_of(queue);
    if (const QueueIndex stream = program.queues[queue].launched_on; stream != kNoQueue) {
      return error_of(
          "{} replays a capture as a graph, and waits alone order dispatches of serial queues. "
          "Capture what it replays without edges, or give --encoder=edges.",
          in_quotes(program.name_of(stream)));
    }
    if (kind != QueueKind::kSerial) {
      return error_of(
          "queue '{}' is {}; waits alone order dispatches of serial queues. Declare it as one, or "
          "give --queues with a program without queues.",
          program.name_of(queue), word_of(kind));
    }
    if (index_of[queue] == UINT32_MAX) {
      index_of[queue] = static_cast<uint32_t>(result.queues.size());
      result.queues.push_back({std::string(program.name_of(queue)), kind});
    }
    if (is_dispatch) result.queue_of.push_back(index_of[queue]);
  }
  return result;
}

}  // namespace interlock
