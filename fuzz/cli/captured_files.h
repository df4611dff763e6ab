// The files that a capture writes: one of each process, or one of each window of its program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace interlock {

// Where the program of process number `index` goes: `path`, then "out.2.ilk". Empty if `path` is.
std::string path_of_process(const std::string& path, size_t index);

// Where the program of a window goes: "out.w3.ilk". What is no file, as a terminal is, takes them
// all.
std::string path_of_window(const std::string& path, uint64_t number);

// Removes what an earlier capture of this process left at `path` and under the names of its
// windows, so that nobody takes it for this one's: files that begin as captures do. What cannot be
// read or removed stays. Returns how many went. To be called once there is something to write.
uint64_t remove_earlier_captures(const std::string& path);

}  // namespace interlock
