// The basic idea is that a row says only what no program can: the rest is read off the programs, by
// the same judgement as `interlock check`.
#include "fuzz/campaign/bug_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <set>
#include <system_error>
#include <utility>

#include "encoder/program/error_of.h"
#include "encoder/program/finding_kind.h"
#include "encoder/program/names.h"
#include "encoder/text/files.h"
#include "simulator/report/check.h"
#include "simulator/report/expectations.h"

namespace interlock {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 9> kClasses = {"BAR",  "SCOPE", "XQ",   "PLAN", "GRAPH",
                                                      "DECL", "HOST",  "GRAD", "OVER"};
constexpr size_t kColumnCount = 6;
constexpr std::string_view kNone = "-";
constexpr std::string_view kNotAsExpected = "not as expected";

std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  for (size_t at = text.find(separator); at != std::string_view::npos; at = text.find(separator)) {
    parts.push_back(text.substr(0, at));
    text.remove_prefix(at + separator.size());
  }
  parts.push_back(text);
  return parts;
}

// OWNER/PROJECT#NUMBER or OWNER/PROJECT@COMMIT.
bool is_bug_name(std::string_view text) {
  const size_t slash = text.find('/');
  const size_t mark = text.find_first_of("#@");
  if (slash == std::string_view::npos || mark == std::string_view::npos) return false;
  if (slash == 0 || slash + 1 >= mark) return false;
  const std::string_view id = text.substr(mark + 1);
  const std::string_view digits = text[mark] == '#' ? "0123456789" : "0123456789abcdef";
  return !id.empty() && id.find_first_not_of(digits) == std::string_view::npos;
}

bool are_classes(std::string_view text) {
  const auto parts = split(text, ", ");
  return std::ranges::all_of(parts, [](std::string_view part) {
    return std::ranges::find(kClasses, part) != kClasses.end();
  });
}

std::string filled(std::string_view column) { return std::string(column == kNone ? "" : column); }

// Bugs without a number come last.
uint64_t rank_of(std::string_view number) {
  return decimal_of(number).value_or(std::numeric_limits<uint64_t>::max());
}

// What is wrong with a line by itself; empty if nothing is.
std::string fault_of(const std::vector<std::string_view>& columns) {
  if (columns.size() != kColumnCount) {
    return fmt::format("{} columns, not {}.", columns.size(), kColumnCount);
  }
  if (columns[0] != kNone && !decimal_of(columns[0])) {
    return fmt::format("{} is no number.", in_quotes(columns[0]));
  }
  if (!is_bug_name(columns[1])) {
    return fmt::format("{} is no OWNER/PROJECT#NUMBER or OWNER/PROJECT@COMMIT.",
                       in_quotes(columns[1]));
  }
  if (!are_classes(columns[2])) return fmt::format("{} is no class.", in_quotes(columns[2]));
  if (filled(columns[4]).empty()) return "it does not say what went wrong.";
  if ((columns[3] == kNone) == (filled(columns[5]).empty())) {
    return "a bug has a file, or says what it needs.";
  }
  return {};
}

