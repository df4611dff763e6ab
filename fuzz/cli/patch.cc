#include "fuzz/cli/patch.h"

#include <filesystem>
#include <optional>
#include <system_error>

#include "encoder/text/gzip.h"
#include "fuzz/cli/text_diff.h"

namespace interlock {
namespace {

namespace fs = std::filesystem;

// The folder of the repository that `folder` is in: it or the nearest one above it with a `.git`.
std::optional<fs::path> root_above(fs::path folder) {
  std::error_code ignored;
  for (;; folder = folder.parent_path()) {
    if (fs::exists(folder / ".git", ignored)) return folder;
    if (!folder.has_relative_path()) return std::nullopt;
  }
}

// None if `path` is not below `folder`.
std::optional<std::string> name_below(const fs::path& folder, const fs::path& path) {
  const fs::path relative = path.lexically_relative(folder);
  if (relative.empty() || *relative.begin() == "..") return std::nullopt;
  return relative.string();
}

}  // namespace

std::string patch_of(const std::string& path, std::string_view before, std::string_view after) {
  std::error_code error;
  const fs::path here = fs::current_path(error);
  // Neither git nor patch changes what a symbolic link leads to.
  fs::path file = error ? fs::path() : fs::canonical(path, error);
  if (path == "-" || error) {
    const std::string name = path == "-" ? "<stdin>" : path;
    return unified_diff(before, after, "a/" + name, "b/" + name);
  }
  if (is_gzip_name(path)) file.replace_extension();  // The diff is of the text in it.
  const std::optional<fs::path> root = root_above(file.parent_path());
  const std::optional<std::string> name = name_below(root.value_or(here), file);
  if (!name) {
    const std::string text_path =
        is_gzip_name(path) ? fs::path(path).replace_extension().string() : path;
    return unified_diff(before, after, text_path, text_path);
  }
  const std::string diff = unified_diff(before, after, "a/" + *name, "b/" + *name);
  // Below the root, this line tells that the names are from there.
  const bool is_below = root && *root != here && !diff.empty();
  return is_below
             ? "diff --git " + diff_name("a/" + *name) + " " + diff_name("b/" + *name) + "\n" + diff
             : diff;
}

}  // namespace interlock
