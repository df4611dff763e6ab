// Sync words: what a statement that orders something names, and could do without: stages, accesses,
// operands, dependencies, and memory where execution is enough. What a wait is for, by value or by
// queue, is a word, too; sync_pieces.cc lists those.
#pragma once

#include <span>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/barriers/sync_pieces.h"

namespace interlock {

// Appends the words of the statement, outer ones first, each a piece by itself. Only what the text
// spells: `all`, or no scope at all, is one word and not all that it stands for. Nor the last word
// of its sort: without it the statement would be another one, or none.
// Sets SyncPiece::within where that is a word. Cost: linear in the statement.
void append_words(const Program& program, StatementId statement, std::vector<SyncPiece>& pieces);

// Takes those of `pieces` that are words out of the statements of `program`, which have less to say
// and stay where they are; where all operands of a dependency go, so do its accesses.
// Cost: linear in the program.
void cut_words(std::span<const SyncPiece> pieces, Program& program);

// The sorts of access in the stages, those of the host among them. Cost: constant.
AccessMask accesses_in(StageMask stages);

// Returns the stages in the sources of the barrier without `word`, which is one of its words.
// Cost: its dependencies.
StageMask source_stages_without(const Program& program, const Barrier& barrier,
                                const SyncPiece& word);

}  // namespace interlock
