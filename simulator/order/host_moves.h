// HostMoves: what flushes and invalidations do to the host's cache, of memory that is not coherent:
// when what the host writes leaves it, since when what it holds is fresh, and what it loses.
// Source: Vulkan 1.3, 11.2.1, vkFlushMappedMemoryRanges and vkInvalidateMappedMemoryRanges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "encoder/program/interval_map.h"
#include "encoder/program/program.h"

namespace interlock {

class HostMoves {
 public:
  static constexpr uint32_t kNever = UINT32_MAX;

  // Bytes, and a statement that moves their atoms: an index.
  struct Move {
    MemoryId memory;
    ByteRange bytes;
    uint32_t at = kNever;
  };

  // What `writer` wrote in these bytes was in the cache when the statement `from` invalidated it:
  // they hold nothing that is defined until the dispatch of the statement `until` overwrites them.
  struct Lost {
    DispatchId writer;
    MemoryId memory;
    ByteRange bytes;
    uint32_t from = 0;
    uint32_t until = kNever;
  };

  // Requires: `program` is in reference order, and its host accesses are those of the text, not
  // whole atoms. Cost: O(n log n) for n accesses and operands, and the runs of bytes that moves
  // tell apart within each access of the host, as far as kRunsMax allows.
  explicit HostMoves(const Program& program);

  // Of the atoms that the host writes: the first flush or invalidation after the write, sorted by
  // memory and bytes; kNever: there is none. No run stands for bytes of coherent memory.
  std::span<const Move> first_after(DispatchId host_write) const {
    return runs_of(after_, host_write);
  }

  // Of the atoms that the host accesses: the last invalidation before the access.
  std::span<const Move> last_invalidation(DispatchId host_access) const {
    return runs_of(before_, host_access);
  }

  // The runs were too many: the two above say nothing of some accesses. What is lost is all there.
  bool is_cut() const { return is_cut_; }

  // Sorted by writer, memory and bytes: no byte of a write is lost twice.
  std::span<const Lost> lost() const { return lost_; }
  // Those of one writer that end after `begin`. Cost: O(log n).
  std::span<const Lost> lost_by(DispatchId writer, MemoryId memory, uint64_t begin) const;

 private:
  static constexpr uint64_t kRunsMax = 4'000'000;

  struct Runs {
    std::vector<Move> all;
    std::vector<uint32_t> ends;  // By position in Program::host_dispatches.
  };

  std::span<const Move> runs_of(const Runs& runs, DispatchId host_access) const;
  static void settle(std::vector<Move>& runs, size_t begin);
  void find_lost(const Program& program);
  void find_last_invalidations(const Program& program);
  void find_first_after(const Program& program);

  std::vector<DispatchId> host_dispatches_;  // Empty: no memory has atoms.
  Runs after_;
  Runs before_;
  bool is_cut_ = false;
  std::vector<Lost> lost_;
};

// LostBytes: which bytes are lost now, while statements go by.
class LostBytes {
 public:
  // `moves` outlives this. Cost: O(n log n) for all that is lost.
  explicit LostBytes(const HostMoves& moves);

  bool is_empty() const { return moves_.lost().empty(); }

  // Goes on to right before the statement. Cost: amortized O(log n) for what is lost or
  // overwritten.
  void go_on_to(uint32_t statement);

  // Calls visit(lost, bytes) for what is lost of these bytes. Returns the runs looked at.
  template <typename Visit>
  uint64_t for_each(MemoryId memory, ByteRange bytes, Visit visit) const {
    return now_.for_each(memory, bytes, [&](const IntervalMap<uint32_t>::Run& run) {
      if (run.value > 0) visit(moves_.lost()[run.value - 1], run.bytes);
    });
  }

 private:
  const HostMoves& moves_;
  std::vector<uint32_t> by_begin_;  // Into moves_.lost().
  std::vector<uint32_t> by_end_;
  size_t begun_ = 0;
  size_t ended_ = 0;
  IntervalMap<uint32_t> now_;  // Into moves_.lost(), plus 1.
};

}  // namespace interlock
