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
#include <span>
#include <vector>

#include "encoder/program/interval_map.h"
#include "encoder/program/program.h"
#include "simulator/lifetimes/held_value.h"

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

  // What bytes to which `writer` gave the value `written` hold where `reader` executes: changed by
  // the statements of the host that are issued between them, and by those of queues that execute
  // between them. No writer: from the start; no reader: to the end. The lists of holders are those
  // of `holdings`. Adds to `work` the statements looked at. Cost: these.
  IntervalMap<HeldValue> value_between(DispatchId writer, DispatchId reader, MemoryId memory,
                                       ByteRange bytes, const HeldValue& written,
                                       Holdings& holdings, uint64_t& work) const;

 private:
  uint32_t issued_at(StatementId statement) const;
  bool is_of_host(const Lifetime& lifetime) const;

  const Program* program_ = nullptr;
  std::vector<LifetimeId> of_host_;  // As they execute, and are issued.
  bool has_pins_ = false;
  bool is_any_ = false;
};

}  // namespace interlock
