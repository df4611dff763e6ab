#include "encoder/queues/queue_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "encoder/assemble/build.h"
#include "encoder/program/check.h"
#include "encoder/program/stop.h"

namespace interlock {
namespace {

class QueueProgramWriter {
 public:
  QueueProgramWriter(const Program& program, const QueuePlan& plan)
      : plan_(plan), positions_(program.dispatches.size()) {
    for (ItemDraft& item : expanded_draft_of(program).items) take(std::move(item));
    for (const QueueDraft& queue : plan.queues) draft_.items.emplace_back(queue);
    for (uint32_t i = 0; i < plan.issued.size(); ++i) positions_[plan.issued[i]] = i;
    if (!program.has_program_order && !std::ranges::is_sorted(plan.issued)) {
      for (uint32_t i = 0; i < dispatches_.size(); ++i) dispatches_[i].order = i;
    }
  }

  Result<Program> with_semaphores() {
    const std::vector<bool> is_signalled = signalled();
    values_.assign(dispatches_.size(), 0);
    std::vector<uint64_t> last_values(plan_.queues.size(), 0);
    for (const uint32_t dispatch : plan_.issued) {
      for (const uint32_t before : plan_.after[dispatch]) wait_for(before, dispatch);
      issue(dispatch);
      if (!is_signalled[dispatch]) continue;
      values_[dispatch] = ++last_values[plan_.queue_of[dispatch]];
      add_use(SyncKind::kSignal, dispatch, queue_name(dispatch));
    }
    return build_it();
  }

  Result<Program> with_edges() {
    for (const uint32_t dispatch : plan_.issued) {
      for (const uint32_t before : plan_.after[dispatch]) {
        const std::string& label = labels_[before];
        dispatches_[dispatch].after.push_back(label.empty() ? std::to_string(positions_[before])
                                                            : label);
      }
      issue(dispatch);
    }
    return build_it();
  }

 private:
  // What is no statement is kept as it is, if it does not depend on the sync.
  void take(ItemDraft item) {
    if (auto* const dispatch = std::get_if<DispatchDraft>(&item)) {
      labels_.push_back(dispatch->label);
      dispatch->after.clear();
      dispatch->is_programmatic = false;
      dispatches_.push_back(std::move(*dispatch));
    } else if (std::holds_alternative<MemoryDraft>(item) ||
               std::holds_alternative<TensorDraft>(item) ||
               std::holds_alternative<OutputDraft>(item)) {
      draft_.items.push_back(std::move(item));
    }
  }

  std::vector<bool> signalled() const {
    std::vector<bool> is_signalled(dispatches_.size(), false);
    for (const auto& earlier : plan_.after) {
      for (const uint32_t before : earlier) is_signalled[before] = true;
    }
    return is_signalled;
  }

  const std::string& queue_name(uint32_t dispatch) const {
    return plan_.queues[plan_.queue_of[dispatch]].name;
  }

  void wait_for(uint32_t before, uint32_t dispatch) {
    INTERLOCK_CHECK(plan_.queue_of[before] != plan_.queue_of[dispatch]);
    add_use(SyncKind::kWait, before, queue_name(dispatch));
  }

  // A signal or a wait for what `dispatch` signals.
  void add_use(SyncKind kind, uint32_t dispatch, const std::string& queue) {
    INTERLOCK_CHECK(values_[dispatch] > 0);
    SyncDraft draft;
    draft.kind = kind;
    draft.semaphores.push_back({.semaphore = fmt::format("s{}", plan_.queue_of[dispatch] + 1),
                                .value = values_[dispatch]});
    draft.queue = queue;
    draft_.items.emplace_back(std::move(draft));
  }

  void issue(uint32_t dispatch) {
    dispatches_[dispatch].queue = queue_name(dispatch);
    draft_.items.emplace_back(std::move(dispatches_[dispatch]));
  }

  Result<Program> build_it() const {
    if (is_stopped()) return Program{};
    return build(draft_);
  }

  const QueuePlan& plan_;
  ProgramDraft draft_;
  std::vector<DispatchDraft> dispatches_;
  std::vector<std::string> labels_;  // By dispatch.
  std::vector<uint32_t> positions_;  // By dispatch: its index in the new text.
  std::vector<uint64_t> values_;     // By dispatch: what its signal says; 0: none yet.
};

}  // namespace

std::vector<QueueDraft> numbered_queues(QueueKind kind, uint32_t count) {
  std::vector<QueueDraft> queues;
  for (uint32_t i = 1; i <= count; ++i) queues.push_back({fmt::format("q{}", i), kind});
  return queues;
}

Result<Program> with_semaphores(const Program& program, const QueuePlan& plan) {
  return QueueProgramWriter(program, plan).with_semaphores();
}

Result<Program> with_edges(const Program& program, const QueuePlan& plan) {
  return QueueProgramWriter(program, plan).with_edges();
}

}  // namespace interlock
