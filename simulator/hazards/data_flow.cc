// The basic idea is to replay the writes twice, in reference order and in program order, and to
// compare what each read sees. Every write creates a new state of its bytes, and states are
// numbered as they are created, so that "the last state" is a stamp. A row of atomics of one
// operation commutes: its state is the state below it (the base) together with the set of its
// members.
//
// For example, with barriers between all but the first two atomics:
//
//   0  clear: dispatch Clear order=0 writes m                       m has 8 bytes
//   1  one:   dispatch Add order=2 atomics m[0:4] atomic=add
//   2  two:   dispatch Add order=1 atomics m atomic=add
//   3  read:  dispatch Read order=4 reads m writes out
//   4  late:  dispatch Add order=3 atomics m[4:8] atomic=add
//
// In reference order the states of m are
//
//   1  clear
//   2  {one} on 1               of m[0:4]
//   3  {one, two} on 1          of m[0:4]: extends the row of 2
//   4  {two} on 1               of m[4:8]: begins a row
//   5  what read writes to out
//   6  {two, late} on 1         of m[4:8]
//
// where "on 1" is the base, and read finds 3 and 4. In program order `two` is the first atomic:
//
//   2  {two} on 1               of m
//   3  {one, two} on 1          of m[0:4]
//   4  {two, late} on 1         of m[4:8]
//
// and read finds 3 and 4 again. Stamps say nothing across the two replays; contents are compared.
// On m[0:4] both are {one, two} on clear: `one` and `two` stand the other way round, and it is no
// finding. This is why a row is a set, kept as a sum of hashes that any order of its members gives.
// On m[4:8] `late` is missing. The members are read off the chain of `previous`, and the finding
// names what only one side has: read sees two, and should see late. At the end of the program
// m[4:8] is {two, late} on clear in both replays, so the end sees nothing wrong.
//
// Were m scratch, its bytes were placed after reordering, and read is right to see what it sees in
// reference order, unless something of it is later in program order than read: `latest` of the
// state. It is `one` with order=2 on m[0:4], and `two` on m[4:8]; read has order=4, so there is no
// finding.
#include "simulator/hazards/data_flow.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <utility>

#include "encoder/program/check.h"
#include "encoder/program/hash.h"
#include "encoder/program/program_order.h"
#include "encoder/program/stop.h"
#include "simulator/bytes/byte_segments.h"
#include "simulator/bytes/stamp_tree.h"

namespace interlock {

namespace {

// What a byte holds. State 0 is the initial bytes.
struct State {
  DispatchId writer;              // The last one; none for the initial bytes.
  AtomicOp op = AtomicOp::kNone;  // Not kNone: a row of atomics, of which `writer` is the last.
  Stamp previous = 0;             // Of a row of atomics: the state that `writer` found.
  Stamp base = 0;                 // Of a row of atomics: the state below the row.
  uint64_t member_sum = 0;        // Of a row of atomics: the sum of its members' hashes.
  // Equal for equal contents. Of plain writers it is exact; two different rows of atomics have the
  // same one with probability 2^-64.
  uint64_t content = 0;
  DispatchId latest;  // In program order, of all that the content depends on in place.
};

// Not what barriers do to their operands: it keeps what it finds, or loses it, wherever it stands.
// A read, the write side of a partial write, which keeps bytes of the old content, or an atomic on
// scratch, which adds to it. What an atomic leaves in ordinary bytes shows in those who read them.
bool sees_old_content(const Program& program, const Access& access, const Dispatch& dispatch) {
  if (dispatch.is_transition()) return false;
  return access.reads_plainly() || (dispatch.is_partial && access.writes_plainly()) ||
         (access.is_atomic() && program.memory(access.memory).is_scratch);
}

// The states of all bytes while the writes are replayed in some order.
class Replay {
 public:
  Replay(const Program& program, const ByteSegments& segments)
      : program_(program), segments_(segments), tree_(segments.count()), states_(1) {}

  const State& state(Stamp stamp) const { return states_[stamp]; }

  // Below the row of atomics that an atomic of `op` extends, if it finds `stamp`: it commutes with
  // the members, and not with what they began on.
  const State& state_below_row(Stamp stamp, AtomicOp op) const {
    const State& found = states_[stamp];
    return found.op != AtomicOp::kNone && found.op == op ? states_[found.base] : found;
  }

  // Appends the runs of `span` that have been written, with their states.
  void append_states(SegmentSpan span, std::vector<StampRun>& runs) const {
    tree_.append_runs(span, 1, runs);
  }

  void apply_writes(DispatchId id) {
    const Dispatch& dispatch = program_.dispatch(id);
    if (dispatch.is_transition()) return;
    for (uint32_t k = 0; k < dispatch.access_count; ++k) {
      const Access& access = program_.accesses[dispatch.first_access + k];
      const SegmentSpan span = segments_.span_of(dispatch.first_access + k);
      if (access.is_atomic()) {
        apply_atomic(id, dispatch.atomic_op, span);
      } else if (access.writes_plainly()) {
        const uint64_t content = splitmix64(uint64_t{id.index} + 1);
        tree_.raise(span, add({.writer = id, .content = content, .latest = id}));
      }
    }
  }

