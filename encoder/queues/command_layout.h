// CommandLayout: what an encoder issued on several queues as a program, without a draft between.
#pragma once

#include <optional>
#include <vector>

#include "encoder/program/draft.h"
#include "encoder/program/program.h"
#include "encoder/sync/recording_sink.h"

namespace interlock {

// As program_on_queues() (queue_commands.h), of the same text; nothing where only the rules of a
// build tell what becomes of it: other sync than signals, waits and edges, a signal whose value is
// not the next of its semaphore, statements that the text says in short, lines that may be too
// long. Cost: linear in the statements, operands and names.
std::optional<Program> laid_out(const Program& program, const std::vector<QueueDraft>& queues,
                                const RecordingSink& issued);

}  // namespace interlock
