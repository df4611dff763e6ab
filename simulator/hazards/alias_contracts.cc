// The basic idea is that slices of one dispatch run in any order, so an output may lie on an input
// only where each element is read by the very slice that overwrites it. The kernel table knows for
// which pairs that holds when the two ranges are the same; where one is shifted, a slice overwrites
// what another one reads.
#include "simulator/hazards/alias_contracts.h"

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/stop.h"
#include "simulator/hazards/undeclared.h"

namespace interlock {

namespace {

bool is_output(const Access& access) { return access.has_write_side(); }

// Whether `input` and `output`, which share bytes, may do so.
bool may_share(const Program& program, const Dispatch& dispatch, uint32_t input, uint32_t output) {
  const std::span<const Access> accesses = program.accesses_of(dispatch);
  const AliasContract contract = alias_contract_of(
      kernel_entry(dispatch.kernel), static_cast<int>(input), static_cast<int>(output));
  return contract == AliasContract::kIdenticalElement && !accesses[output].is_atomic() &&
         accesses[input].range == accesses[output].range;
}

// The bytes of an operand that no operand declares in the same way, if it stands after `actual`.
std::vector<ByteRange> own_bytes_of(const Program& program, DispatchId id, uint32_t access) {
  const Access& operand = program.accesses_of(id)[access];
  if (!operand.is_undeclared) return {operand.range};
  return undeclared_bytes_of(program, {id, access});
}

// The first run of bytes that both have; empty if there is none. Both rise.
ByteRange first_overlap(const std::vector<ByteRange>& a, const std::vector<ByteRange>& b) {
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (share_a_byte(a[i], b[j])) return intersection(a[i], b[j]);
    if (a[i].end <= b[j].end) {
      ++i;
    } else {
      ++j;
    }
  }
  return {};
}

// Appends the violation between the operands at `low` and `high`, if there is one. Requires: they
// share bytes.
void check_pair(const Program& program, DispatchId id, uint32_t low, uint32_t high,
                std::vector<AliasViolation>& violations) {
  const Dispatch& dispatch = program.dispatch(id);
  const Access& a = program.accesses_of(dispatch)[low];
  const Access& b = program.accesses_of(dispatch)[high];
  if (!is_output(a) && !is_output(b)) return;
  const ByteRange overlap =
      a.is_undeclared || b.is_undeclared
          ? first_overlap(own_bytes_of(program, id, low), own_bytes_of(program, id, high))
          : intersection(a.range, b.range);
  if (overlap.is_empty()) return;
  if (is_output(a) && is_output(b)) {
    if (!(a.is_atomic() && b.is_atomic())) {
      violations.push_back({id, low, high, true, overlap});
    }
    return;
  }
  const uint32_t input = is_output(a) ? high : low;
  const uint32_t output = is_output(a) ? low : high;
  if (!may_share(program, dispatch, input, output)) {
    violations.push_back({id, input, output, false, overlap});
  }
}

// Whether two operands of a dispatch, one of them an output, share bytes: of few do any.
bool do_any_share(std::span<const Access> accesses) {
  for (const Access* b = accesses.data(); b != accesses.data() + accesses.size(); ++b) {
    for (const Access* a = accesses.data(); a != b; ++a) {
      const bool do_share = a->range.begin < b->range.end && b->range.begin < a->range.end &&
                            share_a_byte(a->range, b->range);
      if (do_share && a->memory == b->memory && (is_output(*a) || is_output(*b))) return true;
    }
  }
  return false;
}

// Those of one dispatch, up to the limit.
void append_violations(const Program& program, DispatchId id, uint64_t limit,
                       std::vector<AliasViolation>& violations) {
  const std::span<const Access> accesses = program.accesses_of(id);
  for (uint32_t low = 0; low < accesses.size(); ++low) {
    for (uint32_t high = low + 1; high < accesses.size(); ++high) {
      if (accesses[low].memory != accesses[high].memory) continue;
      if (!share_a_byte(accesses[low].range, accesses[high].range)) continue;
      check_pair(program, id, low, high, violations);
      if (violations.size() >= limit) return;
    }
  }
}

}  // namespace

std::vector<AliasViolation> find_alias_violations(const Program& program, uint64_t limit) {
  std::vector<AliasViolation> violations;
  for (size_t i = 0; i < program.dispatches.size(); ++i) {
    if (is_stopped()) return violations;
    const Dispatch& dispatch = program.dispatches[i];
    if (dispatch.is_transition() || !do_any_share(program.accesses_of(dispatch))) continue;
    append_violations(program, DispatchId(i), limit, violations);
    if (violations.size() >= limit) return violations;
  }
  return violations;
}

}  // namespace interlock
