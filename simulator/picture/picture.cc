#include "simulator/picture/picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "encoder/program/finding_kind.h"
#include "simulator/order/in_reference_order.h"
#include "simulator/order/queue_order.h"
#include "simulator/picture/focus.h"
#include "simulator/picture/memory_map.h"
#include "simulator/picture/rows.h"
#include "simulator/picture/witness_order.h"
#include "simulator/report/added_barriers.h"
#include "simulator/report/operand_text.h"

namespace interlock {
namespace {

// The lines of the repair: those that the finding names, or on one queue the barrier that it lacks.
std::vector<RepairLine> repair_lines_of(const Program& program, const Finding& finding) {
  if (!finding.repair.empty() || !is_hazard(finding.kind) || needs_queue_order(program)) {
    return finding.repair;
  }
  const bool has_scopes = !program.barriers.empty() &&
                          std::ranges::all_of(program.barriers, [](const Barrier& barrier) {
                            return barrier.kind == BarrierKind::kScoped;
                          });
  return find_barriers_to_add(program, std::span(&finding, 1),
                              has_scopes ? AddedBarriers::kScoped : AddedBarriers::kGlobal);
}

// Lanes in the order of the queues, the host first.
void set_lanes(const Program& program, const PictureLimits& limits, Picture& picture) {
  std::set<uint32_t> used;  // The host is 0, queue q is q + 1.
  const auto number_of = [&](StatementId statement) {
    const QueueIndex queue = program.statements[statement.index].queue;
    return queue == kNoQueue ? 0U : queue + 1U;
  };
  // Of values the host says when they end, wherever that is: they need no lane.
  const auto has_lane = [&](const PictureRow& row) {
    return row.statement.is_some() &&
           (row.kind != RowKind::kLifetime || number_of(row.statement) != 0);
  };
  for (const PictureRow& row : picture.rows) {
    if (has_lane(row)) used.insert(number_of(row.statement));
  }
  std::map<uint32_t, uint32_t> lane_of;
  for (const uint32_t number : used) {
    const auto lane = static_cast<uint32_t>(picture.lanes.size());
    if (lane + 1 == limits.lanes && used.size() > limits.lanes) {
      const size_t more = used.size() - lane;
      picture.lanes.push_back({fmt::format("{} more queues", more), ""});
    }
    lane_of[number] = std::min(lane, limits.lanes - 1);
    if (lane >= limits.lanes || (lane + 1 == limits.lanes && used.size() > limits.lanes)) continue;
    if (number == 0) {
      picture.lanes.push_back({"host", ""});
    } else {
      const auto queue = static_cast<QueueIndex>(number - 1);
      std::string kind(word_of(program.kind_of(queue)));
      const QueueIndex stream = program.launching_queue_of(queue);
      if (stream != queue) kind = fmt::format("launched on {}", program.name_of(stream));
      picture.lanes.push_back({std::string(program.name_of(queue)), std::move(kind)});
    }
  }
  for (PictureRow& row : picture.rows) {
    if (has_lane(row)) row.lane = lane_of.at(number_of(row.statement));
  }
}

// Dispatches between two barriers of one queue: they may run in any order.
void set_epochs(const Program& program, Picture& picture) {
  if (needs_queue_order(program) || program.kind_of(kDefaultQueue) != QueueKind::kConcurrent)
    return;
  std::vector<uint32_t> barriers;  // Statement indices, rising.
  for (const Barrier& barrier : program.barriers) barriers.push_back(barrier.statement.index);
  if (barriers.empty()) return;
  for (PictureRow& row : picture.rows) {
    if (!row.dispatch.is_some()) continue;
    row.epoch = static_cast<uint32_t>(std::ranges::lower_bound(barriers, row.statement.index) -
                                      barriers.begin());
  }
}

// The row that stands for another one while its fold is shut.
uint32_t shown_row(const Picture& picture, uint32_t row) {
  return row == kNone32 || picture.rows[row].fold == kNone32 ? row : picture.rows[row].fold;
}

class LinkList {
 public:
  LinkList(const std::vector<uint32_t>& row_of, uint32_t limit, Picture& picture)
      : row_of_(row_of), limit_(limit), picture_(picture) {}

