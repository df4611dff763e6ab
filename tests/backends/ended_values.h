// Programs that read bytes of freed and reset values, for the backends to poison as the CPU does.
#pragma once

#include <optional>
#include <vector>

#include "backends/interface/poison.h"
#include "encoder/assemble/build.h"
#include "encoder/program/draft.h"
#include "encoder/program/program.h"
#include "fuzz/testing/programs.h"
#include "simulator/schedules/choice.h"
#include "tests/simulator/programs/random_lifetime_programs.h"

namespace interlock {

// Whether a dispatch, and not only the end, finds poison.
inline bool finds_poison(const Program& program) {
  const Poison poison(program);
  for (size_t d = 0; d < program.dispatches.size(); ++d) {
    if (!poison.ended_before(DispatchId(d)).empty()) return true;
  }
  return false;
}

// A read of a freed value beside a legal one that nothing orders before it; bytes that start and
// end at odd places; a reset of much memory, and of a pinned value.
inline std::vector<Program> programs_of_ended_values() {
  return {program_of(R"(
      memory m 64
      tensor x u8[7] at m+3
      tensor y u8[2] at m+17
      tensor early u8[7]
      tensor o u8[7]
      save: dispatch K writes x y
      barrier
      legal: dispatch K reads x writes early
      free x
      free y
      late: dispatch K reads x y writes o
      barrier
      again: dispatch K writes x)"),
          program_of(R"(
      memory m 20000
      tensor s f32[4096] = random(1)
      tensor x f32[4096] at m+0
      tensor kept f32[4] at m+16384
      tensor o f32[4096]
      tensor p f32[4]
      save: dispatch silu reads s writes x
      fill: dispatch fill writes kept value=7
      pin kept
      reset m
      barrier
      late: dispatch silu reads x writes o
      good: dispatch silu reads kept writes p
      barrier
      unpin kept
      gone: dispatch silu reads kept writes p)"),
          program_of(R"(
      memory m 131072
      tensor x u8[131072] at m+0
      tensor o u8[16]
      save: dispatch K writes x
      barrier
      free x
      late: dispatch K writes o updates x[1:131071])")};
}

// The next random program in which a dispatch finds poison.
inline Program random_program_of_ended_values(Choice& choice) {
  for (;;) {
    Program program = random_lifetime_program(choice);
    if (finds_poison(program)) return program;
  }
}

// With so much sync that overlap mode has no choice.
inline Program in_order(const Program& program) {
  ProgramDraft draft;
  for (ItemDraft& item : draft_of(program).items) {
    const bool is_dispatch = std::holds_alternative<DispatchDraft>(item);
    draft.items.push_back(std::move(item));
    if (is_dispatch) draft.items.emplace_back(BarrierDraft{"", BarrierKind::kFull, {}});
  }
  return build(draft).value();
}

}  // namespace interlock
