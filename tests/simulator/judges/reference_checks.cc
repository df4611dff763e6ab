// The basic idea is to repeat the definitions of hazards, bounds, contracts and data flow, one byte
// at a time, so that each function can be checked by reading it.
#include "tests/simulator/judges/reference_checks.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace interlock {

namespace {

constexpr FindingKind kKinds[] = {FindingKind::kReadAfterWrite, FindingKind::kWriteAfterRead,
                                  FindingKind::kWriteAfterWrite};

bool touches(const Access& access, size_t memory, uint64_t byte) {
  return access.memory.index == memory && access.range.begin <= byte && byte < access.range.end;
}

bool reads(const Access& access) { return access.mode != AccessMode::kWrite; }
bool writes(const Access& access) { return !access.only_reads(); }

// Whether two accesses that touch the same byte conflict as `kind`.
bool conflicts_as(const Program& program, FindingKind kind, AccessRef first, AccessRef second) {
  const Access& a = program.accesses_of(first.dispatch)[first.access];
  const Access& b = program.accesses_of(second.dispatch)[second.access];
  if (a.mode == AccessMode::kAtomic && b.mode == AccessMode::kAtomic &&
      program.dispatch(first.dispatch).atomic_op == program.dispatch(second.dispatch).atomic_op) {
    return false;
  }
  switch (kind) {
    case FindingKind::kReadAfterWrite:
      return writes(a) && reads(b);
    case FindingKind::kWriteAfterRead:
      return reads(a) && writes(b);
    default:
      return writes(a) && writes(b);
  }
}

// Whether a barrier of `kinds` stands between two dispatches.
bool barrier_between(const Program& program, DispatchId first, DispatchId second, bool is_full) {
  const uint32_t from = program.dispatch(first).statement.index;
  const uint32_t to = program.dispatch(second).statement.index;
  for (uint32_t s = from; s < to; ++s) {
    const Statement& statement = program.statements[s];
    if (statement.kind == StatementKind::kBarrier &&
        (!is_full || program.barriers[statement.index].kind == BarrierKind::kFull)) {
      return true;
    }
  }
  return false;
}

bool is_hazardous(const Program& program, FindingKind kind, DispatchId first, DispatchId second) {
  return !barrier_between(program, first, second, kind != FindingKind::kWriteAfterRead);
}

std::vector<AccessRef> accesses_at(const Program& program, DispatchId dispatch, size_t memory,
                                   uint64_t byte) {
  std::vector<AccessRef> found;
  for (uint32_t k = 0; k < program.accesses_of(dispatch).size(); ++k) {
    if (touches(program.accesses_of(dispatch)[k], memory, byte)) {
      found.push_back({dispatch, k});
    }
  }
  return found;
}

// All bytes that the two accesses share.
ByteRange shared_bytes(const Program& program, AccessRef first, AccessRef second) {
  const Access& a = program.accesses_of(first.dispatch)[first.access];
  const Access& b = program.accesses_of(second.dispatch)[second.access];
  ByteRange shared;
  for (uint64_t byte = a.range.begin; byte < a.range.end; ++byte) {
    if (!touches(b, a.memory.index, byte)) {
      continue;
    }
    if (shared.is_empty()) {
      shared.begin = byte;
    }
    shared.end = byte + 1;
  }
  return shared;
}

// The pair of accesses of lowest positions that conflicts as `kind`.
std::optional<Hazard> pair_hazard(const Program& program, FindingKind kind, DispatchId first,
                                  DispatchId second) {
  for (uint32_t i = 0; i < program.accesses_of(first).size(); ++i) {
    for (uint32_t k = 0; k < program.accesses_of(second).size(); ++k) {
      const AccessRef a{first, i};
      const AccessRef b{second, k};
      if (!shared_bytes(program, a, b).is_empty() && conflicts_as(program, kind, a, b)) {
        const bool is_ordered =
            kind != FindingKind::kWriteAfterRead && barrier_between(program, first, second, false);
        return Hazard{kind, a, b, shared_bytes(program, a, b), is_ordered};
      }
    }
  }
  return std::nullopt;
}

bool do_conflict(const Program& program, DispatchId first, DispatchId second) {
  return std::any_of(std::begin(kKinds), std::end(kKinds), [&](FindingKind kind) {
    return pair_hazard(program, kind, first, second).has_value();
  });
}

// The latest dispatch before `second` that conflicts with it at this byte as `kind`.
std::optional<DispatchId> latest_conflict(const Program& program, FindingKind kind,
                                          AccessRef second, size_t memory, uint64_t byte) {
  for (size_t i = second.dispatch.index; i > 0; --i) {
    for (const AccessRef& first : accesses_at(program, DispatchId(i - 1), memory, byte)) {
      if (conflicts_as(program, kind, first, second)) {
        return first.dispatch;
      }
    }
  }
  return std::nullopt;
}

uint64_t longest_chain_to(const Program& program, size_t last) {
  uint64_t longest = 0;
  for (size_t i = 0; i < last; ++i) {
    if (do_conflict(program, DispatchId(i), DispatchId(last))) {
      longest = std::max(longest, 1 + longest_chain_to(program, i));
    }
  }
  return longest;
}

// What one byte holds: a plain writer (-1: the initial byte), then rows of atomics.
struct Row {
  AtomicOp op = AtomicOp::kNone;
  std::set<int64_t> members;
  bool operator==(const Row&) const = default;
};
using Content = std::vector<Row>;

// The content of one byte before each access of each dispatch, and at the end (key kEnd).
constexpr uint32_t kEnd = UINT32_MAX;
using Contents = std::map<AccessRef, Content>;

Contents replay_byte(const Program& program, const std::vector<DispatchId>& order, size_t memory,
                     uint64_t byte) {
  Contents before;
  Content content = {{AtomicOp::kNone, {-1}}};
  for (const DispatchId id : order) {
    const std::vector<AccessRef> accesses = accesses_at(program, id, memory, byte);
    for (const AccessRef& ref : accesses) {
      before[ref] = content;
    }
    for (const AccessRef& ref : accesses) {
      const AccessMode mode = program.accesses_of(id)[ref.access].mode;
      const AtomicOp op = program.dispatch(id).atomic_op;
      if (mode == AccessMode::kWrite || mode == AccessMode::kUpdate) {
        content = {{AtomicOp::kNone, {id.index}}};
      } else if (mode == AccessMode::kAtomic) {
        if (content.back().op != op) {
          content.push_back({op, {}});
        }
        content.back().members.insert(id.index);
      }
    }
  }
  before[AccessRef{DispatchId(), kEnd}] = content;
  return before;
}

DispatchId writer_of(const Content& content) {
  const int64_t writer = *content.back().members.rbegin();
  return writer < 0 ? DispatchId() : DispatchId(static_cast<size_t>(writer));
}

// The member of `content` that is latest in program order, if it comes after `reader`.
std::optional<DispatchId> later_member(const Program& program, const Content& content,
                                       DispatchId reader) {
  std::optional<DispatchId> later;
  uint64_t latest = program.dispatch(reader).order;
  for (const Row& row : content) {
    for (const int64_t member : row.members) {
      if (member >= 0 && program.dispatches[static_cast<size_t>(member)].order > latest) {
        latest = program.dispatches[static_cast<size_t>(member)].order;
        later = DispatchId(static_cast<size_t>(member));
      }
    }
  }
  return later;
}

bool sees_old_bytes(const Program& program, AccessRef ref) {
  const AccessMode mode = program.accesses_of(ref.dispatch)[ref.access].mode;
  return mode == AccessMode::kRead || mode == AccessMode::kUniform || mode == AccessMode::kUpdate ||
         (mode == AccessMode::kWrite && program.dispatch(ref.dispatch).is_partial);
}

bool is_atomic(const Program& program, AccessRef ref) {
  return program.accesses_of(ref.dispatch)[ref.access].mode == AccessMode::kAtomic;
}

// What an access to scratch depends on. An atomic commutes with those of its row.
Content without_own_row(const Program& program, AccessRef ref, Content content) {
  if (is_atomic(program, ref) && content.back().op == program.dispatch(ref.dispatch).atomic_op) {
    content.pop_back();
  }
  return content;
}

// Adds one differing byte; only the lowest run of each (reader, access, seen, right) is kept.
void add_byte(const ReorderedRead& read, std::vector<ReorderedRead>& reads) {
  for (ReorderedRead& known : reads) {
    if (std::tie(known.reader, known.access, known.seen_writer, known.right_writer, known.memory) ==
        std::tie(read.reader, read.access, read.seen_writer, read.right_writer, read.memory)) {
      if (known.bytes.end == read.bytes.begin) {
        known.bytes.end = read.bytes.end;
      }
      return;
    }
  }
  reads.push_back(read);
}

void compare_byte(const Program& program, const Contents& seen, const Contents& right,
                  MemoryId memory, uint64_t byte, std::vector<ReorderedRead>& reads) {
  const bool is_scratch = program.memory(memory).is_scratch;
  for (const auto& [ref, content] : seen) {
    const bool is_end = ref.access == kEnd;
    ReorderedRead read{
        ref.dispatch, is_end ? 0 : ref.access, writer_of(content), writer_of(right.at(ref)),
        memory,       {byte, byte + 1}};
    const bool sees = is_end
                          ? !is_scratch
                          : sees_old_bytes(program, ref) || (is_scratch && is_atomic(program, ref));
    if (!sees) {
      continue;
    }
    if (is_scratch) {
      const Content base = without_own_row(program, ref, content);
      if (const auto later = later_member(program, base, ref.dispatch)) {
        read.seen_writer = *later;
        add_byte(read, reads);
      }
    } else if (content != right.at(ref)) {
      add_byte(read, reads);
    }
  }
}

}  // namespace

