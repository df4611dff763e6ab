#include "tests/simulator/judges/sync_removal_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/check.h"
#include "tests/simulator/judges/chain_search.h"
#include "tests/simulator/judges/counter_run.h"
#include "tests/simulator/judges/word_removal.h"
#include "tests/simulator/programs/queue_texts.h"

namespace interlock {
namespace {

bool reads(const Access& access) { return access.reads() || access.is_atomic(); }
bool writes(const Access& access) { return access.writes() || access.is_atomic(); }

// Two accesses of one memory, the first one earlier in the run.
struct AccessPair {
  DispatchId first;
  const Access& a;
  DispatchId second;
  const Access& b;
};

void add_chain_hazards(const Program& program, const ChainSearch& chains, const AccessPair& pair,
                       std::set<ChainHazard>& hazards) {
  const Dispatch& first = program.dispatch(pair.first);
  const Dispatch& second = program.dispatch(pair.second);
  if (pair.a.is_atomic() && pair.b.is_atomic() && first.atomic_op == second.atomic_op) return;
  const Stage first_stage = stage_of(first, pair.a);
  const Stage second_stage = stage_of(second, pair.b);
  const auto read_sort = read_sort_of(second_stage, pair.b);
  const auto write_sort = write_sort_of(second_stage, pair.b);
  const bool is_ordered =
      chains.executes_before(pair.first, first_stage, pair.second, second_stage);
  const ByteRange bytes =
      intersection(chains.bytes_of(pair.first, pair.a), chains.bytes_of(pair.second, pair.b));
  for (uint64_t byte = bytes.begin; byte < bytes.end; ++byte) {
    const auto add = [&](FindingKind kind, StageAccess sort) {
      hazards.insert(
          {pair.first, pair.second, kind, sort, first_stage, pair.a.memory, byte, is_ordered});
    };
    if (reads(pair.a) && writes(pair.b) && !is_ordered) {
      add(FindingKind::kWriteAfterRead, *write_sort);
    }
    if (!writes(pair.a)) continue;
    const ChainSearch::Spread spread = chains.spread_of(pair.first, pair.a.memory, byte);
    if (reads(pair.b) && !chains.is_visible(spread, pair.second, *read_sort)) {
      add(FindingKind::kReadAfterWrite, *read_sort);
    }
    if (writes(pair.b) && !chains.is_visible(spread, pair.second, *write_sort)) {
      add(FindingKind::kWriteAfterWrite, *write_sort);
    }
  }
}

// The index of the line of each statement: of a random program declarations come first.
std::vector<size_t> lines_of_statements(const std::vector<std::string>& lines,
                                        const Program& program) {
  std::vector<size_t> statements;
  for (size_t i = lines.size() - program.statements.size(); i < lines.size(); ++i) {
    statements.push_back(i);
  }
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

std::optional<std::set<ChainHazard>> chain_hazards_of(const Program& program) {
  const std::vector<StatementId> run = run_by_counters(program);
  if (run.size() < program.statements.size()) return std::nullopt;
  const ChainSearch chains(program);
  std::vector<DispatchId> dispatches;
  for (const StatementId id : run) {
    const Statement& statement = program.statements[id.index];
    const bool is_dispatch = statement.kind == StatementKind::kDispatch;
    if (is_dispatch) dispatches.push_back(DispatchId(size_t{statement.index}));
  }
  std::set<ChainHazard> hazards;
  for (size_t k = 0; k < dispatches.size(); ++k) {
    for (size_t i = 0; i < k; ++i) {
      for (const Access& a : program.accesses_of(dispatches[i])) {
        for (const Access& b : program.accesses_of(dispatches[k])) {
          if (a.memory != b.memory) continue;
          add_chain_hazards(program, chains, {dispatches[i], a, dispatches[k], b}, hazards);
        }
      }
    }
  }
  return hazards;
}

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
