// ShadowMachine: executes a schedule on hashes instead of numbers. What a slice writes is a hash of
// its identity and of what it read, so two runs differ exactly when some read saw another writer.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/schedules/schedule.h"

namespace interlock {

enum class ShadowMode : uint8_t {
  // A write also hashes the byte's old content, and what each dispatch reads is compared too: on
  // one
  // queue with global barriers the three deciding runs differ iff there is a hazard (T5).
  kStrict,
  // Full overwrites; only the outputs are compared: says whether an output can differ.
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
  explicit ShadowMachine(const Program& program);
  ~ShadowMachine();
  ShadowMachine(ShadowMachine&&) noexcept;
  ShadowMachine& operator=(ShadowMachine&&) noexcept;

  // Requires: `schedule` is legal for the program.
  // Cost: linear in the byte segments that the slices touch.
  ShadowResult run(const Schedule& schedule, ShadowMode mode);

  // The same into `result`, whose storage is reused.
  void run(const Schedule& schedule, ShadowMode mode, ShadowResult& result);

  // Byte segments that a run of the whole program touches, those of each access counted.
  uint64_t touched_segment_count() const;

  // The positions in Program::outputs, ascending, of those that differ; without outputs, of the
  // memories. Requires: both are observable results of this machine.
  std::vector<uint32_t> differing_outputs(const ShadowResult& a, const ShadowResult& b) const;

 private:
  struct Compiled;
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace interlock
