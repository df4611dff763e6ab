// What a process takes of memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace interlock {

// What the file says of a process: "/proc/self/statm" (Linux, proc(5)). None if it does not.
std::optional<uint64_t> resident_bytes_of(const std::string& statm_path);

}  // namespace interlock
