// The record of a block of runs in a journal (journal_text.h), without the sum at its end. Most
// runs leave nothing in it: a campaign that finds nothing writes a few bytes for each hundred
// programs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fuzz/campaign/journal_text.h"

namespace interlock {

// Signatures and cells that are new become part of `context`. Requires: those of journal_line().
std::string journal_block_text(const JournalBlock& block, JournalContext& context);

// What stands after the word `block`; none if it is no such text, or a stop came. Cost: linear in
// the text, times log of the number of names.
std::optional<JournalBlock> journal_block_of(std::string_view text, JournalContext& context);

}  // namespace interlock
