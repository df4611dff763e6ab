#include "tests/encoder/sync/obvious_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string_view>

#include "encoder/program/check.h"

namespace interlock {
namespace {

bool has_byte(const Access& access, uint32_t memory, uint64_t byte) {
  return access.memory.index == memory && access.range.begin <= byte && byte < access.range.end;
}

// True iff two uses of one byte by different dispatches need an order.
bool needs_order(AccessMode first, AtomicOp first_op, AccessMode second, AtomicOp second_op) {
  const auto only_reads = [](AccessMode mode) { return mode <= AccessMode::kRead; };
  if (only_reads(first) && only_reads(second)) return false;
  if (first == AccessMode::kAtomic && second == AccessMode::kAtomic) {
    return first_op != second_op || first_op == AtomicOp::kNone;
  }
  return true;
}

}  // namespace

bool obviously_conflict(const TestDispatch& first, const TestDispatch& second) {
  for (const Access& a : first.accesses) {
    for (uint64_t byte = a.range.begin; byte < a.range.end; ++byte) {
      for (const Access& b : second.accesses) {
        if (has_byte(b, a.memory.index, byte) &&
            needs_order(a.mode, first.atomic_op, b.mode, second.atomic_op)) {
          return true;
        }
      }
    }
  }
  return false;
}

std::vector<Command> encode_all(const std::vector<TestDispatch>& dispatches, Encoder& encoder) {
  RecordingSink sink;
  for (size_t i = 0; i < dispatches.size(); ++i) {
    encoder.encode({DispatchId(i), dispatches[i].accesses, dispatches[i].atomic_op}, sink);
  }
  encoder.finish(sink);
  return sink.commands();
}

std::string obvious_hazard(const std::vector<TestDispatch>& dispatches,
                           const std::vector<Command>& commands) {
  for (size_t j = 0; j < commands.size(); ++j) {
    if (commands[j].kind == StatementKind::kBarrier) continue;
    for (size_t i = j; i-- > 0;) {
      if (commands[i].kind == StatementKind::kBarrier) break;
      const uint32_t first = commands[i].dispatch.index;
      const uint32_t second = commands[j].dispatch.index;
      if (obviously_conflict(dispatches[first], dispatches[second])) {
        return fmt::format("{} and {}", first, second);
      }
    }
  }
  return "";
}

int fewest_barriers_by_search(const std::vector<TestDispatch>& dispatches) {
  const size_t count = dispatches.size();
  INTERLOCK_CHECK(count <= 16);
  // slots_between[k]: bit s is set for each slot s (before dispatch s + 1) that parts pair k.
  std::vector<uint32_t> slots_between;
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = i + 1; j < count; ++j) {
      if (obviously_conflict(dispatches[i], dispatches[j])) {
        slots_between.push_back((1u << j) - (1u << i));  // Slots i to j - 1.
      }
    }
  }
  int fewest = static_cast<int>(count);
  const uint32_t placement_count = count == 0 ? 1u : 1u << (count - 1);
  for (uint32_t placement = 0; placement < placement_count; ++placement) {
    const bool is_clean =
        std::all_of(slots_between.begin(), slots_between.end(),
                    [placement](uint32_t slots) { return (slots & placement) != 0; });
    if (is_clean) fewest = std::min(fewest, std::popcount(placement));
  }
  return fewest;
}

int barrier_count_of(const std::vector<Command>& commands) {
  return static_cast<int>(std::count_if(commands.begin(), commands.end(), [](const Command& c) {
    return c.kind == StatementKind::kBarrier;
  }));
}

std::string text_of(const std::vector<TestDispatch>& dispatches) {
  std::string text;
  for (const TestDispatch& dispatch : dispatches) {
    text += "dispatch D";
    for (const Access& access : dispatch.accesses) {
      text += fmt::format(" {} m{}[{}:{}]", clause_of(access.mode), access.memory.index,
                          access.range.begin, access.range.end);
    }
    if (dispatch.atomic_op != AtomicOp::kNone) {
      text += fmt::format(" atomic={}", static_cast<int>(dispatch.atomic_op));
    }
    text += '\n';
  }
  return text;
}

}  // namespace interlock