std::vector<Hazard> reference_all_hazards(const Program& program) {
  std::vector<Hazard> hazards;
  for (size_t k = 0; k < program.dispatches.size(); ++k) {
    for (size_t i = 0; i < k; ++i) {
      for (const FindingKind kind : kKinds) {
        const auto hazard = pair_hazard(program, kind, DispatchId(i), DispatchId(k));
        if (hazard && is_hazardous(program, kind, DispatchId(i), DispatchId(k))) {
          hazards.push_back(*hazard);
        }
      }
    }
  }
  return hazards;
}

std::vector<Hazard> reference_hazards(const Program& program) {
  std::set<std::tuple<DispatchId, DispatchId, FindingKind>> found;  // Second, first, kind.
  for (size_t m = 0; m < program.memories.size(); ++m) {
    for (uint64_t byte = 0; byte < program.memories[m].size_bytes; ++byte) {
      for (size_t k = 0; k < program.dispatches.size(); ++k) {
        for (const AccessRef& second : accesses_at(program, DispatchId(k), m, byte)) {
          for (const FindingKind kind : kKinds) {
            const auto first = latest_conflict(program, kind, second, m, byte);
            if (first && is_hazardous(program, kind, *first, DispatchId(k))) {
              found.insert({DispatchId(k), *first, kind});
            }
          }
        }
      }
    }
  }
  std::vector<Hazard> hazards;
  for (const auto& [second, first, kind] : found) {
    hazards.push_back(*pair_hazard(program, kind, first, second));
  }
  return hazards;
}

