// Sync removal: a program as if it had been written without a piece of its sync, by its draft.
#pragma once

#include "encoder/program/draft.h"
#include "encoder/program/program.h"
#include "simulator/barriers/sync_pieces.h"

namespace interlock {

// Returns the draft of `program`, spelled out and without evidence, without the piece: what it
// builds is paired anew. Requires: the piece is of `program` and no word, no text_order.
// Cost: linear.
ProgramDraft draft_without(const Program& program, const SyncPiece& piece);

}  // namespace interlock
