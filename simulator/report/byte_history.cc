// The basic idea is to follow a single byte through the statements by the rules of held_value.h,
// and to cut off the bytes after it that some statement treats in another way.
#include "simulator/report/byte_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "encoder/program/check.h"
#include "encoder/program/stop.h"
#include "simulator/report/operand_text.h"

namespace interlock {
namespace {

class HistoryWalk {
 public:
  HistoryWalk(const Program& program, MemoryId memory, ByteRange bytes)
      : program_(program), memory_(memory), holdings_(program) {
    history_.bytes = bytes;
  }

  ByteHistory run(uint32_t statement_end) {
    for (size_t i = 0; i < program_.tensors.size(); ++i) {
      const Tensor& tensor = program_.tensors[i];
      if (tensor.initial.kind == InitialKind::kNone || !covers(tensor.memory, tensor.range))
        continue;
      value_ = written_value(TensorId(i));
      history_.events.push_back({.kind = HistoryKind::kInitial, .value = value_});
    }
    for (uint32_t s = 0; s < statement_end && !is_stopped_at(s); ++s) {
      const Statement& statement = program_.statements[s];
      if (statement.kind == StatementKind::kDispatch) see(DispatchId(statement.index));
      if (statement.kind == StatementKind::kLifetime) see(LifetimeId(statement.index));
    }
    return std::move(history_);
  }

  uint64_t list_entry_count() const { return holdings_.entry_count(); }

 private:
  // Whether the byte lies in the range. Keeps those bytes that do as it does.
  bool covers(MemoryId memory, ByteRange range) {
    if (memory != memory_ || !share_a_byte(range, history_.bytes)) return false;
    uint64_t& end = history_.bytes.end;
    const bool is_covered = range.begin <= history_.bytes.begin;
    end = std::min(end, is_covered ? range.end : range.begin);
    return is_covered;
  }

  void see(DispatchId id) {
    const bool is_transition = program_.dispatch(id).is_transition();
    for (const Access& access : program_.accesses_of(id)) {
      if (is_transition && access.reads_plainly()) continue;  // It keeps what is there.
      if (access.only_reads() || !covers(access.memory, access.range)) continue;
      const bool is_tensor = access.tensor.is_some();
      const HeldValue written =
          is_transition
              ? HeldValue{}
              : written_value(is_tensor ? program_.tensor(access.tensor).root : TensorId());
      if (written == value_) continue;
      value_ = written;
      history_.events.push_back({.kind = HistoryKind::kWritten, .value = value_, .dispatch = id});
    }
  }

  void see(LifetimeId id) {
    const Lifetime& lifetime = program_.lifetimes[id.index];
    holdings_.count_pin(lifetime);
    if (!covers(lifetime.memory, affected_by(program_, lifetime))) return;
    const HeldChange change = holdings_.apply(id, value_);
    if (change == HeldChange::kNone) return;
    history_.events.push_back(
        {.kind = HistoryKind::kLifetime, .value = value_, .lifetime = id, .change = change});
  }

  const Program& program_;
  MemoryId memory_;
  Holdings holdings_;
  HeldValue value_;
  ByteHistory history_;
};

std::string_view participle_of(LifetimeKind kind) {
  return kind == LifetimeKind::kReset     ? "reset"
         : kind == LifetimeKind::kDestroy ? "destroyed"
                                          : "freed";
}

std::string event_clause(const Program& program, const HistoryEvent& event) {
  if (event.kind == HistoryKind::kInitial) {
    return fmt::format("held {} from the start", name_of(program, event.value.owner));
  }
  if (event.kind == HistoryKind::kWritten) {
    const std::string writer = program.description_of(event.dispatch);
    if (event.value.kind == HeldKind::kNothing) return fmt::format("was discarded by {}", writer);
    return event.value.owner.is_some()
               ? fmt::format("held {} from {} on", name_of(program, event.value.owner), writer)
               : fmt::format("was written by {} through no tensor", writer);
  }
  const Lifetime& lifetime = program.lifetimes[event.lifetime.index];
  const std::string place = place_of(program, event.lifetime);
  const bool is_unpin = lifetime.kind == LifetimeKind::kUnpin;
  const LifetimeId end = event.value.ended_by;
  switch (event.change) {
    case HeldChange::kAdopted:
      return fmt::format("was adopted as {} {}", name_of(program, lifetime.tensor), place);
    case HeldChange::kDeferred:
      return fmt::format("stayed when it was {} {}, pinned", participle_of(lifetime.kind), place);
    case HeldChange::kLetGo:
      return fmt::format("was let go of by {} {}{}", name_of(program, lifetime.tensor),
                         is_unpin ? "when it was unpinned " : "", place);
    case HeldChange::kEnded:
      return fmt::format("was {} {}{}", participle_of(program.lifetimes[end.index].kind),
                         is_unpin ? "when it was unpinned " : "", place);
    case HeldChange::kNone:
      break;
  }
  INTERLOCK_CHECK(false);
}

}  // namespace

ByteHistory history_of(const Program& program, MemoryId memory, ByteRange bytes, DispatchId reader,
                       uint64_t& work_left) {
  const uint32_t statement_end = reader.is_some()
                                     ? program.dispatch(reader).statement.index
                                     : static_cast<uint32_t>(program.statements.size());
  const uint64_t access_count =
      reader.is_some() ? program.dispatch(reader).first_access : program.accesses.size();
  const uint64_t work = program.tensors.size() + statement_end + access_count;
  if (work > work_left) return {};
  work_left -= work;
  HistoryWalk walk(program, memory, bytes);
  ByteHistory history = walk.run(statement_end);
  work_left -= std::min(work_left, walk.list_entry_count());
  return history;
}

std::string text_of(const Program& program, MemoryId memory, const ByteHistory& history) {
  constexpr size_t kEventsShown = 5;
  const std::vector<HistoryEvent>& events = history.events;
  if (events.empty() || history.bytes.is_empty()) return {};
  const size_t first = events.size() - std::min(events.size(), kEventsShown);
  std::string text = text_of_bytes(program, memory, history.bytes);
  if (first > 0) text += fmt::format(" changed hands {} times,", first);
  for (size_t i = first; i < events.size(); ++i) {
    const bool is_last_of_several = i + 1 == events.size() && i > first;
    text += i == first ? " " : is_last_of_several ? ", then " : ", ";
    text += event_clause(program, events[i]);
  }
  return text + ".";
}

std::string place_of(const Program& program, LifetimeId id) {
  uint32_t s = program.lifetimes[id.index].statement.index;
  while (s-- > 0) {
    if (program.statements[s].kind != StatementKind::kDispatch) continue;
    const DispatchId last(size_t{program.statements[s].index});
    if (!program.dispatch(last).is_counted()) continue;
    return fmt::format("after dispatch {}", program.number_of(last));
  }
  return "before dispatch 0";
}

}  // namespace interlock
