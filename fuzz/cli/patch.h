// A change of one file, for `git apply` and `patch`.
#pragma once

#include <string>
#include <string_view>

namespace interlock {

// The diff, with names by which `git apply` finds the file from where the process runs: if the file
// is in a repository, relative to its root; else to the folder of the process. A file in neither
// has its path as it is, for `patch FILE`. One that is packed has the name that unpacking gives it.
// Empty where the texts are the same.
std::string patch_of(const std::string& path, std::string_view before, std::string_view after);

}  // namespace interlock
