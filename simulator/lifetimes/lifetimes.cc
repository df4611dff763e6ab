// The basic idea is to walk the statements in issue order over two maps: what each byte holds
// (held_value.h) in runs as long as they can be, and who wrote it. A clean read of a value that one
// tensor owns crosses one run, however many dispatches wrote it; writers are looked up for findings
// only. All reads of a dispatch come before its writes.
#include "simulator/lifetimes/lifetimes.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/scope.h"
#include "encoder/program/stop.h"
#include "simulator/bytes/interval_map.h"
#include "simulator/lifetimes/destroy_needs.h"
#include "simulator/lifetimes/held_value.h"

namespace interlock {
namespace {

using ValueRun = IntervalMap<HeldValue>::Run;

struct DestroyedAccess {
  AccessRef access;
  LifetimeId destroy;
  LifetimeId done_at;  // What carries it out.
  MemoryId memory;
  ByteRange bytes;
  bool is_pending = false;     // No barrier stands between.
  BarrierId only_barrier;      // None: there are more, or none.
  uint32_t next_dispatch = 0;  // After the statement.
};

// What a statement finds on the bytes that it reads.
class ReadObserver {
 public:
  virtual ~ReadObserver() = default;
  // `reader`: no dispatch at the end of the program. `root`: none for a raw range.
  virtual void see_read(AccessRef reader, TensorId root, MemoryId memory, const ValueRun& run) = 0;
  // The last access of its stage to bytes that `done_at` destroys, and if that is pending, the last
  // one that is not.
  virtual void see_destroyed(const DestroyedAccess& /*destroyed*/) {}
};

// Which dispatches a destroy may not follow yet: by stage, those from this one on.
class PendingWork {
 public:
  void see_barrier(const Program& program, BarrierId id, uint32_t next_dispatch) {
    const Barrier& barrier = program.barriers[id.index];
    StageMask ordered = barrier.kind == BarrierKind::kScoped ? 0 : kAllStages;
    for (const Dependency& part : program.dependencies_of(barrier)) ordered |= part.source.stages;
    for (size_t i = 0; i < kStageCount; ++i) {
      if ((ordered & bit_of(static_cast<Stage>(i))) == 0) continue;
      last_but_one_[i] = last_[i];
      last_[i] = {next_dispatch, id};
    }
  }

  bool has(Stage stage, DispatchId id) const { return id.index >= last_[index_of(stage)].begin; }

  // The barrier that alone orders the dispatch; none if there is another, or none.
  BarrierId only_barrier(Stage stage, DispatchId id) const {
    const bool is_only = !has(stage, id) && id.index >= last_but_one_[index_of(stage)].begin;
    return is_only ? last_[index_of(stage)].barrier : BarrierId();
  }

 private:
  struct Cover {
    uint32_t begin = 0;  // The first dispatch after the barrier.
    BarrierId barrier;
  };

  static size_t index_of(Stage stage) { return static_cast<size_t>(stage); }

  std::array<Cover, kStageCount> last_{};
  std::array<Cover, kStageCount> last_but_one_{};
};

class OwnerWalk {
 public:
  OwnerWalk(const Program& program, uint64_t work_limit, ReadObserver& observer)
      : program_(program),
        observer_(observer),
        work_left_(work_limit),
        holdings_(program),
        is_tracked_(program.memories.size(), false) {
    for (const Tensor& tensor : program.tensors) is_tracked_[tensor.memory.index] = true;
    for (const Lifetime& lifetime : program.lifetimes) {
      if (lifetime.kind == LifetimeKind::kReset) is_tracked_[lifetime.memory.index] = true;
      has_destroy_ |= lifetime.kind == LifetimeKind::kDestroy;
    }
    for (size_t i = 0; i < program.tensors.size(); ++i) {
      const Tensor& tensor = program.tensors[i];
      if (tensor.initial.kind == InitialKind::kNone) continue;
      values_.assign(tensor.memory, tensor.range, written_value(TensorId(i)));
    }
  }

