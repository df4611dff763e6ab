// Interrupt: how ^C, SIGTERM and SIGHUP end a command: soon, and with what it has found put away.
// The first signal asks for the end, which loops poll for (encoder/program/stop.h); a second one
// ends the process, and so does a loop that does not ask for too long.
#pragma once

#include "encoder/program/stop.h"

namespace interlock {

// Requested by the first signal.
Stop& interrupt_stop();

// Makes the command on this thread end on signals: for its whole length.
class Interruptible {
 public:
  // `grace_seconds`: what is left after the first signal, whatever happens; generous where
  // something is to be put away, since a machine may be busy.
  explicit Interruptible(unsigned grace_seconds = 1);

 private:
  StopScope scope_;
};

}  // namespace interlock
