#include "backends/remote/worker_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "encoder/program/error_of.h"

extern char** environ;

namespace interlock {
namespace {

using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

constexpr milliseconds kExitLookPeriod{2};
// A process that the kernel holds for longer, in a driver, is left to it.
constexpr milliseconds kKillPatience{2000};
constexpr milliseconds kExitPatience{1000};

// True once the process is over; then `status` is what wait says.
bool is_over_within(pid_t process, milliseconds patience, int& status) {
  const SteadyClock::time_point end = SteadyClock::now() + patience;
  for (;;) {
    const pid_t ended = waitpid(process, &status, WNOHANG);
    if (ended == process || (ended < 0 && errno != EINTR)) return true;
    if (SteadyClock::now() >= end) return false;
    std::this_thread::sleep_for(kExitLookPeriod);
  }
}

// The process reads and writes `socket` as its standard input and output.
int spawn(const std::vector<std::string>& command, int socket, pid_t& process) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, socket, STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  const int error =
      posix_spawn(&process, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

}  // namespace

Result<std::unique_ptr<WorkerProcess>> WorkerProcess::start(
    const std::vector<std::string>& command) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    return error_of("There is no socket for a worker process: {}.", strerror(errno));
  }
  pid_t process = -1;
  const int error = spawn(command, sockets[1], process);
  close(sockets[1]);
  if (error != 0) {
    close(sockets[0]);
    return error_of("The worker process '{}' cannot be started: {}.", command[0], strerror(error));
  }
  return std::unique_ptr<WorkerProcess>(new WorkerProcess(process, sockets[0]));
}

std::string WorkerProcess::end(milliseconds patience) {
  if (process_ < 0) return "is over";
  int status = 0;
  const bool is_over = is_over_within(process_, patience, status);
  if (!is_over) {
    kill(-process_, SIGKILL);
    if (!is_over_within(process_, kKillPatience, status)) return "cannot be stopped";
  }
  process_ = -1;
  if (!is_over) return "was stopped";
  if (WIFEXITED(status)) exit_status_ = WEXITSTATUS(status);
  if (exit_status_) return fmt::format("ended with status {}", *exit_status_);
  return fmt::format("was ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
}

WorkerProcess::~WorkerProcess() {
  close(descriptor_);
  if (process_ >= 0) end(kExitPatience);
}

}  // namespace interlock
