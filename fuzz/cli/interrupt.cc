#include "fuzz/cli/interrupt.h"

#include <csignal>

namespace interlock {
namespace {

std::atomic<bool> interrupted_flag{false};
static_assert(std::atomic<bool>::is_always_lock_free,
              "a signal handler may only use lock-free atomics");

void on_signal(int signal) {
  interrupted_flag.store(true);
  std::signal(signal, SIG_DFL);
}

}  // namespace

void install_interrupt_handler() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

const std::atomic<bool>& interrupted() { return interrupted_flag; }

}  // namespace interlock
