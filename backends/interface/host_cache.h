// HostCache: what the host has written in a schedule and not committed, which it finds itself, and
// nobody else does. For backends whose memories lie where the host reaches them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backends/interface/guarded_buffer.h"
#include "backends/interface/host_statements.h"
#include "backends/interface/late_staging.h"
#include "backends/interface/partial_steps.h"
#include "encoder/program/program.h"
#include "simulator/schedules/schedule.h"

namespace interlock {

// Calls `take(part, staged)` for what the host's write `writer` has written of `range` in `memory`
// and not committed: `part` in the memory, and the staging copy that has it.
template <class Copy, class Fetched, class Take>
void for_each_cached(const Program& program, const LateStaging<Copy>& late,
                     PartialSteps<Fetched>& partial, DispatchId writer, MemoryId memory,
                     ByteRange range, const Take& take) {
  using Operand = typename LateStaging<Copy>::Operand;
  static_cast<void>(late.for_each_copy(
      writer, [&](const DispatchPiece& piece, const Access& access, const Operand& staged) {
        if (access.memory == memory) {
          for_each_written_run(program, piece, staged.access, [&](ByteRange run) {
            partial.for_each_part(writer, memory, run, {}, [&](ByteRange part) {
              const ByteRange shared = intersection(part, range);
              if (!shared.is_empty()) take(shared, staged);
            });
          });
        }
        return Result<Success>(Success{});
      }));
}

class HostCache {
 public:
  using Staging = LateStaging<GuardedBuffer>;
  using Partial = PartialSteps<std::vector<uint8_t>>;

  // All outlive this; `starts`: where the memories lie.
  HostCache(const Program& program, const Staging& late, Partial& partial,
            const std::vector<uint8_t*>& starts)
      : program_(program), late_(late), partial_(partial), starts_(starts) {}

  // The write of the host waits from now on; no more.
  void add(DispatchId writer) { writers_.push_back(writer); }
  void forget(DispatchId writer) { std::erase(writers_, writer); }

  // The bytes as the dispatch finds them now: the host, with what it has written.
  std::vector<uint8_t> bytes_for(DispatchId dispatch, MemoryId memory, ByteRange range);

  // Carries a read of the host out, of what it has fetched before where it has.
  void read(DispatchId dispatch, std::vector<std::vector<uint8_t>>& host_reads);

 private:
  const Program& program_;
  const Staging& late_;
  Partial& partial_;
  const std::vector<uint8_t*>& starts_;
  std::vector<DispatchId> writers_;  // The latest last.
};

}  // namespace interlock
