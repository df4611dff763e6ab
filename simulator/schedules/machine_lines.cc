// The basic idea: keep the lines, and do to them what each statement does. Lines are many, and
// those between two neighbouring ends of anything that the host touches always go together: they
// are kept as one.
#include "simulator/schedules/machine_lines.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "encoder/program/check.h"
#include "encoder/program/interval_map.h"
#include "encoder/program/stop.h"

namespace interlock {
namespace {

// The step, if the statement moves lines.
const SyncStep* moving_step(const Program& program, const Statement& statement) {
  if (statement.kind != StatementKind::kSync) return nullptr;
  const SyncStep& step = program.syncs[statement.index];
  const bool moves = step.kind == SyncKind::kHostFlushes || step.kind == SyncKind::kHostInvalidates;
  return moves ? &step : nullptr;
}

bool has_lines(const Program& program, const Access& access) {
  return program.memory(access.memory).atom_bytes > 0 && !access.range.is_empty();
}

// What stands in lines of the host as statements run one after another, and what no longer does.
class LossWalk {
 public:
  explicit LossWalk(const Program& program) : program_(program) {}

  std::vector<LostContent> run() {
    for (size_t i = 0; i < program_.statements.size() && !is_stopped(); ++i) {
      const Statement& statement = program_.statements[i];
      if (statement.kind == StatementKind::kDispatch) {
        overwrite(DispatchId(size_t{statement.index}));
      } else if (const SyncStep* const step = moving_step(program_, statement)) {
        move(*step, StatementId(i));
      }
    }
    gone_.for_each_assigned([this](MemoryId memory, const auto& run) {
      end(memory, run.bytes, run.value, DispatchId());
    });
    return std::move(lost_);
  }

 private:
  struct Loss {
    DispatchId writer;  // None: nothing is lost.
    StatementId dropped;

    bool operator==(const Loss&) const = default;
  };

  void end(MemoryId memory, ByteRange bytes, const Loss& loss, DispatchId overwriter) {
    if (!loss.writer.is_some()) return;
    lost_.push_back({loss.writer, memory, bytes, loss.dropped, overwriter});
  }

  // What leaves something of the old content overwrites nothing.
  void overwrite(DispatchId id) {
    const Dispatch& dispatch = program_.dispatch(id);
    if (dispatch.is_partial) return;
    const DispatchId holder = dispatch.host == HostAccess::kWrites ? id : DispatchId();
    for (const Access& access : program_.accesses_of(dispatch)) {
      if (!access.writes_plainly() || !has_lines(program_, access)) continue;
      gone_.for_each(access.memory, access.range,
                     [&](const auto& run) { end(access.memory, run.bytes, run.value, id); });
      gone_.assign(access.memory, access.range, Loss());
      held_.assign(access.memory, access.range, holder);
    }
  }

  void move(const SyncStep& step, StatementId id) {
    for (const Access& operand : program_.operands_of(step)) {
      if (!has_lines(program_, operand)) continue;
      const ByteRange lines = whole_lines(program_.memory(operand.memory), operand.range);
      if (step.kind == SyncKind::kHostInvalidates) {
        held_.for_each(operand.memory, lines, [&](const auto& run) {
          if (run.value.is_some()) gone_.assign(operand.memory, run.bytes, {run.value, id});
        });
      }
      held_.assign(operand.memory, lines, DispatchId());
    }
  }

