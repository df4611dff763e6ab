// The table of public bugs: what happened where, of which class it is, and which program of the
// corpus shows it. Programs are judged when the table is asked for, so that it cannot tell of a
// finding that is not there.
//
// A folder of bugs has a file `index.tsv`, a bug a line, in six columns with a tab between:
//   number   of the entry; bugs that are told of together share one; ascending. "-": it has none,
//            and stands after those that have
//   bug      OWNER/PROJECT#NUMBER, or OWNER/PROJECT@COMMIT
//   class    one or more of BAR, SCOPE, XQ, PLAN, GRAPH, DECL, HOST, GRAD, OVER; ", " between
//   file     NAME of NAME.ilk and of its repaired twin NAME.fixed.ilk; "-": there is none yet
//   what     what went wrong
//   needs    what such a program needs that the format does not have; "-": there is a file
// A line that starts with '#' is a comment.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "encoder/program/result.h"
#include "encoder/text/parser.h"

namespace interlock {

struct BugEntry {
  std::string number;  // Decimal; empty: none.
  std::string bug;
  std::string classes;
  std::string file;  // Empty: none yet.
  std::string what;
  std::string needs;  // Empty iff there is a file.

  bool has_file() const { return !file.empty(); }
};

// Parses the text of an index. Errors: the line that is malformed, starts with `path` and its
// number.
Result<std::vector<BugEntry>> parse_bug_index(std::string_view text, std::string_view path);

struct JudgedBug {
  BugEntry entry;
  std::string found_as;         // "RAW, undeclared": kinds of its `expect` lines, in their order.
  std::string twin;             // "clean".
  bool is_as_expected = false;  // Else found_as or twin says so.
};

// Reads `folder`/index.tsv and checks every program that it names, read as `parse` says; bugs
// without a file are not judged. Errors: an index or a program that cannot be read, a name without
// its two files, a program that no line names. Cost: one check of each program, and one for each
// encoder that its `expect` lines name.
Result<std::vector<JudgedBug>> judge_bugs(const std::string& folder, const ParseOptions& parse);

}  // namespace interlock
