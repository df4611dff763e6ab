// MachineLines: the host's cache of memory that is not coherent, as the machine of counters has it:
// lines of one atom each, which know what the host has written into them and not moved, and when
// the host last dropped them.
//
// It executes what the host does, statement by statement, and shares nothing with how the clocks
// find the moves of an access (simulator/order/host_moves.h). As all statements of the host come in
// the order of the text, its run is that of every schedule.
// Source: Vulkan 1.3, 11.2.1, vkFlushMappedMemoryRanges and vkInvalidateMappedMemoryRanges.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "encoder/program/program.h"
#include "encoder/program/range.h"

namespace interlock {

class MachineLines {
 public:
  // What one host dispatch had to do with some lines, all of which have the same fate.
  struct Stay {
    MemoryId memory;
    ByteRange bytes;       // Whole lines.
    StatementId dropped;   // The last invalidation of them before it; none if there was none.
    StatementId left;      // Of a write: what moved it first; none if it stays to the end.
    bool is_lost = false;  // That was an invalidation.
  };

  // Runs the host through `text`, the statements of `program` in the order of its text. Stops where
  // a stop is asked for (stop.h). Cost: O(n log n) for n accesses and operands of the host, and
  // for each of them the lines that it touches; those that none tells apart count once.
  MachineLines(const Program& program, std::span<const StatementId> text);

  // By memory and bytes, apart: all lines that the dispatch touches. None of coherent memory.
  std::span<const Stay> stays_of(DispatchId host_dispatch) const;

  // The one that has the byte. Requires: the dispatch touches its line. Cost: logarithmic.
  Stay stay_at(DispatchId host_dispatch, MemoryId memory, uint64_t byte) const;

 private:
  // Neighbours that whatever touches one of them touches all of.
  struct Lines {
    ByteRange bytes;
    StatementId dropped;
    std::vector<size_t> dirty;  // The stays of writes that are still there, in stays_.
    DispatchId latest;          // Who touched them last.
  };

  void tell_apart(const Program& program, const Access& access);
  std::span<Lines> touched_by(const Program& program, const Access& access);
  void access(const Program& program, DispatchId dispatch);
  void move(const Program& program, const SyncStep& step, StatementId id);

  std::map<MemoryId, std::vector<uint64_t>> ends_;  // Where touched lines begin and end.
  std::map<MemoryId, std::vector<Lines>> lines_;
  std::vector<Stay> stays_;
  struct Share {
    size_t begin = 0;
    size_t end = 0;
  };
  std::map<DispatchId, Share> shares_;  // In stays_.
};

// All bytes of the lines that `range` touches. Requires: the memory has atoms.
ByteRange whole_lines(const Memory& memory, ByteRange range);

struct LineContent {
  MemoryId memory;
  ByteRange bytes;

  bool operator==(const LineContent&) const = default;
};

// What stands in the lines that the host writes, and not among the bytes that it writes: its cache
// has fetched that, and puts it back. Each run lies in one line; by memory and bytes. None of what
// is no such write. Cost: O(n log n) for n operands.
std::vector<LineContent> beside_in_lines(const Program& program, DispatchId dispatch);

// What `writer` wrote in these bytes was in lines of the host that were dropped before a flush took
// it to memory: nothing that is defined stands there until somebody overwrites all of it.
struct LostContent {
  DispatchId writer;
  MemoryId memory;
  ByteRange bytes;
  StatementId dropped;
  DispatchId overwriter;  // None: it stays so to the end.

  bool operator==(const LostContent&) const = default;
};

// What the host loses if all statements of `program` run as they stand. By what ends it, in order,
// then what stays lost, by memory and bytes. Up to a stop (stop.h). Cost: O(n log n) for n accesses
// and operands.
std::vector<LostContent> lost_in_lines(const Program& program);

}  // namespace interlock
