// The cache machine: executes a small program in every legal order and with every legal state of
// the caches, scoped barriers included. Other methods are compared with it, so it is as simple as
// can be, and has nothing in common with simulator/.
//
// An execution is an order of operations (one per dispatch) and events (one per dependency of a
// barrier) in which each waits for what docs/theory.md, "The machine", says. What an operation
// writes is pending until it is committed: at any time, but before an event that makes it
// available. An operation reads any value that memory has held since the latest event that made the
// byte visible to its sort of access. Every write also depends on the byte's old content, which it
// reads as its own sort of write.
#pragma once

#include <cstdint>
#include <string>

#include "encoder/program/program.h"

namespace interlock {

struct CacheVerdict {
  // Some execution lets some operation read, or leaves in memory, what the execution in issue order
  // with every write visible at once does not.
  bool differs = false;
  std::string execution;     // Such an execution, as far as its first wrong read; else empty.
  uint64_t state_count = 0;  // Distinct states visited.
};

// Requires: at most 7 dispatches and 16 dependencies (a full or execution barrier counts as one).
// Cost: exponential in dispatches and dependencies; stops at the first difference.
CacheVerdict execute_in_every_way(const Program& program);

}  // namespace interlock
