// The basic idea is one byte at a time: bytes meet only in what a dispatch computes, and an output
// differs iff some read that it depends on, in issue order, finds something else (Lemma S). So the
// search asks for one wrong read of one byte, among all orders of the nodes of that byte; those of
// others can be put right beside their runs, where they hold nothing back.
#include "tests/simulator/judges/split_machine.h"

#include <fmt/format.h>

#include <array>
#include <set>
#include <string_view>
#include <vector>

#include "encoder/program/check.h"
#include "tests/simulator/judges/split_model.h"

namespace interlock {
namespace {

// The dispatches on whose results an output depends, in issue order.
std::vector<bool> live_dispatches(const Program& program) {
  std::set<Byte> live = output_bytes(program);
  std::vector<bool> is_live(program.dispatches.size(), false);
  for (size_t i = program.dispatches.size(); i-- > 0;) {
    const Dispatch& dispatch = program.dispatches[i];
    const std::set<Byte> after = live;
    for (const Byte byte : after) {
      const SplitEffect effect = effect_on(program, dispatch, byte);
      is_live[i] = is_live[i] || effect != SplitEffect::kNone;
      if (effect == SplitEffect::kOverwrite) live.erase(byte);
    }
    if (!is_live[i]) continue;
    for (const Byte byte : bytes_of(program)) {
      for (const Access& access : program.accesses_of(dispatch)) {
        if (covers(access, byte) && is_read(access)) live.insert(byte);
      }
    }
  }
  return is_live;
}

// Who made the content of a byte since it was last overwritten, oldest first: dispatch indices plus
// 1, a hexadecimal digit each. Neighbouring atomics of one operation are sorted.
using Content = uint64_t;

enum class NodeKind { kFetch, kRun, kCommit, kEvent };

struct Node {
  NodeKind kind = NodeKind::kRun;
  size_t index = 0;  // Of the dispatch or the event.
  StageAccess sort = StageAccess::kComputeRead;
  bool is_own_write = false;  // kFetch: what a partial write leaves in place.
  uint32_t waits_for = 0;     // Bit per node.
};

// Unused entries are zero, so that equal states compare equal.
struct State {
  uint32_t done = 0;
  Content memory = 0;
  std::array<Content, 8> left_in_place = {};  // By dispatch: what its partial write has fetched.

  auto operator<=>(const State&) const = default;
};

class ByteSearch {
 public:
  ByteSearch(const Program& program, Byte byte, const std::vector<bool>& is_live, bool is_output)
      : program_(program), byte_(byte), is_live_(is_live), is_output_(is_output) {
    add_nodes();
    add_edges();
    Content content = 0;
    for (size_t i = 0; i < program.dispatches.size(); ++i) {
      right_.push_back(content);
      content = content_after(content, content, i);
    }
    right_.push_back(content);
  }

  bool find(std::string& execution) {
    std::vector<size_t> order;
    if (!explore({}, order)) return false;
    for (const size_t n : order) execution += text_of(nodes_[n]) + "; ";
    return true;
  }
  uint64_t state_count() const { return visited_.size(); }

 private:
  void add_nodes();
  void add_edges();
  bool must_precede(const Node& first, const Node& second) const;
  bool explore(const State& state, std::vector<size_t>& order);
  Content content_after(Content memory, Content fetched, size_t dispatch) const;
  std::string text_of(const Node& node) const {
    constexpr std::string_view kNames[] = {"fetch", "run", "commit", "event"};
    return fmt::format("{} {}", kNames[static_cast<size_t>(node.kind)], node.index);
  }
  size_t place_of(size_t dispatch) const { return program_.dispatches[dispatch].statement.index; }

