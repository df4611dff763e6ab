#include "fuzz/cli/console.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "encoder/program/stop.h"
#include "encoder/text/text_lines.h"

namespace interlock {
namespace {

bool progress_line_is_open = false;

Colour chosen_colour = Colour::kAuto;

bool has_colour(int descriptor) {
  if (chosen_colour != Colour::kAuto) return chosen_colour == Colour::kAlways;
  const char* no_colour = std::getenv("NO_COLOR");
  return isatty(descriptor) == 1 && (no_colour == nullptr || *no_colour == '\0');
}

constexpr std::string_view kBad = "1;31";
constexpr std::string_view kDoubtful = "1;33";
constexpr std::string_view kGood = "1;32";

std::string coloured(std::string_view text, std::string_view colour) {
  return fmt::format("\x1b[{}m{}\x1b[0m", colour, text);
}

void write_all(std::FILE* stream, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stream);
}

size_t terminal_width() {
  winsize size = {};
  const bool is_known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return is_known ? size.ws_col : 80;
}

// The words of a line of a report that are coloured, and how.
struct ColouredWords {
  size_t begin = 0;
  size_t end = 0;
  std::string_view colour;
};

ColouredWords coloured_words(std::string_view line) {
  const size_t colon = line.find(": ");
  if (line.empty() || colon == std::string_view::npos || colon >= 48) return {};
  // A finding starts at the left margin with its kind and a colon within the first words.
  if (line[0] != ' ') return colon < 24 ? ColouredWords{0, colon, kBad} : ColouredWords{};
  const size_t begin = line.find_first_not_of(' ');
  const std::string_view words = line.substr(begin, colon - begin);
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"FAILS", kBad},      {"NO VERDICT", kDoubtful}, {"known", kDoubtful},
      {"stale", kDoubtful}, {"note", kDoubtful},       {"Fix", kGood},
      {"holds", kGood}};
  for (const auto& [word, colour] : kWords) {
    const bool is_it = words == word || (words.starts_with(word) && words[word.size()] == ' ');
    if (is_it && begin <= 2) return {begin, colon, colour};
  }
  return {};
}

}  // namespace

void print_out(std::string_view text) {
  if (!is_stopped()) write_all(stdout, text);
}

void set_colour(Colour colour) { chosen_colour = colour; }

void print_report(std::string_view text) {
  if (!has_colour(STDOUT_FILENO)) return print_out(text);
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const ColouredWords words = coloured_words(line);
    print_out(line.substr(0, words.begin));
    if (words.end > 0) {
      print_out(coloured(line.substr(words.begin, words.end - words.begin), words.colour));
    }
    print_out(line.substr(words.end));
  }
}

ExitStatus report_error(const Error& error) {
  if (is_stopped()) return ExitStatus::kInterrupted;
  finish_progress();
  std::fflush(stdout);
  constexpr std::string_view kWord = "error:";
  std::string message = error.message;
  // Parse errors carry the word after their position.
  size_t at = message.find("error: ");
  if (at == std::string::npos) {
    message.insert(0, "error: ");
    at = 0;
  }
  if (has_colour(STDERR_FILENO)) message.replace(at, kWord.size(), coloured(kWord, kBad));
  write_all(stderr, message);
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
