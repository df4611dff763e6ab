// The basic idea is to trust nothing but the operands. A few of them are compared each with each.
// Of many, two dispatches conflict iff, going through their ranges by begin, a range starts before
// an earlier one of the other dispatch has ended, and one of the two writes. One furthest end per
// dispatch and sort of access is enough to know.
#include "simulator/barriers/certificate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "encoder/program/stop.h"

namespace interlock {
namespace {

struct Range {
  uint32_t memory;
  uint64_t begin;
  uint64_t end;
  bool is_of_second;
  size_t sort;  // 0 reads, 1 writes, 2 atomics.
};

size_t sort_of(AccessMode mode) {
  if (mode <= AccessMode::kRead) return 0;
  return mode == AccessMode::kAtomic ? 2 : 1;
}

void append_ranges(const Program& program, DispatchId id, bool is_of_second,
                   std::vector<Range>& ranges) {
  for (const Access& access : program.accesses_of(id)) {
    if (access.range.begin >= access.range.end) continue;
    ranges.push_back({access.memory.index, access.range.begin, access.range.end, is_of_second,
                      sort_of(access.mode)});
  }
}

// Up to so many pairs of operands are compared each with each.
constexpr size_t kComparedPairsMax = 64;

bool do_commute(const Program& program, const ForcingPair& pair) {
  const AtomicOp op = program.dispatch(pair.first).atomic_op;
  return op == program.dispatch(pair.second).atomic_op && op != AtomicOp::kNone;
}

// Most conflicts are with what the first writes, which most name last.
bool does_any_pair_conflict(const Program& program, const ForcingPair& pair,
                            std::span<const Access> firsts, std::span<const Access> seconds) {
  for (size_t i = firsts.size(); i > 0; --i) {
    const Access& a = firsts[i - 1];
    for (const Access& b : seconds) {
      const uint64_t begin = std::max(a.range.begin, b.range.begin);
      if (begin >= std::min(a.range.end, b.range.end) || a.memory != b.memory) continue;
      const size_t sort = sort_of(a.mode);
      if (sort != sort_of(b.mode) || sort == 1) return true;
      if (sort == 2 && !do_commute(program, pair)) return true;
    }
  }
  return false;
}

// `ranges` only saves allocations.
bool do_many_conflict(const Program& program, const ForcingPair& pair, std::vector<Range>& ranges) {
  ranges.clear();
  append_ranges(program, pair.first, false, ranges);
  append_ranges(program, pair.second, true, ranges);
  std::ranges::sort(ranges, {}, [](const Range& r) { return std::pair(r.memory, r.begin); });
  const bool atomics_commute = do_commute(program, pair);
  std::array<std::array<uint64_t, 3>, 2> furthest_end{};
  uint32_t memory = 0;
  for (const Range& range : ranges) {
    if (range.memory != memory) {
      furthest_end = {};
      memory = range.memory;
    }
    for (size_t sort = 0; sort < 3; ++sort) {
      const bool both_read = sort == 0 && range.sort == 0;
      const bool both_commute = sort == 2 && range.sort == 2 && atomics_commute;
      const bool is_shared = furthest_end[range.is_of_second ? 0 : 1][sort] > range.begin;
      if (is_shared && !both_read && !both_commute) return true;
    }
    uint64_t& end = furthest_end[range.is_of_second ? 1 : 0][range.sort];
    end = std::max(end, range.end);
  }
  return false;
}

bool do_conflict(const Program& program, const ForcingPair& pair, std::vector<Range>& ranges) {
  const std::span<const Access> firsts = program.accesses_of(pair.first);
  const std::span<const Access> seconds = program.accesses_of(pair.second);
  return firsts.size() * seconds.size() <= kComparedPairsMax
             ? does_any_pair_conflict(program, pair, firsts, seconds)
             : do_many_conflict(program, pair, ranges);
}

// Whether the statement stands where the pair says, may destroy, and has a byte that the dispatch
// accesses. That no pin keeps a destroy from its bytes is not looked at.
bool does_destroy(const Program& program, const ForcingPair& pair) {
  if (pair.destroy.index >= program.lifetimes.size()) return false;
  const Lifetime& lifetime = program.lifetimes[pair.destroy.index];
  const bool may_destroy =
      lifetime.kind == LifetimeKind::kDestroy || lifetime.kind == LifetimeKind::kUnpin;
  const bool is_before_second = pair.second.index == program.dispatches.size() ||
                                lifetime.statement < program.dispatch(pair.second).statement;
  const bool is_behind_previous =
      program.dispatches[pair.second.index - 1].statement < lifetime.statement;
  if (!may_destroy || !is_before_second || !is_behind_previous) return false;
  const Tensor& tensor = program.tensor(lifetime.tensor);
  return std::ranges::any_of(program.accesses_of(pair.first), [&tensor](const Access& access) {
    return access.memory == tensor.memory && share_a_byte(access.range, tensor.range);
  });
}

}  // namespace

std::optional<std::string> certificate_defect(const Program& program,
                                              std::span<const ForcingPair> forcing,
                                              uint64_t barrier_count) {
  if (forcing.size() != barrier_count) {
    return fmt::format("{} pairs cannot prove {} barriers.", forcing.size(), barrier_count);
  }
  std::vector<Range> ranges;
  uint32_t slots_end = 0;
  for (const ForcingPair& pair : forcing) {
    if (is_stopped()) return std::nullopt;
    const bool is_destroy = pair.destroy.is_some();
    const size_t second_end = program.dispatches.size() + (is_destroy ? 1 : 0);
    const std::string_view broken =
        pair.second.index >= second_end || pair.first.index >= pair.second.index
            ? "is no pair of dispatches in issue order"
        : pair.first.index < slots_end               ? "shares a slot with the pair before it"
        : is_destroy && !does_destroy(program, pair) ? "is joined by no destroy"
        : !is_destroy && !do_conflict(program, pair, ranges) ? "does not conflict"
                                                             : "";
    if (!broken.empty()) {
      return fmt::format("The pair of dispatches {} and {} {}.", pair.first.index,
                         pair.second.index, broken);
    }
    slots_end = pair.second.index;
  }
  return std::nullopt;
}

}  // namespace interlock