  void add(StatementId from, StatementId to) {
    const uint32_t from_row = shown_row(picture_, row_of_[from.index]);
    const uint32_t to_row = shown_row(picture_, row_of_[to.index]);
    if (from_row == kNone32 || to_row == kNone32 || from_row == to_row) return;
    if (picture_.links.size() >= limit_ || !seen_.emplace(from_row, to_row).second) return;
    picture_.links.push_back({from_row, to_row, false});
  }

 private:
  const std::vector<uint32_t>& row_of_;
  const uint32_t limit_;
  std::set<std::pair<uint32_t, uint32_t>> seen_;
  Picture& picture_;
};

// What the sync of the rows outside folds is paired with.
void set_links(const Program& program, const std::vector<uint32_t>& row_of, uint32_t limit,
               Picture& picture) {
  std::vector<StatementId> signal_of(program.signal_parts.size());
  for (const SyncStep& step : program.syncs) {
    if (step.kind != SyncKind::kSignal && step.kind != SyncKind::kHostSignals) continue;
    for (uint32_t k = 0; k < step.count; ++k) signal_of[step.first + k] = step.statement;
  }
  LinkList links(row_of, limit, picture);
  for (size_t i = 0; i < picture.rows.size(); ++i) {
    const PictureRow row = picture.rows[i];
    if (row.fold != kNone32 || !row.statement.is_some()) continue;
    if (row.dispatch.is_some()) {
      for (const Edge& edge : program.edges_to(row.dispatch)) {
        links.add(program.dispatch(edge.from).statement, row.statement);
      }
    }
    if (row.kind != RowKind::kSync) continue;
    const SyncStep& step = program.syncs[program.statements[row.statement.index].index];
    if (step.partner == SyncStep::kNoPartner) continue;
    const bool is_wait = step.kind == SyncKind::kWait || step.kind == SyncKind::kHostWaits;
    links.add(is_wait ? signal_of[step.partner] : program.syncs[step.partner].statement,
              row.statement);
  }
}

void set_arrows(const Program& program, const Finding& finding, const std::vector<uint32_t>& row_of,
                Picture& picture) {
  const auto row_of_dispatch = [&](DispatchId dispatch) {
    return dispatch.is_some() ? row_of[program.dispatch(dispatch).statement.index] : kNone32;
  };
  const uint32_t end = picture.rows.back().kind == RowKind::kEnd
                           ? static_cast<uint32_t>(picture.rows.size() - 1)
                           : kNone32;
  const auto add = [&](uint32_t from, uint32_t to, std::string_view label) {
    if (from == kNone32 || to == kNone32 || from == to) return;
    picture.arrows.push_back(
        {shown_row(picture, from), shown_row(picture, to), std::string(label)});
  };
  for (const BlockedStatement& blocked : finding.cycle) {
    add(row_of[blocked.statement.index], row_of[blocked.waits_for.index], "waits for");
  }
  uint32_t first = row_of_dispatch(finding.first.dispatch);
  uint32_t second = finding.second ? row_of_dispatch(finding.second->dispatch) : kNone32;
  if (finding.kind == FindingKind::kUseAfterFree && finding.lifetime.is_some()) {
    second = first == kNone32 ? end : first;
    first = row_of[program.lifetimes[finding.lifetime.index].statement.index];
  } else if (finding.kind == FindingKind::kClobber && second == kNone32) {
    second = end;
  }
  add(first, second, word_of(finding.kind));
}

// What the rows of the finding do to its bytes.
void set_accesses(const Program& program, const Finding& finding,
                  const std::vector<uint32_t>& row_of, Picture& picture) {
  const auto set = [&](AccessRef ref) {
    if (!ref.dispatch.is_some()) return;
    const uint32_t row = row_of[program.dispatch(ref.dispatch).statement.index];
    if (row == kNone32 || ref.access >= program.dispatch(ref.dispatch).access_count) return;
    const Access& access = access_of(program, ref);
    std::string& text = picture.rows[row].access;
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : ", ", verb_of(access), program.text_of(access));
  };
  if (finding.kind == FindingKind::kDeadlock || finding.kind == FindingKind::kGradient) return;
  set(finding.first);
  if (finding.second) set(*finding.second);
}

// The edge that the repair adds, where it names the earlier dispatch in the line of the later one.
void set_repair_link(const Program& program, const Finding& finding,
                     std::span<const RepairLine> repair, Picture& picture) {
  if (picture.arrows.size() != 1 || !finding.second) return;
  const Dispatch& second = program.dispatch(finding.second->dispatch);
  const QueueIndex queue = program.queue_of(second);
  if (queue == kNoQueue || program.kind_of(queue) != QueueKind::kGraph) return;
  for (const RepairLine& line : repair) {
    if (line.at != second.statement || line.place != RepairPlace::kInstead) continue;
    picture.links.push_back({picture.arrows[0].from_row, picture.arrows[0].to_row, true});
    return;
  }
}

bool reads_at_end(const Finding& finding) {
  switch (finding.kind) {
    case FindingKind::kClobber:
      return !finding.second.has_value();
    case FindingKind::kUninitialized:
    case FindingKind::kUseAfterFree:
      return !finding.first.dispatch.is_some();
    default:
      return false;
  }
}

void set_sentences(const CheckReport& report, const Finding* finding, Picture& picture) {
  if (finding != nullptr) {
    picture.headline = finding->headline;
    picture.details = finding->details;
    picture.fix = finding->fix;
    picture.kind_word = word_of(finding->kind);
    return;
  }
  picture.headline = report.findings.empty() && !report.is_truncated()
                         ? "Nothing is found: what conflicts is ordered."
                         : "The program.";
  const size_t count = report.redundant.size() + report.redundant_sync.size();
  if (count > 0) {
    picture.details.push_back(fmt::format("{} piece{} of sync can go, one at a time: dashed.",
                                          count, count == 1 ? "" : "s"));
  }
}

}  // namespace