  const Program& program_;
  Byte byte_;
  const std::vector<bool>& is_live_;
  bool is_output_;
  std::vector<SplitEvent> events_;
  std::vector<Node> nodes_;
  std::vector<Content> right_;  // By dispatch, before it in issue order; then at the end.
  std::set<State> visited_;
};

void ByteSearch::add_nodes() {
  events_ = split_events_of(program_);
  for (size_t i = 0; i < program_.dispatches.size(); ++i) {
    const Dispatch& dispatch = program_.dispatches[i];
    const Stage stage = stage_by_name(program_, dispatch);
    std::set<StageAccess> sorts;
    for (const Access& access : program_.accesses_of(dispatch)) {
      if (covers(access, byte_) && is_read(access)) sorts.insert(reading_sort(stage, access));
    }
    // What reaches no output may find anything.
    for (const StageAccess sort : sorts) {
      if (is_live_[i]) nodes_.push_back({NodeKind::kFetch, i, sort});
    }
    const SplitEffect effect = effect_on(program_, dispatch, byte_);
    if (effect == SplitEffect::kPartial) {
      nodes_.push_back({NodeKind::kFetch, i, writing_sort(stage), true});
    }
    nodes_.push_back({NodeKind::kRun, i});
    if (effect != SplitEffect::kNone) nodes_.push_back({NodeKind::kCommit, i});
  }
  for (size_t e = 0; e < events_.size(); ++e) nodes_.push_back({NodeKind::kEvent, e});
  INTERLOCK_CHECK(nodes_.size() <= 32);
}

void ByteSearch::add_edges() {
  for (Node& second : nodes_) {
    for (size_t n = 0; n < nodes_.size(); ++n) {
      if (must_precede(nodes_[n], second)) second.waits_for |= uint32_t{1} << n;
    }
  }
}

bool ByteSearch::must_precede(const Node& first, const Node& second) const {
  const bool first_is_event = first.kind == NodeKind::kEvent;
  const bool second_is_event = second.kind == NodeKind::kEvent;
  if (first_is_event && second_is_event) {
    return leads_on(events_[first.index], events_[second.index]);
  }
  if (!first_is_event && !second_is_event) {
    return first.index == second.index && first.kind < second.kind;
  }
  const SplitEvent& event = events_[first_is_event ? first.index : second.index];
  const Node& node = first_is_event ? second : first;
  const Stage stage = stage_by_name(program_, program_.dispatches[node.index]);
  const bool is_before = place_of(node.index) < event.command;
  if (is_before != second_is_event) return false;
  if (second_is_event) {
    if (node.kind == NodeKind::kRun) return (event.waits_for & bit_of(stage)) != 0;
    return node.kind == NodeKind::kCommit && event.covers(byte_) &&
           (event.makes_available & bit_of(writing_sort(stage))) != 0;
  }
  if (node.kind == NodeKind::kRun) return (event.holds_back & bit_of(stage)) != 0;
  return node.kind == NodeKind::kFetch && event.covers(byte_) &&
         (event.makes_visible & bit_of(node.sort)) != 0;
}

Content ByteSearch::content_after(Content memory, Content fetched, size_t dispatch) const {
  const Dispatch& writer = program_.dispatches[dispatch];
  const Content digit = dispatch + 1;
  switch (effect_on(program_, writer, byte_)) {
    case SplitEffect::kNone:
      return memory;
    case SplitEffect::kOverwrite:
      return digit;
    case SplitEffect::kPartial:
      return fetched << 4 | digit;
    case SplitEffect::kAtomic:
      break;
  }
  const Content last = memory & 15;
  if (last > digit) {
    const Dispatch& other = program_.dispatches[last - 1];
    const bool commutes = other.atomic_op == writer.atomic_op &&
                          effect_on(program_, other, byte_) == SplitEffect::kAtomic;
    if (commutes) return content_after(memory >> 4, fetched, dispatch) << 4 | last;
  }
  return memory << 4 | digit;
}

bool ByteSearch::explore(const State& state, std::vector<size_t>& order) {
  if (!visited_.insert(state).second) return false;
  bool is_over = true;
  for (size_t n = 0; n < nodes_.size(); ++n) {
    const Node& node = nodes_[n];
    if ((state.done >> n & 1) != 0) continue;
    is_over = false;
    if ((state.done & node.waits_for) != node.waits_for) continue;
    State next = state;
    next.done |= uint32_t{1} << n;
    order.push_back(n);
    if (node.kind == NodeKind::kFetch) {
      if (node.is_own_write) {
        next.left_in_place[node.index] = state.memory;
      } else if (state.memory != right_[node.index]) {
        return true;
      }
    }
    if (node.kind == NodeKind::kCommit) {
      next.memory = content_after(state.memory, state.left_in_place[node.index], node.index);
      next.left_in_place[node.index] = 0;
    }
    if (explore(next, order)) return true;
    order.pop_back();
  }
  return is_over && is_output_ && state.memory != right_.back();
}

}  // namespace

SplitVerdict split_in_every_way(const Program& program) {
  INTERLOCK_CHECK(program.dispatches.size() <= 7);
  SplitVerdict verdict;
  const std::vector<bool> is_live = live_dispatches(program);
  const std::set<Byte> outputs = output_bytes(program);
  for (const Byte byte : bytes_of(program)) {
    ByteSearch search(program, byte, is_live, outputs.count(byte) > 0);
    verdict.changes_an_output = search.find(verdict.execution);
    verdict.state_count += search.state_count();
    if (!verdict.changes_an_output) continue;
    verdict.execution = fmt::format("Byte {}: {}", byte.offset, verdict.execution);
    break;
  }
  return verdict;
}

}  // namespace interlock
