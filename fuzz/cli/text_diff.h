// What changed between two texts, as `diff -u` says it.
#pragma once

#include <string>
#include <string_view>

namespace interlock {

// The name as a line of a diff has it: in quotes, as git quotes it, if it has control characters.
std::string diff_name(std::string_view name);

// A unified diff with three lines of context, which `patch` applies; empty where the texts are the
// same. It is the shortest where a few hundred lines differ. Cost: linear in the lines; for each,
// some hundred comparisons where many differ.
std::string unified_diff(std::string_view before, std::string_view after,
                         std::string_view before_name, std::string_view after_name);

}  // namespace interlock
