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

bool is_own_stream(std::string_view path) { return path == "/dev/stdout" || path == "/dev/stderr"; }

enum class TargetKind : uint8_t {
  kReplaced,  // A file, or nothing yet.
  kInPlace,   // A device, a pipe.
  kFolder,
};

// What writing `path` writes: what a link leads to.
struct Target {
  std::string path;
  TargetKind kind;
};

Target target_of(const std::string& path) {
  std::error_code error;
  const std::filesystem::path resolved = std::filesystem::canonical(path, error);
  std::string target = error ? path : resolved.string();
  const auto status = std::filesystem::status(target, error);
  TargetKind kind = TargetKind::kReplaced;
  if (std::filesystem::is_directory(status)) {
    kind = TargetKind::kFolder;
  } else if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    kind = TargetKind::kInPlace;
  }
  return {std::move(target), kind};
}

// Writes the temporary file `name`, with the permissions of `target`, if that is there. Returns
// EEXIST if there is one already.
std::optional<int> write_new(const std::string& name, std::string_view content,
                             const std::string& target) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  struct stat replaced = {};
  const bool is_there = ::stat(target.c_str(), &replaced) == 0;
  const int number = ::open(name.c_str(), kFlags, is_there ? 0600 : 0666);
  if (number < 0) return errno;
  std::optional<int> code;
  if (is_there && ::fchmod(number, replaced.st_mode & 0777) != 0) code = errno;
  if (!code) code = write_all(number, content);
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
      // A pipe would be waited for; whoever means one names it.
      const bool is_program =
          is_program_name(entry->path().native()) && entry->is_regular_file(unknown);
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
  if (is_own_stream(path)) {
    const auto code = write_all(path == "/dev/stdout" ? STDOUT_FILENO : STDERR_FILENO, content);
    return code ? Result<Success>(file_error("write", path, *code)) : Success{};
  }
  const Target target = target_of(path);
  if (target.kind == TargetKind::kFolder) return file_error("write", path, EISDIR);
  if (target.kind == TargetKind::kInPlace) return write_in_place(target.path, content);
  std::optional<int> code = EEXIST;
  std::string name;
  for (int attempt = 0; attempt < 100 && code == EEXIST; ++attempt) {
    name = temporary_name(target.path, attempt);
    code = write_new(name, content, target.path);
  }
  if (!code && ::rename(name.c_str(), target.path.c_str()) != 0) code = errno;
  if (code) {
    if (code != EEXIST) ::unlink(name.c_str());
    return file_error("write", path, *code);
  }
  return Success{};
}

Result<Success> check_writable(const std::string& path) {
  if (is_own_stream(path)) return Success{};
  const Target target = target_of(path);
  if (target.kind == TargetKind::kFolder) return file_error("write", path, EISDIR);
  const bool is_replaced = target.kind == TargetKind::kReplaced;
  // The folder in which it is; what is none has no "." in it.
  const std::string written =
      is_replaced ? (std::filesystem::path(target.path).parent_path() / ".").string() : target.path;
  const int mode = is_replaced ? W_OK | X_OK : W_OK;
  if (::access(written.c_str(), mode) != 0) return file_error("write", path, errno);
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