  // Returns false if the work is over the limit. The observer may end the walk.
  bool run(const bool& is_ended) {
    for (const Statement& statement : program_.statements) {
      switch (statement.kind) {
        case StatementKind::kDispatch:
          run_dispatch(DispatchId(statement.index));
          break;
        case StatementKind::kBarrier:
          pending_.see_barrier(program_, BarrierId(statement.index), dispatch_count_);
          break;
        case StatementKind::kLifetime:
          run_lifetime(LifetimeId(statement.index));
          break;
      }
      if (is_over_ || is_ended || is_stopped()) return !is_over_;
    }
    for (const TensorId id : program_.outputs) {
      if (is_stopped()) break;
      const Tensor& tensor = program_.tensor(id);
      read(AccessRef{}, tensor.root, tensor.memory, tensor.range);
    }
    return !is_over_;
  }

  const IntervalMap<HeldValue>& values() const { return values_; }
  const IntervalMap<AccessRef>& writers() const { return writers_; }
  const Holdings& holdings() const { return holdings_; }

 private:
  // Each statement pays for some runs itself.
  void charge(uint64_t run_count) {
    constexpr uint64_t kRunsFree = 8;
    const uint64_t work = run_count > kRunsFree ? run_count - kRunsFree : 0;
    is_over_ |= work > work_left_;
    work_left_ -= std::min(work, work_left_);
  }

  void read(AccessRef reader, TensorId root, MemoryId memory, ByteRange bytes) {
    uint64_t list_work = 0;
    const uint64_t run_count = values_.for_each(memory, bytes, [&](const ValueRun& run) {
      if (is_stopped()) return;
      list_work += holdings_.list_work(run.value);
      observer_.see_read(reader, root, memory, run);
    });
    charge(run_count + list_work);
  }

  TensorId root_of(const Access& access) const {
    return access.tensor.is_some() ? program_.tensor(access.tensor).root : TensorId();
  }

  void run_dispatch(DispatchId id) {
    const std::span<const Access> accesses = program_.accesses_of(id);
    const size_t stage = static_cast<size_t>(stage_of(program_.dispatch(id)));
    for (uint32_t k = 0; k < accesses.size(); ++k) {
      const Access& access = accesses[k];
      const bool is_read = access.mode != AccessMode::kWrite;
      if (is_read && is_tracked_[access.memory.index]) {
        read({id, k}, root_of(access), access.memory, access.range);
      }
    }
    for (uint32_t k = 0; k < accesses.size(); ++k) {
      const Access& access = accesses[k];
      if (!is_tracked_[access.memory.index]) continue;
      if (has_destroy_) note_access(stage, access, {id, k});
      if (access.only_reads()) continue;
      values_.assign(access.memory, access.range, written_value(root_of(access)));
      if (access.tensor.is_some()) writers_.assign(access.memory, access.range, {id, k});
    }
    dispatch_count_ = id.index + 1;
  }

  void note_access(size_t stage, const Access& access, AccessRef ref) {
    latest_[stage].for_each(
        access.memory, access.range, [&](const IntervalMap<AccessRef>::Run& run) {
          const DispatchId dispatch = run.value.dispatch;
          const bool is_over = dispatch.is_some() && !pending_.has(kStages[stage], dispatch);
          if (is_over) latest_over_[stage].assign(access.memory, run.bytes, run.value);
        });
    latest_[stage].assign(access.memory, access.range, ref);
  }

  void run_lifetime(LifetimeId id) {
    const Lifetime& lifetime = program_.lifetimes[id.index];
    const ByteRange bytes = affected_by(program_, lifetime);
    holdings_.count_pin(lifetime);
    const bool may_destroy =
        lifetime.kind == LifetimeKind::kDestroy || lifetime.kind == LifetimeKind::kUnpin;
    if (has_destroy_ && may_destroy) find_destroyed(id, lifetime.memory, bytes);
    uint64_t list_work = 0;
    const uint64_t run_count = values_.change(lifetime.memory, bytes, [&](HeldValue& value) {
      list_work += holdings_.list_work(value);
      return holdings_.apply(id, value) != HeldChange::kNone;
    });
    charge(run_count + list_work);
    is_over_ |= holdings_.is_over_limit();
  }

