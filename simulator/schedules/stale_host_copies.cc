// The basic idea: walk back from what the host finds to whoever wrote it last. If that is the host
// itself, over what has not got to its domain by then, the older value may come there later.
#include "simulator/schedules/stale_host_copies.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "encoder/program/range.h"
#include "encoder/program/stop.h"
#include "simulator/order/host_atoms.h"

namespace interlock {

namespace {

// Takes `bytes` out of `ranges`, and returns what of them was there.
std::vector<ByteRange> take_out(std::vector<ByteRange>& ranges, ByteRange bytes) {
  std::vector<ByteRange> taken;
  std::vector<ByteRange> left;
  for (const ByteRange& range : ranges) {
    const ByteRange shared = intersection(range, bytes);
    if (shared.is_empty()) {
      left.push_back(range);
      continue;
    }
    taken.push_back(shared);
    if (range.begin < shared.begin) left.push_back({range.begin, shared.begin});
    if (shared.end < range.end) left.push_back({shared.end, range.end});
  }
  ranges = std::move(left);
  return taken;
}

}  // namespace

std::vector<StaleHostCopies::Fetch> StaleHostCopies::fetches_of(const Hazard& hazard,
                                                                uint64_t steps_max,
                                                                uint64_t& step_count) {
  std::vector<Fetch> stale;
  const DispatchId writer = hazard.first.dispatch;
  const DispatchId second = hazard.second.dispatch;
  const bool is_meant = hazard.kind != FindingKind::kWriteAfterRead &&
                        program_.dispatch(writer).host == HostAccess::kNone &&
                        program_.dispatch(second).host != HostAccess::kNone;
  if (!is_meant) return stale;
  const bool is_read = hazard.kind == FindingKind::kReadAfterWrite;
  const uint64_t end = step_count + std::min(steps_max, UINT64_MAX - step_count);
  uint64_t poll = 0;
  const auto begin = std::ranges::lower_bound(program_.host_dispatches, second);
  for (auto at = begin; at != program_.host_dispatches.end(); ++at) {
    if (is_read && at != begin) break;
    for (const Fetch& fetch : fetches_of(*at)) {
      ++step_count;
      if (step_count > end || is_stopped_at(++poll)) return stale;
      if (!meets_writes_of(writer, fetch.bytes)) continue;
      // Whoever wrote it last before.
      std::vector<ByteRange> rest = {fetch.bytes.range};
      for (size_t d = at->index; d-- > writer.index && !rest.empty();) {
        if (step_count > end || is_stopped_at(++poll)) return stale;
        const DispatchId last(d);
        for (const Access& access : program_.accesses_of(last)) {
          ++step_count;
          if (access.memory != fetch.bytes.memory || !access.has_write_side()) continue;
          for (const ByteRange& found : take_out(rest, access.range)) {
            const bool is_over =
                program_.dispatch(last).host == HostAccess::kWrites && (is_read || last == second);
            if (!is_over) continue;
            add_fetches(writer, last, {fetch.dispatch, {access.memory, found}, fetch.sort},
                        step_count, stale);
          }
        }
      }
    }
  }
  return stale;
}

bool StaleHostCopies::meets_writes_of(DispatchId writer, const MemoryRange& bytes) const {
  return std::ranges::any_of(program_.accesses_of(writer), [&](const Access& access) {
    return access.has_write_side() && access.memory == bytes.memory &&
           share_a_byte(access.range, bytes.range);
  });
}

// What it reads, and what its cache takes along.
std::vector<StaleHostCopies::Fetch> StaleHostCopies::fetches_of(DispatchId dispatch) const {
  std::vector<Fetch> fetches;
  for (const Access& access : program_.accesses_of(dispatch)) {
    const bool is_shared = program_.memory(access.memory).is_unified;
    if (!access.reads_plainly() || is_shared || access.range.is_empty()) continue;
    fetches.push_back({dispatch, {access.memory, access.range}, StageAccess::kHostRead});
  }
  for (const MemoryRange& beside : beside_host_write(program_, dispatch)) {
    fetches.push_back({dispatch, beside, StageAccess::kHostWrite});
  }
  return fetches;
}

// Where what the writer wrote is not in the host's domain when the host writes over it.
void StaleHostCopies::add_fetches(DispatchId writer, DispatchId over, const Fetch& fetch,
                                  uint64_t& step_count, std::vector<Fetch>& fetches) {
  for (const Access& written : program_.accesses_of(writer)) {
    if (written.memory != fetch.bytes.memory || !written.has_write_side()) continue;
    ByteRange rest = intersection(written.range, fetch.bytes.range);
    while (!rest.is_empty()) {
      const std::optional<ByteRange> run = coherent_order().find_invisible(
          writer, over, StageAccess::kHostWrite, written.memory, rest, &step_count);
      if (!run) break;
      fetches.push_back({fetch.dispatch, {written.memory, *run}, fetch.sort});
      rest.begin = run->end;
    }
  }
}

const HappensBefore& StaleHostCopies::coherent_order() {
  if (order_ == nullptr) {
    Program coherent = program_;
    for (Memory& memory : coherent.memories) memory.atom_bytes = 0;
    coherent_ = std::make_unique<const Program>(std::move(coherent));
    order_ = std::make_unique<const HappensBefore>(*coherent_);
  }
  return *order_;
}

Schedule StaleHostCopies::with_fetch(DispatchId writer, const Fetch& fetch) const {
  Schedule schedule = reference_order_schedule(program_);
  schedule.bytes = {{fetch.bytes.memory, fetch.bytes.range, fetch.sort}};
  const auto wrote = std::ranges::find(schedule.steps, writer, &Step::dispatch);
  schedule.steps.insert(wrote + 1, Step{StepKind::kFetch, fetch.dispatch, 0, 1});
  return schedule;
}

}  // namespace interlock
