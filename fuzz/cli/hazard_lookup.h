// HazardLookup: whether two commands of a captured program have a hazard, all pairs looked at and
// not the latest of each alone; of the program as it stands, or of what is left of it once nobody
// waits for its timeline semaphores.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <tuple>

#include "capture/convert/captured_places.h"
#include "encoder/program/finding_kind.h"
#include "encoder/program/program.h"

namespace interlock {

enum class TimelineWaits : uint8_t {
  kKept,
  kLeftOut,  // Those of queues and those of the host. Binary semaphores and fences stay.
};

class HazardLookup {
 public:
  // Requires: `program` was captured, and outlives this.
  HazardLookup(const Program& program, TimelineWaits waits) : program_(program), waits_(waits) {}

  // Whether there is a hazard of this kind at the later command; after the first one, if that is
  // given. Possible ones count.
  // Cost: that of a check without advice, the first time.
  bool has(FindingKind kind, const std::optional<CapturedPlace>& first,
           const CapturedPlace& second);

  // A limit ended the check: what was not found may be there.
  bool is_cut() const { return is_cut_; }

 private:
  void find_all();

  const Program& program_;
  TimelineWaits waits_;
  bool has_all_ = false;
  bool is_cut_ = false;
  // What is no command has no place.
  std::set<std::tuple<FindingKind, CapturedPlace, std::optional<CapturedPlace>>> hazards_;
};

}  // namespace interlock
