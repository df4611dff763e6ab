// The basic idea is to sweep over the ends of the declared ranges, and to count for each sort of
// access how many of them cover the bytes between two ends.
#include "simulator/hazards/undeclared.h"

#include <algorithm>
#include <array>
#include <span>

#include "encoder/program/stop.h"

namespace interlock {
namespace {

// What an operand does to each of its bytes. What one operand says as a whole, several may say
// together.
enum Side : size_t { kRead, kUniformRead, kIndirectRead, kWrite, kAtomic };
constexpr size_t kSideCount = 5;
using Sides = std::array<bool, kSideCount>;

Sides sides_of(const Access& access) {
  Sides sides{};
  sides[kUniformRead] = access.mode == AccessMode::kUniform;
  sides[kIndirectRead] = access.mode == AccessMode::kIndirect;
  sides[kRead] = access.reads_plainly() && !sides[kUniformRead] && !sides[kIndirectRead];
  sides[kWrite] = access.writes_plainly();
  sides[kAtomic] = access.is_atomic();
  return sides;
}

// Where a declared operand begins or ends.
struct End {
  uint64_t at = 0;
  bool is_begin = false;
  Sides sides{};
};

std::vector<End> ends_of(std::span<const Access> declared, MemoryId memory) {
  std::vector<End> ends;
  for (const Access& access : declared) {
    if (access.memory != memory || access.range.is_empty()) continue;
    ends.push_back({access.range.begin, true, sides_of(access)});
    ends.push_back({access.range.end, false, sides_of(access)});
  }
  std::ranges::sort(ends, {}, &End::at);
  return ends;
}

// Maximal runs, in rising order.
std::vector<ByteRange> uncovered_bytes(std::span<const Access> declared, const Access& access) {
  const Sides wanted = sides_of(access);
  const std::vector<End> ends = ends_of(declared, access.memory);
  std::array<uint32_t, kSideCount> counts{};
  std::vector<ByteRange> found;
  uint64_t begin = access.range.begin;
  for (size_t i = 0; begin < access.range.end; ++i) {
    const uint64_t end =
        i < ends.size() ? std::min(ends[i].at, access.range.end) : access.range.end;
    if (begin < end) {
      bool is_covered = true;
      for (size_t side = 0; side < kSideCount; ++side) {
        is_covered &= !wanted[side] || counts[side] > 0;
      }
      if (!is_covered && !found.empty() && found.back().end == begin) {
        found.back().end = end;
      } else if (!is_covered) {
        found.push_back({begin, end});
      }
      begin = end;
    }
    if (i == ends.size()) break;
    for (size_t side = 0; side < kSideCount; ++side) {
      if (ends[i].sides[side]) ends[i].is_begin ? ++counts[side] : --counts[side];
    }
  }
  return found;
}

}  // namespace

std::vector<ByteRange> undeclared_bytes_of(const Program& program, AccessRef ref) {
  const std::span<const Access> declared = program.declared_accesses_of(ref.dispatch);
  if (ref.access < declared.size()) return {};
  return uncovered_bytes(declared, access_of(program, ref));
}

std::vector<UndeclaredAccess> find_undeclared_accesses(const Program& program) {
  std::vector<UndeclaredAccess> found;
  if (std::ranges::none_of(program.accesses, &Access::is_undeclared)) return found;
  for (size_t d = 0; d < program.dispatches.size(); ++d) {
    if (is_stopped()) return found;
    const DispatchId id(d);
    const std::span<const Access> accesses = program.accesses_of(id);
    const bool are_all_declared = accesses.empty() || !accesses.back().is_undeclared;
    if (are_all_declared || program.dispatch(id).is_approximate) continue;
    const std::span<const Access> declared = program.declared_accesses_of(id);
    for (size_t i = declared.size(); i < accesses.size(); ++i) {
      const std::vector<ByteRange> bytes = uncovered_bytes(declared, accesses[i]);
      if (!bytes.empty()) found.push_back({{id, static_cast<uint32_t>(i)}, bytes.front()});
    }
  }
  return found;
}

}  // namespace interlock
