#include "encoder/queues/ggml_queues.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "encoder/program/error_of.h"
#include "encoder/program/stop.h"
#include "encoder/queues/dispatch_conflicts.h"
#include "encoder/queues/host_plan.h"
#include "encoder/queues/host_work.h"
#include "encoder/queues/queue_commands.h"
#include "encoder/queues/queue_program.h"

namespace interlock {
namespace {

Result<Success> check_takes(const Program& program) {
  if (auto checked = check_count(program); !checked) return checked;
  return check_host_work_of_no_queue(program);
}

QueuePlan plan_in_text_order(const Program& program, uint32_t queue_count) {
  QueuePlan plan;
  plan.queues = numbered_queues(QueueKind::kSerial, queue_count);
  plan.queue_of.assign(program.dispatches.size(), 0);
  plan.issued.resize(program.dispatches.size());
  std::iota(plan.issued.begin(), plan.issued.end(), 0u);
  return plan;
}

// Whether `later` reads what `earlier` writes: all that a graph of values knows.
bool takes_value_of(const Program& program, DispatchId earlier, DispatchId later) {
  const std::span<const Access> read = program.declared_accesses_of(later);
  return std::ranges::any_of(program.declared_accesses_of(earlier), [&](const Access& a) {
    return a.has_write_side() && std::ranges::any_of(read, [&](const Access& b) {
             return b.has_read_side() && a.memory == b.memory && share_a_byte(a.range, b.range);
           });
  });
}

enum class ForkFault : uint8_t { kNone, kLosesAJoin, kKnowsValuesAlone };

class CudaForks {
 public:
  CudaForks(const Program& program, uint32_t stream_count, ForkFault fault)
      : program_(program),
        fault_(fault),
        plan_(plan_in_text_order(program, stream_count)),
        after_(program.dispatches.size()),
        branches_(stream_count - 1) {}

  Result<Program> run() {
    for (const Statement& statement : program_.statements) {
      if (is_stopped()) return Program{};
      if (statement.kind == StatementKind::kDispatch) {
        add_dispatch(statement.index);
      } else if (statement.kind == StatementKind::kLifetime &&
                 program_.lifetimes[statement.index].kind == LifetimeKind::kDestroy) {
        end_graph();
      }
    }
    plan_.after = after_;
    plan_.before_ends = all_before_destroys(program_, plan_);
    return with_semaphores(program_, plan_);
  }

 private:
  void add_dispatch(uint32_t dispatch) {
    if (program_.dispatches[dispatch].host != HostAccess::kNone) {
      plan_.queue_of[dispatch] = QueuePlan::kOfHost;
      after_[dispatch] = end_graph();
      return;
    }
    const std::vector<size_t> touched = branches_before(dispatch);
    if (begins_graph_ || touched.size() > 1) {
      join_at(dispatch);
    } else {
      add_to_branch(touched.empty() ? branch_for(dispatch) : touched[0], dispatch);
    }
  }

  std::vector<size_t> branches_before(uint32_t dispatch) const {
    bool (*comes_before)(const Program&, DispatchId, DispatchId) = are_in_conflict;
    if (fault_ == ForkFault::kKnowsValuesAlone) comes_before = takes_value_of;
    std::vector<size_t> touched;
    for (size_t k = 0; k < branches_.size(); ++k) {
      const bool is_touched = std::ranges::any_of(branches_[k], [&](uint32_t earlier) {
        return comes_before(program_, DispatchId(size_t{earlier}), DispatchId(size_t{dispatch}));
      });
      if (is_touched) touched.push_back(k);
    }
    return touched;
  }

  size_t branch_for(uint32_t dispatch) const {
    for (size_t k = 0; k < branches_.size(); ++k) {
      if (branches_[k].empty()) return k;
    }
    return dispatch % branches_.size();
  }

  // Stream 0 is the main one.
  void add_to_branch(size_t branch, uint32_t dispatch) {
    if (branches_[branch].empty()) after_[dispatch].push_back(fork_);
    branches_[branch].push_back(dispatch);
    plan_.queue_of[dispatch] = static_cast<uint32_t>(branch + 1);
  }

