// Queue commands: what encoders issue on several queues, as a program.
#pragma once

#include <string>
#include <vector>

#include "encoder/program/draft.h"
#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "encoder/sync/encoder.h"
#include "encoder/sync/recording_sink.h"

namespace interlock {

// What the numbers of commands are in the text.
struct CommandNames {
  struct NamedSemaphore {
    SemaphoreDraft draft;
    bool is_declared = false;  // By a statement of its own, as one with an initial value has to be.
  };
  // By number. The default queue may be among the queues.
  std::vector<QueueDraft> queues;
  // By number; one beyond them is `s` followed by its number + 1, and a timeline.
  std::vector<NamedSemaphore> semaphores;
  std::vector<std::string> events;  // Likewise, `e` followed by the number + 1.
};

// Returns `program` with the sync of `issued` and no other, on these queues. Semaphore k is `s`
// followed by k + 1, event k is `e` followed by k + 1. Dispatches that are issued in another order
// state `order=`. The witness and the expectations spoke of other sync and are dropped, as are
// captures and replays, whose statements are spelled out. A stop leaves an empty program.
// Requires: check_is_dispatches() (dispatch_conflicts.h); every dispatch is issued once, on one of
// the queues. Errors: a limit of programs. Cost: O(n log n) for n commands.
Result<Program> program_on_queues(const Program& program, const std::vector<QueueDraft>& queues,
                                  const RecordingSink& issued);

// The same by way of a draft and the rules of a build: what program_on_queues() does where
// CommandLayout (command_layout.h) makes nothing, and the slow and plain method for tests.
Result<Program> program_by_rules(const Program& program, const std::vector<QueueDraft>& queues,
                                 const RecordingSink& issued);

// The same under other names, and of any program: accesses of the host are issued as dispatches,
// and stand in the order of the host, and statements about values as issue_lifetime() says; those
// that are not issued are left out. What a barrier does to its operands comes with the barrier.
// Requires: every other dispatch is issued once, and each access of the host at most once.
Result<Program> program_by_rules(const Program& program, const CommandNames& names,
                                 const RecordingSink& issued);

// Queues of the kind, named like q1, q2, ….
std::vector<QueueDraft> numbered_queues(QueueKind kind, uint32_t count);

// Runs `encoder` over `program` and returns what it issues, on as many queues as it uses, named q1,
// q2, … A stop leaves an empty program. Errors: as check_is_dispatches() and check_issued_once(); a
// limit of programs. Cost: as above, and of the encoder.
Result<Program> encode_on_queues(const Program& program, Encoder& encoder, QueueKind kind);

}  // namespace interlock
