#include "encoder/text/temporary_file.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "encoder/program/names.h"

namespace interlock {
namespace {

// Takes ".NUMBER" from the end of `name`.
std::optional<int> take_number(std::string_view& name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto number = parsed_number<int>(name.substr(dot + 1));
  if (!number || *number < 0) return std::nullopt;
  name.remove_suffix(name.size() - dot);
  return number;
}

// The process that a temporary name speaks of; none if `name` is no such name.
std::optional<int> writer_of(std::string_view name) {
  constexpr std::string_view kEnd = ".tmp";
  if (!name.ends_with(kEnd)) return std::nullopt;
  name.remove_suffix(kEnd.size());
  if (!take_number(name)) return std::nullopt;  // The attempt.
  const std::optional<int> process = take_number(name);
  return name.ends_with(".ilk") ? process : std::nullopt;
}

// Of another user's process too it is known that it lives.
bool is_alive(int process) { return ::kill(process, 0) == 0 || errno != ESRCH; }

}  // namespace

std::string temporary_name(const std::string& file, int attempt) {
  return fmt::format("{}.{}.{}.tmp", file, ::getpid(), attempt);
}

uint64_t remove_abandoned_files(const std::string& folder) {
  uint64_t count = 0;
  std::error_code error;
  std::filesystem::directory_iterator file(folder, error);
  for (; !error && file != std::filesystem::directory_iterator(); file.increment(error)) {
    const std::optional<int> writer = writer_of(file->path().filename().native());
    // 0 would speak of a group of processes.
    if (!writer || *writer == 0 || is_alive(*writer)) continue;
    std::error_code ignored;
    const bool is_file =
        file->symlink_status(ignored).type() == std::filesystem::file_type::regular;
    if (is_file && std::filesystem::remove(file->path(), ignored)) ++count;
  }
  return count;
}

}  // namespace interlock
