// Amounts on the command line: times with a unit, and whole numbers with an exponent.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace interlock {

// Seconds: "90", "1.5", "90s", "2m", "1.5h". None if it is something else, or not above 0, or more
// than a hundred years.
std::optional<double> seconds_in(std::string_view text);

// "1000000", "1e6", "25e2": decimal digits, and an exponent of at most two. None if it is something
// else or exceeds 64 bits.
std::optional<uint64_t> whole_number_in(std::string_view text);

}  // namespace interlock
