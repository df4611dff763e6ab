#include "simulator/order/text_in_run_order.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "encoder/program/error_of.h"
#include "encoder/program/program_order.h"
#include "encoder/program/stop.h"
#include "simulator/order/in_reference_order.h"
#include "simulator/order/queue_order.h"
#include "simulator/order/reference_order.h"

namespace interlock {
namespace {

Error deadlock_error(const Program& program, const ReferenceOrder& order) {
  std::string circle;
  for (const BlockedStatement& blocked : order.cycle) {
    const Statement& statement = program.statements[blocked.statement.index];
    circle += statement.kind == StatementKind::kDispatch
                  ? program.description_of(DispatchId(size_t{statement.index}))
                  : program.reference_of(blocked.statement);
    circle += ", ";
  }
  return error_of(
      "the program has a deadlock, and so no order in which an encoder could be given it: {}each "
      "waits for the next, and the last for the first. `interlock check` says how.",
      circle);
}

// Where an access of the bytes that a statement about a value speaks of has changed sides with it.
class OvertakenLifetimes {
 public:
  OvertakenLifetimes(const Program& text, const ReferenceOrder& order)
      : text_(text), position_(text.statements.size()), accesses_(text.memories.size()) {
    for (uint32_t i = 0; i < order.statements.size(); ++i) {
      position_[order.statements[i].index] = i;
    }
    for (size_t i = 0; i < text.dispatches.size(); ++i) {
      for (const Access& access : text.accesses_of(DispatchId(i))) {
        accesses_[access.memory.index].push_back({DispatchId(i), access.range});
      }
    }
  }

  Result<Success> check() const {
    for (size_t i = 0; i < text_.lifetimes.size() && !is_stopped(); ++i) {
      const LifetimeId id(i);
      const DispatchId other = find_other(text_.lifetimes[i]);
      if (!other.is_some()) continue;
      const bool is_before = text_.dispatch(other).statement < text_.lifetimes[i].statement;
      return error_of(
          "{} stands {} {} and runs {} it: encoders are given the order of the run, where it would "
          "speak of other accesses. Let signals stand before their waits, and submissions at once.",
          text_.description_of(id), is_before ? "after" : "before", text_.description_of(other),
          is_before ? "before" : "after");
    }
    return Success{};
  }

 private:
  struct Use {
    DispatchId dispatch;
    decltype(Access::range) range;
  };

  DispatchId find_other(const Lifetime& lifetime) const {
    const bool is_of_all = lifetime.kind == LifetimeKind::kReset;
    for (const Use& use : accesses_[lifetime.memory.index]) {
      const StatementId statement = text_.dispatch(use.dispatch).statement;
      const bool was_before = statement < lifetime.statement;
      const bool is_before = position_[statement.index] < position_[lifetime.statement.index];
      if (was_before == is_before) continue;
      if (is_of_all || share_a_byte(use.range, text_.tensor(lifetime.tensor).range)) {
        return use.dispatch;
      }
    }
    return {};
  }

  const Program& text_;
  std::vector<uint32_t> position_;          // By statement: in the run.
  std::vector<std::vector<Use>> accesses_;  // By memory.
};

}  // namespace

Result<Program> text_in_run_order(Program program) {
  if (program.text_order == nullptr) {
    if (!needs_queue_order(program)) return program;
    const ReferenceOrder order = find_reference_order(program);
    if (order.is_text_order || is_stopped()) return program;
    if (!order.cycle.empty()) return deadlock_error(program, order);
    if (!program.lifetimes.empty()) {
      const auto checked = OvertakenLifetimes(program, order).check();
      if (!checked) return checked.error();
    }
    program = in_reference_order(program, order);
  }
  program.text_order = nullptr;
  if (!program.has_program_order) {
    for (size_t i = 0; i < program.dispatches.size(); ++i) program.dispatches[i].order = i;
  }
  return program;
}

}  // namespace interlock
