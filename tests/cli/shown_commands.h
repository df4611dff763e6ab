// Commands that a document shows with what they print.
#pragma once

#include <string>
#include <vector>

namespace interlock {

struct ShownCommand {
  std::vector<std::string> arguments;
  std::vector<std::string> lines;  // That it is said to print, in this order.
};

// Blocks of the form "    $ interlock ARGUMENT…" and the indented lines below it.
std::vector<ShownCommand> shown_commands(const std::string& document);

// True iff `output` begins with the lines. A line "…" stands for any lines that are left out.
bool prints(const std::string& output, const std::vector<std::string>& lines);

// The text of a file of the source tree. A file that is not there is empty.
std::string document_text(const std::string& path);

}  // namespace interlock
