// CleanScan: whether the dispatches of a program with several queues are free of hazards, one after
// another, as long as they are.
//
// Where there is no hazard yet, the last write of a byte stands for all that was done to it before:
// what it is visible to, they come before (docs/theory.md, "Adjacent conflicts suffice"). So of
// each byte only that one and the reads since are asked about, however many places there are.
#pragma once

#include <cstdint>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/bytes/byte_segments.h"
#include "simulator/order/queue_order.h"

namespace interlock {

class CleanScan {
 public:
  // Requires: `order` and `segments` were built from `program`; all three outlive this.
  CleanScan(const Program& program, const QueueOrder& order, const ByteSegments& segments);

  // It says nothing of programs with the host, or with atomics; nor where operands are cut into too
  // many segments, or too many reads are remembered.
  bool is_over() const { return is_over_; }

  // `second` has no hazard with what is recorded. If not, it may have one.
  // Requires: all dispatches before it are recorded, and have none; it is not over.
  // Cost: for each segment of its operands, a constant, and of what it writes the reads since.
  bool is_clean(DispatchId second);

  // Requires: as above, and is_clean() of it.
  void record(DispatchId dispatch);

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  // Of one segment, since it was written.
  struct Read {
    uint32_t dispatch;
    PlaceIndex place;
    uint32_t next;  // Into reads_.
  };

  void count_segments(SegmentSpan span);
  void add_read(uint32_t segment, DispatchId dispatch, PlaceIndex place);
  void forget_reads(uint32_t segment);
  bool is_written_before(uint32_t segment, DispatchId second, StageAccess sort, MemoryId memory);
  bool is_read_before(uint32_t segment, DispatchId second, Stage stage) const;

  const Program& program_;
  const QueueOrder& order_;
  const ByteSegments& segments_;
  bool is_over_;
  uint64_t segments_left_;            // That may be visited.
  std::vector<uint32_t> last_write_;  // By segment: the dispatch, or kNone.
  std::vector<uint32_t> first_read_;  // By segment: into reads_, or kNone.
  std::vector<Read> reads_;
  uint32_t first_free_ = kNone;  // Of reads_.
};

}  // namespace interlock
