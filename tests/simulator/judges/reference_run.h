// The reference runs of programs of several queues, whose signals the machine of counters orders.
#pragma once

#include <optional>
#include <string>

#include "encoder/text/parser.h"
#include "simulator/order/in_reference_order.h"
#include "simulator/order/queue_order.h"
#include "simulator/order/reference_order.h"
#include "tests/simulator/judges/signals_on_machine.h"

namespace interlock {

// None of a text that is not valid, of one queue, or with a deadlock.
inline std::optional<Program> reference_run(const std::string& text) {
  ParseOptions options;
  options.reads_every_queue = true;
  const Result<Program> program = parse(text, "test", options);
  if (!program || !needs_queue_order(*program)) return std::nullopt;
  if (find_unordered_on_machine(*program)) return std::nullopt;
  const ReferenceOrder order = find_reference_order(*program);
  if (!order.cycle.empty()) return std::nullopt;
  return order.is_text_order ? *program : in_reference_order(*program, order);
}

}  // namespace interlock
