// Temporary files: what is written under a name of its own first, beside the file that it replaces.
// A process that is killed leaves one; the next one that writes there clears it away.
#pragma once

#include <cstdint>
#include <string>

namespace interlock {

// "FILE.PID.ATTEMPT.tmp", of this process.
std::string temporary_name(const std::string& file, int attempt);

// Removes from `folder` what processes that are no more have left there under such names, of `.ilk`
// files only. Returns how many files went. What cannot be read or removed stays.
uint64_t remove_abandoned_files(const std::string& folder);

}  // namespace interlock
