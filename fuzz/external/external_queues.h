// What an encoder for several queues outside of this process is given of a program, and what it may
// make of it. Of one queue external_program.h says so.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "encoder/program/program.h"
#include "encoder/program/result.h"

namespace interlock {

// Which queues the answer may have.
struct QueuesAsked {
  QueueKind kind = QueueKind::kSerial;
  uint32_t queue_count = 0;  // At most; 0: as many as it likes.
};

// "queues kind=serial most=4"
std::string remark_of(const QueuesAsked& asked);

// The kinds that can be asked for.
std::span<const QueueKind> asked_queue_kinds();

// The dispatches of `program` alone, in the order of its text, on no queue but the default one.
// Requires: check_is_dispatches() (dispatch_conflicts.h).
Program without_queues(const Program& program);

// The question_text() of `given` with the remark as a comment in its second line.
std::string queue_question_text(const Program& given, const QueuesAsked& asked);

// What an encoder made of `given`. Its queues and its sync are taken as they stand, so that a wait
// may stand before its signal, and nothing need ever run. Errors: `text` is no program; it has
// statements of the host, or of other queues than `asked`; without queues and sync it is not
// `given`. Dispatches may stand in another order, and then say by `order=` which is which.
// Requires: `given` is what without_queues() returned. Cost: that of the parser, and linear.
Result<Program> queue_answer_of(const Program& given, std::string_view text,
                                const QueuesAsked& asked);

}  // namespace interlock
