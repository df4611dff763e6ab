// Partial steps: what a schedule has fetched for a dispatch that runs later, and what it has
// committed of one whose other bytes still wait. Backends differ in where the bytes are kept; what
// finds them, and which bytes a commit moves, stands here.
#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "simulator/schedules/schedule.h"

namespace interlock {

// Whether the access finds what its dispatch has fetched at `place`: it reads, by the same cache.
bool finds_as_read(const Program& program, DispatchId dispatch, const Access& access,
                   const StepBytes& place);

// The same of old bytes that it leaves in place: those of a partial write.
bool finds_as_left(const Program& program, DispatchId dispatch, const Access& access,
                   const StepBytes& place);

// What a kernel that finds one content of each byte can be given. Errors: the step fetches bytes of
// an update that is partial as read, or as left in place, and not as both: they may then differ.
Result<Success> check_one_content(const Program& program, DispatchId dispatch,
                                  std::span<const StepBytes> fetched);

// Returns the parts of `run` in none of `excluded`, ascending.
std::vector<ByteRange> parts_outside(std::span<const StepBytes> excluded, MemoryId memory,
                                     ByteRange run);

// `Copy`: what the backend keeps of fetched bytes.
template <class Copy>
class PartialSteps {
 public:
  explicit PartialSteps(const Program& program) : program_(program) {}

  void fetch(DispatchId dispatch, const StepBytes& place, Copy copy) {
    fetched_[dispatch].push_back({place, std::move(copy)});
  }

  bool has_fetched(DispatchId dispatch) const { return fetched_.count(dispatch) > 0; }

  bool has_fetched(DispatchId dispatch, const Access& access) const {
    bool has = false;
    for_each_fetched(dispatch, access, access.range,
                     [&](ByteRange, const Copy&, uint64_t) { has = true; });
    return has;
  }

  // Returns, by access, what of the dispatch a piece of it stages: the operands that it writes and
  // those of which it has fetched bytes, whole; nothing of the others.
  std::vector<ByteRange> staged_operands(DispatchId dispatch) const {
    std::vector<ByteRange> ranges;
    for (const Access& access : program_.accesses_of(dispatch)) {
      const bool is_in_place = access.only_reads() && !has_fetched(dispatch, access);
      ranges.push_back(is_in_place ? ByteRange{} : access.range);
    }
    return ranges;
  }

  // Calls `take(shared, copy, offset_bytes)` for the bytes in `range` that the access finds
  // fetched, as read or as left in place: `shared` in its memory, and where in the copy they begin.
  // Later ones stand for earlier ones.
  template <class Take>
  void for_each_fetched(DispatchId dispatch, const Access& access, ByteRange range,
                        const Take& take) const {
    for_each_found(
        dispatch, range,
        [&](const StepBytes& place) {
          return finds_as_read(program_, dispatch, access, place) ||
                 finds_as_left(program_, dispatch, access, place);
        },
        take);
  }

  // As above, of the places for which `finds` is true.
  template <class Finds, class Take>
  void for_each_found(DispatchId dispatch, ByteRange range, const Finds& finds,
                      const Take& take) const {
    const auto found = fetched_.find(dispatch);
    if (found == fetched_.end()) return;
    for (const Fetched& fetched : found->second) {
      const ByteRange shared = intersection(fetched.place.range, range);
      if (shared.is_empty() || !finds(fetched.place)) continue;
      take(shared, fetched.copy, shared.begin - fetched.place.range.begin);
    }
  }

  // Calls `take(part)` for what a commit of `places` moves of `run`, which an access of the
  // dispatch writes in `memory`; of all of it, if it names none. Nothing moves twice.
  template <class Take>
  void for_each_part(DispatchId dispatch, MemoryId memory, ByteRange run,
                     std::span<const StepBytes> places, const Take& take) {
    for (const ByteRange& part : parts_outside(committed_[dispatch], memory, run)) {
      if (places.empty()) take(part);
      for (const StepBytes& place : places) {
        const ByteRange shared = intersection(place.range, part);
        if (place.memory == memory && !shared.is_empty()) take(shared);
      }
    }
  }

  // After the commit of `places`, or of all.
  void note_commit(DispatchId dispatch, std::span<const StepBytes> places) {
    if (places.empty()) {
      committed_.erase(dispatch);
    } else {
      std::vector<StepBytes>& committed = committed_[dispatch];
      committed.insert(committed.end(), places.begin(), places.end());
    }
  }

 private:
  struct Fetched {
    StepBytes place;
    Copy copy;
  };

  const Program& program_;
  std::map<DispatchId, std::vector<Fetched>> fetched_;
  std::map<DispatchId, std::vector<StepBytes>> committed_;  // Of dispatches of which bytes wait.
};

}  // namespace interlock
