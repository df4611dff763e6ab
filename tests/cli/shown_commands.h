// Commands that a document shows with what they print, and programs that it shows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace interlock {

struct ShownLine {
  std::string command;             // As a shell takes it.
  std::vector<std::string> lines;  // That it is said to print, in this order.
};

// Blocks of the form "    $ COMMAND" and the indented lines below it.
std::vector<ShownLine> shown_lines(const std::string& document);

struct ShownCommand {
  std::vector<std::string> arguments;
  std::vector<std::string> lines;
};

// Those of the form "    $ interlock ARGUMENT…".
std::vector<ShownCommand> shown_commands(const std::string& document);

// True iff `output` begins with the lines. A line "…" stands for any lines that are left out.
bool prints(const std::string& output, const std::vector<std::string>& lines);

// A block "```LANGUAGE NAME", lines, "```".
struct ShownBlock {
  std::string name;
  std::vector<std::string> lines;
};

std::vector<ShownBlock> shown_blocks(const std::string& document, std::string_view language);

// The lines without those that begin with "-" in the diff, with those that begin with "+"; of both
// what follows that sign. Each that begins with "-" is expected to be there.
std::vector<std::string> patched(std::vector<std::string> lines,
                                 const std::vector<std::string>& diff);

// The lines that say what happens, not what is expected of it, sorted.
std::vector<std::string> sorted_commands(std::vector<std::string> lines);

// The text of a file of the source tree. A file that is not there is empty.
std::string document_text(const std::string& path);

}  // namespace interlock
