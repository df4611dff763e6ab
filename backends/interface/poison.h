// Poison: what freed and reset bytes hold, so that a read of them goes wrong on every run.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backends/interface/image.h"
#include "encoder/program/program.h"
#include "simulator/lifetimes/ended_bytes.h"

namespace interlock {

// As f32 about -26.7 million: finite, and far from what programs compute.
inline constexpr uint8_t kPoisonByte = 0xcb;

// The bytes of one run that hold nothing any more. Statements of lifetimes order nothing, and work
// that was issued before a free may still run after it. So what is poisoned is what reference order
// ends, and it is poisoned when a dispatch that must not read it starts; at the end of the program,
// all of it. A run without a read of ended bytes is poisoned at its end only.
class Poison {
 public:
  explicit Poison(const Program& program);

  // Returns what `dispatch` reads of ended bytes, at the first call for it; later nothing. A
  // backend fills these bytes with poison before the first piece of `dispatch` runs.
  std::vector<EndedBytes> take_before(DispatchId dispatch);

  // The same, filled. `starts`: of the memories, on the host.
  void fill_before(DispatchId dispatch, std::span<uint8_t* const> starts);

  // Returns all that `dispatch` reads of ended bytes, taken or not.
  std::span<const EndedBytes> ended_before(DispatchId dispatch) const;

  // Fills what is ended at the end: no comparison of whole memories sees what was there.
  void fill_at_end(MemoryImage& image) const;

 private:
  std::vector<EndedBytes> ended_;  // By reader, in reference order; those of the end last.
  std::vector<bool> is_filled_;    // Of ended_.
};

// Returns the statements of the dispatches that read ended bytes, ascending.
std::vector<StatementId> statements_with_poison(const Program& program, const Poison& poison);

// Returns the program as overlap mode orders it: what reads ended bytes is an update of them, since
// the poison comes first, and stands between full barriers, since before it others may still read
// what was there. Dispatches keep their ids.
Program with_poison_ordered(const Program& program, const Poison& poison);

}  // namespace interlock
