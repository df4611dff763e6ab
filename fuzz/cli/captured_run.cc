#include "fuzz/cli/captured_run.h"

#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "encoder/program/error_of.h"

namespace interlock {
namespace {

constexpr std::string_view kManifest = "VkLayer_interlock_capture.json";

// Whoever is to hear of signals; 0: nobody yet.
constinit volatile sig_atomic_t running_child = 0;

void pass_on(int signal) {
  if (running_child > 0) kill(static_cast<pid_t>(running_child), signal);
}

// For its lifetime, signals that ask for the end go on to the child; it decides.
class SignalPassing {
 public:
  SignalPassing() {
    struct sigaction action = {};
    action.sa_handler = pass_on;
    for (size_t i = 0; i < std::size(kSignals); ++i) {
      sigaction(kSignals[i], nullptr, &before_[i]);
      // What is ignored (nohup) stays so, and the child inherits it.
      if (before_[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
    }
  }
  ~SignalPassing() {
    for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  }
  SignalPassing(const SignalPassing&) = delete;
  SignalPassing& operator=(const SignalPassing&) = delete;

 private:
  static constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction before_[std::size(kSignals)] = {};
};

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Returns the exit status, as shells tell it.
int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return 127;
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

Result<std::string> find_layer_folder() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path own_folder = self.parent_path();
  for (const char* const relative : {"../../capture/layer", "../share/vulkan/explicit_layer.d"}) {
    const std::filesystem::path folder = (own_folder / relative).lexically_normal();
    if (std::filesystem::exists(folder / kManifest, error)) return folder.string();
  }
  return error_of(
      "{} is not there: neither in the build tree of this program, nor in "
      "../share/vulkan/explicit_layer.d beside it.",
      kManifest);
}

Result<std::string> make_temporary_folder() {
  std::error_code error;
  std::string folder = (std::filesystem::temp_directory_path(error) / "interlock-XXXXXX").string();
  if (error || mkdtemp(folder.data()) == nullptr) {
    return error_of("there is no folder for logs: {}: {}.", folder, std::strerror(errno));
  }
  return folder;
}

Result<CapturedRun> run_captured(const std::vector<std::string>& command,
                                 const std::string& layer_folder, const std::string& folder,
                                 const CaptureRequest& request) {
  std::vector<std::string> arguments = command;
  std::vector<std::string> environment = captured_environment(layer_folder, folder, request);
  const SignalPassing passing;
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments.front().c_str(), nullptr, nullptr,
                                 pointers_to(arguments).data(), pointers_to(environment).data());
  if (error != 0) {
    return error_of("'{}' cannot be started: {}.", arguments.front(), std::strerror(error));
  }
  running_child = child;
  CapturedRun run;
  run.exit_status = wait_for(child);
  running_child = 0;
  std::error_code no_folder;
  for (const auto& entry : std::filesystem::directory_iterator(folder, no_folder)) {
    if (entry.path().extension() == ".ilog") run.logs.push_back(entry.path().string());
  }
  std::ranges::sort(run.logs);
  return run;
}

void remove_folder(const std::string& folder) {
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

}  // namespace interlock