  // Accesses of bytes that the statement destroys, or lets a destroy have at last.
  void find_destroyed(LifetimeId id, MemoryId memory, ByteRange bytes) {
    charge(values_.for_each(memory, bytes, [&](const ValueRun& run) {
      if (is_stopped()) return;
      charge(holdings_.list_work(run.value));
      const LifetimeId destroy = holdings_.destroy_done_by(id, run.value);
      if (!destroy.is_some()) return;
      for (const Stage stage : kStages) {
        find_destroyed(latest_[static_cast<size_t>(stage)], stage, destroy, id, memory, run.bytes);
      }
    }));
  }

  void find_destroyed(const IntervalMap<AccessRef>& accesses, Stage stage, LifetimeId destroy,
                      LifetimeId done_at, MemoryId memory, ByteRange bytes) {
    charge(accesses.for_each(memory, bytes, [&](const IntervalMap<AccessRef>::Run& access) {
      const DispatchId dispatch = access.value.dispatch;
      if (!dispatch.is_some()) return;
      const bool is_pending = pending_.has(stage, dispatch);
      observer_.see_destroyed({access.value, destroy, done_at, memory, access.bytes, is_pending,
                               pending_.only_barrier(stage, dispatch), dispatch_count_});
      if (is_pending) {
        find_destroyed(latest_over_[static_cast<size_t>(stage)], stage, destroy, done_at, memory,
                       access.bytes);
      }
    }));
  }

  const Program& program_;
  ReadObserver& observer_;
  uint64_t work_left_;
  Holdings holdings_;
  std::vector<bool> is_tracked_;  // By memory: some tensor lies there, or it is reset.
  bool has_destroy_ = false;
  bool is_over_ = false;
  uint32_t dispatch_count_ = 0;
  PendingWork pending_;
  IntervalMap<HeldValue> values_;
  IntervalMap<AccessRef> writers_;  // The last write through a tensor.
  // By stage: the last access of any sort, if there is a destroy. Barriers order stages apart.
  std::array<IntervalMap<AccessRef>, kStageCount> latest_;
  // Likewise the last one before the last barrier that covers its stage, where `latest_` is later.
  std::array<IntervalMap<AccessRef>, kStageCount> latest_over_;
};

class FindingCollector final : public ReadObserver {
 public:
  FindingCollector(const Program& program, const LifetimeOptions& options)
      : options_(options), walk_(program, options.work_limit, *this) {}

  LifetimeReport run() && {
    const bool is_over = !walk_.run(has_too_many_);
    if (walk_.holdings().is_over_limit()) {
      report_.truncation = {TruncationCause::kHolders, kHolderEntriesMax};
    } else if (is_over) {
      report_.truncation = {TruncationCause::kLifetimeRuns, options_.work_limit};
    } else if (has_too_many_) {
      report_.truncation = {TruncationCause::kLifetimeFindings, options_.finding_limit};
    }
    return std::move(report_);
  }

  void see_read(AccessRef reader, TensorId root, MemoryId memory, const ValueRun& run) override {
    const Holdings& holdings = walk_.holdings();
    const bool is_suspect = holdings.defect_of(run.value, root, true).has_value();
    if (!is_suspect) return;
    LifetimeFinding finding;
    finding.reader = reader;
    finding.tensor = root;
    finding.found = run.value.owner;
    finding.memory = memory;
    if (run.value.is_ended() || run.value.kind == HeldKind::kNothing) {
      finding.bytes = run.bytes;
      finding.ended_by = run.value.ended_by;
      finding.ended_at = run.value.ended_at;
      add(*holdings.defect_of(run.value, root, true), finding);
      return;
    }
    walk_.writers().for_each(memory, run.bytes, [&](const IntervalMap<AccessRef>::Run& writer) {
      finding.bytes = writer.bytes;
      finding.overwriter = writer.value;
      add(*holdings.defect_of(run.value, root, writer.value.dispatch.is_some()), finding);
    });
  }

  void see_destroyed(const DestroyedAccess& destroyed) override {
    if (!destroyed.is_pending) return;
    LifetimeFinding finding;
    finding.reader = destroyed.access;
    finding.ended_by = destroyed.destroy;
    finding.ended_at = destroyed.done_at;
    finding.is_pending = true;
    finding.memory = destroyed.memory;
    finding.bytes = destroyed.bytes;
    add(FindingKind::kUseAfterFree, finding);
  }