  const Program& program_;
  IntervalMap<DispatchId> held_;  // By the host's lines, and nowhere else: who wrote it.
  IntervalMap<Loss> gone_;
  std::vector<LostContent> lost_;
};

}  // namespace

ByteRange whole_lines(const Memory& memory, ByteRange range) {
  if (range.is_empty()) return range;
  const uint64_t first = range.begin / memory.atom_bytes;
  const uint64_t last = (range.end - 1) / memory.atom_bytes;
  // What is left behind the last whole atom of a memory is a shorter line.
  const bool is_cut_off = last == (memory.size_bytes - 1) / memory.atom_bytes;
  const uint64_t end = is_cut_off ? memory.size_bytes : (last + 1) * memory.atom_bytes;
  return {first * memory.atom_bytes, end};
}

MachineLines::MachineLines(const Program& program, std::span<const StatementId> text) {
  for (const DispatchId dispatch : program.host_dispatches) {
    for (const Access& access : program.accesses_of(dispatch)) tell_apart(program, access);
  }
  for (const Statement& statement : program.statements) {
    const SyncStep* const step = moving_step(program, statement);
    if (step == nullptr) continue;
    for (const Access& operand : program.operands_of(*step)) tell_apart(program, operand);
  }
  for (auto& [memory, ends] : ends_) {
    std::ranges::sort(ends);
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    for (size_t i = 0; i + 1 < ends.size(); ++i) {
      lines_[memory].push_back({{ends[i], ends[i + 1]}, {}, {}, {}});
    }
  }
  for (const StatementId id : text) {
    if (is_stopped()) return;
    const Statement& statement = program.statements[id.index];
    if (statement.kind == StatementKind::kDispatch) {
      const DispatchId dispatch(size_t{statement.index});
      if (program.dispatch(dispatch).host != HostAccess::kNone) access(program, dispatch);
    } else if (const SyncStep* const step = moving_step(program, statement)) {
      move(program, *step, id);
    }
  }
}

void MachineLines::tell_apart(const Program& program, const Access& access) {
  if (!has_lines(program, access)) return;
  const ByteRange bytes = whole_lines(program.memory(access.memory), access.range);
  ends_[access.memory].push_back(bytes.begin);
  ends_[access.memory].push_back(bytes.end);
}

std::span<MachineLines::Lines> MachineLines::touched_by(const Program& program,
                                                        const Access& access) {
  if (!has_lines(program, access)) return {};
  const ByteRange bytes = whole_lines(program.memory(access.memory), access.range);
  std::vector<Lines>& lines = lines_[access.memory];
  const auto begin_of = [](const Lines& at) { return at.bytes.begin; };
  const auto first = std::ranges::lower_bound(lines, bytes.begin, {}, begin_of);
  const auto last = std::ranges::lower_bound(lines, bytes.end, {}, begin_of);
  return {first, last};
}

// It works in lines as it finds them there; what it writes stays in them.
void MachineLines::access(const Program& program, DispatchId dispatch) {
  const auto operands = program.accesses_of(dispatch);
  std::vector<Access> accesses(operands.begin(), operands.end());
  std::ranges::sort(accesses, {},
                    [](const Access& at) { return std::pair(at.memory, at.range.begin); });
  const size_t begin = stays_.size();
  for (const Access& access : accesses) {
    for (Lines& lines : touched_by(program, access)) {
      if (std::exchange(lines.latest, dispatch) == dispatch) continue;
      if (program.dispatch(dispatch).host == HostAccess::kWrites) {
        lines.dirty.push_back(stays_.size());
      }
      stays_.push_back({access.memory, lines.bytes, lines.dropped, {}, false});
    }
  }
  shares_[dispatch] = {begin, stays_.size()};
}

// A flush writes dirty lines back, and an invalidation drops lines, whatever is in them.
void MachineLines::move(const Program& program, const SyncStep& step, StatementId id) {
  const bool drops = step.kind == SyncKind::kHostInvalidates;
  for (const Access& operand : program.operands_of(step)) {
    for (Lines& lines : touched_by(program, operand)) {
      for (const size_t stay : std::exchange(lines.dirty, {})) {
        stays_[stay].left = id;
        stays_[stay].is_lost = drops;
      }
      if (drops) lines.dropped = id;
    }
  }
}

std::span<const MachineLines::Stay> MachineLines::stays_of(DispatchId host_dispatch) const {
  const auto share = shares_.find(host_dispatch);
  if (share == shares_.end()) return {};  // After a stop.
  return std::span(stays_).subspan(share->second.begin, share->second.end - share->second.begin);
}

MachineLines::Stay MachineLines::stay_at(DispatchId host_dispatch, MemoryId memory,
                                         uint64_t byte) const {
  const auto stays = stays_of(host_dispatch);
  if (stays.empty()) return {};  // After a stop.
  const auto after = std::ranges::upper_bound(
      stays, std::pair(memory, byte), {},
      [](const Stay& stay) { return std::pair(stay.memory, stay.bytes.begin); });
  INTERLOCK_CHECK(after != stays.begin());
  const Stay& stay = *std::prev(after);
  INTERLOCK_CHECK(stay.memory == memory && byte < stay.bytes.end);
  return stay;
}

std::vector<LineContent> beside_in_lines(const Program& program, DispatchId dispatch) {
  if (program.dispatch(dispatch).host != HostAccess::kWrites) return {};
  // First all that goes back with the lines, then less what is written.
  IntervalMap<bool> is_beside;
  for (const bool is_line : {true, false}) {
    for (const Access& access : program.accesses_of(dispatch)) {
      if (!has_lines(program, access)) continue;
      const Memory& memory = program.memory(access.memory);
      is_beside.assign(access.memory, is_line ? whole_lines(memory, access.range) : access.range,
                       is_line);
    }
  }
  std::vector<LineContent> beside;
  is_beside.for_each_assigned([&](MemoryId memory, const IntervalMap<bool>::Run& run) {
    if (!run.value) return;
    for (uint64_t begin = run.bytes.begin; begin < run.bytes.end;) {
      const uint64_t line_end = whole_lines(program.memory(memory), {begin, begin + 1}).end;
      const uint64_t end = std::min(line_end, run.bytes.end);
      beside.push_back({memory, {begin, end}});
      begin = end;
    }
  });
  return beside;
}

std::vector<LostContent> lost_in_lines(const Program& program) {
  const auto has_atoms = [](const Memory& memory) { return memory.atom_bytes > 0; };
  if (program.host_dispatches.empty() || std::ranges::none_of(program.memories, has_atoms)) {
    return {};
  }
  return LossWalk(program).run();
}

}  // namespace interlock
