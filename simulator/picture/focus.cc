// The basic idea is a list by importance, of which the first ones that fit are shown.
#include "simulator/picture/focus.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "encoder/program/stop.h"
#include "simulator/order/reference_order.h"

namespace interlock {
namespace {

constexpr uint32_t kLookAround = 64;  // Statements looked at on either side of one.
constexpr size_t kSyncBetween = 3;    // Shown after the first end, and before the second one.
constexpr size_t kWitnessLines = 6;
constexpr size_t kUselessShown = 6;
constexpr size_t kShownAtEnds = 4;

class FocusSearch {
 public:
  FocusSearch(const Program& program, const RunOrder& order, uint32_t limit)
      : program_(program), order_(order), limit_(limit) {}

  void add(StatementId statement) { add_place(order_.place_of(statement)); }
  void add(DispatchId dispatch) {
    if (dispatch.is_some()) add(program_.dispatch(dispatch).statement);
  }

  void add_place(uint32_t place) {
    if (places_.size() >= limit_ || place >= order_.statements.size()) return;
    const auto at = std::ranges::lower_bound(places_, place);
    if (at == places_.end() || *at != place) places_.insert(at, place);
  }

  // What orders, or fails to, between two places: the first ones and the last ones.
  void add_sync_between(uint32_t first, uint32_t last) {
    size_t count = 0;
    for (uint32_t at = first + 1; at < last && at - first < kLookAround; ++at) {
      if (is_sync(at) && count++ < kSyncBetween) add_place(at);
    }
    count = 0;
    for (uint32_t at = last; at-- > first + 1 && last - at < kLookAround;) {
      if (is_sync(at) && count++ < kSyncBetween) add_place(at);
    }
  }

  // The nearest dispatch on either side.
  void add_neighbours(uint32_t place) {
    const auto size = static_cast<uint32_t>(order_.statements.size());
    for (uint32_t at = place; at-- > 0 && place - at < kLookAround;) {
      if (!is_dispatch(at)) continue;
      add_place(at);
      break;
    }
    for (uint32_t at = place + 1; at < size && at - place < kLookAround; ++at) {
      if (!is_dispatch(at)) continue;
      add_place(at);
      break;
    }
  }

  std::vector<uint32_t> places() && { return std::move(places_); }

 private:
  StatementKind kind_at(uint32_t place) const {
    return program_.statements[order_.statements[place].index].kind;
  }
  bool is_dispatch(uint32_t place) const { return kind_at(place) == StatementKind::kDispatch; }
  bool is_sync(uint32_t place) const {
    return kind_at(place) == StatementKind::kBarrier || kind_at(place) == StatementKind::kSync;
  }

  const Program& program_;
  const RunOrder& order_;
  const uint32_t limit_;
  std::vector<uint32_t> places_;
};

void add_finding(const Program& program, const Finding& finding, std::span<const RepairLine> repair,
                 const RunOrder& order, FocusSearch& search) {
  const std::vector<StatementId> named = statements_of(program, finding);
  for (const StatementId statement : named) search.add(statement);
  for (const RepairLine& line : repair) search.add(line.at);
  for (size_t i = 0; i < std::min(kWitnessLines, finding.witness.size()); ++i) {
    search.add(finding.witness[i].moved);
    search.add(finding.witness[i].anchor);
  }
  std::vector<uint32_t> ends;
  for (const StatementId statement : named) ends.push_back(order.place_of(statement));
  std::ranges::sort(ends);
  for (size_t i = 0; i + 1 < ends.size(); ++i) search.add_sync_between(ends[i], ends[i + 1]);
  for (const uint32_t place : ends) search.add_neighbours(place);
}

void add_useless(const Program& program, const CheckReport& report, const RunOrder& order,
                 FocusSearch& search) {
  const auto size = static_cast<uint32_t>(order.statements.size());
  const std::vector<StatementId> useless = useless_statements_of(program, report);
  for (size_t i = 0; i < std::min(kUselessShown, useless.size()); ++i) {
    search.add(useless[i]);
    search.add_neighbours(order.place_of(useless[i]));
  }
  for (uint32_t i = 0; i < kShownAtEnds; ++i) {
    search.add_place(i);
    search.add_place(size - 1 - i);
  }
}

}  // namespace

RunOrder run_order_of(const Program& program) {
  ReferenceOrder reference = find_reference_order(program);
  RunOrder order;
  order.ran_count = reference.statements.size();
  order.statements = std::move(reference.statements);
  order.places.assign(program.statements.size(), kNone32);
  for (uint32_t i = 0; i < order.statements.size(); ++i) {
    order.places[order.statements[i].index] = i;
  }
  for (size_t i = 0; i < order.places.size(); ++i) {
    if (order.places[i] != kNone32) continue;
    order.places[i] = static_cast<uint32_t>(order.statements.size());
    order.statements.emplace_back(i);
  }
  return order;
}

std::vector<StatementId> statements_of(const Program& program, const Finding& finding) {
  std::vector<StatementId> statements;
  const auto add = [&](StatementId statement) {
    if (std::ranges::find(statements, statement) == statements.end()) {
      statements.push_back(statement);
    }
  };
  if (finding.first.dispatch.is_some()) add(program.dispatch(finding.first.dispatch).statement);
  if (finding.second && finding.second->dispatch.is_some()) {
    add(program.dispatch(finding.second->dispatch).statement);
  }
  if (finding.lifetime.is_some()) add(program.lifetimes[finding.lifetime.index].statement);
  for (const BlockedStatement& blocked : finding.cycle) {
    add(blocked.statement);
    add(blocked.waits_for);
  }
  return statements;
}

std::vector<uint32_t> focus_of(const Program& program, const CheckReport& report,
                               const Finding* finding, std::span<const RepairLine> repair,
                               const RunOrder& order, const PictureLimits& limits) {
  if (order.statements.size() <= limits.rows_whole) {
    std::vector<uint32_t> all(order.statements.size());
    std::iota(all.begin(), all.end(), 0U);
    return all;
  }
  FocusSearch search(program, order, limits.rows_shown);
  if (finding != nullptr) {
    add_finding(program, *finding, repair, order, search);
  } else {
    add_useless(program, report, order, search);
  }
  return std::move(search).places();
}

std::vector<StatementId> useless_statements_of(const Program& program, const CheckReport& report) {
  std::vector<StatementId> statements;
  for (const RedundantBarrier& redundant : report.redundant) {
    statements.push_back(program.barriers[redundant.barrier.index].statement);
  }
  for (const SyncPiece& piece : report.redundant_sync) {
    // A part of a statement: the others stay.
    if (piece.is_word() || piece.kind == SyncPieceKind::kEdge ||
        piece.kind == SyncPieceKind::kSignal) {
      continue;
    }
    statements.push_back(piece.statement);
  }
  std::ranges::sort(statements);
  statements.erase(std::unique(statements.begin(), statements.end()), statements.end());
  return statements;
}

}  // namespace interlock
