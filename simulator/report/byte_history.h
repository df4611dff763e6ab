// ByteHistory: what a byte held, and when, up to a read: the story behind a finding of lifetimes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/lifetimes/held_value.h"

namespace interlock {

enum class HistoryKind : uint8_t { kInitial, kWritten, kLifetime };

// One change of what the byte holds.
struct HistoryEvent {
  HistoryKind kind = HistoryKind::kInitial;
  HeldValue value;                        // After it.
  DispatchId dispatch;                    // Of kWritten.
  LifetimeId lifetime;                    // Of kLifetime.
  HeldChange change = HeldChange::kNone;  // Of kLifetime: what it does.
};

struct ByteHistory {
  std::vector<HistoryEvent> events;  // Writes of the same value again are left out.
  ByteRange bytes;                   // What shares all of it; starts at the byte.
};

// The history of the first byte of `bytes` before `reader`, or of the whole program if it is none,
// for as many of the bytes as share it. Takes its work, in statements and accesses, from
// `work_left`; if that is too little, the history is empty and `bytes` too.
// What the host says of values stands behind what it has issued before, whenever that executes.
// Cost: the accesses before the reader, and the tensors; in a program that is not in the order of
// its text, log more.
ByteHistory history_of(const Program& program, MemoryId memory, ByteRange bytes, DispatchId reader,
                       uint64_t& work_left);

// "m[0:64] held x from Produce (dispatch 3) on, was freed behind dispatch 7, then held y from Reuse
// (dispatch 9) on."; empty if the history is.
std::string text_of(const Program& program, MemoryId memory, const ByteHistory& history);

// "after dispatch 7", "before dispatch 0": where a lifetime statement stands; one of the host, as
// that issues it.
std::string place_of(const Program& program, LifetimeId id);

}  // namespace interlock
