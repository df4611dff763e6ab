#include "fuzz/cli/console.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "encoder/program/stop.h"
#include "encoder/text/text_lines.h"

namespace interlock {
namespace {

bool progress_line_is_open = false;

bool has_colour() {
  const char* no_colour = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) == 1 && (no_colour == nullptr || *no_colour == '\0');
}

void write_all(std::FILE* stream, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stream);
}

size_t terminal_width() {
  winsize size = {};
  const bool is_known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return is_known ? size.ws_col : 80;
}

// A finding starts at the left margin with its kind and a colon within the first words.
bool starts_finding(std::string_view line) {
  const size_t colon = line.find(": ");
  return !line.empty() && line[0] != ' ' && colon != std::string_view::npos && colon < 24;
}

}  // namespace

void print_out(std::string_view text) {
  if (!is_stopped()) write_all(stdout, text);
}

void print_report(std::string_view text) {
  if (!has_colour()) return print_out(text);
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const size_t colon = starts_finding(line) ? line.find(": ") : 0;
    if (colon > 0) print_out(fmt::format("\x1b[1;31m{}\x1b[0m", line.substr(0, colon)));
    print_out(line.substr(colon));
  }
}

ExitStatus report_error(const Error& error) {
  if (is_stopped()) return ExitStatus::kInterrupted;
  finish_progress();
  std::fflush(stdout);
  // Parse errors carry the word after their position.
  if (error.message.find("error: ") == std::string::npos) {
    write_all(stderr, "error: ");
  }
  write_all(stderr, error.message);
  write_all(stderr, "\n");
  return ExitStatus::kBadInput;
}

void print_remark(std::string_view text) {
  finish_progress();
  std::fflush(stdout);
  write_all(stderr, text);
}

bool is_progress_rewritten() { return isatty(STDERR_FILENO) == 1; }

void show_progress(std::string_view line, bool is_milestone) {
  if (is_progress_rewritten()) {
    // A line that wraps could not be overwritten.
    if (!is_milestone) line = line.substr(0, terminal_width() - 1);
    write_all(stderr, "\r\x1b[K");
    write_all(stderr, line);
    std::fflush(stderr);
    progress_line_is_open = true;
    if (is_milestone) {
      finish_progress();
    }
  } else if (is_milestone) {
    write_all(stderr, line);
    write_all(stderr, "\n");
  }
}

void finish_progress() {
  if (progress_line_is_open) {
    write_all(stderr, "\n");
    progress_line_is_open = false;
  }
}

}  // namespace interlock
