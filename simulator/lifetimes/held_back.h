// HeldBack: dispatches that the host issues before a lifetime statement of its own, and that
// execute after it all the same, as a signal of the host or of another queue holds them back.
//
// The host ends values, pins and adopts them as it issues these statements. So such a statement is
// about what was issued before it, and is over for what is issued after it, whenever that executes.
// For example, with a wait of q1 for what the host signals last:
//
//   a: dispatch Make writes x on q1      executes last but one
//   early: dispatch Use reads x on q1    clean: it is issued before the value ends
//   free x
//   late: dispatch Use reads x on q1     use-after-free: what it finds is what the free ended
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "encoder/program/interval_map.h"
#include "encoder/program/program.h"
#include "simulator/lifetimes/held_value.h"
#include "simulator/lifetimes/lifetimes_by_bytes.h"
#include "simulator/lifetimes/pin_history.h"

namespace interlock {

// The statements of a program in reference order as they stand in its text. Requires: it has a
// text_order. Cost: O(n log n).
std::vector<uint32_t> order_of_text(const Program& program);

class HeldBack {
 public:
  // None.
  HeldBack() = default;

  // Of `program`, which is in reference order and outlives this; none without a text_order.
  explicit HeldBack(const Program& program);

  // Whether there are any. Cost: constant.
  bool is_any() const { return is_any_; }

  // Whether it executes after a lifetime statement of the host that is issued after it. False for
  // none, which is the start of the program, and its end. Cost: logarithmic.
  bool has(DispatchId id) const;

  // What is known of bytes by the last one that wrote them. So that writes of one value stay one
  // run of bytes, of two that no statement comes between which changes the bytes it is the same.
  struct Write {
    HeldValue value;
    LifetimeId after_host;   // The last statement of the host that is issued before, and changes
    LifetimeId after_queue;  // some of the bytes; the last one of queues that executes before.
    bool operator==(const Write&) const = default;
  };

  // Of `writer`, which leaves `value` in all of `bytes`. Cost: O(log^2 n).
  Write write_of(DispatchId writer, MemoryId memory, ByteRange bytes, const HeldValue& value) const;

  // What `bytes` that were written so hold where `reader` executes: changed by the statements of
  // the host that are issued between the two, and by those of queues that execute between them. No
  // reader: to the end. The lists of holders are those of `holdings`. Adds to `work` the statements
  // that change some of the bytes, and the lengths of the lists that they find; ends too early,
  // with anything, where that is more than `work_limit`. What many readers find alike is looked up.
  // Cost: the work times O(log n).
  IntervalMap<HeldValue> value_at(DispatchId reader, const Write& written, MemoryId memory,
                                  ByteRange bytes, Holdings& holdings, uint64_t& work,
                                  uint64_t work_limit);

 private:
  // Of bytes of a memory, of a write, and of the last changes before a reader.
  using Key = std::tuple<MemoryId, uint64_t, uint64_t, HeldKind, TensorId, LifetimeId, LifetimeId,
                         LifetimeId, LifetimeId>;

  uint32_t issued_at(StatementId statement) const;
  bool is_of_host(const Lifetime& lifetime) const;
  // The first statement of the host that is issued after it, and of queues that executes after it.
  LifetimeId next_of_host(DispatchId id) const;
  LifetimeId next_of_queues(DispatchId id) const;

  const Program* program_ = nullptr;
  std::vector<LifetimeId> of_host_;  // As they execute, and are issued.
  LifetimesByBytes host_changes_;
  LifetimesByBytes queue_changes_;
  PinHistory pins_;
  std::map<Key, IntervalMap<HeldValue>> known_;  // Some of what was told.
  bool is_any_ = false;
};

}  // namespace interlock