uint64_t reference_fewest_barriers(const Program& program) {
  const size_t dispatch_count = program.dispatches.size();
  std::vector<std::pair<size_t, size_t>> conflicts;
  for (size_t k = 0; k < dispatch_count; ++k) {
    for (size_t i = 0; i < k; ++i) {
      if (do_conflict(program, DispatchId(i), DispatchId(k))) {
        conflicts.emplace_back(i, k);
      }
    }
  }
  // Bit s of a placement: a barrier after dispatch s.
  uint64_t fewest = dispatch_count;
  for (uint32_t placement = 0; placement < (uint32_t{1} << dispatch_count); ++placement) {
    const bool separates_all =
        std::all_of(conflicts.begin(), conflicts.end(), [&](const auto& conflict) {
          for (size_t s = conflict.first; s < conflict.second; ++s) {
            if ((placement >> s & 1) != 0) {
              return true;
            }
          }
          return false;
        });
    if (separates_all) {
      fewest = std::min<uint64_t>(fewest, static_cast<uint64_t>(__builtin_popcount(placement)));
    }
  }
  return fewest;
}

uint64_t reference_longest_chain(const Program& program) {
  uint64_t longest = 0;
  for (size_t last = 0; last < program.dispatches.size(); ++last) {
    longest = std::max(longest, longest_chain_to(program, last));
  }
  return longest;
}

std::vector<AliasViolation> reference_alias_violations(const Program& program) {
  std::vector<AliasViolation> violations;
  for (size_t d = 0; d < program.dispatches.size(); ++d) {
    const DispatchId id(d);
    const std::span<const Access> accesses = program.accesses_of(id);
    for (uint32_t i = 0; i < accesses.size(); ++i) {
      for (uint32_t k = i + 1; k < accesses.size(); ++k) {
        const ByteRange shared = shared_bytes(program, {id, i}, {id, k});
        const Access& a = accesses[i];
        const Access& b = accesses[k];
        const bool both_atomic = a.mode == AccessMode::kAtomic && b.mode == AccessMode::kAtomic;
        const bool is_in_place =
            a.only_reads() && b.mode != AccessMode::kAtomic && a.range == b.range;
        if (shared.is_empty() || (!writes(a) && !writes(b)) || both_atomic || is_in_place) {
          continue;
        }
        violations.push_back({id, i, k, writes(a) && writes(b), shared});
      }
    }
  }
  return violations;
}

std::vector<ReorderedRead> reference_reordered(const Program& program) {
  std::vector<DispatchId> issue_order;
  for (size_t i = 0; i < program.dispatches.size(); ++i) {
    issue_order.emplace_back(i);
  }
  std::vector<DispatchId> program_order = issue_order;
  std::sort(program_order.begin(), program_order.end(), [&](DispatchId a, DispatchId b) {
    return program.dispatch(a).order < program.dispatch(b).order;
  });
  std::vector<ReorderedRead> reads;
  for (size_t m = 0; m < program.memories.size(); ++m) {
    for (uint64_t byte = 0; byte < program.memories[m].size_bytes; ++byte) {
      compare_byte(program, replay_byte(program, issue_order, m, byte),
                   replay_byte(program, program_order, m, byte), MemoryId(m), byte, reads);
    }
  }
  std::stable_sort(reads.begin(), reads.end(), [](const auto& a, const auto& b) {
    return std::pair(a.reader, a.access) < std::pair(b.reader, b.access);
  });
  return reads;
}

}  // namespace interlock
