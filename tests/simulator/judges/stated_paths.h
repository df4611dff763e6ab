// StatedPaths: which of two dispatches the signals and waits of a program let come first.
#pragma once

#include <cstddef>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/order/signal_statements.h"
#include "simulator/order/submissions.h"

namespace interlock {

// What signals, waits and the order of each queue lead from and to, by statement: all paths at
// once.
class StatedPaths {
 public:
  explicit StatedPaths(const Program& program)
      : program_(program), count_(program.statements.size()), leads_(count_ * count_, false) {
    const std::vector<StatementId> signals = signal_statements_of(program);
    for (size_t i = 0; i < count_; ++i) {
      for (size_t j = i + 1; j < count_; ++j) {
        const bool is_one_queue = program.statements[i].queue == program.statements[j].queue &&
                                  !is_of_host(program, program.statements[j]);
        leads_[i * count_ + j] = is_one_queue || is_of_host(program, program.statements[i]);
      }
      const Statement& statement = program.statements[i];
      if (statement.kind != StatementKind::kSync) continue;
      const SyncStep& step = program.syncs[statement.index];
      const bool is_wait = step.kind == SyncKind::kWait || step.kind == SyncKind::kHostWaits;
      if (!is_wait || step.partner == SyncStep::kNoPartner) continue;
      leads_[signals[step.partner].index * count_ + i] = true;
    }
    for (size_t by = 0; by < count_; ++by) {
      for (size_t i = 0; i < count_; ++i) {
        if (!leads_[i * count_ + by]) continue;
        for (size_t j = 0; j < count_; ++j) {
          if (leads_[by * count_ + j]) leads_[i * count_ + j] = true;
        }
      }
    }
  }

  // The order of the text, where they do not say the opposite. A legacy-default queue joins others
  // where it stands in the text, which alone says it then.
  bool say(DispatchId first, DispatchId second) const {
    if (first > second) return !say(second, first);
    return has_legacy_default() || !leads(second, first) || leads(first, second);
  }

 private:
  bool has_legacy_default() const {
    for (QueueIndex queue = 0; queue < program_.queue_count(); ++queue) {
      if (program_.kind_of(queue) == QueueKind::kLegacyDefault) return true;
    }
    return false;
  }

  bool leads(DispatchId from, DispatchId to) const {
    return leads_[program_.dispatch(from).statement.index * count_ +
                  program_.dispatch(to).statement.index];
  }

  const Program& program_;
  size_t count_;
  std::vector<bool> leads_;
};

}  // namespace interlock
