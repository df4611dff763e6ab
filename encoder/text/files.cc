// Reading untrusted files within bounds, and writing files so that no reader ever sees half of one.
#include "encoder/text/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "encoder/program/error_of.h"
#include "encoder/program/names.h"
#include "encoder/program/stop.h"
#include "encoder/text/gzip.h"

namespace interlock {
namespace {

// Owns a file descriptor; 0 to 2 are the process's own and stay open.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ > STDERR_FILENO) ::close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

Error file_error(std::string_view verb, const std::string& path, int code) {
  return {fmt::format("cannot {} {}: {}.", verb, in_quotes(path),
                      std::generic_category().message(code))};
}

Error size_error(const std::string& path, const Limits& limits) {
  return {fmt::format("cannot read {}: it has more bytes than the limit of {}.", in_quotes(path),
                      limits.input_bytes)};
}

// What is compressed is read as the text that it was made of, whatever its name.
Result<std::string> unpacked(const std::string& path, std::string bytes, const Limits& limits) {
  if (!is_gzip(bytes)) return bytes;
  auto text = gunzip(bytes, limits.input_bytes);
  if (!text) return error_of("cannot read {}: {}.", in_quotes(path), text.error().message);
  return text;
}

// Returns the errno of the failure, or none.
std::optional<int> write_all(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t count = ::write(descriptor, content.data(), content.size());
    if (count < 0 && errno != EINTR) return errno;
    content.remove_prefix(static_cast<size_t>(std::max<ssize_t>(count, 0)));
  }
  return std::nullopt;
}

// A device or a pipe must not be replaced by a file.
Result<Success> write_in_place(const std::string& path, std::string_view content) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.number() < 0) return file_error("write", path, errno);
  if (const auto code = write_all(file.number(), content)) return file_error("write", path, *code);
  return Success{};
}

// Writes the temporary file `name`. Returns EEXIST if there is one already.
std::optional<int> write_new(const std::string& name, std::string_view content) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  const int number = ::open(name.c_str(), kFlags, 0666);
  if (number < 0) return errno;
  const auto code = write_all(number, content);
  // Some file systems report a full disk only here.
  return ::close(number) != 0 && !code ? std::optional<int>(errno) : code;
}

bool is_program_name(std::string_view name) {
  return name.ends_with(".ilk") || name.ends_with(".ilk.gz");
}

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
  return is_program_name(name) ? process : std::nullopt;
}

// Of another user's process too it is known that it lives.
bool is_alive(int process) { return ::kill(process, 0) == 0 || errno != ESRCH; }

}  // namespace

// Pipes and devices tell no size, so what is read is counted too.
Result<std::string> read_file(const std::string& path, const Limits& limits) {
  const Descriptor file(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status = {};
  if (file.number() < 0 || ::fstat(file.number(), &status) != 0) {
    return file_error("read", path, errno);
  }
  if (S_ISDIR(status.st_mode)) return file_error("read", path, EISDIR);
  std::string text;
  if (S_ISREG(status.st_mode)) {
    if (static_cast<uint64_t>(status.st_size) > limits.input_bytes) return size_error(path, limits);
    text.reserve(static_cast<size_t>(status.st_size));
  }
  std::array<char, 1 << 16> buffer;
  for (;;) {
    if (is_stopped()) return file_error("read", path, EINTR);
    const ssize_t count = ::read(file.number(), buffer.data(), buffer.size());
    if (count == 0) return unpacked(path, std::move(text), limits);
    if (count < 0) {
      if (errno == EINTR && !is_stopped()) continue;
      return file_error("read", path, errno);
    }
    text.append(buffer.data(), static_cast<size_t>(count));
    if (text.size() > limits.input_bytes) return size_error(path, limits);
  }
}

Result<Program> parse_file(const std::string& path, const ParseOptions& options) {
  const Result<std::string> text = read_file(path, options.limits);
  if (!text) return text.error();
  return parse(*text, path == "-" ? "<stdin>" : path, options);
}

Result<std::vector<std::string>> programs_at(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) {
      files.push_back(path);  // What is wrong with it, reading it says.
      continue;
    }
    const size_t first = files.size();
    auto entry = std::filesystem::recursive_directory_iterator(path, error);
    for (; !error && entry != std::filesystem::recursive_directory_iterator();
         entry.increment(error)) {
      if (is_stopped()) return file_error("read", path, EINTR);
      std::error_code unknown;
      const bool is_program =
          is_program_name(entry->path().native()) && !entry->is_directory(unknown);
      if (is_program) files.push_back(entry->path().string());
    }
    if (error) return file_error("read", path, error.value());
    if (files.size() == first) {
      return Error{
          fmt::format("there is no program (.ilk, .ilk.gz) in the folder {}.", in_quotes(path))};
    }
    std::sort(files.begin() + static_cast<std::ptrdiff_t>(first), files.end());
  }
  return files;
}

Result<Success> write_file(const std::string& path, std::string_view content) {
  if (is_gzip_name(path) && !is_gzip(content)) {
    const auto bytes = gzip(content);
    if (!bytes) return error_of("cannot write {}: {}.", in_quotes(path), bytes.error().message);
    return write_file(path, *bytes);
  }
  if (is_stopped()) return file_error("write", path, EINTR);  // It may be wrong.
  // The stream that the process has already: opening the name again would start at its beginning.
  if (path == "/dev/stdout" || path == "/dev/stderr") {
    const auto code = write_all(path == "/dev/stdout" ? STDOUT_FILENO : STDERR_FILENO, content);
    return code ? Result<Success>(file_error("write", path, *code)) : Success{};
  }
  std::error_code ignored;
  const std::filesystem::path resolved = std::filesystem::canonical(path, ignored);
  const std::string target = ignored ? path : resolved.string();
  const auto status = std::filesystem::status(target, ignored);
  if (std::filesystem::is_directory(status)) return file_error("write", path, EISDIR);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    return write_in_place(target, content);
  }
  std::optional<int> code = EEXIST;
  std::string name;
  for (int attempt = 0; attempt < 100 && code == EEXIST; ++attempt) {
    name = temporary_name(target, attempt);
    code = write_new(name, content);
  }
  if (!code && ::rename(name.c_str(), target.c_str()) != 0) code = errno;
  if (code) {
    if (code != EEXIST) ::unlink(name.c_str());
    return file_error("write", path, *code);
  }
  return Success{};
}

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
