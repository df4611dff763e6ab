// The slow, obvious second method: conflicts byte by byte, barriers by trying every placement.
// Tests compare the encoders with it. It shares no line with encoder/ or simulator/.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "encoder/sync/encoder.h"
#include "encoder/sync/recording_sink.h"

namespace interlock {

// A dispatch that owns its accesses: what a test feeds to an encoder.
struct TestDispatch {
  std::vector<Access> accesses;
  AtomicOp atomic_op = AtomicOp::kNone;
};

// True iff some byte is used by both and that takes an order. Cost: the bytes of both.
bool obviously_conflict(const TestDispatch& first, const TestDispatch& second);

// What `encoder` issues for the dispatches.
std::vector<Command> encode_all(const std::vector<TestDispatch>& dispatches, Encoder& encoder);

// The first pair of conflicting dispatches without a full barrier between them, as "0 and 2"; empty
// if there is none.
std::string obvious_hazard(const std::vector<TestDispatch>& dispatches,
                           const std::vector<Command>& commands);

// The fewest barriers over all placements that leave no hazard.
// Requires: at most 16 dispatches. Cost: exponential.
int fewest_barriers_by_search(const std::vector<TestDispatch>& dispatches);

int barrier_count_of(const std::vector<Command>& commands);

// One line per dispatch, for messages.
std::string text_of(const std::vector<TestDispatch>& dispatches);

}  // namespace interlock
