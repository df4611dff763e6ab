#include "fuzz/cli/captured_files.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "encoder/text/files.h"

namespace interlock {
namespace {

// How the text of a capture begins (capture/convert/convert.cc).
constexpr std::string_view kCaptureHead = "interlock 1\n# captured from ";
constexpr std::string_view kGzipHead = "\x1f\x8b";

bool is_device(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error);
}

// "out" + middle + ".ilk".
std::string with_middle(const std::string& path, const std::string& middle) {
  const std::filesystem::path whole(path);
  const std::string name = whole.stem().string() + middle + whole.extension().string();
  return (whole.parent_path() / name).string();
}

// Whether a capture into `whole` may have written a file of this name: itself, or one of a window.
bool is_name_of_capture(const std::filesystem::path& whole, std::string_view name) {
  const std::string stem = whole.stem().string();
  const std::string extension = whole.extension().string();
  if (!name.starts_with(stem) || !name.ends_with(extension)) return false;
  if (name.size() < stem.size() + extension.size()) return false;
  std::string_view middle = name.substr(stem.size(), name.size() - stem.size() - extension.size());
  if (middle.empty()) return true;
  if (!middle.starts_with(".w")) return false;
  middle.remove_prefix(2);
  return !middle.empty() && middle.find_first_not_of("0123456789") == std::string_view::npos;
}

bool begins_as_captures_do(const std::filesystem::path& path) {
  std::string head(kCaptureHead.size(), '\0');
  std::ifstream(path, std::ios::binary)
      .read(head.data(), static_cast<std::streamsize>(head.size()));
  if (!head.starts_with(kGzipHead)) return head == kCaptureHead;
  const auto text = read_file(path.string());
  return text && text->starts_with(kCaptureHead);
}

}  // namespace

std::string path_of_process(const std::string& path, size_t index) {
  return index == 0 || path.empty() ? path : with_middle(path, fmt::format(".{}", index + 1));
}

std::string path_of_window(const std::string& path, uint64_t number) {
  return path.empty() || is_device(path) ? path : with_middle(path, fmt::format(".w{}", number));
}

uint64_t remove_earlier_captures(const std::string& path) {
  if (path.empty() || is_device(path)) return 0;
  const std::filesystem::path whole(path);
  const std::filesystem::path folder = whole.has_parent_path() ? whole.parent_path() : ".";
  uint64_t count = 0;
  std::error_code error;
  std::filesystem::directory_iterator file(folder, error);
  for (; !error && file != std::filesystem::directory_iterator(); file.increment(error)) {
    std::error_code ignored;
    const bool is_file =
        file->symlink_status(ignored).type() == std::filesystem::file_type::regular;
    if (!is_file || !is_name_of_capture(whole, file->path().filename().string())) continue;
    if (!begins_as_captures_do(file->path())) continue;
    if (std::filesystem::remove(file->path(), ignored)) ++count;
  }
  return count;
}

}  // namespace interlock
