#include "fuzz/minimize/reduction.h"

#include <bit>
#include <map>
#include <set>

#include "encoder/assemble/build.h"
#include "encoder/kernel/kernel_table.h"
#include "encoder/program/stop.h"

namespace interlock {
namespace {

constexpr uint64_t kEvaluationsPerProgress = 16;  // At least.

constexpr uint64_t kPlainOpaqueRank = 1;
constexpr uint64_t kOpaqueRank = 2;
constexpr uint64_t kBytewiseRank = 3;
constexpr uint64_t kTableRank = 4;

uint64_t rank_of_kernel(const std::string& kernel) {
  if (kernel == "Opaque") return kPlainOpaqueRank;
  const bool is_opaque = !kernel.empty() && kernel.front() >= 'A' && kernel.front() <= 'Z';
  if (is_opaque) return kOpaqueRank;
  return kernel == "copy" || kernel == "fill" ? kBytewiseRank : kTableRank;
}

// random(1), random(2), … in the order of the tensors cost nothing.
uint64_t letters_of(const InitialValue& initial, uint64_t number) {
  if (initial.kind != InitialKind::kRandom) return UINT8_MAX;
  return initial.seed < number ? number - initial.seed : initial.seed - number;
}

// Stages and accesses that the scope names.
uint64_t scope_word_count(Scope scope) {
  return static_cast<uint64_t>(std::popcount(scope.stages) + std::popcount(scope.accesses));
}

// Adds up the cost, item by item, in order. Letters are those of labels and, one each, of generated
// names that are not the shortest free ones.
class CostCounter {
 public:
  void count(const ItemDraft& item) {
    if (const auto* memory = std::get_if<MemoryDraft>(&item)) {
      cost_.items += 1;
      cost_.kernels += memory->is_scratch;
      cost_.bytes += memory->size_bytes;
      cost_.letters += memory->name != "m" + std::to_string(memory_count_++);
      size_of_memory_[memory->name] = memory->size_bytes;
    } else if (const auto* tensor = std::get_if<TensorDraft>(&item)) {
      count_tensor(*tensor);
    } else if (const auto* output = std::get_if<OutputDraft>(&item)) {
      cost_.items += 1 + output->tensors.size();
    } else if (const auto* dispatch = std::get_if<DispatchDraft>(&item)) {
      count_dispatch(*dispatch);
    } else if (const auto* barrier = std::get_if<BarrierDraft>(&item)) {
      count_barrier(*barrier);
    } else if (const auto* sync = std::get_if<SyncDraft>(&item)) {
      count_sync(*sync);
    } else if (const auto* access = std::get_if<HostAccessDraft>(&item)) {
      count_host_access(*access);
    } else if (const auto* queue = std::get_if<QueueDraft>(&item)) {
      cost_.items += 1 + (queue->kind != QueueKind::kConcurrent);
    } else if (const auto* backward = std::get_if<BackwardDraft>(&item)) {
      cost_.statements += 1;
      cost_.items += backward->wrt.size();
    } else if (const auto* lifetime = std::get_if<LifetimeDraft>(&item)) {
      cost_.statements += 1;
      cost_.letters += !lifetime->label.empty();
    } else if (const auto* capture = std::get_if<CaptureDraft>(&item)) {
      cost_.statements += 1;
      cost_.letters += capture->name != "c" + std::to_string(capture_count_++);
    } else if (std::holds_alternative<ReplayDraft>(item)) {
      cost_.statements += 1;
    } else {
      cost_.items += 1;
    }
  }

  ProgramCost cost() const { return cost_; }

 private:
  void count_tensor(const TensorDraft& tensor) {
    cost_.letters += tensor.name != "t" + std::to_string(tensor_count_++);
    cost_.items +=
        1 + (tensor.placement == Placement::kView) + (tensor.placement == Placement::kDonation);
    if (tensor.initial.kind != InitialKind::kNone) {
      cost_.items += 1;
      cost_.letters += letters_of(tensor.initial, ++initial_count_);
      has_value_.insert(tensor.name);
    }
    const bool is_view = tensor.placement == Placement::kView && root_of_.count(tensor.base) > 0;
    root_of_[tensor.name] = is_view ? root_of_[tensor.base] : tensor.name;
    for (const uint64_t extent : tensor.shape) cost_.bytes += extent;
    cost_.offsets += tensor.offset_bytes;
  }

  void count_barrier(const BarrierDraft& barrier) {
    cost_.statements += 1;
    cost_.letters += !barrier.label.empty();
    cost_.items += !barrier.queue.empty();
    count_dependencies(barrier.kind, barrier.dependencies);
  }

  void count_sync(const SyncDraft& sync) {
    cost_.statements += 1;
    cost_.letters += !sync.label.empty();
    cost_.items += !sync.queue.empty();
    count_dependencies(sync.barrier_kind, sync.dependencies);
    count_host_operands(sync.operands);
    for (const SemaphoreUseDraft& use : sync.semaphores) {
      cost_.items += 1;
      cost_.kernels += use.is_from_outside;
      if (use.stages != kAllStages) cost_.kernels += 1;
      cost_.letters += use.value.value_or(0);
    }
  }

