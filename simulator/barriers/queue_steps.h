// Queue steps: what orders something in a program of several queues and the host, one after
// another, and which of it may matter between two accesses.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/barriers/moved_atoms.h"
#include "simulator/order/scoped_order.h"

namespace interlock {

enum class QueueStepKind : uint8_t {
  kJoin,        // A full barrier that a queue implies, of what is on another one, or on itself.
  kSubmission,  // What the host has done gets to a queue.
  kBarrier,
  kSync,
  kMove,  // A flush or an invalidation.
};

struct QueueStep {
  QueueStepKind kind = QueueStepKind::kSync;
  uint32_t statement = 0;       // Of the first two: the one that they stand before.
  QueueIndex queue = kNoQueue;  // Where it leads; of the host kNoQueue.
  QueueIndex from = kNoQueue;   // Of kJoin.

  // It takes nothing but what is on `from`, and leads nowhere but to `queue`.
  bool is_of_queues() const {
    return kind == QueueStepKind::kJoin || kind == QueueStepKind::kBarrier;
  }
  // The statement implies it.
  bool is_implied() const {
    return kind == QueueStepKind::kJoin || kind == QueueStepKind::kSubmission;
  }
};

class QueueSteps {
 public:
  // What chains can be followed in: all kinds of queues but graphs, not too many, in the order of
  // the text; dispatches of copies, compute and graphics without indirect arguments; no binary
  // semaphore used again. No transitions, no ends of values, no `order=`.
  static constexpr size_t kQueuesMax = 10;
  static bool can_judge(const Program& program);

  // Requires: can_judge(); `program` has whole atoms (host_atoms.h), and outlives this.
  // Cost: that of MovedAtoms for all moves of the host, and linear.
  explicit QueueSteps(const Program& program);

  uint32_t count() const { return static_cast<uint32_t>(steps_.size()); }
  const QueueStep& operator[](uint32_t step) const { return steps_[step]; }
  // Those before the dispatch.
  uint32_t before(DispatchId dispatch) const { return before_[dispatch.index]; }
  // By signal part, and by sync step: where it is signaled or set; kNone: nowhere.
  uint32_t of_part(uint32_t part) const { return step_of_part_[part]; }
  uint32_t of_set(uint32_t sync) const { return step_of_sync_[sync]; }

  // Replaces `path` by the steps [begin, end), rising, without moves of the host.
  void take_path(uint32_t begin, uint32_t end, std::vector<uint32_t>& path) const;
  // Likewise, with those that move an atom of the bytes. Cost: as of MovedAtoms, for each that is
  // found.
  void take_path(uint32_t begin, uint32_t end, MemoryRange bytes,
                 std::vector<uint32_t>& path) const;

  // Whether something tells bytes of the memory apart: an operand of a dependency, or atoms.
  bool tells_bytes_apart(MemoryId memory) const { return !operands_[memory.index].empty(); }
  // Appends where in the bytes operands of the steps [begin, end) begin or end. Cost: logarithmic,
  // and the operands in the memory there. Returns the operands looked at.
  uint64_t append_ends(uint32_t begin, uint32_t end, MemoryRange bytes,
                       std::vector<uint64_t>& ends) const;

  static constexpr uint32_t kNone = UINT32_MAX;

 private:
  struct Operand {
    uint32_t step;
    ByteRange bytes;
  };

  void add_implied(uint32_t statement, QueueIndex queue, uint32_t host_count);
  void add_joins(uint32_t statement, QueueIndex queue, QueueKind others);
  void add(const Statement& statement, uint32_t index);
  void add_operands(std::span<const Access> operands);

  const Program& program_;
  std::vector<QueueStep> steps_;
  std::vector<uint32_t> before_;                // By dispatch.
  std::vector<uint32_t> step_of_part_;          // By signal part.
  std::vector<uint32_t> step_of_sync_;          // By sync step; sets alone.
  std::vector<uint32_t> next_other_;            // By step: the first from it on that is no move.
  std::vector<std::vector<Operand>> operands_;  // By memory; steps never fall.
  std::vector<MovedAtoms::Move> moves_;
  std::optional<MovedAtoms> moved_;
  struct QueueState {
    uint32_t host_count = 0;  // Of its latest submission.
    uint32_t last = 0;        // Its latest statement, plus 1.
    uint32_t joined = 0;      // When it last joined others, or they it.
  };
  std::vector<QueueState> queues_;
};

}  // namespace interlock
