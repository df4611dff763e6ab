// Fiber: a function with a stack of its own, which gives way in the middle and goes on later, on
// the host thread that resumes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "encoder/program/result.h"

namespace interlock {

enum class FiberSwitch : uint8_t {
  kAssembly,  // x86-64 under the System V ABI; tens of nanoseconds a switch.
  kUcontext,  // POSIX; some ten times as long, since each switch sets the signal mask.
};

// Those of this machine, the fastest first.
std::vector<FiberSwitch> fiber_switches();

class Fiber {
 public:
  using Body = void (*)(void* argument);

  // Errors: no memory for the stack.
  static Result<std::unique_ptr<Fiber>> create(FiberSwitch kind);

  // A body that has not returned is abandoned, and objects on its stack are not destroyed.
  ~Fiber();

  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // The next resume() calls body(argument). Requires: is_done().
  void start(Body body, void* argument);

  // Runs the body until it gives way or returns. Requires: !is_done(), and that it does not run.
  // One host thread resumes a fiber from start to end.
  void resume();

  // Leaves resume(). Requires: the body of this fiber calls it.
  void give_way();

  // True before start() and after the body returned.
  bool is_done() const { return is_done_; }

 private:
  struct Side;
  struct Context;  // What the kind of switch and the sanitizers keep.

  Fiber(FiberSwitch kind, uint8_t* mapping, size_t mapping_bytes);
  static void enter();
  void run_body();
  void switch_stack(Side& from, Side& to);
  void switch_to_resumer(bool is_last);

  [[maybe_unused]] FiberSwitch kind_;  // Where there is one only, nobody asks.
  uint8_t* mapping_;                   // A page that nobody may touch, and the stack.
  size_t mapping_bytes_;
  std::unique_ptr<Context> context_;
  Body body_ = nullptr;
  void* argument_ = nullptr;
  bool is_done_ = true;
};

}  // namespace interlock
