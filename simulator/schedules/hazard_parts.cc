#include "simulator/schedules/hazard_parts.h"

#include <algorithm>

namespace interlock {

HazardParts::HazardParts(const Program& program, const QueueMachine& machine, const Hazard& hazard)
    : program_(program), machine_(machine), kind_(hazard.kind) {
  const AtomicOp op = program.dispatch(hazard.first.dispatch).atomic_op;
  is_same_atomic_ =
      op != AtomicOp::kNone && op == program.dispatch(hazard.second.dispatch).atomic_op;
  const bool reads_first = kind_ == FindingKind::kWriteAfterRead;
  const bool reads_second = kind_ == FindingKind::kReadAfterWrite;
  add(hazard, reads_first ? PartRole::kFetch : PartRole::kCommit,
      reads_second ? PartRole::kFetch : PartRole::kCommit);
  // What it leaves as it was: of a partial write, and of a cache of the host.
  if (kind_ == FindingKind::kWriteAfterWrite) add(hazard, PartRole::kCommit, PartRole::kFetch);
}

bool HazardParts::is_split(DispatchId dispatch, uint32_t access) const {
  return std::ranges::any_of(machine_.pieces(), [&](const AccessPiece& piece) {
    return piece.dispatch == dispatch && piece.access == access;
  });
}

// What of the host is not split happens at once, in its run.
std::vector<HazardParts::Use> HazardParts::uses_of(DispatchId dispatch, PartRole role,
                                                   bool leaves) const {
  std::vector<Use> uses;
  const auto accesses = program_.accesses_of(dispatch);
  for (const OperationPart& part : machine_.parts_of(dispatch)) {
    if (part.stage == Stage::kHost && part.role == PartRole::kRun) {
      for (uint32_t k = 0; k < accesses.size(); ++k) {
        const Access& access = accesses[k];
        const bool is_meant =
            role == PartRole::kCommit ? access.writes_plainly() : access.reads_plainly();
        if (is_meant && !is_split(dispatch, k)) uses.push_back({part, &access, access.range});
      }
    } else if (part.role == role) {
      const AccessPiece& piece = machine_.pieces()[part.piece];
      const bool is_meant = !leaves || piece.is_beside || program_.dispatch(dispatch).is_partial;
      if (is_meant) uses.push_back({part, &accesses[piece.access], piece.bytes});
    }
  }
  return uses;
}

void HazardParts::add(const Hazard& hazard, PartRole first_role, PartRole second_role) {
  const bool leaves = kind_ == FindingKind::kWriteAfterWrite && second_role == PartRole::kFetch;
  const std::vector<Use> seconds = uses_of(hazard.second.dispatch, second_role, leaves);
  for (const Use& first : uses_of(hazard.first.dispatch, first_role, false)) {
    for (const Use& second : seconds) {
      const bool shares =
          first.access->memory == second.access->memory && share_a_byte(first.bytes, second.bytes);
      if (shares && conflict(*first.access, *second.access)) {
        pairs_.push_back({first.part, second.part});
      }
    }
  }
}

}  // namespace interlock
