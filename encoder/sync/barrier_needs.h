// BarrierNeeds: what the dispatches after a barrier need of it and of those before, by stage and
// access. LatestUses finds it, from what earlier dispatches did to each byte.
//
// An epoch is what stands between two barriers; the first one has the number 1. Whatever is
// ordered before the work of a stage is, of each earlier stage, the epochs up to some number
// (docs/theory.md, Lemma P): so the latest epoch that is needed says all.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "encoder/program/interval_map.h"
#include "encoder/program/program.h"
#include "encoder/program/scope.h"

namespace interlock {

// By the stage of the earlier dispatch: an epoch; 0: none.
using EpochByStage = std::array<uint32_t, kStageCount>;

struct BarrierNeeds {
  std::array<EpochByStage, kStageCount> executed{};       // By the stage of the later one.
  std::array<EpochByStage, kStageAccessCount> visible{};  // By its sort of access.
  EpochByStage over{};                                    // Before bytes are destroyed.

  // The latest epoch that is named.
  uint32_t latest() const;

  BarrierNeeds& operator|=(const BarrierNeeds& more);
};

// What each byte was used for, and when: the latest use of each sort.
class LatestUses {
 public:
  // What a dispatch that executes in `stage` needs of earlier ones. Cost of all three: O(log r)
  // for r runs of bytes that were used alike, and the runs of the accesses.
  BarrierNeeds needs_of(std::span<const Access> accesses, Stage stage, AtomicOp atomic_op) const;

  // What must be over before the bytes are destroyed; the modes of `bytes` mean nothing.
  BarrierNeeds needs_of_destroy(std::span<const Access> bytes) const;

  // The dispatch is of this epoch. Requires: `epoch` does not fall.
  void add(std::span<const Access> accesses, Stage stage, AtomicOp atomic_op, uint32_t epoch);

 private:
  // Of one byte. Atomics of one operation do not conflict: they form a row, which any other write
  // ends. What it leaves is then a write like others.
  struct Uses {
    EpochByStage read{};
    EpochByStage written{};
    uint32_t row = 0;  // The latest atomic of the row.
    AtomicOp row_op = AtomicOp::kNone;

    void end_row();
    bool operator==(const Uses&) const = default;
  };

  IntervalMap<Uses> uses_;
};

}  // namespace interlock
