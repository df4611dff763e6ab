// ShadowMachine: executes a schedule on hashes instead of numbers. What a slice writes is a hash of
// its identity and of what it read, so two runs differ exactly when some read saw another writer.
//
// Steps that fetch or commit some bytes by themselves, and the host's cache, stand in
// shadow_machine_split.cc.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/schedules/schedule.h"
#include "simulator/schedules/shadow_program.h"

namespace interlock {

enum class ShadowMode : uint8_t {
  // A write also hashes the byte's old content, and what each dispatch reads is compared too: on
  // one queue with global barriers the three deciding runs differ iff there is a hazard (T5).
  kStrict,
  // Full overwrites; only the outputs are compared, and what the host reads: says whether one of
  // them can differ.
  kObservable,
};

// What a run leaves, comparable with other runs of the same machine and mode.
struct ShadowResult {
  std::vector<uint64_t> values;  // Strict: all bytes and taps. Observable: the live bytes.

  bool operator==(const ShadowResult&) const = default;
};

// Compiled once per program, run many times. Slices are the units where their number allows (in all
// at most about a million range pieces); else a large dispatch is one unit, which can only call
// more outputs reachable.
class ShadowMachine {
 public:
  // `may_run_plainly`: takes the short way where nothing needs the long one; tests compare the two.
  explicit ShadowMachine(const Program& program, bool may_run_plainly = true);
  ShadowMachine(ShadowMachine&&) = default;
  ShadowMachine& operator=(ShadowMachine&&) = default;

  // Requires: `schedule` is legal for the program.
  // Cost: linear in the byte segments that the slices touch.
  ShadowResult run(const Schedule& schedule, ShadowMode mode);

  // The same into `result`, whose storage is reused.
  void run(const Schedule& schedule, ShadowMode mode, ShadowResult& result);

  // Byte segments that a run of the whole program touches, those of each access counted.
  uint64_t touched_segment_count() const;

  // The positions in Program::outputs, ascending, of those that differ; without outputs, of the
  // memories. After these come the statements in which the host reads, in order. Requires: both are
  // observable results of this machine.
  std::vector<uint32_t> differing_outputs(const ShadowResult& a, const ShadowResult& b) const;

 private:
  struct Fetched {
    StageAccess sort;
    uint64_t value;
  };

  // By segment of the partial writes of a unit; none where an operand before it writes it too.
  using KeptContent = std::vector<std::optional<uint64_t>>;

  template <bool kIsStrict>
  void execute(const Schedule& schedule);
  template <bool kIsStrict>
  void execute_plainly(const Schedule& schedule);
  template <bool kIsStrict>
  void commit_plainly(uint32_t unit);
  uint64_t digest_of(uint32_t unit) const;
  bool overwrites_lost(uint32_t dispatch) const;
  // It overwrites there what the host has lost.
  bool is_over_lost(uint32_t dispatch, uint32_t segment) const;
  // What the partial writes of a unit that commits late find at its run.
  void keep_old_content(uint32_t dispatch, uint32_t unit);
  const KeptContent* find_kept(uint32_t unit) const;
  // Whether an operand of the unit that comes before this write writes the segment, too.
  bool is_written_before(uint32_t unit, uint32_t write, uint32_t segment) const;
  // All writes of a unit put back what it found, or none does.
  bool puts_back(uint32_t unit) const {
    if (!puts_any_back_) return false;
    const uint32_t first = program_.units[unit].first_write;
    return first < program_.units[unit + 1].first_write &&
           program_.writes[first].effect == ShadowEffect::kKeep;
  }
  void find_for_putting_back(uint32_t dispatch, uint32_t unit, bool is_split);
  template <bool kIsStrict>
  void commit(uint32_t unit);

  // Where steps fetch, or commit, some bytes by themselves. Such schedules are those of witnesses,
  // and few: clear rather than fast.
  void fetch(const Schedule& schedule, const Step& step);
  const uint64_t* find_fetched(uint32_t dispatch, uint32_t segment, StageAccess sort) const;
  uint64_t split_digest_of(uint32_t dispatch, uint32_t unit) const;
  // The segments in `places` that have not been committed; all if it names none.
  template <bool kIsStrict>
  void commit_split(uint32_t dispatch, uint32_t unit, std::span<const StepBytes> places);
  bool covers(std::span<const StepBytes> places, uint32_t segment) const;

  // What the host's cache takes along beside its write: found at the run, put back at the commit.
  void find_beside(uint32_t dispatch);
  void put_back_beside(uint32_t dispatch, std::span<const StepBytes> places);
  std::span<const BesideWrite> beside_of(uint32_t dispatch) const;

  // The host finds what it wrote, committed or not.
  uint64_t value_for(uint32_t dispatch, uint32_t segment) const;
  template <bool kIsStrict>
  void keep_in_cache(uint32_t dispatch, uint32_t unit);
  void take_from_cache(uint32_t dispatch, std::span<const StepBytes> places);
  void drop(const Schedule& schedule, const Step& step);

  ShadowProgram program_;
  std::vector<uint64_t> initial_;         // By segment, then a zero for the tap of each dispatch.
  std::vector<StageAccess> write_sorts_;  // By dispatch.
  // No host, and nothing that is lost or put back.
  bool is_plain_ = false;
  bool has_partial_ = false;      // Some write is.
  bool puts_any_back_ = false;    // Some unit puts back what it found.
  std::vector<bool> is_of_host_;  // By dispatch.

  // Of one run.
  std::vector<uint64_t> values_;          // As `initial_`.
  std::vector<uint64_t> digests_;         // By unit, once it has run.
  std::vector<uint8_t> is_waiting_;       // By unit; all zero between runs of legal schedules.
  std::map<uint32_t, KeptContent> kept_;  // By unit that commits late.
  std::map<uint32_t, std::vector<uint64_t>> found_;  // By unit: what it puts back.
  std::map<std::pair<uint32_t, uint32_t>, std::vector<Fetched>> fetched_;  // By dispatch, segment.
  std::set<std::pair<uint32_t, uint32_t>> committed_;  // By unit and segment: apart from others.
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> found_beside_;  // By dispatch and segment.
  // By segment: what the host wrote, by dispatch, and has not committed; the latest last.
  std::map<uint32_t, std::vector<std::pair<uint32_t, uint64_t>>> cached_;
};

}  // namespace interlock