 private:
  // Runs of one operand come one after another, in the order of their bytes.
  void add(FindingKind kind, LifetimeFinding finding) {
    finding.kind = kind;
    const bool is_end = !finding.reader.dispatch.is_some();
    if (is_end && kind == FindingKind::kUninitialized) return;
    // A destroy finds the runs of several accesses in turn.
    const auto subject =
        std::pair(finding.is_pending ? AccessRef{} : finding.reader, finding.tensor);
    if (subject != subject_) seen_.clear();
    subject_ = subject;
    const auto [entry, is_new] =
        seen_.emplace(std::tuple(kind, finding.reader, finding.overwriter, finding.found,
                                 finding.ended_by, finding.ended_at),
                      report_.findings.size());
    if (!is_new) {
      LifetimeFinding& known = report_.findings[entry->second];
      if (known.bytes.end == finding.bytes.begin) known.bytes.end = finding.bytes.end;
      return;
    }
    if (report_.findings.size() >= options_.finding_limit) {
      has_too_many_ = true;
      return;
    }
    report_.findings.push_back(finding);
  }

  const LifetimeOptions options_;
  LifetimeReport report_;
  bool has_too_many_ = false;  // Findings: the walk stops.
  std::pair<AccessRef, TensorId> subject_;
  // Of the subject: positions among the findings.
  std::map<std::tuple<FindingKind, AccessRef, AccessRef, TensorId, LifetimeId, LifetimeId>, size_t>
      seen_;
  OwnerWalk walk_;
};

class EndedCollector final : public ReadObserver {
 public:
  void see_read(AccessRef reader, TensorId /*root*/, MemoryId memory,
                const ValueRun& run) override {
    if (!run.value.is_ended() || !reader.dispatch.is_some()) return;
    ended.push_back({reader.dispatch, memory, run.bytes});
  }

  std::vector<EndedBytes> ended;
};

class NeedCollector final : public ReadObserver {
 public:
  void see_read(AccessRef, TensorId, MemoryId, const ValueRun&) override {}
  void see_destroyed(const DestroyedAccess& destroyed) override {
    if (destroyed.only_barrier.is_some()) needs.barriers.push_back(destroyed.only_barrier);
    const DispatchId access = destroyed.access.dispatch;
    const bool is_known = !needs.pairs.empty() && needs.pairs.back().destroy == destroyed.done_at;
    if (is_known) {
      needs.pairs.back().first = std::max(needs.pairs.back().first, access);
    } else {
      needs.pairs.push_back({access, DispatchId(destroyed.next_dispatch), destroyed.done_at});
    }
  }

  DestroyNeeds needs;
};

}  // namespace

LifetimeReport check_lifetimes(const Program& program, const LifetimeOptions& options) {
  if (program.tensors.empty() && !program.has_any(LifetimeKind::kReset)) return {};
  return FindingCollector(program, options).run();
}

std::vector<EndedBytes> find_ended_bytes(const Program& program) {
  if (program.lifetimes.empty()) return {};
  constexpr uint64_t kWorkLimit = 5'000'000;
  EndedCollector collector;
  OwnerWalk walk(program, kWorkLimit, collector);
  if (!walk.run(false)) return {};
  walk.values().for_each_assigned([&](MemoryId memory, const ValueRun& run) {
    if (run.value.is_ended()) collector.ended.push_back({DispatchId(), memory, run.bytes});
  });
  return std::move(collector.ended);
}

DestroyNeeds find_destroy_needs(const Program& program) {
  if (!program.has_any(LifetimeKind::kDestroy)) return {};
  NeedCollector collector;
  OwnerWalk walk(program, LifetimeOptions().work_limit, collector);
  collector.needs.is_complete = walk.run(false);
  std::vector<BarrierId>& barriers = collector.needs.barriers;
  std::sort(barriers.begin(), barriers.end());
  barriers.erase(std::unique(barriers.begin(), barriers.end()), barriers.end());
  return std::move(collector.needs);
}

}  // namespace interlock
