// A word of a piece of sync, cut out of the line of text that has it, as an editor would.
#pragma once

#include <string>

#include "encoder/program/program.h"
#include "simulator/barriers/sync_pieces.h"

namespace interlock {

// `line` without the word. Requires: SyncPiece::is_word(); `line` is the statement of a
// random_queue_program(), or a barrier of one queue as it is printed, parsed as one of `program`.
std::string line_without_word(const std::string& line, const Program& program,
                              const SyncPiece& word);

}  // namespace interlock