// The kinds that a program expects as it stands, each once, as its lines have them. What a backward
// pass appends has no sync of its own, so of a program with one: as encoders encode it.
std::string expected_kinds(const Program& program) {
  std::vector<std::string_view> words;
  for (const Expectation& expectation : program.expectations) {
    if (expectation.encoder.is_some() == program.backwards.empty()) continue;
    const std::string_view word = expectation.is_clean ? "clean" : word_of(expectation.kind);
    if (std::ranges::find(words, word) == words.end()) words.push_back(word);
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

// Empty unless every `expect` line holds and nothing else is found. A barrier that can go counts
// where `denies_redundancy`.
std::string verdict_on(const Program& program, bool denies_redundancy) {
  const CheckReport report = check(program);
  const ExpectationOutcome outcome = judge_expectations(program, report);
  if (!is_as_expected(program, report, outcome)) return {};
  const bool has_more =
      report.unjudged_barrier_count > 0 || !unexpected_redundancy(program, report).empty();
  if (denies_redundancy && has_more) return {};
  return expected_kinds(program);
}

Result<JudgedBug> judge_bug(BugEntry entry, const fs::path& folder, const ParseOptions& parse) {
  JudgedBug bug = {std::move(entry), {}, {}, true};
  if (!bug.entry.has_file()) return bug;
  const Result<Program> program = parse_file(folder / (bug.entry.file + ".ilk"), parse);
  if (!program) return program.error();
  const Result<Program> twin = parse_file(folder / (bug.entry.file + ".fixed.ilk"), parse);
  if (!twin) return twin.error();
  // Where nothing is wrong but a barrier too many, that is what the repair is about.
  const bool is_about_cost = expected_kinds(*program) == word_of(FindingKind::kRedundant);
  bug.found_as = verdict_on(*program, is_about_cost);
  bug.twin = verdict_on(*twin, is_about_cost);
  bug.is_as_expected = !bug.found_as.empty() && bug.found_as != "clean" && bug.twin == "clean";
  if (bug.found_as.empty() || bug.found_as == "clean") bug.found_as = kNotAsExpected;
  if (bug.twin != "clean") bug.twin = kNotAsExpected;
  return bug;
}

// What is in the folder and not in the index, or the reverse; empty if nothing is.
std::string difference(const fs::path& folder, const std::vector<BugEntry>& entries) {
  std::set<std::string> known;
  for (const BugEntry& entry : entries) {
    if (entry.has_file()) known.insert({entry.file + ".ilk", entry.file + ".fixed.ilk"});
  }
  std::set<std::string> present;
  std::error_code error;
  for (const auto& file : fs::directory_iterator(folder, error)) {
    if (file.path().extension() == ".ilk") present.insert(file.path().filename().string());
  }
  for (const std::string& name : present) {
    if (known.count(name) == 0) return fmt::format("no line is about {}.", in_quotes(name));
  }
  for (const std::string& name : known) {
    if (present.count(name) == 0) return fmt::format("{} is not beside it.", in_quotes(name));
  }
  return {};
}

}  // namespace

Result<std::vector<BugEntry>> parse_bug_index(std::string_view text, std::string_view path) {
  std::vector<BugEntry> entries;
  std::set<std::string_view> bugs;
  uint64_t line_number = 0;
  uint64_t last_rank = 0;
  for (const std::string_view line : split(text, "\n")) {
    ++line_number;
    if (line.empty() || line.front() == '#') continue;
    const auto columns = split(line, "\t");
    std::string fault = fault_of(columns);
    if (fault.empty() && rank_of(columns[0]) < last_rank) {
      fault = "its number is less than that of the line before.";
    }
    if (fault.empty() && !bugs.insert(columns[1]).second) {
      fault = fmt::format("{} has a line already.", in_quotes(columns[1]));
    }
    if (!fault.empty()) return error_of("{}:{}: error: {}", path, line_number, fault);
    last_rank = rank_of(columns[0]);
    entries.push_back({filled(columns[0]), std::string(columns[1]), std::string(columns[2]),
                       filled(columns[3]), std::string(columns[4]), filled(columns[5])});
  }
  return entries;
}

Result<std::vector<JudgedBug>> judge_bugs(const std::string& folder, const ParseOptions& parse) {
  const std::string path = (fs::path(folder) / "index.tsv").string();
  const Result<std::string> text = read_file(path);
  if (!text) {
    return error_of("{} A folder of bugs has one; give its path.", text.error().message);
  }
  const Result<std::vector<BugEntry>> entries = parse_bug_index(*text, path);
  if (!entries) return entries.error();
  if (const std::string fault = difference(folder, *entries); !fault.empty()) {
    return error_of("{}: {}", path, fault);
  }
  std::vector<JudgedBug> bugs;
  for (const BugEntry& entry : *entries) {
    Result<JudgedBug> bug = judge_bug(entry, folder, parse);
    if (!bug) return bug.error();
    bugs.push_back(std::move(*bug));
  }
  return bugs;
}

}  // namespace interlock
