// ReferenceOrder: the one run of a program that reports, witnesses and hazards refer to.
//
// Text order is the order in which the host issues. Where a wait stands before its signal in the
// text, or a statement before its submission, no execution has that order. The reference is the run
// that always takes the statement that stands first in the text among those that may run: host
// statements in their order, a statement of a queue once it is submitted and all before it in its
// queue have run, a wait once its signal has. A statement of a legacy-default queue waits for all
// of blocking queues before it in the text, and the other way round. It is one legal run of many.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/order/deadlock.h"

namespace interlock {

struct ReferenceOrder {
  std::vector<StatementId> statements;  // Those that run, in the order of the run.
  bool is_text_order = false;           // All of them, as they stand.
  // Where statements are left that can never run: a shortest circle of those that come first in
  // their queues, beginning with the one that stands first in the text. Empty iff all run.
  std::vector<BlockedStatement> cycle;
};

// Requires: no text_order. Cost: O(n log n) for n statements; linear where it is the text order.
// With a circle also the queues, and the joins of legacy-default ones among them, squared.
ReferenceOrder find_reference_order(const Program& program);

// "the reference order"; of a program that is none for needs_queue_order(), where it is that,
// "issue order". For sentences.
constexpr std::string_view name_of_reference_order(bool needs_queue_order) {
  return needs_queue_order ? "the reference order" : "issue order";
}

}  // namespace interlock
