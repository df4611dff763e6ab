// What a piece of sync does, straight from the definition: it is cut out of the text, and all
// hazards are listed once more, by chain_hazards.h.
#pragma once

#include <string>

#include "encoder/program/program.h"
#include "simulator/barriers/sync_pieces.h"

namespace interlock {

// `text` without the piece. Requires: it is a random_queue_program(), whose statements stand one a
// line, and was parsed as `program`, of which the piece is.
std::string text_without(const std::string& text, const Program& program, const SyncPiece& piece);

}  // namespace interlock
