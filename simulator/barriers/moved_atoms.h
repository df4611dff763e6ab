// MovedAtoms: which flushes and invalidations of some have a part in what two dispatches do to the
// same bytes: those that move their atoms, and no others (docs/theory.md, "Sync that can go").
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/order/scoped_order.h"

namespace interlock {

class MovedAtoms {
 public:
  struct Move {
    StatementId statement;  // A flush or an invalidation.
    uint32_t position = 0;  // In the reference run.
    size_t name = 0;        // Whatever it is to be known by.
  };

  // Requires: `program` outlives this. Cost: O(n log n) for n operands of the moves, and for each
  // run of bytes that these tell apart, those that move it, as far as kPlacesMax allows.
  MovedAtoms(const Program& program, std::span<const Move> moves);

  // Calls visit(name) for each move between the positions that moves an atom of what `dispatch`
  // accesses, now and then more than once, until it returns false. Where the moves are too many to
  // tell apart, for all that stand between. Cost: those visited, and a logarithm for each run of
  // bytes of the accesses.
  template <typename Visit>
  void for_each_between(DispatchId dispatch, uint32_t begin, uint32_t end, Visit visit) const {
    for (const Access& access : program_.accesses_of(dispatch)) {
      if (!for_each_on({access.memory, access.range}, begin, end, visit) || is_cut_) return;
    }
  }

  // Likewise, for those that move an atom of the bytes. Returns false if visit() did.
  template <typename Visit>
  bool for_each_on(MemoryRange bytes, uint32_t begin, uint32_t end, Visit visit) const {
    const auto visit_list = [&](const std::vector<Place>& places) {
      auto at = first_from(places, begin);
      for (; at != places.end() && at->first <= end; ++at) {
        if (!visit(at->second)) return false;
      }
      return true;
    };
    if (is_cut_) return visit_list(all_);
    const auto [first, last] = runs_of(bytes);
    for (size_t i = first; i < last; ++i) {
      if (!visit_list(runs_[i].places)) return false;
    }
    return true;
  }

 private:
  static constexpr uint64_t kPlacesMax = 4'000'000;

  using Place = std::pair<uint32_t, size_t>;  // A position, and a name.

  // Bytes of a memory that the same moves move.
  struct Run {
    MemoryId memory;
    ByteRange bytes;
    std::vector<Place> places;  // Rising.
  };

  static std::vector<Place>::const_iterator first_from(const std::vector<Place>& places,
                                                       uint32_t begin);
  // Those that the atoms of the bytes overlap, [first, last).
  std::pair<size_t, size_t> runs_of(MemoryRange bytes) const;

  const Program& program_;
  std::vector<Run> runs_;  // By memory and bytes.
  std::vector<Place> all_;
  bool is_cut_ = false;
};

// By statement: a flush of atoms that no invalidation of the program moves. Without it no write is
// lost: all that it does is to make bytes visible, as other sync does. Cost: O(n log n) for n
// operands.
std::vector<bool> find_flushes_that_save_nothing(const Program& program);

}  // namespace interlock
