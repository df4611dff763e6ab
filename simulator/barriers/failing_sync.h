// FailingSync: sync that was meant for a hazard, or for a destroy that comes too early, and fails
// to order it. It is the finding that a person has to see there, and not that the piece does
// nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/barriers/order_findings.h"
#include "simulator/barriers/sync_pieces.h"
#include "simulator/order/reference_order.h"

namespace interlock {

class FailingSync {
 public:
  // `reference` is of `program`. `program` and `findings`, which are of it, outlive this.
  FailingSync(const Program& program, const ReferenceOrder& reference,
              const OrderFindings& findings);

  // Some end of the piece stands between the two of a hazard, in the reference run, and names on
  // its side where one of them executes; or the piece stands before a destroy that leaves accesses
  // pending, of which more may be so without it. Cost: the ends, for each hazard.
  bool has(const SyncPiece& piece) const;

 private:
  struct Place {
    QueueIndex queue = kNoQueue;
    StageMask stages = 0;
    bool is_any_queue = false;
  };
  // One end of a piece: what comes before it in the place, or after it.
  struct End {
    bool is_source = false;
    StatementId statement;
    Place place;
  };

  std::vector<End> ends_of(const SyncPiece& piece) const;
  void append_sync(const SyncStep& step, std::vector<End>& ends) const;
  void append_partners(const SyncPiece& piece, std::vector<End>& ends) const;
  void append_signal(uint32_t part, StatementId at, std::vector<End>& ends) const;
  void append_barrier(BarrierKind kind, std::span<const Dependency> dependencies, StatementId from,
                      StatementId to, std::vector<End>& ends) const;
  bool is_meant_for(const End& end, const ByteHazards& hazard) const;
  bool has_edge_of(const SyncPiece& piece, const ByteHazards& hazard) const;
  bool is_edge_of(const Edge& edge, const ByteHazards& hazard) const;
  uint32_t position(DispatchId id) const {
    return position_[program_.dispatch(id).statement.index];
  }

  const Program& program_;
  const std::vector<ByteHazards>& hazards_;
  uint32_t early_destroys_end_ = 0;     // In the reference run: after the last one.
  std::vector<uint32_t> position_;      // By statement: in the reference run.
  std::vector<StatementId> signal_of_;  // By signal part.
};

}  // namespace interlock