PictureMaker::PictureMaker(const Program& program, const CheckReport& report)
    : program_(program),
      report_(report),
      time_(run_order_of(program)),
      reference_(reference_run(program)),
      order_(reference_) {}

Picture PictureMaker::of_finding(size_t finding, const PictureLimits& limits) const {
  return make(&report_.findings[finding], limits);
}

Picture PictureMaker::of_program(const PictureLimits& limits) const {
  return make(nullptr, limits);
}

Picture PictureMaker::make(const Finding* finding, const PictureLimits& limits) const {
  Picture picture;
  set_sentences(report_, finding, picture);
  const std::vector<RepairLine> repair =
      finding == nullptr ? std::vector<RepairLine>{} : repair_lines_of(program_, *finding);
  const std::vector<uint32_t> shown = focus_of(program_, report_, finding, repair, time_, limits);
  FoldedRows folded = fold_rows(program_, time_, shown, repair, limits);
  picture.rows = std::move(folded.rows);
  if (finding != nullptr) {
    for (const StatementId statement : statements_of(program_, *finding)) {
      const uint32_t row = folded.row_of[statement.index];
      if (row != kNone32) picture.rows[row].is_in_finding = true;
    }
    set_accesses(program_, *finding, folded.row_of, picture);
    if (reads_at_end(*finding)) {
      picture.rows.push_back({.kind = RowKind::kEnd,
                              .label = "end of the program",
                              .text = "The program ends, and its outputs are read.",
                              .is_in_finding = true});
    }
  }
  for (const StatementId statement : useless_statements_of(program_, report_)) {
    const uint32_t row = folded.row_of[statement.index];
    if (row != kNone32 && picture.rows[row].kind != RowKind::kFold) {
      picture.rows[row].is_useless = true;
    }
  }
  set_lanes(program_, limits, picture);
  set_epochs(program_, picture);
  set_links(program_, folded.row_of, limits.links, picture);
  draw_memory(program_, time_, folded, finding, limits, picture);
  if (finding != nullptr && !picture.rows.empty()) {
    set_arrows(program_, *finding, folded.row_of, picture);
    set_repair_link(program_, *finding, repair, picture);
    draw_witness(program_, reference_, order_, *finding, picture);
  }
  return picture;
}

}  // namespace interlock
