// What encoders for several queues make of a program, judged twice: by the exact checks, and by a
// search for paths from dispatch to dispatch.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "encoder/program/draft.h"
#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "encoder/queues/queue_encoder.h"
#include "encoder/sync/external_encoder.h"
#include "fuzz/judge/oracles.h"
#include "fuzz/judge/queue_judges.h"
#include "simulator/facts/fact.h"

namespace interlock {

struct QueueReport {
  // As it was encoded; empty after an error. Of an encoder that is no part of this build in the
  // order of its run, with `order=` where the text has another.
  Program program;
  std::vector<Fact> facts;  // Of a program with a deadlock that alone, of an encoder of others.
  // Of an encoder that is no part of this build: what it did instead of answering.
  std::optional<EncodeFailure> failure;
  std::vector<InternalDisagreement> disagreements;
  bool ran_on_cpu = false;
  DeviceReport device;
};

// As parsed_draft() (oracles.h), of several queues and the host too.
std::optional<Program> parsed_queue_draft(const ProgramDraft& draft,
                                          std::vector<InternalDisagreement>& disagreements);

// How many queues `number` says, of a program that says none: two, three or four at most; 0: as
// many as the encoder takes by itself.
uint32_t queue_count_of(const QueueEncoderEntry& encoder, uint64_t number);

// What `encoder` makes of `program` in the order of its run; `number` says on how many queues, if
// the program does not say on which. Errors: those of text_in_run_order() and of the encoder.
Result<Encoding> encode_in_run_order(const Program& program, const QueueEncoderEntry& encoder,
                                     uint64_t number);

// Judges what `encoder` makes of `program`. `number` says on how many queues, and which programs
// are printed and parsed again. Requires: what the encoder takes.
// `judges`: one program in 64 is besides judged as it stands then, in the stages that these
// say (queue_judges.h); null: none is. Cost: the pairs of dispatches; and that of judge_queues().
QueueReport judge_on_queues(const Program& program, const QueueEncoderEntry& encoder,
                            uint64_t number, const QueueJudgeOptions* judges = nullptr);

// Whether two dispatches that conflict by what they declare have no path between them, by queue
// order, over a barrier, from a `set` to its `await`, from a signal to its wait, or along an edge;
// from a write into memory that is not unified to the host it must lead over a barrier, stated or
// implied, or along an edge. It shares nothing with the clocks. Requires: serial, concurrent and
// graph queues; barriers and events, which are taken for full ones; signals and waits for
// everything, of the host too, whose statements come before all that stands after them; in an order
// of the text in which they can run, without submissions. Cost: the square of the statements, by 64
// bits; pairs of dispatches.
bool has_unordered_conflict(const Program& program);

}  // namespace interlock
