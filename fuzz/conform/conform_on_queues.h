// Conformance of encoders for several queues: which of the named properties (conform.h) they have.
#pragma once

#include "encoder/program/result.h"
#include "encoder/queues/queue_encoder.h"
#include "fuzz/conform/conform.h"

namespace interlock {

// Dispatches between the two of a hazard, and in the long program, at most: what is made small is
// judged by paths from statement to statement.
inline constexpr uint64_t kQueueDistanceMax = 256;
inline constexpr uint64_t kQueueStreamMax = 1000;

// As conform(), for `answers`, `orders-hazards`, `distances`, `operands`, `deterministic`,
// `no-state`, `survives` and `nothing-redundant`; the others are not judged, and say so. Programs
// of probes go to as many queues as the encoder chooses and to three at most, so that two
// dispatches at any distance are on different ones.
Result<ConformReport> conform_on_queues(const QueueEncoderEntry& encoder,
                                        const ConformOptions& options);

}  // namespace interlock
