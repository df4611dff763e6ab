// ^C: work that saves what it finds asks between steps and ends cleanly. All other commands leave
// the signal as it is: it ends them at once.
#pragma once

#include <atomic>

namespace interlock {

// Installs the handler for SIGINT and SIGTERM. The first signal sets the flag, a second one ends
// the process at once.
void install_interrupt_handler();

// True once a signal has arrived. The same flag can be handed to code that stops on it.
const std::atomic<bool>& interrupted();

}  // namespace interlock