  DispatchId later_in_program_order(DispatchId a, DispatchId b) const {
    if (!a.is_some() || !b.is_some()) return a.is_some() ? a : b;
    return is_earlier_in_program_order(program_, a, b) ? b : a;
  }

 private:
  Stamp add(const State& state) {
    states_.push_back(state);
    INTERLOCK_CHECK(states_.size() < UINT32_MAX);
    return static_cast<Stamp>(states_.size() - 1);
  }

  // Extends the row of atomics at each byte of `span`, or begins one.
  void apply_atomic(DispatchId id, AtomicOp op, SegmentSpan span) {
    runs_.clear();
    append_states(span, runs_);
    uint32_t next = span.begin;
    for (const StampRun& run : runs_) {
      extend({next, run.span.begin}, 0, id, op);
      extend(run.span, run.stamp, id, op);
      next = run.span.end;
    }
    extend({next, span.end}, 0, id, op);
  }

  void extend(SegmentSpan span, Stamp found, DispatchId id, AtomicOp op) {
    if (span.is_empty()) return;
    const State old = states_[found];
    const bool is_in_row = old.op != AtomicOp::kNone && old.op == op;
    if (is_in_row && old.writer == id) return;  // Two operands of one dispatch: a member already.
    const uint64_t own_hash = splitmix64(uint64_t{id.index} + 1);
    State next{.writer = id,
               .op = op,
               .previous = found,
               .base = is_in_row ? old.base : found,
               .member_sum = own_hash + (is_in_row ? old.member_sum : 0),
               .latest = later_in_program_order(old.latest, id)};
    next.content = splitmix64(states_[next.base].content +
                              splitmix64(splitmix64(next.member_sum) + static_cast<uint64_t>(op)));
    tree_.raise(span, add(next));
  }

  const Program& program_;
  const ByteSegments& segments_;
  StampTree tree_;
  std::vector<State> states_;
  std::vector<StampRun> runs_;
};

// The members of the row of atomics that `stamp` ends, ascending; empty for a plain state.
std::vector<DispatchId> members_of(const Replay& replay, Stamp stamp) {
  std::vector<DispatchId> members;
  const Stamp base = replay.state(stamp).base;
  while (replay.state(stamp).op != AtomicOp::kNone && stamp != base) {
    members.push_back(replay.state(stamp).writer);
    stamp = replay.state(stamp).previous;
  }
  std::ranges::sort(members);
  return members;
}

struct WriterPair {
  DispatchId seen;
  DispatchId right;
};

// Names two writers for two different contents. Rows of atomics: a member that only one of them
// has; if the members agree, the difference lies below.
WriterPair differing_writers(const Program& program, const Replay& seen_replay, Stamp seen,
                             const Replay& right_replay, Stamp right) {
  while (true) {
    const State& a = seen_replay.state(seen);
    const State& b = right_replay.state(right);
    const std::vector<DispatchId> in_a = members_of(seen_replay, seen);
    const std::vector<DispatchId> in_b = members_of(right_replay, right);
    if (!in_a.empty() && a.op == b.op && in_a == in_b) {
      seen = a.base;
      right = b.base;
      continue;
    }
    if (in_a.empty() || in_b.empty() || a.op != b.op) {
      return {a.writer, b.writer};
    }
    std::vector<DispatchId> only_a;
    std::vector<DispatchId> only_b;
    std::ranges::set_difference(in_a, in_b, std::back_inserter(only_a));
    std::ranges::set_difference(in_b, in_a, std::back_inserter(only_b));
    const auto is_earlier = [&](DispatchId first, DispatchId second) {
      return is_earlier_in_program_order(program, first, second);
    };
    // One of the lists is not empty. A member that is missing is best named by itself; the other
    // side then stands for its row.
    return {only_a.empty() ? a.writer : only_a.back(),
            only_b.empty() ? b.writer : *std::ranges::max_element(only_b, is_earlier)};
  }
}

// The two replays side by side, and the reads that differ.
class FlowComparison {
 public:
  explicit FlowComparison(const Program& program)
      : program_(program),
        segments_(program),
        reference_order_(program, segments_),
        program_order_(program, segments_) {}

  std::vector<ReorderedRead> run() {
    replay_reference_order();
    if (is_stopped()) return {};
    replay_program_order();
    // Stable: entries of one access stay in byte order. No reader at all sorts last.
    std::ranges::stable_sort(
        reads_, {}, [](const ReorderedRead& read) { return std::pair(read.reader, read.access); });
    return std::move(reads_);
  }