  void count_host_access(const HostAccessDraft& access) {
    cost_.statements += 1;
    cost_.kernels += access.is_approximate + (access.value.kind != InitialKind::kNone);
    count_host_operands(access.operands);
  }

  void count_host_operands(const std::vector<OperandDraft>& operands) {
    for (const OperandDraft& operand : operands) {
      cost_.items += 1;
      if (!operand.slice) continue;
      cost_.bytes += operand.slice->size_bytes();
      cost_.offsets += operand.slice->begin;
    }
  }

  void count_dependencies(BarrierKind kind, const std::vector<DependencyDraft>& dependencies) {
    constexpr uint64_t kRanks[] = {0, 1, 2};  // Full, execution, scoped.
    cost_.kernels += kRanks[static_cast<size_t>(kind)];
    for (const DependencyDraft& dependency : dependencies) {
      cost_.items += 1;
      cost_.kernels +=
          scope_word_count(dependency.source) + scope_word_count(dependency.destination);
      cost_.kernels += dependency.transition != TransitionKind::kNone;
      for (const OperandDraft& operand : dependency.operands) {
        cost_.items += 1;
        if (!operand.slice) continue;
        cost_.bytes += operand.slice->size_bytes();
        cost_.offsets += operand.slice->begin;
      }
    }
  }

  void count_dispatch(const DispatchDraft& dispatch) {
    cost_.statements += 1;
    cost_.letters += dispatch.label != "d" + std::to_string(dispatch_count_++);
    cost_.kernels += rank_of_kernel(dispatch.kernel) + dispatch.attributes.size() +
                     dispatch.is_partial + dispatch.is_approximate + dispatch.order.has_value() +
                     (dispatch.stage != Stage::kCompute);
    cost_.kernels += kernels_.insert(dispatch.kernel).second;
    cost_.items += dispatch.after.size() + !dispatch.queue.empty();
    cost_.kernels += dispatch.is_programmatic;
    for (const OperandDraft& operand : dispatch.operands) {
      cost_.items += 1;
      if (operand.is_undeclared) cost_.kernels += 1;
      if (operand.mode == AccessMode::kUpdate) cost_.kernels += 1;
      if (operand.mode == AccessMode::kUniform) cost_.kernels += 1;
      if (operand.mode == AccessMode::kAtomic) cost_.kernels += 2;
      if (operand.slice) {
        cost_.kernels += root_of_.count(operand.name);
        cost_.bytes += operand.slice->size_bytes();
        cost_.offsets += operand.slice->begin;
        cost_.letters += 1;
      } else if (root_of_.count(operand.name) == 0) {
        cost_.bytes += size_of_memory_[operand.name];
      }
      // A read of bytes that nobody wrote counts for more than an initial value would.
      const bool is_unwritten =
          root_of_.count(operand.name) > 0 && has_value_.count(root_of_[operand.name]) == 0;
      if (operand.mode == AccessMode::kRead && is_unwritten) {
        cost_.items += 2;
        has_value_.insert(root_of_[operand.name]);
      }
    }
    for (const OperandDraft& operand : dispatch.operands) {
      const bool writes_tensor =
          operand.mode >= AccessMode::kWrite && root_of_.count(operand.name) > 0;
      if (writes_tensor) has_value_.insert(root_of_[operand.name]);
    }
  }

  ProgramCost cost_;
  uint64_t memory_count_ = 0;
  uint64_t tensor_count_ = 0;
  uint64_t dispatch_count_ = 0;
  uint64_t capture_count_ = 0;
  std::map<std::string, uint64_t> size_of_memory_;
  std::map<std::string, std::string> root_of_;  // By tensor; views share the value of their root.
  uint64_t initial_count_ = 0;
  std::set<std::string> has_value_;
  std::set<std::string> kernels_;
};

}  // namespace

ProgramCost cost_of(const ProgramDraft& draft) {
  CostCounter counter;
  for (const ItemDraft& item : draft.items) counter.count(item);
  return counter.cost();
}

Reduction::Reduction(ProgramDraft draft, const ProgramPredicate& keeps,
                     const MinimizeOptions& options)
    : current_(std::move(draft)),
      cost_(cost_of(current_)),
      dispatch_count_(positions_of<DispatchDraft>(current_).size()),
      keeps_(keeps),
      options_(options) {}

bool Reduction::is_over() const {
  return is_stopped() || evaluation_count_ >= options_.evaluation_limit;
}

bool Reduction::attempt(ProgramDraft candidate) {
  if (is_over()) return false;
  const ProgramCost cost = cost_of(candidate);
  if (!(cost < cost_)) return false;
  const auto program = build(candidate);
  if (!program) return false;
  ++evaluation_count_;
  // A judgement that a stop cut short is no reason to take the candidate.
  const bool is_kept = keeps_(*program) && !is_stopped();
  if (is_kept) {
    current_ = std::move(candidate);
    cost_ = cost;
    dispatch_count_ = program->dispatches.size();
    ++step_count_;
  }
  const bool is_due = is_kept || evaluation_count_ % kEvaluationsPerProgress == 0;
  if (is_due && options_.on_progress) options_.on_progress({evaluation_count_, dispatch_count_});
  return is_kept;
}

}  // namespace interlock
