#include "fuzz/cli/captured_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>

#include "encoder/program/error_of.h"
#include "fuzz/cli/console.h"
#include "fuzz/cli/descendants.h"

namespace interlock {
namespace {

constexpr std::string_view kManifest = "VkLayer_interlock_capture.json";

// Whoever is to hear of signals; 0: nobody yet, or no more.
constinit volatile sig_atomic_t running_child = 0;
constinit volatile sig_atomic_t is_asked_to_end = 0;

// What the command left behind is waited for without a word for so long; and, once a signal asked
// for the end, no longer than that.
constexpr auto kSilence = std::chrono::seconds(1);
constexpr auto kGrace = std::chrono::milliseconds(300);
constexpr auto kLookMin = std::chrono::milliseconds(2);
constexpr auto kLookMax = std::chrono::milliseconds(100);

void pass_on(int signal) {
  is_asked_to_end = 1;
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

// "1234 (python3)".
std::string text_of(const std::vector<pid_t>& processes) {
  std::vector<std::string> names;
  for (const pid_t process : processes) {
    names.push_back(fmt::format("{} ({})", process, name_of_process(process)));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// Waits for those that the command left behind, until a signal asks for the end. Returns those that
// still run.
std::vector<pid_t> wait_for_rest(const Descendants& descendants, const std::string& command) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  std::optional<Clock::time_point> end;
  bool is_told = false;
  for (auto pause = kLookMin;; pause = std::min(2 * pause, kLookMax)) {
    std::vector<pid_t> running = descendants.running();
    const Clock::time_point now = Clock::now();
    if (is_asked_to_end != 0 && !end) end = now + kGrace;
    if (running.empty() || (end && now >= *end)) return running;
    if (!is_told && !end && now - begin >= kSilence) {
      is_told = true;
      print_remark(fmt::format(
          "'{}' has ended, and waited for is what it left behind: {}. ^C judges what there is.\n",
          command, text_of(running)));
    }
    std::this_thread::sleep_for(pause);
  }
}

// Whether the process that the log is named after still appends to it.
bool is_written(const std::filesystem::path& log) {
  const std::string stem = log.stem().string();
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::canonical(log, error);
  return !error && has_mapped(static_cast<pid_t>(std::atol(stem.c_str())), whole.string());
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
  const Descendants descendants;
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
  const std::vector<pid_t> left = wait_for_rest(descendants, command.front());
  if (!left.empty()) {
    print_remark(fmt::format("Still running, and no longer waited for: {}.\n", text_of(left)));
  }
  std::error_code no_folder;
  for (const auto& entry : std::filesystem::directory_iterator(folder, no_folder)) {
    if (entry.path().extension() != ".ilog") continue;
    run.logs.push_back(entry.path().string());
    run.has_unfinished = run.has_unfinished || is_written(entry.path());
  }
  std::ranges::sort(run.logs);
  return run;
}

void remove_folder(const std::string& folder) {
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

}  // namespace interlock
