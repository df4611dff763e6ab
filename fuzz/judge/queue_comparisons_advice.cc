// What a check advises and how it reports, against what follows from the definitions.
#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "encoder/assemble/build.h"
#include "encoder/program/stop.h"
#include "fuzz/judge/queue_comparisons.h"
#include "fuzz/judge/sync_removal.h"
#include "simulator/barriers/sync_redundancy.h"
#include "simulator/chains/chain_hazards.h"
#include "simulator/chains/counter_run.h"
#include "simulator/order/signal_order.h"
#include "simulator/report/expectations.h"
#include "simulator/report/report.h"

namespace interlock {
namespace {

using ChainHazards = std::set<ChainHazard>;

// Some end of a piece, or of what it is paired with, stands between the two of a hazard: then it
// may be sync that fails to order it, which is no advice.
class BetweenHazards {
 public:
  BetweenHazards(const Program& program, const ChainHazards& hazards)
      : program_(program), hazards_(hazards), position_(program.statements.size()) {
    const std::vector<StatementId> run = run_by_counters(program);
    for (uint32_t i = 0; i < run.size(); ++i) position_[run[i].index] = i;
  }

  bool has(const SyncPiece& piece) const {
    const std::vector<StatementId> ends = ends_of(piece);
    return std::ranges::any_of(hazards_, [&](const ChainHazard& hazard) {
      const uint32_t begin = position_[program_.dispatch(hazard.first).statement.index];
      const uint32_t end = position_[program_.dispatch(hazard.second).statement.index];
      return std::ranges::any_of(ends, [&](StatementId id) {
        return begin <= position_[id.index] && position_[id.index] <= end;
      });
    });
  }

 private:
  std::vector<StatementId> ends_of(const SyncPiece& piece) const {
    std::vector<StatementId> ends = {piece.statement};
    if (piece.partner.is_some()) ends.push_back(piece.partner);
    const bool has_pair = piece.kind == SyncPieceKind::kWait || piece.kind == SyncPieceKind::kEvent;
    if (!has_pair) return ends;
    const SyncStep& step = program_.syncs[program_.statements[piece.statement.index].index];
    if (step.partner == SyncStep::kNoPartner) return ends;
    if (step.kind == SyncKind::kAwait) {
      ends.push_back(program_.syncs[step.partner].statement);
      return ends;
    }
    for (const SyncStep& other : program_.syncs) {
      const bool is_signal =
          other.kind == SyncKind::kSignal || other.kind == SyncKind::kHostSignals;
      if (is_signal && other.first <= step.partner && step.partner < other.first + other.count) {
        ends.push_back(other.statement);
      }
    }
    return ends;
  }

  const Program& program_;
  const ChainHazards& hazards_;
  std::vector<uint32_t> position_;  // In the run, by statement.
};

// Removing it adds no hazard, no deadlock and no error.
bool can_go(const Program& text, const SyncPiece& piece, const ChainHazards& hazards) {
  const Result<Program> without = build(draft_without(text, piece));
  if (!without || find_unordered_signals(*without)) return false;
  const std::optional<ChainHazards> left = chain_hazards_of(*without);
  return left && std::ranges::includes(hazards, *left);
}

}  // namespace

Difference compare_advice(const Program& text, std::span<const SyncPiece> redundant) {
  const std::optional<ChainHazards> hazards = chain_hazards_of(text);
  if (!hazards) {
    if (redundant.empty()) return std::nullopt;
    return "A program with a deadlock has sync that can go.";
  }
  const bool ends_values = !text.lifetimes.empty();
  const BetweenHazards between(text, *hazards);
  for (const SyncPiece& piece : sync_pieces_of(text)) {
    if (is_stopped()) return std::nullopt;
    if (piece.is_word()) continue;  // Of a piece that stays: what the draft loses is the whole.
    const bool is_redundant = std::ranges::find(redundant, piece) != redundant.end();
    if (is_redundant == can_go(text, piece, *hazards)) continue;
    if (is_redundant) {
      return fmt::format("The check lets {} go, and without it chains order less.",
                         description_of(text, piece));
    }
    if (ends_values || between.has(piece)) continue;
    return fmt::format("The check does not let {} go, and without it chains order as much.",
                       description_of(text, piece));
  }
  return std::nullopt;
}

Difference compare_json(const Program& text, const CheckReport& report) {
  const ExpectationOutcome outcome = judge_expectations(text, report);
  const nlohmann::json json =
      nlohmann::json::parse(json_report(text, report, outcome, "file.ilk"), nullptr, false);
  if (json.is_discarded()) return "The report as JSON does not parse.";
  const auto findings = json.find("findings");
  if (findings == json.end() || findings->size() != report.findings.size()) {
    return fmt::format("The report as JSON does not have the {} findings of the check.",
                       report.findings.size());
  }
  for (size_t i = 0; i < report.findings.size(); ++i) {
    const Finding& finding = report.findings[i];
    const nlohmann::json& one = (*findings)[i];
    const bool is_same =
        one.at("kind") == word_of(finding.kind) && one.at("begin") == finding.overlap.begin &&
        one.at("end") == finding.overlap.end && one.at("waiting").size() == finding.waiting.size();
    if (!is_same) return fmt::format("Finding {} is another one in the report as JSON.", i);
  }
  if (json.at("redundant_sync").size() != report.redundant_sync.size()) {
    return "The report as JSON does not have the sync that can go by the check.";
  }
  return std::nullopt;
}

}  // namespace interlock
