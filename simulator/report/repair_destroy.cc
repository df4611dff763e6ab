// The basic idea is that of repair.cc, with a statement that orders nothing in the place of the
// second access: what comes right before it in its queue, or on the host, lets it wait.
#include "simulator/report/repair_destroy.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "encoder/program/stop.h"
#include "simulator/barriers/sync_pieces.h"
#include "simulator/report/repair_effects.h"

namespace interlock {
namespace {

constexpr size_t kSignalsTriedMax = 24;  // That are there and are waited for instead of a new one.
constexpr uint64_t kListingWorkOfOne = 1'000'000;
constexpr uint64_t kWorkOfDestroy = 4000;  // What a try costs beside visits.

// What a replay launches is of the queue that launches it.
RepairEnd seen_from_outside(const Program& program, AccessRef ref) {
  RepairEnd end(program, ref);
  end.queue = program.launching_queue_of(end.queue);
  return end;
}

class DestroyRepair {
 public:
  DestroyRepair(const RepairContext& context, uint64_t& work_left, Finding& finding)
      : context_(context),
        program_(context.program),
        work_left_(work_left),
        finding_(finding),
        user_(seen_from_outside(program_, finding.first)),
        at_(program_.lifetimes[finding.pending_at.index].statement),
        queue_(program_.statements[at_.index].queue),
        end_(fmt::format("'{}'", program_.text_of(program_.lifetimes[finding.pending_at.index]))) {}

  void run() {
    if (!context_.findings) return;
    const bool is_named =
        queue_ == user_.queue ? add_barrier() : add_wait() || add_signal(false) || add_signal(true);
    if (!is_named && has_tried_all_) {
      finding_.fix += " No small change of sync that was tried lets it wait.";
    }
  }

 private:
  SyncEdit::Place before() const { return {at_, false}; }

  // Asked before the program is copied.
  bool has_work() {
    const uint64_t ends = program_.lifetimes.size();
    work_of_try_ =
        24 * (program_.statements.size() + program_.accesses.size()) + ends * ends + kWorkOfDestroy;
    if (work_of_try_ <= work_left_ && !is_stopped()) return true;
    has_tried_all_ = false;
    return false;
  }

  bool add_barrier() {
    if (!has_work()) return false;
    SyncEdit edit(program_);
    edit.add_barrier(before(), queue_, BarrierKind::kExecution);
    return works(edit, fmt::format("`barrier execution on {}` between {} and {}.",
                                   program_.name_of(queue_), user_.name, end_));
  }

  // The first of those that come between the two.
  bool add_wait() {
    const uint32_t begin = context_.position[user_.dispatch.statement.index] + 1;
    const uint32_t end = std::min<uint32_t>(context_.position[at_.index],
                                            static_cast<uint32_t>(begin + kStatementsMax));
    size_t tried_count = 0;
    for (uint32_t i = begin; i < end && tried_count < kSignalsTriedMax && has_work(); ++i) {
      const Statement& statement = program_.statements[context_.reference.statements[i].index];
      if (statement.kind != StatementKind::kSync) continue;
      const SyncStep& step = program_.syncs[statement.index];
      if (step.is_of_launch) continue;
      const uint32_t count = static_cast<uint32_t>(program_.parts_of(step).size());
      for (uint32_t part = step.first; part < step.first + count; ++part) {
        const SemaphoreId semaphore = program_.signal_parts[part].semaphore;
        if (program_.semaphores[semaphore.index].is_binary) continue;
        ++tried_count;
        if (add_wait(part)) return true;
      }
    }
    return false;
  }

  bool add_wait(uint32_t part) {
    if (!has_work()) return false;
    const std::string use = text_of_part(program_, program_.signal_parts[part]);
    SyncEdit edit(program_);
    edit.add_wait(before(), queue_, part);
    return works(edit, queue_ == kNoQueue ? fmt::format("`host waits {}` before {}.", use, end_)
                                          : fmt::format("`wait {} on {}` before {}.", use,
                                                        program_.name_of(queue_), end_));
  }

  bool add_signal(bool has_submission) {
    // What the host does is submitted.
    if ((has_submission && user_.is_of_host()) || !has_work()) return false;
    SyncEdit edit(program_);
    const uint32_t part = edit.add_signal(user_.after(program_), user_.queue);
    if (has_submission) edit.add_submit(user_.after(program_), user_.queue);
    edit.add_wait(before(), queue_, part);
    const std::string signal =
        user_.is_of_host() ? fmt::format("a signal of the host after {}", user_.name)
                           : fmt::format("a signal on {} after {}{}", program_.name_of(user_.queue),
                                         user_.name, has_submission ? ", submitted there," : "");
    return works(edit, queue_ == kNoQueue
                           ? fmt::format("{} that the host waits for before {}.", signal, end_)
                           : fmt::format("{}, and a wait for it on {} before {}.", signal,
                                         program_.name_of(queue_), end_));
  }

  bool works(const SyncEdit& edit, const std::string& fix) {
    work_left_ -= work_of_try_;
    uint64_t listing_work = kListingWorkOfOne;
    const OrderFindings after =
        find_order_findings(edit.program(), HazardsListed::kAll, listing_work);
    if (!after.is_known) has_tried_all_ = false;
    if (!after.is_known || !after.runs || is_stopped()) return false;
    const bool is_left = std::ranges::any_of(
        after.lifetimes, [&](const LifetimeFinding& found) { return is_of_this(found); });
    if (is_left || brings_another(*context_.findings, after)) return false;
    finding_.fix = fix;
    finding_.repair = edit.lines();
    return true;
  }

  // It is the same destroy, and what is pending is in the same place.
  bool is_of_this(const LifetimeFinding& found) const {
    if (!found.is_pending || found.ended_by != finding_.lifetime) return false;
    const HazardEnd user(program_, found.reader);
    return user.queue == program_.queue_of(user_.dispatch) && user.stage == user_.stage &&
           (user.id == user_.id || user.is_of_host() ||
            program_.kind_of(user.queue) != QueueKind::kGraph);
  }

  static constexpr size_t kStatementsMax = 10'000;

  const RepairContext& context_;
  const Program& program_;
  uint64_t& work_left_;
  Finding& finding_;
  const RepairEnd user_;
  const StatementId at_;
  const QueueIndex queue_;
  const std::string end_;
  uint64_t work_of_try_ = 0;  // Of has_work().
  bool has_tried_all_ = true;
};

}  // namespace

void find_destroy_repair(const RepairContext& context, uint64_t& work_left, Finding& finding) {
  DestroyRepair(context, work_left, finding).run();
}

}  // namespace interlock
