#include "simulator/picture/rows.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "encoder/program/stop.h"
#include "simulator/report/operand_text.h"

namespace interlock {
namespace {

constexpr uint32_t kTooFewToFold = 2;

RowKind row_kind_of(StatementKind kind) {
  switch (kind) {
    case StatementKind::kDispatch:
      return RowKind::kDispatch;
    case StatementKind::kBarrier:
      return RowKind::kBarrier;
    case StatementKind::kLifetime:
      return RowKind::kLifetime;
    case StatementKind::kSync:
      return RowKind::kSync;
  }
  return RowKind::kSync;
}

class RowFolder {
 public:
  RowFolder(const Program& program, const RunOrder& order, std::span<const RepairLine> repair,
            const PictureLimits& limits)
      : program_(program), order_(order), repair_(repair), open_left_(limits.rows_unfolded) {
    result_.row_of.assign(program.statements.size(), kNone32);
  }

  FoldedRows run(std::span<const uint32_t> shown) && {
    uint32_t next = 0;  // The first place that has no row yet.
    for (const uint32_t place : shown) {
      fold(next, place);
      add_with_repair(place);
      next = place + 1;
    }
    fold(next, static_cast<uint32_t>(order_.statements.size()));
    return std::move(result_);
  }

 private:
  void fold(uint32_t begin, uint32_t end) {
    if (end - begin <= kTooFewToFold) {
      for (uint32_t place = begin; place < end; ++place) add_with_repair(place);
      return;
    }
    const auto fold_row = static_cast<uint32_t>(result_.rows.size());
    PictureRow row{.kind = RowKind::kFold, .is_closed = end - begin > open_left_};
    uint64_t barrier_count = 0;
    for (uint32_t place = begin; place < end && !is_stopped_at(place); ++place) {
      const bool is_dispatch = statement_at(place).kind == StatementKind::kDispatch;
      ++(is_dispatch ? row.dispatch_count : row.other_count);
      if (statement_at(place).kind == StatementKind::kBarrier) ++barrier_count;
    }
    row.label =
        fmt::format("{} dispatch{}", row.dispatch_count, row.dispatch_count == 1 ? "" : "es");
    if (row.other_count > 0) {
      const std::string_view noun = barrier_count == row.other_count ? "barrier" : "other line";
      row.detail = fmt::format("{} {}{}", row.other_count, noun, row.other_count == 1 ? "" : "s");
    }
    const bool is_closed = row.is_closed;
    result_.rows.push_back(std::move(row));
    if (!is_closed) open_left_ -= end - begin;
    for (uint32_t place = begin; place < end && !is_stopped_at(place); ++place) {
      if (is_closed) {
        result_.row_of[order_.statements[place].index] = fold_row;
      } else {
        add(place, fold_row);
      }
    }
  }

  void add_with_repair(uint32_t place) {
    const StatementId statement = order_.statements[place];
    add_repair(statement, RepairPlace::kBefore);
    const size_t row = result_.rows.size();
    add(place, kNone32);
    for (const RepairLine& line : repair_) {
      if (line.at == statement && line.place == RepairPlace::kInstead) {
        result_.rows[row].is_replaced = true;
      }
    }
    add_repair(statement, RepairPlace::kInstead);
    add_repair(statement, RepairPlace::kAfter);
  }

  void add_repair(StatementId statement, RepairPlace place) {
    for (const RepairLine& line : repair_) {
      if (line.at != statement || line.place != place || line.text.empty()) continue;
      result_.rows.push_back(
          {.kind = RowKind::kRepair, .label = line.text, .text = line.text, .fold = kNone32});
    }
  }

  void add(uint32_t place, uint32_t fold_row) {
    const StatementId id = order_.statements[place];
    const Statement& statement = statement_at(place);
    result_.row_of[id.index] = static_cast<uint32_t>(result_.rows.size());
    PictureRow row{.kind = row_kind_of(statement.kind),
                   .statement = id,
                   .fold = fold_row,
                   .never_runs = place >= order_.ran_count};
    const std::string label(statement.label.is_some() ? program_.name(statement.label) : "");
    if (row.kind == RowKind::kDispatch) {
      row.dispatch = DispatchId(size_t{statement.index});
      set_dispatch_text(label, row);
    } else {
      row.text = text_of(program_, id);
      row.label = without_queue(row.text, statement.queue);
      if (!label.empty()) row.text = label + ": " + row.text;
    }
    result_.rows.push_back(std::move(row));
  }

  // The lane says which queue it is of.
  std::string without_queue(const std::string& text, QueueIndex queue) const {
    if (queue == kNoQueue) return text;
    const std::string end = fmt::format(" on {}", program_.name_of(queue));
    return text.ends_with(end) ? text.substr(0, text.size() - end.size()) : text;
  }

  void set_dispatch_text(const std::string& label, PictureRow& row) const {
    const Dispatch& dispatch = program_.dispatch(row.dispatch);
    if (dispatch.is_transition()) {
      row.label = program_.description_of(row.dispatch);
      row.text = row.label;
      return;
    }
    row.text = text_of(program_, row.statement);
    const std::string kernel(
        dispatch.host == HostAccess::kNone ? program_.name(dispatch.kernel_name) : row.text);
    row.label = label.empty() ? kernel : label;
    if (dispatch.is_counted()) row.detail = fmt::format("#{}", program_.number_of(row.dispatch));
    if (!label.empty()) {
      row.detail += (row.detail.empty() ? "" : " ") + kernel;
      row.text = label + ": " + row.text;
    }
  }

  const Statement& statement_at(uint32_t place) const {
    return program_.statements[order_.statements[place].index];
  }

  const Program& program_;
  const RunOrder& order_;
  std::span<const RepairLine> repair_;
  uint64_t open_left_;
  FoldedRows result_;
};

}  // namespace

FoldedRows fold_rows(const Program& program, const RunOrder& order, std::span<const uint32_t> shown,
                     std::span<const RepairLine> repair, const PictureLimits& limits) {
  return RowFolder(program, order, repair, limits).run(shown);
}

}  // namespace interlock
