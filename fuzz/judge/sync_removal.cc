#include "fuzz/judge/sync_removal.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "encoder/program/check.h"
#include "encoder/program/statement_number.h"
#include "fuzz/generate/draft_positions.h"

namespace interlock {
namespace {

// Of a signal that has others, a part goes; else the statement does. Returns whether it does.
bool take_part(const Program& program, StatementId signal, uint32_t part, ItemDraft& item) {
  const SyncStep& step = program.syncs[program.statements[signal.index].index];
  auto& sync = std::get<SyncDraft>(item);
  if (sync.semaphores.size() == 1) return true;
  erase_at(sync.semaphores, part - step.first);
  return false;
}

}  // namespace

ProgramDraft draft_without(const Program& program, const SyncPiece& piece) {
  ProgramDraft draft = without_evidence(expanded_draft_of(program));
  const std::vector<size_t> positions =
      positions_of<DispatchDraft, BarrierDraft, LifetimeDraft, SyncDraft, HostAccessDraft>(draft);
  const auto position_of = [&](StatementId id) { return positions[text_number_of(program, id)]; };
  const auto item_of = [&](StatementId id) -> ItemDraft& { return draft.items[position_of(id)]; };
  std::vector<size_t> gone;
  const auto drop = [&](StatementId id) { gone.push_back(position_of(id)); };
  if (piece.kind == SyncPieceKind::kEdge) {
    const std::string from = program.reference_of(program.edges[piece.edge].from);
    auto& dispatch = std::get<DispatchDraft>(item_of(piece.statement));
    std::erase(dispatch.after, from);
    if (dispatch.after.empty()) dispatch.is_programmatic = false;
  } else if (piece.kind == SyncPieceKind::kSignal) {
    if (take_part(program, piece.statement, piece.part, item_of(piece.statement))) {
      drop(piece.statement);
    }
  } else {
    drop(piece.statement);
    const bool has_part = piece.kind == SyncPieceKind::kWait && piece.partner.is_some();
    const bool takes_partner =
        piece.partner.is_some() &&
        (!has_part || take_part(program, piece.partner, piece.part, item_of(piece.partner)));
    if (takes_partner) drop(piece.partner);
  }
  std::ranges::sort(gone);
  for (size_t k = gone.size(); k-- > 0;) erase_at(draft.items, gone[k]);
  return draft;
}

}  // namespace interlock
