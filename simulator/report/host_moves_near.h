// HostMovesNear: the flushes and invalidations of a hazard's bytes, where the host's memory is not
// coherent: those between its two accesses, and the one that was meant for them and comes too late
// or too early.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "encoder/program/program.h"
#include "simulator/hazards/hazards.h"
#include "simulator/report/hazard_end.h"

namespace interlock {

// Statements looked at for what is there already.
inline constexpr uint32_t kStatementsNearMax = 10'000;

class HostMovesNear {
 public:
  // All are kept.
  HostMovesNear(const Program& program, const Hazard& hazard, const HazardEnd& first,
                const HazardEnd& second);

  // The first such statement about some of the bytes, between the two.
  std::optional<uint32_t> first_between(SyncKind kind) const;

  // Why there is none between the two: the next one after both comes too late, and the last one
  // before both too early, unless it is about what others write; else the host does not do it.
  // `kind`: kHostFlushes or kHostInvalidates.
  std::string text_without(SyncKind kind) const;

 private:
  std::optional<uint32_t> first_move(SyncKind kind, uint32_t begin, uint32_t end) const;
  bool is_written_between(uint32_t begin, uint32_t end) const;

  const Program& program_;
  const Hazard& hazard_;
  const HazardEnd& first_;
  const HazardEnd& second_;
  const Memory& memory_;
};

}  // namespace interlock
