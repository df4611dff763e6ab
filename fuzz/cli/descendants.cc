#include "fuzz/cli/descendants.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

namespace interlock {
namespace {

// 0 if the text is no number.
pid_t process_of(std::string_view text) {
  pid_t process = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), process);
  return error == std::errc() && end == text.data() + text.size() ? process : 0;
}

// 0 if it is not there. The name, in parentheses, may have some, too, and is followed by a letter.
pid_t parent_of(pid_t process) {
  std::string stat;
  std::getline(std::ifstream(fmt::format("/proc/{}/stat", process)), stat);
  const size_t name_end = stat.rfind(") ");
  if (name_end == std::string::npos) return 0;
  const std::string_view rest = std::string_view(stat).substr(std::min(name_end + 4, stat.size()));
  return process_of(rest.substr(0, rest.find(' ')));
}

std::set<pid_t> children() {
  std::set<pid_t> result;
  const pid_t self = getpid();
  std::error_code error;
  std::filesystem::directory_iterator entry("/proc", error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const pid_t process = process_of(entry->path().filename().string());
    if (process != 0 && parent_of(process) == self) result.insert(process);
  }
  return result;
}

}  // namespace

Descendants::Descendants() : before_(children()) { prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

std::vector<pid_t> Descendants::running() const {
  std::vector<pid_t> result;
  for (const pid_t child : children()) {
    const bool is_other = before_.contains(child);
    if (!is_other && waitpid(child, nullptr, WNOHANG) == 0) result.push_back(child);
  }
  return result;
}

std::string name_of_process(pid_t process) {
  std::string name;
  std::getline(std::ifstream(fmt::format("/proc/{}/comm", process)), name);
  return name;
}

bool has_mapped(pid_t process, const std::string& path) {
  std::ifstream maps(fmt::format("/proc/{}/maps", process));
  for (std::string line; std::getline(maps, line);) {
    if (line.ends_with(" " + path)) return true;
  }
  return false;
}

}  // namespace interlock
