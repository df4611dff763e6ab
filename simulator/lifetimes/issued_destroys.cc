// The basic idea is the walk of owner_walk.h in the order of the text, of values alone.
#include "simulator/lifetimes/issued_destroys.h"

#include <algorithm>
#include <utility>

#include "encoder/program/interval_map.h"
#include "encoder/program/stop.h"
#include "simulator/lifetimes/held_back.h"
#include "simulator/lifetimes/held_value.h"

namespace interlock {
namespace {

class IssueWalk {
 public:
  using Run = IssuedDestroys::Run;

  explicit IssueWalk(const Program& program) : program_(program), holdings_(program) {
    for (size_t i = 0; i < program.tensors.size(); ++i) {
      const Tensor& tensor = program.tensors[i];
      if (tensor.initial.kind == InitialKind::kNone) continue;
      values_.assign(tensor.memory, tensor.range, written_value(TensorId(i)));
    }
  }

  void see(DispatchId id) {
    const bool is_transition = program_.dispatch(id).is_transition();
    for (const Access& access : program_.accesses_of(id)) {
      if (access.only_reads()) continue;
      if (is_transition && access.reads_plainly()) continue;  // It keeps what is there.
      const bool has_owner = !is_transition && access.tensor.is_some();
      const TensorId root = has_owner ? program_.tensor(access.tensor).root : TensorId();
      values_.assign(access.memory, access.range,
                     is_transition ? HeldValue{} : written_value(root));
    }
  }

  // Adds to `runs` the destroys that it carries out. Returns the runs and lists looked at.
  uint64_t see(LifetimeId id, std::vector<Run>& runs) {
    const Lifetime& lifetime = program_.lifetimes[id.index];
    uint64_t work = 0;
    holdings_.count_pin(lifetime);
    const ByteRange bytes = affected_by(program_, lifetime);
    values_.for_each(lifetime.memory, bytes, [&](const IntervalMap<HeldValue>::Run& run) {
      const LifetimeId destroy = holdings_.destroy_done_by(id, run.value);
      if (destroy.is_some()) runs.push_back({run.bytes, destroy});
    });
    work += values_.change(lifetime.memory, bytes, [&](HeldValue& value) {
      work += holdings_.list_work(value);
      return holdings_.apply(id, value) != HeldChange::kNone;
    });
    return work;
  }

  bool is_over_limit() const { return holdings_.is_over_limit(); }

 private:
  const Program& program_;
  Holdings holdings_;
  IntervalMap<HeldValue> values_;
};

}  // namespace

IssuedDestroys::IssuedDestroys(const Program& program, uint64_t limit) {
  if (program.text_order == nullptr) return;
  is_judged_.resize(program.lifetimes.size());
  begins_.resize(program.lifetimes.size());
  ends_.resize(program.lifetimes.size());
  constexpr uint64_t kWorkFree = 8;  // For each statement.
  uint64_t work_left = limit;
  IssueWalk walk(program);
  for (const uint32_t position : order_of_text(program)) {
    const Statement& statement = program.statements[position];
    if (statement.kind == StatementKind::kDispatch) walk.see(DispatchId(size_t{statement.index}));
    if (statement.kind != StatementKind::kLifetime) continue;
    begins_[statement.index] = static_cast<uint32_t>(runs_.size());
    const uint64_t work = walk.see(LifetimeId(size_t{statement.index}), runs_);
    is_judged_[statement.index] = statement.queue == kNoQueue;
    if (!is_judged_[statement.index]) runs_.resize(begins_[statement.index]);
    ends_[statement.index] = static_cast<uint32_t>(runs_.size());
    const uint64_t counted = work > kWorkFree ? work - kWorkFree : 0;
    is_cut_ |= runs_.size() > limit || counted > work_left || walk.is_over_limit();
    work_left -= std::min(counted, work_left);
    if (is_cut_ || is_stopped()) break;
  }
  by_destroy_ = runs_;
  std::ranges::sort(by_destroy_, {},
                    [](const Run& run) { return std::pair(run.destroy, run.bytes.begin); });
}

// No byte of a destroy is in two runs: what has let go holds the value no more.
std::vector<ByteRange> IssuedDestroys::never_done(LifetimeId destroy, ByteRange bytes) const {
  std::vector<ByteRange> rest;
  uint64_t begin = bytes.begin;
  // The first one that ends after the begin of `bytes`.
  auto next = std::ranges::upper_bound(
      by_destroy_, std::pair(destroy, bytes.begin), {},
      [](const Run& run) { return std::pair(run.destroy, run.bytes.end); });
  for (; next != by_destroy_.end() && next->destroy == destroy; ++next) {
    if (next->bytes.begin >= bytes.end) break;
    if (begin < next->bytes.begin) rest.push_back({begin, next->bytes.begin});
    begin = next->bytes.end;
  }
  if (begin < bytes.end) rest.push_back({begin, bytes.end});
  return rest;
}

std::span<const IssuedDestroys::Run> IssuedDestroys::at(LifetimeId at) const {
  return std::span(runs_).subspan(begins_[at.index], ends_[at.index] - begins_[at.index]);
}

}  // namespace interlock
