// BesideBytes: what a cache of the host takes along beside its writes in a schedule: the other
// bytes of their atoms, which it writes back as it found them.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "backends/interface/host_cache.h"
#include "backends/interface/partial_steps.h"
#include "encoder/program/program.h"
#include "simulator/order/host_atoms.h"
#include "simulator/schedules/schedule.h"

namespace interlock {

// What was found beside the writes of the host, until it is put back or lost. `Content` is a copy
// of the bytes.
template <class Content>
class BesideContents {
 public:
  struct Found {
    MemoryRange bytes;
    Content content;
  };

  void add(DispatchId dispatch, Found found) { found_[dispatch].push_back(std::move(found)); }

  // Calls `take(found, part)` for what goes along with a commit of `places`, or of all that waits,
  // or is lost with it: `part` in the memory of `found`. Nothing goes twice.
  template <typename Take>
  void take(DispatchId dispatch, std::span<const StepBytes> places, const Take& take) {
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

  // Is lost.
  void drop(DispatchId dispatch, std::span<const StepBytes> places) {
    take(dispatch, places, [](const Found& /*found*/, ByteRange /*part*/) {});
  }

 private:
  std::map<DispatchId, std::vector<Found>> found_;
  std::map<DispatchId, std::vector<StepBytes>> taken_;  // Of these, by now.
};

// Calls `find(bytes)` for what the cache takes along beside the dispatch; for nothing if it is no
// write of the host.
template <typename Find>
void for_each_beside(const Program& program, DispatchId dispatch, const Find& find) {
  if (program.dispatch(dispatch).host != HostAccess::kWrites) return;
  for (const MemoryRange& bytes : beside_host_write(program, dispatch)) find(bytes);
}

// As PartialSteps::for_each_fetched(), of `bytes` beside a write of the host.
template <class Fetched, typename Take>
void for_each_fetched_beside(const PartialSteps<Fetched>& partial, DispatchId dispatch,
                             const MemoryRange& bytes, const Take& take) {
  partial.for_each_found(
      dispatch, bytes.range,
      [&](const StepBytes& place) {
        return place.memory == bytes.memory && place.sort == StageAccess::kHostWrite;
      },
      take);
}

// Of backends whose memories lie where the host reaches them.
class BesideBytes {
 public:
  // All outlive this; `starts`: where the memories lie.
  BesideBytes(const Program& program, HostCache& cache,
              const PartialSteps<std::vector<uint8_t>>& partial,
              const std::vector<uint8_t*>& starts)
      : program_(program), cache_(cache), partial_(partial), starts_(starts) {}

  // Before the dispatch runs: what its cache holds, or has fetched before. Nothing of what is no
  // write of the host.
  void find(DispatchId dispatch);

  // With a commit of `places`, or of all that waits.
  void put_back(DispatchId dispatch, std::span<const StepBytes> places);

  // Is lost instead.
  void drop(DispatchId dispatch, std::span<const StepBytes> places) {
    contents_.drop(dispatch, places);
  }

 private:
  const Program& program_;
  HostCache& cache_;
  const PartialSteps<std::vector<uint8_t>>& partial_;
  const std::vector<uint8_t*>& starts_;
  BesideContents<std::vector<uint8_t>> contents_;
};

}  // namespace interlock
