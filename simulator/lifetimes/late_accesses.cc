// The basic idea is to walk the statements in the order of the text over what was last accessed.
// Within a track that order is the one in which things execute, so that the last access of a byte
// stands for those before it.
#include "simulator/lifetimes/late_accesses.h"

#include <algorithm>
#include <span>
#include <tuple>

#include "encoder/program/interval_map.h"
#include "encoder/program/stop.h"
#include "simulator/lifetimes/held_back.h"
#include "simulator/lifetimes/held_value.h"

namespace interlock {
namespace {

// By lifetime statement: the first dispatch after it in the run.
std::vector<uint32_t> next_dispatches(const Program& program) {
  std::vector<uint32_t> next(program.lifetimes.size());
  uint32_t count = 0;
  for (const Statement& statement : program.statements) {
    count += statement.kind == StatementKind::kDispatch;
    if (statement.kind == StatementKind::kLifetime) next[statement.index] = count;
  }
  return next;
}

}  // namespace

LateAccesses::LateAccesses(const Program& program, const PendingWork& pending, uint64_t limit) {
  if (program.text_order == nullptr) return;
  const std::vector<uint32_t> next_dispatch = next_dispatches(program);
  std::vector<IntervalMap<AccessRef>> latest(pending.track_count());
  constexpr uint64_t kRunsFree = 8;  // For each statement and track.
  uint64_t work_left = limit;
  const auto find_late = [&](LifetimeId at) {
    const Lifetime& lifetime = program.lifetimes[at.index];
    const ByteRange bytes = affected_by(program, lifetime);
    for (size_t track = 0; track < latest.size(); ++track) {
      const uint64_t run_count = latest[track].for_each(
          lifetime.memory, bytes, [&](const IntervalMap<AccessRef>::Run& run) {
            const DispatchId dispatch = run.value.dispatch;
            const bool is_late = dispatch.is_some() && dispatch.index >= next_dispatch[at.index];
            if (is_late) entries_.push_back({at, track, {run.value, run.bytes}});
          });
      const uint64_t work = run_count > kRunsFree ? run_count - kRunsFree : 0;
      is_cut_ |= entries_.size() > limit || work > work_left;
      work_left -= std::min(work, work_left);
      if (is_cut_ || is_stopped()) return;
    }
  };
  for (const uint32_t position : order_of_text(program)) {
    const Statement& statement = program.statements[position];
    if (statement.kind == StatementKind::kDispatch) {
      const DispatchId id(size_t{statement.index});
      const std::span<const Access> accesses = program.accesses_of(id);
      for (uint32_t k = 0; k < accesses.size(); ++k) {
        const size_t track = pending.track_of(id, accesses[k]);
        latest[track].assign(accesses[k].memory, accesses[k].range, {id, k});
      }
    }
    if (statement.kind != StatementKind::kLifetime) continue;
    const LifetimeKind kind = program.lifetimes[statement.index].kind;
    const bool may_destroy = kind == LifetimeKind::kDestroy || kind == LifetimeKind::kUnpin;
    if (may_destroy) find_late(LifetimeId(size_t{statement.index}));
    if (is_cut_ || is_stopped()) break;
  }
  std::ranges::sort(entries_, {}, [](const Entry& entry) {
    return std::tuple(entry.at, entry.track, entry.run.bytes.begin);
  });
}

std::vector<LateAccesses::Run> LateAccesses::at(LifetimeId at, size_t track,
                                                ByteRange bytes) const {
  std::vector<Run> runs;
  // The first one that ends after the begin of `bytes`.
  auto next = std::ranges::lower_bound(
      entries_, std::tuple(at, track, bytes.begin + 1), {},
      [](const Entry& entry) { return std::tuple(entry.at, entry.track, entry.run.bytes.end); });
  for (; next != entries_.end() && next->at == at && next->track == track; ++next) {
    if (next->run.bytes.begin >= bytes.end) break;
    runs.push_back({next->run.access, intersection(next->run.bytes, bytes)});
  }
  return runs;
}

}  // namespace interlock
