// Small programs of tensors that share bytes, and of lifetime statements: what the property tests
// of lifetimes are about.
#pragma once

#include <cstdint>

#include "encoder/program/program.h"
#include "simulator/schedules/choice.h"

namespace interlock {

struct RandomLifetimeOptions {
  uint64_t statement_count_max = 8;
  bool has_adopt = true;
  bool has_destroy = true;
  bool has_sync_only = true;  // Execution barriers too, else full ones only.
};

// Small tensors on few bytes, placed, unplaced, views and donations, and statements of all kinds.
Program random_lifetime_program(Choice& choice, const RandomLifetimeOptions& options = {});

// Values that up to three tensors hold by adoption, pins and unpins of the same tensors, and frees,
// destroys and resets between; dispatches of two stages, and barriers for one of them or both.
Program random_holding_program(Choice& choice, uint64_t statement_count_max);

// Pins and destroys above all, of tensors that share bytes: placed ones, a view, a donation, an
// adopter; frees before and after them, resets, unpins, dispatches of two stages on tensors and on
// ranges, and barriers of every sort; with `has_replay`, a part of it as a capture, replayed.
Program random_pinned_program(Choice& choice, uint64_t statement_count_max, bool has_replay);

}  // namespace interlock
