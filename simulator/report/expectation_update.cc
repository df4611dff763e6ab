// The basic idea: the expectations of a program stand in the order of its `expect` lines, so the
// lines and the expectations are gone through side by side.
#include "simulator/report/expectation_update.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "encoder/program/check.h"
#include "encoder/program/draft.h"
#include "encoder/text/printer.h"
#include "encoder/text/text_lines.h"

namespace interlock {
namespace {

// What becomes of the lines about one subject.
struct SubjectLines {
  std::set<std::string> held;
  std::vector<std::string> added;
  size_t line_count = 0;  // In the text, still to come.
  bool has_line = false;  // One that stays.
};

std::string_view first_word(std::string_view line) {
  const size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  line.remove_prefix(begin);
  return line.substr(0, line.find_first_of(" \t\r"));
}

std::string clean_line(const std::string& encoder) {
  ExpectDraft draft;
  draft.encoder = encoder;
  draft.is_clean = true;
  return print(ItemDraft(draft));
}

void add_lines(const std::string& encoder, const SubjectLines& lines, std::string_view line_end,
               std::string& text) {
  const auto add = [&](std::string_view line) { text.append(line).append(line_end); };
  if (!text.empty() && text.back() != '\n') text += line_end;
  for (const std::string& line : lines.added) add(line);
  if (!lines.has_line && lines.added.empty()) add(clean_line(encoder));
}

std::map<std::string, SubjectLines> lines_of(const Program& program, const CheckReport& report,
                                             const ExpectationOutcome& outcome) {
  std::map<std::string, SubjectLines> lines;
  for (const SubjectOutcome& subject : outcome.subjects) {
    SubjectLines& of_subject = lines[subject.encoder];
    of_subject.held.insert(subject.held.begin(), subject.held.end());
    of_subject.added = subject.missing;
  }
  lines[""].added = missing_lines(program, report, outcome);
  return lines;
}

}  // namespace

std::string update_expectations(std::string_view text, const Program& program,
                                const CheckReport& report, const ExpectationOutcome& outcome) {
  std::map<std::string, SubjectLines> subjects = lines_of(program, report, outcome);
  const auto subject_of = [&](const Expectation& expectation) {
    return expectation.encoder.is_some() ? std::string(program.name(expectation.encoder))
                                         : std::string();
  };
  for (const Expectation& expectation : program.expectations) {
    ++subjects[subject_of(expectation)].line_count;
  }
  const std::string_view line_end = end_of_lines(text);
  std::string updated;
  size_t next = 0;  // Among the expectations.
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (first_word(line.substr(0, line.find('\n'))) != "expect") {
      updated += line;
      continue;
    }
    INTERLOCK_CHECK(next < program.expectations.size());
    const Expectation& expectation = program.expectations[next++];
    const std::string encoder = subject_of(expectation);
    SubjectLines& subject = subjects[encoder];
    if (subject.held.contains(print(ItemDraft(draft_of(program, expectation))))) {
      updated += line;
      subject.has_line = true;
    }
    if (--subject.line_count == 0) add_lines(encoder, subject, line_end, updated);
  }
  const bool speaks_of_itself =
      std::ranges::count(program.expectations, NameId(), &Expectation::encoder) > 0;
  if (!speaks_of_itself) add_lines("", subjects[""], line_end, updated);
  return updated;
}

}  // namespace interlock
