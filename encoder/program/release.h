// The release that this is: one number, that of project() in CMakeLists.txt.
#pragma once

#include <optional>
#include <string_view>

namespace interlock {

// "0.1.0"
std::string_view release_text();

// Whether `release` is as new as `version`, which has one to three numbers: "1", "0.3", "0.3.1".
// None if either is something else.
std::optional<bool> is_at_least(std::string_view release, std::string_view version);

}  // namespace interlock
