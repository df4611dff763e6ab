#include "encoder/queues/pytorch_streams.h"

#include <cstddef>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "encoder/program/stop.h"
#include "encoder/queues/dispatch_conflicts.h"
#include "encoder/queues/host_plan.h"
#include "encoder/queues/host_work.h"
#include "encoder/queues/queue_commands.h"
#include "encoder/queues/queue_program.h"

namespace interlock {
namespace {

class PytorchStreams {
 public:
  PytorchStreams(const Program& program, uint32_t stream_count, bool records_streams)
      : program_(program), records_streams_(records_streams) {
    plan_.queues = numbered_queues(QueueKind::kSerial, stream_count);
    plan_.issued.resize(program.dispatches.size());
    std::iota(plan_.issued.begin(), plan_.issued.end(), 0u);
    for (const DispatchId id : program.host_dispatches) {
      for (const Access& access : program.accesses_of(id)) is_pinned_.insert(access.memory);
    }
  }

  Result<Program> run() {
    for (size_t i = 0; i < program_.dispatches.size(); ++i) take_stream(DispatchId(i));
    PredecessorLists pairs(program_.dispatches.size());
    for (uint32_t b = 0; b < pairs.size(); ++b) {
      if (is_stopped()) return Program{};
      for (uint32_t a = 0; a < b; ++a) {
        if (is_ordered_by_somebody(a, b)) pairs[b].push_back(a);
      }
    }
    plan_.after = waits_beside_host(program_, plan_, std::move(pairs));
    plan_.before_ends = all_before_destroys(program_, plan_);
    return with_semaphores(program_, plan_);
  }

 private:
  // A tensor, or the raw bytes of a memory.
  using Value = std::pair<MemoryId, TensorId>;

  Value value_of(const Access& access) const {
    const TensorId root =
        access.tensor.is_some() ? program_.tensor(access.tensor).root : TensorId();
    return {access.memory, root};
  }

  uint32_t pool_of(MemoryId memory) const {
    return memory.index % static_cast<uint32_t>(plan_.queues.size());
  }

  void take_stream(DispatchId id) {
    if (program_.dispatch(id).host != HostAccess::kNone) {
      plan_.queue_of.push_back(QueuePlan::kOfHost);
      return;
    }
    uint32_t stream = id.index % static_cast<uint32_t>(plan_.queues.size());
    for (const Access& access : program_.declared_accesses_of(id)) {
      if (access.only_reads()) continue;
      const bool is_new = is_written_.emplace(value_of(access), true).second;
      if (is_new) stream = pool_of(access.memory);
    }
    plan_.queue_of.push_back(stream);
  }

  // Whether the user waits, as both are about one value, or an allocator has the reuse of its bytes
  // wait.
  bool is_ordered_by_somebody(uint32_t a, uint32_t b) const {
    for (const Access& first : program_.declared_accesses_of(DispatchId(size_t{a}))) {
      for (const Access& second : program_.declared_accesses_of(DispatchId(size_t{b}))) {
        if (!are_in_conflict(program_.dispatches[a], first, program_.dispatches[b], second)) {
          continue;
        }
        const bool is_one_value = value_of(first) == value_of(second);
        const bool is_of_owner = plan_.queue_of[a] == pool_of(first.memory);
        const bool is_pinned = is_pinned_.contains(first.memory);
        if (is_one_value || is_of_owner || records_streams_ || is_pinned) return true;
      }
    }
    return false;
  }

  const Program& program_;
  const bool records_streams_;
  QueuePlan plan_;
  std::map<Value, bool> is_written_;
  std::set<MemoryId> is_pinned_;  // The host accesses it.
};

Result<Program> encode_pytorch(const Program& program, uint32_t queue_count, bool records_streams) {
  if (auto checked = check_count(program); !checked) return checked.error();
  if (auto checked = check_host_work_of_no_queue(program); !checked) return checked.error();
  constexpr uint32_t kStreamCount = 3;
  return PytorchStreams(program, queue_count == 0 ? kStreamCount : queue_count, records_streams)
      .run();
}

}  // namespace

Result<Program> encode_pytorch_unrecorded(const Program& program, uint32_t queue_count) {
  return encode_pytorch(program, queue_count, false);
}

Result<Program> encode_pytorch_recorded(const Program& program, uint32_t queue_count) {
  return encode_pytorch(program, queue_count, true);
}

}  // namespace interlock
