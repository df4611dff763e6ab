// What encoders for several queues make of a program, judged twice: by the exact checks, and by a
// search for paths from dispatch to dispatch.
#pragma once

#include <cstdint>
#include <vector>

#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "encoder/queues/queue_encoder.h"
#include "fuzz/judge/oracles.h"
#include "simulator/facts/fact.h"

namespace interlock {

struct QueueReport {
  Program program;  // As it was encoded; empty after an error.
  std::vector<Fact> facts;
  std::vector<InternalDisagreement> disagreements;
};

// What `encoder` makes of `program`; `number` says on how many queues. Errors: those of the
// encoder.
Result<Program> encode_on_queues(const Program& program, const QueueEncoderEntry& encoder,
                                 uint64_t number);

// Judges what `encoder` makes of `program`. `number` says on how many queues, and which programs
// are printed and parsed again. Requires: dispatches alone (dispatch_conflicts.h).
// Cost: the pairs of dispatches.
QueueReport judge_on_queues(const Program& program, const QueueEncoderEntry& encoder,
                            uint64_t number);

// Whether two dispatches that conflict by what they declare have no path between them, by queue
// order, over a barrier, from a signal to its wait, or along an edge. It shares nothing with the
// clocks. Requires: serial, concurrent and graph queues, full barriers, signals and waits for
// everything, in an order of the text in which they can run. Cost: the square of the statements, by
// 64 bits; pairs of dispatches.
bool has_unordered_conflict(const Program& program);

}  // namespace interlock