  // Ends them. Those that are joined.
  std::vector<uint32_t> joined_ends() {
    std::vector<uint32_t> ends;
    for (std::vector<uint32_t>& branch : branches_) {
      if (!branch.empty()) ends.push_back(branch.back());
      branch.clear();
    }
    if (fault_ == ForkFault::kLosesAJoin && ends.size() > 1) ends.pop_back();
    return ends;
  }

  void join_at(uint32_t dispatch) {
    after_[dispatch] = joined_ends();
    fork_ = dispatch;
    begins_graph_ = false;
  }

  // What the main stream has come to then; nothing if nothing was issued since the last graph.
  std::vector<uint32_t> end_graph() {
    std::vector<uint32_t> ends = joined_ends();
    if (ends.empty() && !begins_graph_) ends.push_back(fork_);
    begins_graph_ = true;
    return ends;
  }

  const Program& program_;
  const ForkFault fault_;
  QueuePlan plan_;
  PredecessorLists after_;                       // As in `plan_`.
  std::vector<std::vector<uint32_t>> branches_;  // Since the fork; by stream, without the main one.
  uint32_t fork_ = 0;
  bool begins_graph_ = true;
};

Result<Program> encode_cuda_forks(const Program& program, uint32_t queue_count, ForkFault fault) {
  if (auto checked = check_takes(program); !checked) return checked.error();
  if (queue_count == 1) {
    return Error{"--queues=1: a fork takes two streams, the main one and one for a branch."};
  }
  constexpr uint32_t kStreamCount = 4;
  return CudaForks(program, queue_count == 0 ? kStreamCount : queue_count, fault).run();
}

bool is_upload(const Program& program, uint32_t dispatch) {
  const std::string_view kernel = program.name(program.dispatches[dispatch].kernel_name);
  return kernel == "copy" || kernel == "fill";
}

// On each queue so far, if there is one.
std::vector<uint32_t> last_dispatches(const std::vector<std::optional<uint32_t>>& last) {
  std::vector<uint32_t> dispatches;
  for (const std::optional<uint32_t>& dispatch : last) {
    if (dispatch) dispatches.push_back(*dispatch);
  }
  return dispatches;
}

Result<Program> encode_vulkan(const Program& program, bool transfers_wait) {
  if (auto checked = check_takes(program); !checked) return checked.error();
  QueuePlan plan = plan_in_text_order(program, 2);
  const Predecessors conflicts = conflicts_of(program);
  PredecessorLists pairs(conflicts.size());
  std::vector<std::optional<uint32_t>> last(2);
  for (uint32_t i = 0; i < conflicts.size(); ++i) {
    uint32_t& queue = plan.queue_of[i];
    if (program.dispatches[i].host != HostAccess::kNone) {
      queue = QueuePlan::kOfHost;
      pairs[i] = last_dispatches(last);
      continue;
    }
    if (is_upload(program, i)) queue = 1;
    last[queue] = i;
    if (queue == 0 || transfers_wait) pairs[i].assign(conflicts[i].begin(), conflicts[i].end());
  }
  plan.after = waits_beside_host(program, plan, std::move(pairs));
  plan.before_ends = all_before_destroys(program, plan);
  return with_semaphores(program, plan);
}

}  // namespace

Result<Program> encode_ggml_cuda_lost_join(const Program& program, uint32_t queue_count) {
  return encode_cuda_forks(program, queue_count, ForkFault::kLosesAJoin);
}

Result<Program> encode_ggml_cuda_21897(const Program& program, uint32_t queue_count) {
  return encode_cuda_forks(program, queue_count, ForkFault::kKnowsValuesAlone);
}

Result<Program> encode_ggml_cuda_fork_join(const Program& program, uint32_t queue_count) {
  return encode_cuda_forks(program, queue_count, ForkFault::kNone);
}

Result<Program> encode_ggml_vulkan_25229(const Program& program, uint32_t /*queue_count*/) {
  return encode_vulkan(program, false);
}

Result<Program> encode_ggml_vulkan_queues(const Program& program, uint32_t /*queue_count*/) {
  return encode_vulkan(program, true);
}

}  // namespace interlock
