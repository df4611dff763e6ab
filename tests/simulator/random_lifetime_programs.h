// Small programs of tensors that share bytes, and of lifetime statements: what the property tests
// of lifetimes are about.
#pragma once

#include <cstdint>

#include "encoder/program.h"
#include "simulator/choice.h"

namespace interlock {

struct RandomLifetimeOptions {
  uint64_t statement_count_max = 8;
  bool has_adopt = true;
  bool has_destroy = true;
  bool has_sync_only = true;  // Execution barriers too, else full ones only.
};

// Small tensors on few bytes, placed, unplaced, views and donations, and statements of all kinds.
Program random_lifetime_program(Choice& choice, const RandomLifetimeOptions& options = {});

}  // namespace interlock
