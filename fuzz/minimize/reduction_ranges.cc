// Passes over bytes. A memory is seen as a line with points where operands and tensors begin and
// end; only the order of these points matters to a hazard, so the line between them can shrink.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fuzz/minimize/reduction.h"

namespace interlock {
namespace {

constexpr uint64_t kAlignmentBytes = 4;  // Of the widest dtype.

bool names_a_tensor(const ProgramDraft& draft, const std::string& name) {
  return std::ranges::any_of(draft.items, [&name](const ItemDraft& item) {
    const auto* const tensor = std::get_if<TensorDraft>(&item);
    return tensor != nullptr && tensor->name == name;
  });
}

// Calls `visit` with every operand that names the memory, not a tensor.
template <typename Visit>
void for_each_raw_operand(ProgramDraft& draft, const std::string& memory, Visit visit) {
  if (names_a_tensor(draft, memory)) return;
  for_each_operand(draft, [&](OperandDraft& operand) {
    if (operand.name == memory) visit(operand);
  });
}

template <typename Visit>
void for_each_placed_tensor(ProgramDraft& draft, const std::string& memory, Visit visit) {
  for (TensorDraft* tensor : items_of<TensorDraft>(draft)) {
    if (tensor->placement == Placement::kPlaced && tensor->base == memory) visit(*tensor);
  }
}

// What a raw operand or a slice covers, relative to its name; none for whole tensors.
std::optional<ByteRange> range_of(const ProgramDraft& draft, const OperandDraft& operand) {
  if (operand.slice || names_a_tensor(draft, operand.name)) return operand.slice;
  for (const ItemDraft& item : draft.items) {
    const auto* const memory = std::get_if<MemoryDraft>(&item);
    if (memory != nullptr && memory->name == operand.name) return ByteRange{0, memory->size_bytes};
  }
  return std::nullopt;
}

// `draft` with memory number `second` (of the items) after memory number `first`.
ProgramDraft merged(const ProgramDraft& draft, size_t first, size_t second) {
  ProgramDraft candidate = draft;
  const auto source = std::get<MemoryDraft>(candidate.items[second]);
  auto& target = std::get<MemoryDraft>(candidate.items[first]);
  const uint64_t shift =
      (target.size_bytes + kAlignmentBytes - 1) / kAlignmentBytes * kAlignmentBytes;
  const std::string name = target.name;
  target.size_bytes = shift + source.size_bytes;
  for_each_raw_operand(candidate, source.name, [&](OperandDraft& operand) {
    const ByteRange slice = operand.slice.value_or(ByteRange{0, source.size_bytes});
    operand.name = name;
    operand.slice = ByteRange{slice.begin + shift, slice.end + shift};
  });
  for_each_placed_tensor(candidate, source.name, [&](TensorDraft& tensor) {
    tensor.base = name;
    tensor.offset_bytes += shift;
  });
  for (LifetimeDraft* lifetime : items_of<LifetimeDraft>(candidate)) {
    const bool is_reset = lifetime->kind == LifetimeKind::kReset && lifetime->name == source.name;
    if (is_reset) lifetime->name = name;
  }
  erase_at(candidate.items, second);
  return candidate;
}

// How a memory's line is redrawn.
struct Redraw {
  uint64_t covered_bytes;    // Stretches in use shrink to so many; 0: they keep their length.
  uint64_t gap_granularity;  // Gaps lose multiples of this.
};

// `draft` with the line of one memory redrawn: new places for all points, in the same order.
ProgramDraft redrawn(const ProgramDraft& draft, size_t memory_at, Redraw redraw) {
  ProgramDraft candidate = draft;
  auto& memory = std::get<MemoryDraft>(candidate.items[memory_at]);
  std::vector<ByteRange> used;
  bool is_whole = false;
  for_each_raw_operand(candidate, memory.name, [&](OperandDraft& operand) {
    is_whole |= !operand.slice;
    used.push_back(operand.slice.value_or(ByteRange{}));
  });
  for_each_placed_tensor(candidate, memory.name, [&](TensorDraft& tensor) {
    const uint64_t size_bytes = size_bytes_of(tensor.dtype) * element_count_of(tensor.shape);
    used.push_back({tensor.offset_bytes, tensor.offset_bytes + size_bytes});
  });
  if (is_whole) used.push_back({0, memory.size_bytes});
  std::map<uint64_t, int64_t> points{{0, 0}};  // How many more ranges cover what comes after it.
  for (const ByteRange& range : used) {
    points[range.begin] += 1;
    points[range.end] -= 1;
  }
  std::map<uint64_t, uint64_t> moved;
  uint64_t end = 0;
  uint64_t last = 0;
  int64_t cover_count = 0;
  for (const auto& [point, more] : points) {
    uint64_t length = point - last;
    if (cover_count == 0) {
      length %= redraw.gap_granularity;
    } else if (redraw.covered_bytes > 0) {
      length = std::min(length, redraw.covered_bytes);
    }
    end += length;
    moved[point] = end;
    last = point;
    cover_count += more;
  }
  memory.size_bytes = std::max<uint64_t>(1, end);
  for_each_raw_operand(candidate, memory.name, [&](OperandDraft& operand) {
    if (!operand.slice) return;
    operand.slice = ByteRange{moved[operand.slice->begin], moved[operand.slice->end]};
  });
  for_each_placed_tensor(candidate, memory.name, [&](TensorDraft& tensor) {
    tensor.offset_bytes = moved[tensor.offset_bytes];
  });
  return candidate;
}

}  // namespace

ProgramDraft with_closed_gaps(ProgramDraft draft, bool shrinks_ranges) {
  for (const size_t at : positions_of<MemoryDraft>(draft)) {
    if (is_stopped()) break;  // What is redrawn so far is a program, too.
    const std::string memory = std::get<MemoryDraft>(draft.items[at]).name;
    bool has_tensors = false;
    for_each_placed_tensor(draft, memory, [&](TensorDraft&) { has_tensors = true; });
    const uint64_t covered_bytes = shrinks_ranges && !has_tensors ? 1 : 0;
    draft = redrawn(draft, at, {covered_bytes, shrinks_ranges ? 1 : kAlignmentBytes});
  }
  return draft;
}

void merge_memories(Reduction& reduction) {
  if (reduction.keeps_names()) return;
  // From the back, each into the first that takes it.
  size_t count = positions_of<MemoryDraft>(reduction.current()).size();
  for (size_t second = count; second-- > 1;) {
    if (reduction.is_over()) return;
    for (size_t first = 0; first < second; ++first) {
      if (reduction.is_over()) return;
      const std::vector<size_t> memories = positions_of<MemoryDraft>(reduction.current());
      if (reduction.attempt(merged(reduction.current(), memories[first], memories[second]))) break;
    }
  }
}

void shrink_ranges(Reduction& reduction) {
  reduction.for_each<DispatchDraft>([&](size_t at) {
    const size_t count = reduction.item<DispatchDraft>(at).operands.size();
    for (size_t k = 0; k < count; ++k) {
      if (reduction.is_over()) return;
      const OperandDraft operand = reduction.item<DispatchDraft>(at).operands[k];
      const std::optional<ByteRange> slice = range_of(reduction.current(), operand);
      if (!slice) continue;
      const auto [begin, end] = *slice;
      const ByteRange smaller[] = {{begin, begin + 1},
                                   {begin, begin + kAlignmentBytes},
                                   {end - std::min<uint64_t>(end, 1), end},
                                   {begin, begin + (end - begin) / 2},
                                   {begin, begin + (end - begin + 1) / 2},
                                   {0, end - begin}};
      bool has_shrunk = false;
      for (const ByteRange& range : smaller) {
        if (reduction.is_over()) return;
        if (has_shrunk || range == *slice) continue;  // The cost says whether it is smaller.
        // What touches no byte would say little of what touched some.
        if (range.begin == range.end && slice->begin != slice->end) continue;
        // All operands of this range at once, then this one alone.
        ProgramDraft joint = reduction.current();
        for_each_operand(joint, [&](OperandDraft& other) {
          const bool is_same = other.name == operand.name && other.slice == operand.slice;
          if (is_same) other.slice = range;
        });
        const auto single = [&](DispatchDraft& dispatch) { dispatch.operands[k].slice = range; };
        has_shrunk = reduction.attempt(std::move(joint)) ||
                     reduction.attempt_change<DispatchDraft>(at, single);
      }
    }
  });
}

void close_gaps(Reduction& reduction) {
  constexpr Redraw kRedraws[] = {{1, 1}, {kAlignmentBytes, 1}, {0, 1}, {0, kAlignmentBytes}};
  reduction.for_each<MemoryDraft>([&](size_t at) {
    for (const Redraw redraw : kRedraws) {
      if (reduction.is_over()) return;
      if (reduction.attempt(redrawn(reduction.current(), at, redraw))) return;
    }
  });
}

}  // namespace interlock
