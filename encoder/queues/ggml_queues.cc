#include "encoder/queues/ggml_queues.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "encoder/program/error_of.h"
#include "encoder/program/stop.h"
#include "encoder/queues/dispatch_conflicts.h"
#include "encoder/queues/queue_commands.h"
#include "encoder/queues/queue_program.h"
#include "encoder/queues/queue_waits.h"

namespace interlock {
namespace {

QueuePlan plan_in_text_order(const Program& program, uint32_t queue_count) {
  QueuePlan plan;
  plan.queues = numbered_queues(QueueKind::kSerial, queue_count);
  plan.queue_of.assign(program.dispatches.size(), 0);
  plan.issued.resize(program.dispatches.size());
  std::iota(plan.issued.begin(), plan.issued.end(), 0u);
  return plan;
}

class CudaForks {
 public:
  CudaForks(const Program& program, uint32_t stream_count, bool joins_all)
      : program_(program),
        joins_all_(joins_all),
        plan_(plan_in_text_order(program, stream_count)),
        after_(program.dispatches.size()),
        branches_(stream_count - 1) {}

  Result<Program> run() {
    for (uint32_t i = 0; i < program_.dispatches.size(); ++i) {
      if (is_stopped()) return Program{};
      const std::vector<size_t> touched = branches_in_conflict_with(i);
      if (i == 0 || touched.size() > 1) {
        join_at(i);
      } else {
        add_to_branch(touched.empty() ? branch_for(i) : touched[0], i);
      }
    }
    plan_.after = after_;
    return with_semaphores(program_, plan_);
  }

 private:
  std::vector<size_t> branches_in_conflict_with(uint32_t dispatch) const {
    std::vector<size_t> touched;
    for (size_t k = 0; k < branches_.size(); ++k) {
      const bool is_touched = std::ranges::any_of(branches_[k], [&](uint32_t earlier) {
        return are_in_conflict(program_, DispatchId(size_t{earlier}), DispatchId(size_t{dispatch}));
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

  void join_at(uint32_t dispatch) {
    std::vector<uint32_t> ends;
    for (std::vector<uint32_t>& branch : branches_) {
      if (!branch.empty()) ends.push_back(branch.back());
      branch.clear();
    }
    if (!joins_all_ && ends.size() > 1) ends.pop_back();
    after_[dispatch] = ends;
    fork_ = dispatch;
  }

  const Program& program_;
  const bool joins_all_;
  QueuePlan plan_;
  PredecessorLists after_;                       // As in `plan_`.
  std::vector<std::vector<uint32_t>> branches_;  // Since the fork; by stream, without the main one.
  uint32_t fork_ = 0;
};

Result<Program> encode_cuda_forks(const Program& program, uint32_t queue_count, bool joins_all) {
  if (auto checked = check_is_dispatches(program); !checked) return checked.error();
  if (queue_count == 1) {
    return Error{"--queues=1: a fork takes two streams, the main one and one for a branch."};
  }
  constexpr uint32_t kStreamCount = 4;
  return CudaForks(program, queue_count == 0 ? kStreamCount : queue_count, joins_all).run();
}

bool is_upload(const Program& program, uint32_t dispatch) {
  const std::string_view kernel = program.name(program.dispatches[dispatch].kernel_name);
  return kernel == "copy" || kernel == "fill";
}

Result<Program> encode_vulkan(const Program& program, bool transfers_wait) {
  if (auto checked = check_is_dispatches(program); !checked) return checked.error();
  QueuePlan plan = plan_in_text_order(program, 2);
  const Predecessors conflicts = conflicts_of(program);
  Predecessors pairs;
  for (uint32_t i = 0; i < conflicts.size(); ++i) {
    if (is_upload(program, i)) plan.queue_of[i] = 1;
    const bool is_waiting = plan.queue_of[i] == 0 || transfers_wait;
    pairs.append(is_waiting ? conflicts[i] : std::span<const uint32_t>());
  }
  plan.after = waits_of(plan, pairs);
  return with_semaphores(program, plan);
}

}  // namespace

Result<Program> encode_ggml_cuda_lost_join(const Program& program, uint32_t queue_count) {
  return encode_cuda_forks(program, queue_count, false);
}

Result<Program> encode_ggml_cuda_fork_join(const Program& program, uint32_t queue_count) {
  return encode_cuda_forks(program, queue_count, true);
}

Result<Program> encode_ggml_vulkan_25229(const Program& program, uint32_t /*queue_count*/) {
  return encode_vulkan(program, false);
}

Result<Program> encode_ggml_vulkan_queues(const Program& program, uint32_t /*queue_count*/) {
  return encode_vulkan(program, true);
}

}  // namespace interlock