 private:
  void replay_reference_order() {
    for (size_t i = 0; i < program_.dispatches.size(); ++i) {
      if (is_stopped()) return;
      const Dispatch& dispatch = program_.dispatches[i];
      for (uint32_t k = 0; k < dispatch.access_count; ++k) {
        seen_begin_.push_back(seen_.size());
        if (sees_old_content(program_, program_.accesses[dispatch.first_access + k], dispatch)) {
          reference_order_.append_states(segments_.span_of(dispatch.first_access + k), seen_);
        }
      }
      reference_order_.apply_writes(DispatchId(i));
    }
    seen_begin_.push_back(seen_.size());
  }

  void replay_program_order() {
    std::vector<DispatchId> order;
    for (size_t i = 0; i < program_.dispatches.size(); ++i) order.push_back(DispatchId(i));
    std::ranges::stable_sort(order, {}, [&](DispatchId id) { return program_.dispatch(id).order; });
    std::vector<StampRun> right;
    for (const DispatchId id : order) {
      if (is_stopped()) return;
      const Dispatch& dispatch = program_.dispatch(id);
      for (uint32_t k = 0; k < dispatch.access_count; ++k) {
        const size_t index = dispatch.first_access + k;
        if (sees_old_content(program_, program_.accesses[index], dispatch)) {
          right.clear();
          program_order_.append_states(segments_.span_of(index), right);
          compare({.reader = id, .access = k, .memory = program_.accesses[index].memory},
                  std::span(seen_).subspan(seen_begin_[index],
                                           seen_begin_[index + 1] - seen_begin_[index]),
                  right);
        }
      }
      program_order_.apply_writes(id);
    }
    compare_final_states();
  }

  // The end of the program reads all ordinary bytes; nobody reads scratch after the end.
  void compare_final_states() {
    std::vector<StampRun> seen;
    std::vector<StampRun> right;
    for (size_t m = 0; m < program_.memories.size(); ++m) {
      const MemoryId memory(m);
      if (program_.memory(memory).is_scratch) continue;
      seen.clear();
      right.clear();
      reference_order_.append_states(segments_.segments_of(memory), seen);
      program_order_.append_states(segments_.segments_of(memory), right);
      compare({.memory = memory}, seen, right);
    }
  }

  // Appends what differs between the states that the read `where` sees and the right ones.
  void compare(ReorderedRead where, std::span<const StampRun> seen,
               std::span<const StampRun> right) {
    std::map<std::pair<DispatchId, DispatchId>, size_t> listed;  // Index into reads_.
    std::map<std::pair<Stamp, Stamp>, WriterPair> named;
    zip_runs(seen, right, [&](SegmentSpan span, Stamp seen_stamp, Stamp right_stamp) {
      if (sees_right_state(where, seen_stamp, right_stamp)) return;
      auto [name, is_new_name] = named.try_emplace({seen_stamp, right_stamp});
      if (is_new_name) name->second = name_writers(where, seen_stamp, right_stamp);
      where.seen_writer = name->second.seen;
      where.right_writer = name->second.right;
      where.bytes = segments_.bytes_of(span);
      auto [entry, is_new] =
          listed.try_emplace({where.seen_writer, where.right_writer}, reads_.size());
      if (is_new) {
        reads_.push_back(where);
      } else if (reads_[entry->second].bytes.end == where.bytes.begin) {
        reads_[entry->second].bytes.end = where.bytes.end;
      }
    });
  }

  bool sees_right_state(const ReorderedRead& where, Stamp seen, Stamp right) const {
    if (program_.memory(where.memory).is_scratch) {
      const DispatchId latest = latest_seen(where, seen);
      return !latest.is_some() || !is_earlier_in_program_order(program_, where.reader, latest);
    }
    return reference_order_.state(seen).content == program_order_.state(right).content;
  }

  WriterPair name_writers(const ReorderedRead& where, Stamp seen, Stamp right) const {
    if (program_.memory(where.memory).is_scratch) {
      return {latest_seen(where, seen), program_order_.state(right).writer};
    }
    return differing_writers(program_, reference_order_, seen, program_order_, right);
  }

  // On scratch: the latest in program order of all that the reader depends on.
  DispatchId latest_seen(const ReorderedRead& where, Stamp seen) const {
    const Access& access = program_.accesses_of(where.reader)[where.access];
    if (!access.is_atomic()) return reference_order_.state(seen).latest;
    return reference_order_.state_below_row(seen, program_.dispatch(where.reader).atomic_op).latest;
  }

  const Program& program_;
  ByteSegments segments_;
  Replay reference_order_;
  Replay program_order_;
  std::vector<StampRun> seen_;      // Of all accesses, one after another.
  std::vector<size_t> seen_begin_;  // By access, and one more: where its runs begin in seen_.
  std::vector<ReorderedRead> reads_;
};

}  // namespace

std::vector<ReorderedRead> find_reordered(const Program& program) {
  if (!program.has_program_order) {
    return {};
  }
  return FlowComparison(program).run();
}

}  // namespace interlock
