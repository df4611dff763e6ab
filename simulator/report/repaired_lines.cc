#include "simulator/report/repaired_lines.h"

#include <algorithm>
#include <utility>

#include "encoder/program/check.h"
#include "encoder/text/text_lines.h"

namespace interlock {
namespace {

std::string_view line_end_of(std::string_view line) {
  const size_t last = line.find_last_not_of("\r\n");
  return line.substr(last == std::string_view::npos ? 0 : last + 1);
}

std::string_view indentation_of(std::string_view line) {
  return line.substr(0, std::min(line.find_first_not_of(" \t"), line.size()));
}

// With the blanks before it.
std::string_view comment_of(std::string_view line) {
  const std::string_view content = line.substr(0, line.size() - line_end_of(line).size());
  const size_t mark = content.find('#');
  if (mark == std::string_view::npos) return {};
  const size_t last = content.substr(0, mark).find_last_not_of(" \t");
  return content.substr(last == std::string_view::npos ? 0 : last + 1);
}

}  // namespace

RepairedLines::RepairedLines(std::string_view text) : end_(end_of_lines(text)) {
  while (!text.empty()) {
    const std::string line(take_line(text));
    lines_.push_back({line, line});
  }
}

void RepairedLines::apply(std::span<const RepairLine> repair,
                          std::span<const uint64_t> statement_lines) {
  ++round_count_;
  // Line numbers are those of the text, in which lines that went are not.
  std::vector<size_t> place_of_line;
  for (size_t i = 0; i < lines_.size(); ++i) {
    if (!lines_[i].text.empty()) place_of_line.push_back(i);
  }
  std::vector<std::vector<std::string_view>> before(lines_.size());
  std::vector<std::vector<std::string_view>> after(lines_.size());
  for (const RepairLine& line : repair) {
    const size_t number = statement_lines[line.at.index] - 1;
    INTERLOCK_CHECK(number < place_of_line.size());
    const size_t place = place_of_line[number];
    if (line.place == RepairPlace::kBefore) before[place].push_back(line.text);
    if (line.place == RepairPlace::kAfter) after[place].push_back(line.text);
    if (line.place != RepairPlace::kInstead) continue;
    Line& changed = lines_[place];
    const std::string rest =
        std::string(comment_of(changed.text)) + std::string(line_end_of(changed.text));
    changed.text = line.text.empty() ? std::string()
                                     : std::string(indentation_of(changed.text)) + line.text + rest;
    changed.round = round_count_;
  }
  std::vector<Line> lines;
  for (size_t i = 0; i < lines_.size(); ++i) {
    const std::string indentation(indentation_of(lines_[i].text));
    const auto add = [&](std::string_view text) {
      lines.push_back({indentation + std::string(text) + end_, "", round_count_});
    };
    for (const std::string_view text : before[i]) add(text);
    // The last line may have no end; what stands after it needs one.
    const bool has_gone = lines_[i].text.empty();
    if (!after[i].empty() && !has_gone && line_end_of(lines_[i].text).empty()) {
      lines_[i].text += end_;
    }
    lines.push_back(std::move(lines_[i]));
    for (const std::string_view text : after[i]) add(text);
  }
  lines_ = std::move(lines);
}

std::vector<RepairedLines::Change> RepairedLines::changes() const {
  std::vector<Change> changes;
  for (uint32_t round = round_count_; round > 0; --round) {
    Change together;
    for (size_t i = 0; i < lines_.size(); ++i) {
      if (lines_[i].round == round && is_changed(lines_[i])) together.push_back(i);
    }
    if (!together.empty()) changes.push_back(together);
    if (together.size() < 2) continue;
    for (const size_t i : together) changes.push_back({i});
  }
  return changes;
}

void RepairedLines::take_back(const Change& change) {
  for (const size_t i : change) lines_[i].text = lines_[i].original;
}

std::string RepairedLines::text() const {
  std::string text;
  for (const Line& line : lines_) text += line.text;
  return text;
}

uint64_t RepairedLines::added_count() const {
  return static_cast<uint64_t>(std::ranges::count_if(
      lines_, [](const Line& line) { return line.original.empty() && !line.text.empty(); }));
}

uint64_t RepairedLines::changed_count() const {
  return static_cast<uint64_t>(std::ranges::count_if(
      lines_, [this](const Line& line) { return !line.original.empty() && is_changed(line); }));
}

}  // namespace interlock
