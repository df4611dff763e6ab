// The idea: a line is split where its text has " -> ", ", ", "|" and spaces outside of brackets,
// and put together again. What a word is called is taken from the piece; where it stands in the
// program is only used to count how many of its sort stand before it.
#include "tests/simulator/judges/word_removal.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "encoder/program/check.h"

namespace interlock {
namespace {

std::vector<std::string> split(std::string_view text, std::string_view separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (;;) {
    const size_t end = text.find(separator, begin);
    parts.emplace_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + separator.size();
  }
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += separator;
    text += parts[i];
  }
  return text;
}

// "reads" of "compute.read"; whether the word names one of the accesses that go.
bool names_one_of(std::string_view word, AccessMask accesses) {
  for (size_t i = 0; i < kStageAccessCount; ++i) {
    const auto access = static_cast<StageAccess>(i);
    if ((accesses & bit_of(access)) == 0) continue;
    const std::string name = text_of(access);
    const std::string sort = name.substr(name.find('.'));
    const bool is_a_read = sort == ".read" || sort == ".uniform";
    for (const std::string stage : {"all", "device"}) {
      if (word == stage + sort || (is_a_read && word == stage + ".read")) return true;
    }
    if (word == name) return true;
  }
  return false;
}

std::string scope_without(std::string_view scope, Scope cut) {
  std::vector<std::string> kept;
  for (const std::string& word : split(scope, "|")) {
    const std::string stage = word.substr(0, word.find('.'));
    const bool goes = std::ranges::any_of(kStages, [&](Stage candidate) {
      return (cut.stages & bit_of(candidate)) != 0 && text_of(candidate) == stage;
    });
    if (!goes) kept.push_back(names_one_of(word, cut.accesses) ? stage : word);
  }
  return join(kept, "|");
}

// Which of the operands from `first` on that the text has. A row of one that has rows stands in the
// program for all of them.
size_t position_in_text(const Program& program, uint32_t first, uint32_t operand) {
  size_t position = 0;
  for (uint32_t i = first; i < operand; ++position) {
    const uint32_t stride = program.barrier_operands[i].stride;
    i += stride == Access::kNotStrided ? 1 : program.strides[stride].row_count;
  }
  return position;
}

// "compute.write -> copy m[0:2] n[1:4 rows 2 pitch 2 width 1]". A word before the first operand is
// part of it.
class DependencyText {
 public:
  explicit DependencyText(std::string_view text) {
    const size_t arrow = text.find(" -> ");
    source_ = text.substr(0, arrow);
    std::string_view rest = text.substr(arrow + 4);
    const size_t end = rest.find(' ');
    destination_ = rest.substr(0, end);
    while (end != std::string_view::npos && rest.find(']') != std::string_view::npos) {
      rest = rest.substr(rest.find(' ') + 1);
      const size_t closed = rest.find(']') + 1;
      operands_.emplace_back(rest.substr(0, closed));
      rest = rest.substr(closed);
    }
  }

  void cut(const Program& program, const SyncPiece& word) {
    if (word.kind == SyncPieceKind::kOperand) {
      cut_operand(program, word);
      return;
    }
    std::string& side = word.is_source ? source_ : destination_;
    side = scope_without(side, word.cut);
  }

  std::string text() const {
    std::string text = source_ + " -> " + destination_;
    for (const std::string& operand : operands_) text += " " + operand;
    return text;
  }

 private:
  void cut_operand(const Program& program, const SyncPiece& word) {
    const uint32_t first = program.dependencies[word.dependency].first_operand;
    const size_t position = position_in_text(program, first, word.operand);
    INTERLOCK_CHECK(position < operands_.size());
    operands_.erase(operands_.begin() + static_cast<std::ptrdiff_t>(position));
  }

  std::string source_;
  std::string destination_;
  std::vector<std::string> operands_;
};

// `begin`: where the first dependency begins.
std::string line_without_part(const std::string& line, size_t begin, const Program& program,
                              const SyncPiece& word, uint32_t first_dependency) {
  const size_t end = std::min(line.rfind(" on q"), line.size());
  std::vector<std::string> parts = split(line.substr(begin, end - begin), ", ");
  const uint32_t index = word.dependency - first_dependency;
  if (word.kind == SyncPieceKind::kDependency) {
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(index));
  } else {
    DependencyText dependency(parts[index]);
    dependency.cut(program, word);
    parts[index] = dependency.text();
  }
  return line.substr(0, begin) + join(parts, ", ") + line.substr(end);
}

// `before copy|compute`, `after copy`: `keyword` and the stages.
std::string line_without_stage(const std::string& line, size_t from, std::string_view keyword,
                               Scope cut) {
  const size_t begin = line.find(keyword, from) + keyword.size();
  const size_t end = line.find_first_of(" ,", begin);
  return line.substr(0, begin) + scope_without(line.substr(begin, end - begin), cut) +
         line.substr(end);
}

std::string line_without_memory(std::string line) {
  line.insert(std::min(line.rfind(" on q"), line.size()), " execution");
  return line;
}

}  // namespace

std::string line_without_word(const std::string& line, const Program& program,
                              const SyncPiece& word) {
  if (word.kind == SyncPieceKind::kMemory) return line_without_memory(line);
  const Statement& statement = program.statements[word.statement.index];
  if (statement.kind == StatementKind::kBarrier) {
    const uint32_t first = program.barriers[statement.index].first_dependency;
    const std::string_view keyword = "barrier ";
    return line_without_part(line, line.find(keyword) + keyword.size(), program, word, first);
  }
  const SyncStep& step = program.syncs[statement.index];
  if (word.kind == SyncPieceKind::kValue) {
    const size_t begin = line.find('=') + 1;
    const size_t end = std::min(line.find(' ', begin), line.size());
    return fmt::format("{}{}{}", line.substr(0, begin), program.signal_parts[word.lower].value,
                       line.substr(end));
  }
  if (step.kind == SyncKind::kHostIdle) {
    return fmt::format("{} on {}", line, program.name_of(word.queue));
  }
  if (word.kind == SyncPieceKind::kOperand && step.kind != SyncKind::kSet) {
    std::vector<std::string> operands = split(line, "] ");
    // The first of them begins after the words of the statement, the last one has its bracket.
    const size_t begin = line.find(' ', std::string_view("host ").size()) + 1;
    operands.front().erase(0, begin);
    operands.back().pop_back();
    operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(
                                          position_in_text(program, step.first, word.operand)));
    return line.substr(0, begin) + join(operands, "] ") + "]";
  }
  if (step.kind == SyncKind::kSet) {
    const size_t name_end = line.find(' ', std::string_view("set ").size());
    return line_without_part(line, name_end + 1, program, word, step.first);
  }
  if (step.kind == SyncKind::kWait) return line_without_stage(line, 0, " before ", word.cut);
  size_t from = 0;
  for (uint32_t i = step.first; i < word.part; ++i) from = line.find(", ", from) + 2;
  return line_without_stage(line, from, " after ", word.cut);
}

}  // namespace interlock
