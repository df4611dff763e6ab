// RecurringRanges: what the accesses so far did to the bytes of a program whose ranges come again
// and again, as those of recorded steps do: in arrays, by segment.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/bytes/conflict_observer.h"
#include "simulator/bytes/stamp_tree.h"

namespace interlock {

class RecurringRanges {
 public:
  // Returns none of a program for which RunTree is better: it has few accesses, many ranges that
  // differ, ranges of many segments each, or writes of no byte. `memory_begins`: where each memory
  // begins in the bytes of all. Cost: linear in the accesses, and O(r log r) for r ranges that
  // differ, which are at most a third of the accesses and kRangesMax. It takes 2 bytes for each
  // access.
  static std::optional<RecurringRanges> of(const Program& program,
                                           std::span<const uint64_t> memory_begins);

  bool has_atomics() const { return has_atomics_; }

  // Returns the conflicts of `dispatch` with all that are recorded. Requires: it has no atomics.
  // Cost: linear in the segments of its operands. So record().
  ScannedConflicts find(const Dispatch& dispatch) const;

  // Requires: stamps rise, and `level` is what find() said.
  void record(const Dispatch& dispatch, Stamp stamp, Stamp level);

  static constexpr size_t kAccessesMin = 64;
  static constexpr size_t kRangesMax = (1u << 15) - 1;

 private:
  // The latest accesses of a segment, as RunStamps has them: the stamps of a write and of any, and
  // their levels. Four at once, and with a sign, since then every machine compares them in one go;
  // each more by kNothing.
  typedef int32_t Segment __attribute__((vector_size(16)));

  // The bits of the least float that is no denormal: numbers from here on, below those of infinity,
  // compare as floats do, too.
  static constexpr int32_t kNothing = 0x00800000;
  static constexpr uint32_t kNumbersMax = 0x7f800000 - kNothing;

  static void raise(Segment& numbers, const Segment& others);
  struct Span {
    uint32_t first = 0;
    uint32_t last = 0;
  };

  RecurringRanges() = default;
  std::span<const uint16_t> words_of(const Dispatch& dispatch) const {
    return std::span(words_).subspan(dispatch.first_access, dispatch.access_count);
  }

  void raise_by_middle(Span span, Segment& greatest) const;

  bool has_atomics_ = false;       // Some access of the program.
  std::vector<uint16_t> words_;    // By access: twice its place in spans_, 1 more if it writes.
  std::vector<Span> spans_;        // By range, after that of all that no access writes.
  std::vector<Segment> segments_;  // And one for ranges that no access writes.
};

}  // namespace interlock
