// The manual page, in the requests of man (7).
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "fuzz/cli/command_outline.h"

namespace interlock {
namespace {

// A line of text: hyphens are those of commands, and no line is a request.
std::string roff_text(std::string_view text) {
  std::string escaped;
  bool is_line_start = true;
  for (const char letter : text) {
    if (is_line_start && (letter == '.' || letter == '\'')) escaped += "\\&";
    if (letter == '\\') {
      escaped += "\\e";
    } else if (letter == '-') {
      escaped += "\\-";
    } else {
      escaped += letter;
    }
    is_line_start = letter == '\n';
  }
  return escaped;
}

std::string roff_option(const OptionOutline& option) {
  std::string names;
  for (const std::string& name : option.names) {
    if (!names.empty()) names += ", ";
    names += "\\fB" + roff_text(name) + "\\fR";
  }
  const bool has_value = option.takes_value && !option.is_positional;
  if (has_value)
    names += option.names.back().starts_with("--") ? "=\\fIVALUE\\fR" : " \\fIVALUE\\fR";
  std::string text = ".TP\n" + names + "\n" + roff_text(option.description) + "\n";
  if (!option.values.empty()) {
    text +=
        fmt::format("One of: {}.\n", roff_text(fmt::format("{}", fmt::join(option.values, ", "))));
  }
  return text;
}

std::string roff_command(const CommandOutline& command) {
  std::string text =
      ".SS interlock " + roff_text(command.name) + "\n" + roff_text(command.description) + ".\n";
  for (const OptionOutline& option : command.options) {
    if (option.names.back() != "--help") text += roff_option(option);
  }
  for (const CommandOutline& below : command.commands) text += roff_command(below);
  return text;
}

}  // namespace

std::string manual_page(const CommandOutline& outline, std::string_view version) {
  std::string commands;
  for (const CommandOutline& command : outline.commands) commands += roff_command(command);
  return fmt::format(R"(.\" As `interlock manual` prints it.
.TH INTERLOCK 1 "" "Interlock {version}" "User Commands"
.SH NAME
interlock \- finds missing and useless synchronization in GPU command streams
.SH SYNOPSIS
.B interlock
.I COMMAND
.RI [ OPTION ...]
.RI [ FILE ...]
.SH DESCRIPTION
Interlock takes the command stream that an encoder, a memory planner, a graph capture or a backward pass
made, finds every missing synchronization and every clobbered byte, proves it by executing a legal
schedule, shrinks it to the few dispatches that matter, and replays it.
.PP
A program is text, one statement a line, in a file whose name ends in
.IR .ilk .
.SH COMMANDS
.B interlock help
.I COMMAND
says the same of one, with the defaults.
.PP
.B interlock version
says which release this is.
{commands}.SH EXIT STATUS
.TP
.B 0
Nothing is found, or exactly what the
.B expect
lines of the file say.
.TP
.B 1
A finding.
.TP
.B 2
Bad usage or input, or no verdict because a limit ended the check.
.TP
.B 3
There is no such device, or not in this mode.
.TP
.B 130
Interrupted.
.SH ENVIRONMENT
.TP
.B NO_COLOR
If it is set, nothing is printed in color.
.SH EXAMPLES
.nf
interlock check step.ilk
interlock fix step.ilk | git apply
interlock fuzz \-\-encoder=exec:./mine \-\-out=finds
.fi
.SH SEE ALSO
The text format, the stories and the theory are in
.IR docs/ ,
installed as /usr/share/doc/interlock by a package.
)",
                     fmt::arg("version", version), fmt::arg("commands", commands));
}

}  // namespace interlock
