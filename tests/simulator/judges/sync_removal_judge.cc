#include "tests/simulator/judges/sync_removal_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "encoder/program/statement_number.h"
#include "tests/simulator/judges/word_removal.h"
#include "tests/simulator/programs/queue_texts.h"

namespace interlock {
namespace {

// The index of the line of each statement: of a random program declarations come first.
std::vector<size_t> lines_of_statements(const std::vector<std::string>& lines,
                                        const Program& program) {
  std::vector<size_t> statements;
  if (program.statements.empty()) return statements;
  // What barriers do to their operands has no line of its own.
  const auto number_of = [&](size_t i) { return text_number_of(program, StatementId(i)); };
  const size_t first = lines.size() - number_of(program.statements.size() - 1) - 1;
  for (size_t i = 0; i < program.statements.size(); ++i) statements.push_back(first + number_of(i));
  return statements;
}

// Cuts one of the parts that commas separate: `signal s0=1 after copy, s1=2 on q0`.
void cut_part(uint32_t index, const SyncStep& step, std::string& line) {
  if (step.count == 1) {
    line.clear();
    return;
  }
  const bool is_last = index + 1 == step.count;
  size_t begin = std::string_view("signal ").size();
  for (uint32_t i = 0; i < index; ++i) begin = line.find(", ", begin) + 2;
  if (is_last) {
    const size_t end = line.rfind(" on ");
    line.erase(begin - 2, end - (begin - 2));
  } else {
    line.erase(begin, line.find(", ", begin) + 2 - begin);
  }
}

void cut_edge(std::string_view from, std::string& line) {
  const size_t after = line.find(" after");
  const size_t begin = line.find(fmt::format(" {}", from), after);
  line.erase(begin, from.size() + 1);
  // The last one takes the clause along.
  for (const std::string_view empty : {" after programmatic on ", " after on "}) {
    const size_t at = line.find(empty);
    if (at != std::string::npos) line.replace(at, empty.size(), " on ");
  }
}

}  // namespace

std::string text_without(const std::string& text, const Program& program, const SyncPiece& piece) {
  std::vector<std::string> lines = text_lines_of(text);
  const std::vector<size_t> line_of = lines_of_statements(lines, program);
  const auto signal_of = [&](StatementId id) -> const SyncStep& {
    return program.syncs[program.statements[id.index].index];
  };
  std::string& line = lines[line_of[piece.statement.index]];
  if (piece.is_word()) {
    line = line_without_word(line, program, piece);
  } else if (piece.kind == SyncPieceKind::kEdge) {
    const Edge& edge = program.edges[piece.edge];
    cut_edge(program.reference_of(edge.from), line);
  } else if (piece.kind == SyncPieceKind::kSignal) {
    const SyncStep& step = signal_of(piece.statement);
    cut_part(piece.part - step.first, step, line);
  } else {
    line.clear();
    if (piece.kind == SyncPieceKind::kWait && piece.partner.is_some()) {
      const SyncStep& step = signal_of(piece.partner);
      cut_part(piece.part - step.first, step, lines[line_of[piece.partner.index]]);
    } else if (piece.partner.is_some()) {
      lines[line_of[piece.partner.index]].clear();
    }
  }
  std::string result;
  for (const std::string& kept : lines) {
    if (!kept.empty()) result += kept + "\n";
  }
  return result;
}

}  // namespace interlock
