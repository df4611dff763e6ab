// The basic idea is to follow a single byte through the statements by the rules of held_value.h,
// and to cut off the bytes after it that some statement treats in another way.
//
// What the host says of values is about what it has issued before (held_back.h). So such a
// statement is told behind the writes that are issued before it and execute after it, and not at
// all of a reader that is issued before it.
#include "simulator/report/byte_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "encoder/program/check.h"
#include "encoder/program/stop.h"
#include "simulator/lifetimes/pin_history.h"
#include "simulator/report/operand_text.h"

namespace interlock {
namespace {

uint32_t text_position(const Program& program, uint32_t statement) {
  return program.text_order->statements[statement];
}

// A statement about values that takes place in the order of the host.
bool is_lifetime_of_host(const Statement& statement) {
  return statement.kind == StatementKind::kLifetime && statement.queue == kNoQueue;
}

// The first byte of `bytes` is written there.
bool writes_first(const Program& program, const Statement& statement, MemoryId memory,
                  ByteRange bytes) {
  return std::ranges::any_of(
      program.accesses_of(DispatchId(size_t{statement.index})), [&](const Access& access) {
        return access.memory == memory && !access.only_reads() &&
               access.range.begin <= bytes.begin && bytes.begin < access.range.end;
      });
}

// The statements before `end` as a history tells them: as they execute, and each of the host's
// about values behind the last of the writes that it is about.
std::vector<uint32_t> order_told(const Program& program, DispatchId reader, uint32_t end,
                                 MemoryId memory, ByteRange bytes) {
  std::vector<uint32_t> told(end);
  std::iota(told.begin(), told.end(), 0);
  if (program.text_order == nullptr || program.lifetimes.empty()) return told;
  const auto position = [&](uint32_t s) { return text_position(program, s); };
  std::vector<uint32_t> writes;  // As they execute.
  for (uint32_t s = 0; s < end; ++s) {
    const Statement& statement = program.statements[s];
    const bool is_write = statement.kind == StatementKind::kDispatch &&
                          writes_first(program, statement, memory, bytes);
    if (is_write) writes.push_back(s);
  }
  // Where the first of each write and the later ones is issued: never falls.
  std::vector<uint32_t> least(writes.size(), UINT32_MAX);
  for (size_t i = writes.size(); i-- > 0;) {
    least[i] = std::min(position(writes[i]), i + 1 < writes.size() ? least[i + 1] : UINT32_MAX);
  }
  std::vector<uint32_t> behind(end);  // By statement: which one it is told behind.
  std::iota(behind.begin(), behind.end(), 0);
  const uint32_t read_at =
      reader.is_some() ? position(program.dispatch(reader).statement.index) : UINT32_MAX;
  std::erase_if(told, [&](uint32_t s) {
    if (!is_lifetime_of_host(program.statements[s])) return false;
    if (position(s) > read_at) return true;
    const auto issued_later = std::ranges::lower_bound(least, position(s));
    if (issued_later != least.begin()) {
      behind[s] = std::max(s, writes[static_cast<size_t>(issued_later - least.begin()) - 1]);
    }
    return false;
  });
  // Those behind one write come as they are issued.
  std::ranges::stable_sort(told, {}, [&](uint32_t s) {
    const bool is_moved = behind[s] != s;
    return std::tuple(behind[s], is_moved, is_moved ? position(s) : 0);
  });
  return told;
}

class HistoryWalk {
 public:
  HistoryWalk(const Program& program, MemoryId memory, ByteRange bytes)
      : program_(program), memory_(memory), holdings_(program) {
    history_.bytes = bytes;
    if (program.text_order != nullptr) pins_ = PinHistory(program);
  }

  ByteHistory run(DispatchId reader, uint32_t statement_end) {
    for (size_t i = 0; i < program_.tensors.size(); ++i) {
      const Tensor& tensor = program_.tensors[i];
      if (tensor.initial.kind == InitialKind::kNone || !covers(tensor.memory, tensor.range))
        continue;
      value_ = written_value(TensorId(i));
      history_.events.push_back({.kind = HistoryKind::kInitial, .value = value_});
    }
    uint32_t seen_count = 0;
    for (const uint32_t s : order_told(program_, reader, statement_end, memory_, history_.bytes)) {
      if (is_stopped_at(seen_count++)) break;
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
    // Behind a write that executes later the pins are those of the statement all the same.
    if (program_.text_order != nullptr) holdings_.look_back(&pins_, id);
    const HeldChange change = holdings_.apply(id, value_);
    if (change == HeldChange::kNone) return;
    history_.events.push_back(
        {.kind = HistoryKind::kLifetime, .value = value_, .lifetime = id, .change = change});
  }

  const Program& program_;
  MemoryId memory_;
  PinHistory pins_;  // Empty where statements are told as they stand.
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

// As the host issues it.
std::string place_in_text(const Program& program, uint32_t lifetime) {
  std::optional<DispatchId> last;
  for (uint32_t s = 0; s < program.statements.size(); ++s) {
    const Statement& statement = program.statements[s];
    if (statement.kind != StatementKind::kDispatch) continue;
    const DispatchId id(size_t{statement.index});
    if (!program.dispatch(id).is_counted()) continue;
    if (text_position(program, s) > text_position(program, lifetime)) continue;
    if (!last || program.number_of(*last) < program.number_of(id)) last = id;
  }
  return last ? fmt::format("after dispatch {}", program.number_of(*last)) : "before dispatch 0";
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
  ByteHistory history = walk.run(reader, statement_end);
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
  if (program.text_order != nullptr && is_lifetime_of_host(program.statements[s])) {
    return place_in_text(program, s);
  }
  while (s-- > 0) {
    if (program.statements[s].kind != StatementKind::kDispatch) continue;
    const DispatchId last(size_t{program.statements[s].index});
    if (!program.dispatch(last).is_counted()) continue;
    return fmt::format("after dispatch {}", program.number_of(last));
  }
  return "before dispatch 0";
}

}  // namespace interlock
