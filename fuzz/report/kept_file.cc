#include "fuzz/report/kept_file.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "encoder/program/error_of.h"
#include "encoder/program/limits.h"
#include "encoder/program/names.h"
#include "encoder/program/stop.h"
#include "encoder/text/files.h"
#include "encoder/text/parser.h"
#include "encoder/text/text_lines.h"
#include "simulator/report/read_every_queue.h"

namespace interlock {
namespace {

constexpr std::string_view kCommandStart = "Found with: ";
constexpr std::string_view kMinimized = ", minimized from ";

// What the file says of itself, without "# ".
std::vector<std::string> comments_of(std::string_view text) {
  std::vector<std::string> comments;
  if (!text.empty()) take_line(text);  // The header of the format.
  while (text.starts_with('#')) {
    std::string_view line = take_line(text);
    line.remove_prefix(line.starts_with("# ") ? 2 : 1);
    while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
    comments.emplace_back(line);
  }
  return comments;
}

// Of "RAW by none, minimized from 9 to 2 dispatches."; empty of another sentence.
std::string signature_in(std::string_view sentence) {
  const std::string_view word = sentence.substr(0, sentence.find_first_of(" ,"));
  return sentence.find(kMinimized) != std::string_view::npos && is_word(word) ? std::string(word)
                                                                              : std::string();
}

// Of "  RAW-view-copy-fill: in 3 programs".
std::optional<std::string> listed_signature(std::string_view line) {
  if (!line.starts_with("  ")) return std::nullopt;
  line.remove_prefix(2);
  const size_t colon = line.find(": in ");
  if (colon == std::string_view::npos || !is_word(line.substr(0, colon))) return std::nullopt;
  return std::string(line.substr(0, colon));
}

void add_sentence(std::string& text, std::string_view sentence) {
  if (!text.empty()) text += ' ';
  text += sentence;
}

// What is told otherwise: how to replay, the program of the cause, what is not listed.
bool is_known_comment(std::string_view line) {
  return line.starts_with(' ') || line.starts_with("Replay with: ") ||
         line.starts_with("The cause is ") || line.starts_with("Findings with this cause");
}

// Whether a shell takes `line` for one call of this program and nothing else. Quoted parts are as
// shell_word() writes them; outside of them stands nothing that a shell reads otherwise.
bool is_one_command(std::string_view line) {
  constexpr std::string_view kPlain =
      " ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./:=,+@%";
  if (!line.starts_with("interlock ")) return false;
  bool is_quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const auto byte = static_cast<unsigned char>(line[i]);
    if (byte < 0x20 || byte == 0x7f) return false;
    if (line[i] == '\'') {
      is_quoted = !is_quoted;
    } else if (!is_quoted && line.substr(i).starts_with("\\'")) {
      ++i;  // A quote of the word itself.
    } else if (!is_quoted && kPlain.find(line[i]) == std::string_view::npos) {
      return false;
    }
  }
  return !is_quoted;
}

// Reports print these lines for somebody to run.
std::string command_or_none(std::string_view line) {
  return is_one_command(line) ? std::string(line) : std::string();
}

void read_comments(const std::vector<std::string>& comments, KeptFile& file) {
  bool is_message = true;
  for (const std::string& line : comments) {
    constexpr std::string_view kAgain = "Again with: ";
    if (line.starts_with(kCommandStart)) {
      const std::string command = line.substr(kCommandStart.size());
      file.command = command_or_none(command);
      file.subject = subject_words(command);
      is_message = false;
    } else if (line.starts_with(kAgain)) {
      file.again = command_or_none(std::string_view(line).substr(kAgain.size()));
    } else if (is_message) {
      add_sentence(file.message, line);
    } else if (auto signature = listed_signature(line)) {
      file.signatures.push_back(std::move(*signature));
    } else if (!is_known_comment(line)) {
      add_sentence(file.notes, line);
    }
  }
  if (comments.empty()) return;
  file.signature = signature_in(comments.front());
  const auto known = std::ranges::find(file.signatures, file.signature);
  if (!file.signature.empty() && known == file.signatures.end()) {
    file.signatures.push_back(file.signature);
  }
}

}  // namespace

std::string subject_words(std::string_view command) {
  constexpr std::array<std::string_view, 9> kOfRuns = {
      "--seed=",          "--first-run=", "--runs=",          "--backend=", "--overlap-trials=",
      "--device-period=", "digest=",      "finds-per-shape=", "corpus="};
  std::string words;
  while (!command.empty()) {
    const size_t end = std::min(command.find(' '), command.size());
    const std::string_view word = command.substr(0, end);
    command.remove_prefix(std::min(end + 1, command.size()));
    const auto begins = [&](std::string_view start) { return word.starts_with(start); };
    if (word.empty() || std::ranges::any_of(kOfRuns, begins)) continue;
    words += (words.empty() ? "" : " ") + std::string(word);
  }
  return words;
}

KeptFile kept_file_of(std::string name, std::string text) {
  KeptFile file;
  file.name = std::move(name);
  file.text = std::move(text);
  read_comments(comments_of(file.text), file);
  if (file.subject.empty()) return file;
  ParseOptions options;
  // Of many files at once, which are small where a campaign has written them.
  options.limits.input_bytes = 16 * kKeptFileBytesMax;
  options.limits.statement_count = 1u << 16;
  options.limits.expansion_count = 1u << 14;
  read_every_queue(options);
  options.statement_lines = &file.lines;
  Result<Program> program = parse(file.text, file.name, options);
  if (program) {
    file.has_witness = !program->witness.empty();
    file.program = std::move(*program);
  } else {
    file.error = program.error().message;
  }
  return file;
}

Result<KeptFiles> kept_files_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    std::error_code unknown;
    const bool is_program = entry->path().extension() == ".ilk" && entry->is_regular_file(unknown);
    if (is_program) names.push_back(entry->path().filename().string());
  }
  if (error) {
    return error_of("the folder {} cannot be read: {}.", in_quotes(folder), error.message());
  }
  std::ranges::sort(names);
  KeptFiles kept;
  Limits limits;
  limits.input_bytes = kKeptFileBytesMax;
  uint64_t byte_count = 0;
  for (std::string& name : names) {
    if (is_stopped()) break;
    if (kept.files.size() == kKeptFilesMax || byte_count > kKeptBytesMax) {
      ++kept.left_out_count;
      continue;
    }
    auto text = read_file((std::filesystem::path(folder) / name).string(), limits);
    if (!text) return text.error();
    const uint64_t size = text->size();
    KeptFile file = kept_file_of(std::move(name), std::move(*text));
    if (file.subject.empty()) continue;
    byte_count += size;
    if (byte_count > kKeptBytesMax) {
      ++kept.left_out_count;
    } else {
      kept.files.push_back(std::move(file));
    }
  }
  return kept;
}

}  // namespace interlock
