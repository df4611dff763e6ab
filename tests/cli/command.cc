#include "tests/cli/command.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "encoder/program/check.h"

namespace interlock {
namespace {

std::string read_all(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

void redirect(int stream, const std::string& path, int flags) {
  const int file = open(path.c_str(), flags, 0600);
  if (file < 0 || dup2(file, stream) < 0) {
    _exit(126);
  }
  close(file);
}

// AddressSanitizer reserves terabytes of address space; its builds run without that bound.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kBoundsAddressSpace = false;
#elif defined(__has_feature)
constexpr bool kBoundsAddressSpace = !__has_feature(address_sanitizer);
#else
constexpr bool kBoundsAddressSpace = true;
#endif

void limit(int resource, uint64_t value) {
  if (value != 0 && (resource != RLIMIT_AS || kBoundsAddressSpace)) {
    const rlimit bound{value, value};
    setrlimit(static_cast<__rlimit_resource_t>(resource), &bound);
  }
}

// Does not return.
void become(std::vector<std::string> command) {
  std::vector<char*> argv;
  for (std::string& argument : command) argv.push_back(argument.data());
  argv.push_back(nullptr);
  execv(argv[0], argv.data());
  _exit(127);
}

std::vector<std::string> interlock_with(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), INTERLOCK_EXECUTABLE);
  return arguments;
}

// The first word of `command` is the path of a program.
CommandResult run_process(const std::vector<std::string>& command, const std::string& input,
                          const CommandLimits& limits) {
  const std::string in_path = temporary_file("stdin", input);
  const std::string out_path = temporary_path("stdout");
  const std::string err_path = temporary_path("stderr");
  const pid_t child = fork();
  INTERLOCK_CHECK(child >= 0);
  if (child == 0) {
    redirect(STDIN_FILENO, in_path, O_RDONLY);
    redirect(STDOUT_FILENO, limits.is_output_full ? "/dev/full" : out_path,
             O_WRONLY | O_CREAT | O_TRUNC);
    redirect(STDERR_FILENO, err_path, O_WRONLY | O_CREAT | O_TRUNC);
    limit(RLIMIT_AS, limits.memory_bytes);
    limit(RLIMIT_CPU, limits.cpu_seconds);
    become(command);
  }
  int wait_status = 0;
  INTERLOCK_CHECK(waitpid(child, &wait_status, 0) == child);
  CommandResult result;
  result.status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
  result.out = read_all(out_path);
  result.err = read_all(err_path);
  for (const std::string& path : {in_path, out_path, err_path}) {
    unlink(path.c_str());
  }
  return result;
}

}  // namespace

// A prefix per process: tests of one binary run side by side.
std::string temporary_path(const std::string& name) {
  return testing::TempDir() + "interlock-" + std::to_string(getpid()) + "-" + name;
}

std::string fresh_path(const std::string& name) {
  std::string path = temporary_path(name);
  std::filesystem::remove_all(path);
  return path;
}

std::string temporary_file(const std::string& name, const std::string& text) {
  const std::string path = temporary_path(name);
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

int start_interlock(const std::vector<std::string>& arguments, const std::string& out_path,
                    const std::string& err_path) {
  const pid_t child = fork();
  INTERLOCK_CHECK(child >= 0);
  if (child == 0) {
    redirect(STDOUT_FILENO, out_path, O_WRONLY | O_CREAT | O_TRUNC);
    redirect(STDERR_FILENO, err_path, O_WRONLY | O_CREAT | O_TRUNC);
    become(interlock_with(arguments));
  }
  return child;
}

CommandResult run_interlock(const std::vector<std::string>& arguments, const std::string& input,
                            const CommandLimits& limits) {
  return run_process(interlock_with(arguments), input, limits);
}

CommandResult run_shell(const std::string& command) {
  const std::filesystem::path program = INTERLOCK_EXECUTABLE;
  return run_process(
      {"/bin/bash", "-c", "PATH='" + program.parent_path().string() + "':$PATH\n" + command}, "",
      {});
}

std::vector<std::string> command_after(const std::string& text, const std::string& label) {
  const std::string start = label + "interlock ";
  const size_t begin = text.find(start);
  if (begin == std::string::npos) return {};
  const size_t first = begin + start.size();
  std::istringstream stream(text.substr(first, text.find('\n', first) - first));
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

}  // namespace interlock
