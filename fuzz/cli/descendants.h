// Descendants: the processes that a command starts, and may leave behind when it ends.
#pragma once

#include <sys/types.h>

#include <set>
#include <string>
#include <vector>

namespace interlock {

class Descendants {
 public:
  // From now on, for good: a process below this one whose parent ends has this one for its parent.
  // Requires: this process has started none yet that it is to wait for.
  Descendants();

  // Takes note of children that have ended. Returns those that have not, in the order of numbers;
  // not among them are children that this process had before, as after `exec`.
  // Cost: a look at every process of the machine.
  std::vector<pid_t> running() const;

 private:
  std::set<pid_t> before_;
};

// What it is called, for messages: "python3"; empty if it is not there.
std::string name_of_process(pid_t process);

// Whether the process has this file in its memory. Requires: `path` has no links in it.
bool has_mapped(pid_t process, const std::string& path);

}  // namespace interlock
