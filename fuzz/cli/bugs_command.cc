// interlock bugs: the table of public bugs, and what finds each now.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/campaign/bug_table.h"
#include "fuzz/cli/commands.h"
#include "fuzz/cli/console.h"
#include "fuzz/cli/input.h"
#include "simulator/report/read_every_queue.h"

namespace interlock {
namespace {

struct BugsCommandOptions {
  std::string folder = "corpus/bugs";
  std::string format = "text";
};

using Row = std::vector<std::string>;

// "ml-explore/mlx#3630" -> "https://github.com/ml-explore/mlx/issues/3630", which serves pull
// requests, too.
std::string address_of(std::string_view bug) {
  const size_t mark = bug.find_first_of("#@");
  return fmt::format("https://github.com/{}/{}/{}", bug.substr(0, mark),
                     bug[mark] == '#' ? "issues" : "commit", bug.substr(mark + 1));
}

std::string number_of(const BugEntry& entry) { return entry.number.empty() ? "-" : entry.number; }

Row cells_of(const JudgedBug& bug) {
  const BugEntry& entry = bug.entry;
  Row row = {number_of(entry), entry.bug, entry.classes};
  if (entry.has_file()) {
    row.insert(row.end(), {bug.found_as, bug.twin, entry.file, entry.what});
  } else {
    row.insert(row.end(), {entry.what, entry.needs});
  }
  return row;
}

// Columns as wide as their widest cell; the last one ends where it ends.
std::string aligned(const std::vector<Row>& rows) {
  std::vector<size_t> widths(rows.front().size());
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    for (size_t i = 0; i + 1 < row.size(); ++i) {
      text += fmt::format("{:<{}}  ", row[i], widths[i]);
    }
    text += row.back() + "\n";
  }
  return text;
}

std::string as_text(const std::vector<JudgedBug>& bugs) {
  std::vector<Row> found = {{"no.", "bug", "class", "found as", "twin", "file", "what happened"}};
  std::vector<Row> missing = {{"no.", "bug", "class", "what happened", "needs"}};
  for (const JudgedBug& bug : bugs) {
    (bug.entry.has_file() ? found : missing).push_back(cells_of(bug));
  }
  return fmt::format("{} bugs and what finds them\n\n{}\n{} not yet, and what they need\n\n{}",
                     found.size() - 1, aligned(found), missing.size() - 1, aligned(missing));
}

std::string as_markdown(const std::vector<JudgedBug>& bugs) {
  std::string found = "| no. | bug | class | found as | file | twin |\n|---|---|---|---|---|---|\n";
  std::string missing = "| no. | bug | class | needs |\n|---|---|---|---|\n";
  for (const JudgedBug& bug : bugs) {
    const BugEntry& entry = bug.entry;
    const std::string start = fmt::format("| {} | [{}]({}): {} | {} |", number_of(entry), entry.bug,
                                          address_of(entry.bug), entry.what, entry.classes);
    if (entry.has_file()) {
      found += fmt::format("{} {} | `{}` | {} |\n", start, bug.found_as, entry.file, bug.twin);
    } else {
      missing += fmt::format("{} {} |\n", start, entry.needs);
    }
  }
  return fmt::format("## Found\n\n{}\n## Not yet\n\n{}", found, missing);
}

ExitStatus run_bugs(const BugsCommandOptions& options) {
  ParseOptions parse;
  read_every_queue(parse);
  const Result<std::vector<JudgedBug>> bugs = judge_bugs(options.folder, parse);
  if (!bugs) return report_error(bugs.error());
  print_out(options.format == "markdown" ? as_markdown(*bugs) : as_text(*bugs));
  const bool are_as_expected = std::ranges::all_of(*bugs, &JudgedBug::is_as_expected);
  return are_as_expected ? ExitStatus::kNothingFound : ExitStatus::kFinding;
}

}  // namespace

void add_bugs_command(CLI::App& app, ExitStatus& status) {
  auto [command, options] = add_subcommand<BugsCommandOptions>(
      app, status, "bugs", "checks a folder of public bugs, and lists what finds each", run_bugs);
  command.add_option("folder", options.folder, "has index.tsv, and two programs for each bug")
      ->capture_default_str();
  command.add_option("--format", options.format, "text, or markdown: as docs/bugs-index.md has it")
      ->check(one_of({"text", "markdown"}))
      ->capture_default_str();
}

}  // namespace interlock
