// What a statement says without a word that it does not need.
#pragma once

#include <string>

#include "encoder/program/program.h"
#include "simulator/barriers/sync_pieces.h"

namespace interlock {

// "barrier compute.write -> compute.read on q1": the statement without the word, and without its
// label. Requires: SyncPiece::is_word(); it is of `program`. Cost: linear in the statement.
std::string shorter_text_of(const Program& program, const SyncPiece& word);

}  // namespace interlock
