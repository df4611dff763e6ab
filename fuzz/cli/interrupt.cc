#include "fuzz/cli/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <string_view>

#include "fuzz/cli/console.h"

namespace interlock {
namespace {

constinit Stop user_stop;
constinit volatile sig_atomic_t grace = 1;

// No SA_RESTART: a wait for input or for a reader of the output ends, too.
void handle(int signal, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  sigaction(signal, &action, nullptr);
}

void on_signal(int signal) {
  user_stop.request();
  handle(signal, SIG_DFL);
  alarm(static_cast<unsigned>(grace));
}

// Only calls that a handler may make.
void on_alarm(int) {
  constexpr std::string_view kSentence =
      "interrupted: the step in progress did not end in time and was cut off.\n";
  const ssize_t ignored = write(STDERR_FILENO, kSentence.data(), kSentence.size());
  static_cast<void>(ignored);
  _exit(static_cast<int>(ExitStatus::kInterrupted));
}

}  // namespace

Stop& interrupt_stop() { return user_stop; }

Interruptible::Interruptible(unsigned grace_seconds) : scope_(&user_stop) {
  grace = static_cast<sig_atomic_t>(grace_seconds);
  handle(SIGALRM, on_alarm);
  handle(SIGINT, on_signal);
  handle(SIGTERM, on_signal);
  // The terminal is gone: what was found is put away all the same. Who had it ignored (nohup) goes
  // on.
  struct sigaction hangup = {};
  sigaction(SIGHUP, nullptr, &hangup);
  if (hangup.sa_handler != SIG_IGN) handle(SIGHUP, on_signal);
}

}  // namespace interlock
