// The text of a program with the sync that it lacks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "encoder/text/parser.h"
#include "simulator/report/check.h"

namespace interlock {

struct TextRepair {
  std::string before;  // The text that was given, or is_spelled_out.
  std::string text;
  Program program;  // Of `text`.
  uint64_t hazard_count_before = 0;
  bool counts_all_before = true;      // False: a limit ended the count.
  bool has_deadlock_before = false;   // The hazards are then those of what runs.
  uint64_t destroy_count_before = 0;  // Accesses that a destroy comes too early for.
  uint64_t hazard_count = 0;          // For which no change was found. One that is after own read
                                      // now, and counted before, is among them.
  uint64_t destroy_count = 0;         // Likewise.
  bool has_deadlock = false;          // Likewise.
  uint64_t added_count = 0;           // Lines of sync that are new.
  uint64_t changed_count = 0;         // Lines that say more, stand elsewhere or go.
  // What replays and backward passes record is spelled out, a line for each statement: the change
  // is among it. With several queues replays stay where changes around them are enough.
  bool is_spelled_out = false;
  // Nothing of the change can go: on one queue no fewer barriers do; with several queues each line
  // was taken back, one at a time. False where that would have been too much work.
  bool is_least = true;
};

struct TextRepairOptions {
  uint64_t hazard_limit = CheckOptions{}.pair_limit;
  bool counts_own_reads = false;
};

// Returns `text` with the smallest change of its sync that we find after which check() finds no
// deadlock, no hazard and no destroy that comes too early: on one queue the fewest barriers
// (added_barriers.h), scoped ones where all of the program are and they do; else the repairs that
// reports name (repair.h), one after another, without those that later ones make useless. All other
// lines stay as they are, comments and order too; `expect` lines say what is found then. A hazard
// that counts is not left as one after own read (hazards.h); those that are such from the beginning
// stay, unless `counts_own_reads`. Of more hazards than `hazard_limit`, as many are repaired at
// once on one queue, by global barriers. Errors: those of parse() and of a program without a
// verdict, and a stop (stop.h). Cost: of check() for each so many hazards, or for each change and
// each line that is tried without.
Result<TextRepair> repair_text(std::string_view text, std::string_view file_name,
                               const ParseOptions& options,
                               const TextRepairOptions& repair_options = {});

}  // namespace interlock
