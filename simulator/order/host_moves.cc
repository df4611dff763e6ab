// The basic idea: three walks over the statements with a map from bytes to what is known of them.
// Backward, the next move; forward, the last invalidation; and forward, whose bytes the cache
// holds.
#include "simulator/order/host_moves.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "encoder/program/stop.h"
#include "simulator/order/host_atoms.h"

namespace interlock {
namespace {

bool is_move(const SyncStep& step) {
  return step.kind == SyncKind::kHostFlushes || step.kind == SyncKind::kHostInvalidates;
}

// The step, if the statement moves bytes of the host's cache.
const SyncStep* move_at(const Program& program, uint32_t statement) {
  const Statement& at = program.statements[statement];
  if (at.kind != StatementKind::kSync || !is_move(program.syncs[at.index])) return nullptr;
  return &program.syncs[at.index];
}

template <typename Visit>
void for_each_atom_run(const Program& program, std::span<const Access> accesses, Visit visit) {
  for (const Access& access : accesses) {
    const Memory& memory = program.memory(access.memory);
    if (memory.atom_bytes > 0) visit(access.memory, in_whole_atoms(memory, access.range));
  }
}

// It leaves nothing of what was there.
bool overwrites(const Dispatch& dispatch, const Access& access) {
  return access.writes_plainly() && !dispatch.is_partial;
}

}  // namespace

HostMoves::HostMoves(const Program& program) {
  if (!has_host_atoms(program) || std::ranges::none_of(program.syncs, is_move)) return;
  host_dispatches_ = program.host_dispatches;
  find_lost(program);
  find_last_invalidations(program);
  find_first_after(program);
}

void HostMoves::find_lost(const Program& program) {
  constexpr uint32_t kNobody = 0;
  IntervalMap<uint32_t> cached;  // What the host has written and not moved: dispatches plus 1.
  IntervalMap<uint32_t> lost;    // Into lost_, plus 1.
  // What is in lost_ may be overwritten in parts: then a part of it goes on as another one.
  const auto end_lost = [&](MemoryId memory, ByteRange bytes, uint32_t statement) {
    std::vector<IntervalMap<uint32_t>::Run> runs;
    lost.for_each(memory, bytes, [&](const auto& run) {
      if (run.value != kNobody) runs.push_back(run);
    });
    for (const auto& run : runs) {
      const Lost whole = lost_[run.value - 1];
      Lost ended = whole;
      ended.bytes = run.bytes;
      ended.until = statement;
      lost_.push_back(ended);
      lost.assign(memory, run.bytes, kNobody);
    }
  };
  for (uint32_t s = 0; s < program.statements.size() && !is_stopped(); ++s) {
    const Statement& statement = program.statements[s];
    if (statement.kind == StatementKind::kDispatch) {
      const Dispatch& dispatch = program.dispatches[statement.index];
      for (const Access& access : program.accesses_of(dispatch)) {
        if (!overwrites(dispatch, access) || program.memory(access.memory).atom_bytes == 0)
          continue;
        end_lost(access.memory, access.range, s);
        const bool is_by_host = dispatch.host == HostAccess::kWrites;
        cached.assign(access.memory, access.range, is_by_host ? statement.index + 1 : kNobody);
      }
      continue;
    }
    const SyncStep* const move = move_at(program, s);
    if (move == nullptr) continue;
    for_each_atom_run(program, program.operands_of(*move), [&](MemoryId memory, ByteRange atoms) {
      if (move->kind == SyncKind::kHostInvalidates) {
        cached.for_each(memory, atoms, [&](const auto& run) {
          if (run.value == kNobody) return;
          lost_.push_back({DispatchId(size_t{run.value} - 1), memory, run.bytes, s, kNever});
          lost.assign(memory, run.bytes, static_cast<uint32_t>(lost_.size()));
        });
      }
      cached.assign(memory, atoms, kNobody);
    });
  }
  // Those that stand for a whole are replaced by what is left of it.
  std::vector<Lost> all;
  for (const Lost& item : lost_) {
    if (item.until != kNever) all.push_back(item);
  }
  lost.for_each_assigned([&](MemoryId memory, const auto& run) {
    if (run.value == kNobody) return;
    Lost left = lost_[run.value - 1];
    left.memory = memory;
    left.bytes = run.bytes;
    all.push_back(left);
  });
  lost_ = std::move(all);
  std::ranges::sort(lost_, {}, [](const Lost& item) {
    return std::tuple(item.writer.index, item.memory.index, item.bytes.begin);
  });
}

std::span<const HostMoves::Lost> HostMoves::lost_by(DispatchId writer, MemoryId memory,
                                                    uint64_t begin) const {
  const auto first = std::ranges::partition_point(lost_, [&](const Lost& item) {
    return std::tuple(item.writer.index, item.memory.index, item.bytes.end) <=
           std::tuple(writer.index, memory.index, begin);
  });
  const auto last = std::partition_point(first, lost_.end(), [&](const Lost& item) {
    return item.writer == writer && item.memory == memory;
  });
  return {first, last};
}

// Sorts the runs from `begin` on, and takes those bytes once that several operands have.
void HostMoves::settle(std::vector<Move>& runs, size_t begin) {
  const auto first = runs.begin() + static_cast<std::ptrdiff_t>(begin);
  std::sort(first, runs.end(), [](const Move& a, const Move& b) {
    return std::pair(a.memory, a.bytes.begin) < std::pair(b.memory, b.bytes.begin);
  });
  size_t count = begin;
  for (size_t i = begin; i < runs.size(); ++i) {
    Move run = runs[i];
    if (count > begin && runs[count - 1].memory == run.memory) {
      run.bytes.begin = std::max(run.bytes.begin, runs[count - 1].bytes.end);
    }
    if (!run.bytes.is_empty()) runs[count++] = run;
  }
  runs.resize(count);
}

void HostMoves::find_last_invalidations(const Program& program) {
  IntervalMap<uint32_t> last;  // Statements plus 1.
  before_.ends.reserve(host_dispatches_.size());
  for (uint32_t s = 0; s < program.statements.size() && !is_stopped(); ++s) {
    const Statement& statement = program.statements[s];
    if (statement.kind == StatementKind::kDispatch) {
      const Dispatch& dispatch = program.dispatches[statement.index];
      if (dispatch.host == HostAccess::kNone) continue;
      const size_t begin = before_.all.size();
      for_each_atom_run(
          program, program.accesses_of(dispatch), [&](MemoryId memory, ByteRange atoms) {
            if (is_cut_) return;
            last.for_each(memory, atoms, [&](const auto& run) {
              before_.all.push_back({memory, run.bytes, run.value == 0 ? kNever : run.value - 1});
            });
            is_cut_ = before_.all.size() > kRunsMax;
          });
      settle(before_.all, begin);
      before_.ends.push_back(static_cast<uint32_t>(before_.all.size()));
      continue;
    }
    const SyncStep* const move = move_at(program, s);
    if (move == nullptr || move->kind != SyncKind::kHostInvalidates) continue;
    for_each_atom_run(program, program.operands_of(*move),
                      [&](MemoryId memory, ByteRange atoms) { last.assign(memory, atoms, s + 1); });
  }
}

void HostMoves::find_first_after(const Program& program) {
  IntervalMap<uint32_t> next;  // Statements plus 1.
  // Backward, so that the last access comes first; turned round at the end.
  std::vector<std::vector<Move>> backward;
  uint64_t count = 0;
  for (uint32_t s = static_cast<uint32_t>(program.statements.size()); s-- > 0 && !is_stopped();) {
    const Statement& statement = program.statements[s];
    if (statement.kind == StatementKind::kDispatch) {
      const Dispatch& dispatch = program.dispatches[statement.index];
      if (dispatch.host == HostAccess::kNone) continue;
      std::vector<Move>& runs = backward.emplace_back();
      if (dispatch.host != HostAccess::kWrites || is_cut_) continue;
      for_each_atom_run(
          program, program.accesses_of(dispatch), [&](MemoryId memory, ByteRange atoms) {
            next.for_each(memory, atoms, [&](const auto& run) {
              runs.push_back({memory, run.bytes, run.value == 0 ? kNever : run.value - 1});
            });
          });
      settle(runs, 0);
      count += runs.size();
      is_cut_ = count > kRunsMax;
      continue;
    }
    const SyncStep* const move = move_at(program, s);
    if (move == nullptr) continue;
    for_each_atom_run(program, program.operands_of(*move),
                      [&](MemoryId memory, ByteRange atoms) { next.assign(memory, atoms, s + 1); });
  }
  after_.all.reserve(count);
  for (size_t i = backward.size(); i-- > 0;) {
    after_.all.insert(after_.all.end(), backward[i].begin(), backward[i].end());
    after_.ends.push_back(static_cast<uint32_t>(after_.all.size()));
  }
}

std::span<const HostMoves::Move> HostMoves::runs_of(const Runs& runs,
                                                    DispatchId host_access) const {
  const auto found = std::ranges::lower_bound(host_dispatches_, host_access);
  if (found == host_dispatches_.end() || *found != host_access) return {};
  const auto position = static_cast<size_t>(found - host_dispatches_.begin());
  if (position >= runs.ends.size()) return {};  // After a stop.
  const size_t begin = position == 0 ? 0 : runs.ends[position - 1];
  return std::span(runs.all).subspan(begin, runs.ends[position] - begin);
}

LostBytes::LostBytes(const HostMoves& moves) : moves_(moves) {
  by_begin_.resize(moves.lost().size());
  std::iota(by_begin_.begin(), by_begin_.end(), 0u);
  by_end_ = by_begin_;
  const auto begin_of = [&](uint32_t i) { return moves_.lost()[i].from; };
  const auto end_of = [&](uint32_t i) { return moves_.lost()[i].until; };
  std::ranges::stable_sort(by_begin_, {}, begin_of);
  std::ranges::stable_sort(by_end_, {}, end_of);
}

void LostBytes::go_on_to(uint32_t statement) {
  const auto lost = moves_.lost();
  // What is overwritten and lost again: the end of the first comes before the begin of the second.
  for (;;) {
    const uint32_t begin =
        begun_ < by_begin_.size() ? lost[by_begin_[begun_]].from : HostMoves::kNever;
    const uint32_t end = ended_ < by_end_.size() ? lost[by_end_[ended_]].until : HostMoves::kNever;
    if (std::min(begin, end) >= statement) return;
    const bool begins = begin < end;
    const uint32_t index = begins ? by_begin_[begun_++] : by_end_[ended_++];
    now_.assign(lost[index].memory, lost[index].bytes, begins ? index + 1 : 0);
  }
}

}  // namespace interlock
