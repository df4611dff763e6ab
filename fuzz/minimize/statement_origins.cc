#include "fuzz/minimize/statement_origins.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "encoder/assemble/build.h"
#include "encoder/program/draft.h"
#include "encoder/program/names.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "encoder/text/text_lines.h"
#include "fuzz/generate/draft_positions.h"

namespace interlock {
namespace {

std::vector<size_t> positions_of_statements(const ProgramDraft& draft) {
  return positions_of<DispatchDraft, BarrierDraft, LifetimeDraft, SyncDraft, HostAccessDraft>(
      draft);
}

// Requires: the item is a statement of positions_of_statements().
std::string& statement_label(ItemDraft& item) {
  if (auto* dispatch = std::get_if<DispatchDraft>(&item)) return dispatch->label;
  if (auto* barrier = std::get_if<BarrierDraft>(&item)) return barrier->label;
  if (auto* lifetime = std::get_if<LifetimeDraft>(&item)) return lifetime->label;
  if (auto* sync = std::get_if<SyncDraft>(&item)) return sync->label;
  return std::get<HostAccessDraft>(item).label;
}

std::string free_label(std::string label, const std::set<std::string>& taken) {
  while (taken.contains(label)) label += '_';
  return label;
}

// What other lines call a statement.
std::set<std::string> expected_names(const ProgramDraft& draft) {
  std::set<std::string> names;
  for (const ExpectDraft* expect : items_of<ExpectDraft>(draft)) {
    names.insert({expect->first, expect->second});
    names.insert(expect->waiting.begin(), expect->waiting.end());
  }
  for (const WitnessDraft* witness : items_of<WitnessDraft>(draft)) {
    names.insert({witness->moved, witness->anchor});
  }
  return names;
}

std::string origin_comment(const StatementOrigin& origin, const ItemDraft& item,
                           std::span<const uint64_t> lines) {
  const auto* const dispatch = std::get_if<DispatchDraft>(&item);
  std::string comment;
  if (origin.number < lines.size()) comment = fmt::format("line {}", lines[origin.number]);
  if (dispatch != nullptr && dispatch->kernel != origin.kernel) {
    comment += (comment.empty() ? "was " : ", was ") + origin.kernel;
  }
  return comment.empty() ? "" : "  # " + comment;
}

// `comments` after the statements of the text, by line from 1.
std::string with_line_comments(std::string_view text, const std::string& head,
                               const std::map<uint64_t, std::string>& comments) {
  std::string result;
  for (uint64_t line_number = 1; !text.empty(); ++line_number) {
    std::string_view line = take_line(text);
    const auto comment = comments.find(line_number);
    if (comment == comments.end()) {
      result += line;
    } else {
      result += std::string(line.substr(0, line.find('\n'))) + comment->second + "\n";
    }
    if (line_number == 1) result += head;
  }
  return result;
}

}  // namespace

LabelledProgram with_labels_of_origin(const Program& program) {
  LabelledProgram labelled;
  ProgramDraft draft = draft_of(program);
  const std::vector<size_t> positions = positions_of_statements(draft);
  std::set<std::string> taken;
  for (const size_t at : positions) taken.insert(statement_label(draft.items[at]));
  std::map<std::string, std::string> label_of_number;  // Of dispatches that had none.
  for (size_t i = 0; i < positions.size(); ++i) {
    ItemDraft& item = draft.items[positions[i]];
    std::string& label = statement_label(item);
    StatementOrigin origin{i, "", !label.empty()};
    const auto* const dispatch = std::get_if<DispatchDraft>(&item);
    const std::string number = std::to_string(labelled.dispatch_count);
    if (!origin.has_label) {
      label = free_label(dispatch != nullptr ? "d" + number : "s" + std::to_string(i), taken);
      taken.insert(label);
      if (dispatch != nullptr) label_of_number.emplace(number, label);
    }
    if (dispatch != nullptr) {
      origin.kernel = dispatch->kernel;
      ++labelled.dispatch_count;
    }
    labelled.origins.emplace(label, std::move(origin));
  }
  for (DispatchDraft* dispatch : items_of<DispatchDraft>(draft)) {
    for (std::string& name : dispatch->after) {
      const auto known = label_of_number.find(name);
      if (known != label_of_number.end()) name = known->second;
    }
  }
  labelled.statement_count = positions.size();
  auto built = build(draft);
  if (built) {
    labelled.program = std::move(*built);
  } else {
    labelled.program = program;
    labelled.origins.clear();
  }
  return labelled;
}

std::string text_with_origins(const Program& minimized, const LabelledProgram& original,
                              std::string_view file_name, std::span<const uint64_t> lines) {
  const bool has_lines = lines.size() == original.statement_count;
  ProgramDraft draft = draft_of(minimized);
  const std::set<std::string> expected = expected_names(draft);
  const std::vector<size_t> positions = positions_of_statements(draft);
  std::vector<std::string> comments;
  for (const size_t at : positions) {
    ItemDraft& item = draft.items[at];
    std::string& label = statement_label(item);
    const auto origin = original.origins.find(label);
    const bool is_known = origin != original.origins.end();
    comments.push_back(is_known ? origin_comment(origin->second, item,
                                                 has_lines ? lines : std::span<const uint64_t>())
                                : "");
    const bool is_dispatch = std::holds_alternative<DispatchDraft>(item);
    if (is_known && !origin->second.has_label && !is_dispatch && !expected.contains(label)) {
      label.clear();
    }
  }
  const auto built = build(draft);
  const std::string text = print(built ? *built : minimized);
  std::vector<uint64_t> lines_of_text;
  ParseOptions options;
  options.reads_every_queue = true;
  options.statement_lines = &lines_of_text;
  const bool is_read = parse(text, "<text>", options).has_value();
  std::map<uint64_t, std::string> by_line;
  if (is_read && lines_of_text.size() == comments.size()) {
    for (size_t i = 0; i < comments.size(); ++i) by_line[lines_of_text[i]] = comments[i];
  }
  const size_t dispatch_count = positions_of<DispatchDraft>(draft).size();
  const std::string head =
      fmt::format("# Minimized: {} of {} dispatches of {}.{}\n", dispatch_count,
                  original.dispatch_count, in_quotes(file_name),
                  has_lines ? " Comments say in which of its lines a statement stood." : "");
  return with_line_comments(text, head, by_line);
}

}  // namespace interlock
