// SyncEdit: a program with a little more sync than its text has, and what of the text changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/report/finding.h"

namespace interlock {

class SyncEdit {
 public:
  // Where a new statement stands: right before or right after one of the text. Of two at the same
  // place the one that is put there first comes first.
  struct Place {
    StatementId at;
    bool is_after = false;
  };

  // Requires: no text_order.
  explicit SyncEdit(const Program& program);

  // A global barrier. Requires: `kind` is kFull or kExecution.
  void add_barrier(Place place, QueueIndex queue, BarrierKind kind);
  // A barrier with one dependency, about `bytes`; none: about all.
  void add_barrier(Place place, QueueIndex queue, Scope source, Scope destination,
                   std::span<const Access> bytes);
  // A signal of a new semaphore; without a queue it is of the host. Returns its part.
  uint32_t add_signal(Place place, QueueIndex queue);
  // A wait for a part of a signal, likewise.
  void add_wait(Place place, QueueIndex queue, uint32_t part);
  // `kind`: kHostFlushes or kHostInvalidates.
  void add_host_move(Place place, SyncKind kind, std::span<const Access> bytes);
  void add_submit(Place place, QueueIndex queue);
  // A new queue, of kind concurrent, declared there. Requires: the program declares some.
  QueueIndex add_queue(Place place);
  // One statement of the text, which goes, or goes elsewhere with its label. Requires: of those at
  // most one; `queue` is its own, or that of another device queue for a signal of one.
  void remove(StatementId statement);
  void move(StatementId statement, Place place, QueueIndex queue);
  // From now on a full edge leads from `from` to `to`, and so do the others to `to`.
  void add_edge(DispatchId from, DispatchId to);

  // A wait of the text is for this part of a signal from now on.
  void wait_for(StatementId wait, uint32_t part);

  // What a statement of the text says more from now on, one word.
  void widen(StatementId statement, uint32_t dependency, bool is_source, Scope by);
  void add_operands(StatementId statement, uint32_t dependency, std::span<const Access> bytes);
  void cover(StatementId signal, uint32_t part, StageMask stages);
  void hold_back(StatementId wait, StageMask stages);
  // Of a barrier or a `set` that is `execution`.
  void make_full(StatementId statement);

  // The statement of the text as it is now, without its label.
  std::string text_of(StatementId statement) const;

  // What changes. Cost: linear in the edits.
  std::vector<RepairLine> lines() const;

  // The program so changed, without evidence, and with nothing said in short; dispatches and
  // lifetime statements keep their numbers. Cost: linear.
  Program program() const;

 private:
  struct Insertion {
    Place place;
    Statement statement;
  };

  void insert(Place place, StatementKind kind, QueueIndex queue, size_t index);
  void insert_sync(Place place, QueueIndex queue, SyncStep step);
  void change(StatementId statement);

  const Program& before_;
  Program after_;  // Its statements are those of the text; what is new stands at the end of lists.
  std::vector<RepairLine> declarations_;
  std::vector<Insertion> insertions_;
  std::vector<StatementId> changed_;
  StatementId removed_;
};

}  // namespace interlock
