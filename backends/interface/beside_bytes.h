// BesideBytes: what a cache of the host takes along beside its writes in a schedule: the other
// bytes of their atoms, which it writes back as it found them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "backends/interface/host_cache.h"
#include "backends/interface/partial_steps.h"
#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "simulator/order/host_atoms.h"
#include "simulator/schedules/schedule.h"

namespace interlock {

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
  void drop(DispatchId dispatch, std::span<const StepBytes> places);

 private:
  struct Found {
    MemoryRange bytes;
    std::vector<uint8_t> content;
  };

  template <typename Take>
  void take(DispatchId dispatch, std::span<const StepBytes> places, const Take& take);

  const Program& program_;
  HostCache& cache_;
  const PartialSteps<std::vector<uint8_t>>& partial_;
  const std::vector<uint8_t*>& starts_;
  std::map<DispatchId, std::vector<Found>> found_;
  std::map<DispatchId, std::vector<StepBytes>> taken_;  // Of these, by now.
};

// Where nobody writes such bytes between the time when the cache takes them and the commit, that
// they are put back makes no difference. Returns the refusal of a device, which does not do it, of
// another schedule.
std::optional<Error> beside_refusal(const Program& program, const Schedule& schedule);

}  // namespace interlock
