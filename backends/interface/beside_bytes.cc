#include "backends/interface/beside_bytes.h"

#include <algorithm>
#include <utility>

#include "encoder/program/error_of.h"

namespace interlock {

void BesideBytes::find(DispatchId dispatch) {
  if (program_.dispatch(dispatch).host != HostAccess::kWrites) return;
  for (const MemoryRange& beside : beside_host_write(program_, dispatch)) {
    Found found{beside, cache_.bytes_for(dispatch, beside.memory, beside.range)};
    partial_.for_each_found(
        dispatch, beside.range,
        [&](const StepBytes& place) {
          return place.memory == beside.memory && place.sort == StageAccess::kHostWrite;
        },
        [&](ByteRange shared, const std::vector<uint8_t>& fetched, uint64_t offset_bytes) {
          std::copy_n(fetched.data() + offset_bytes, shared.size_bytes(),
                      found.content.data() + (shared.begin - beside.range.begin));
        });
    found_[dispatch].push_back(std::move(found));
  }
}

template <typename Take>
void BesideBytes::take(DispatchId dispatch, std::span<const StepBytes> places, const Take& take) {
  const auto all = found_.find(dispatch);
  if (all == found_.end()) return;
  std::vector<StepBytes>& taken = taken_[dispatch];
  for (const Found& found : all->second) {
    const auto& [memory, range] = found.bytes;
    for (const ByteRange& part : parts_outside(taken, memory, range)) {
      if (places.empty()) take(found, part);
      for (const StepBytes& place : places) {
        const ByteRange shared = intersection(place.range, part);
        if (place.memory == memory && !shared.is_empty()) take(found, shared);
      }
    }
  }
  taken.insert(taken.end(), places.begin(), places.end());
  if (!places.empty()) return;
  taken_.erase(dispatch);
  found_.erase(all);
}

void BesideBytes::put_back(DispatchId dispatch, std::span<const StepBytes> places) {
  take(dispatch, places, [&](const Found& found, ByteRange part) {
    std::copy_n(found.content.data() + (part.begin - found.bytes.range.begin), part.size_bytes(),
                starts_[found.bytes.memory.index] + part.begin);
  });
}

void BesideBytes::drop(DispatchId dispatch, std::span<const StepBytes> places) {
  take(dispatch, places, [](const Found& /*found*/, ByteRange /*part*/) {});
}

std::optional<Error> beside_refusal(const Program& program, const Schedule& schedule) {
  if (!has_host_atoms(program)) return std::nullopt;
  // Writes of the host that have fetched or run, and have not committed.
  std::vector<DispatchId> open;
  const auto writes_beside = [&](DispatchId other, DispatchId host) {
    const std::vector<MemoryRange> beside = beside_host_write(program, host);
    return std::ranges::any_of(program.accesses_of(other), [&](const Access& access) {
      return access.has_write_side() && std::ranges::any_of(beside, [&](const MemoryRange& bytes) {
               return bytes.memory == access.memory && share_a_byte(bytes.range, access.range);
             });
    });
  };
  for (const Step& step : schedule.steps) {
    for (const DispatchId host : open) {
      const bool may_write = step.kind == StepKind::kRun || step.kind == StepKind::kCommit;
      if (host == step.dispatch || !may_write || !writes_beside(step.dispatch, host)) continue;
      return error_of(
          "A device does not put back what stands beside {} in an atom of the host's cache; the cpu backend does.",
          program.description_of(host));
    }
    if (program.dispatch(step.dispatch).host != HostAccess::kWrites) continue;
    const bool opens = step.kind == StepKind::kFetch || step.kind == StepKind::kRunLate;
    const bool ends = !opens && step.slice_count == 0;
    std::erase(open, step.dispatch);
    if (opens || !(ends || step.kind == StepKind::kRun)) open.push_back(step.dispatch);
  }
  return std::nullopt;
}

}  // namespace interlock
