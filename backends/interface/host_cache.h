// CachedWrites: what the host has written in a schedule and not committed, which it finds itself,
// and nobody else does. HostCache: the same for backends whose memories lie where the host reaches
// them.
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

// The late writes of the host that wait, beside what stages all late writes.
template <class Copy, class Fetched>
class CachedWrites {
 public:
  using Staging = LateStaging<Copy>;
  using Operand = typename Staging::Operand;

  // All outlive this.
  CachedWrites(const Program& program, Staging& late, PartialSteps<Fetched>& partial)
      : program_(program), late_(late), partial_(partial) {}

  // What runs late waits from now on, if the host does it.
  void add(DispatchId late) {
    if (program_.dispatch(late).host == HostAccess::kWrites) writers_.push_back(late);
  }

  // What was written late there has been committed, or is lost: it waits no more. Without places,
  // all that is left of it.
  void note_end(DispatchId late, std::span<const StepBytes> places) {
    partial_.note_commit(late, places);
    if (!places.empty()) return;
    late_.forget(late);
    std::erase(writers_, late);
  }

  // The writes of the host that wait, the latest last.
  const std::vector<DispatchId>& writers() const { return writers_; }

  // Calls `take(part, staged)` for what `writer` has written of `range` in `memory` and not
  // committed: `part` in the memory, and the staging copy that has it.
  template <class Take>
  void for_each_part(DispatchId writer, MemoryId memory, ByteRange range, const Take& take) const {
    static_cast<void>(late_.for_each_copy(
        writer, [&](const DispatchPiece& piece, const Access& access, const Operand& staged) {
          if (access.memory == memory) {
            for_each_written_run(program_, piece, staged.access, [&](ByteRange run) {
              partial_.for_each_part(writer, memory, run, {}, [&](ByteRange part) {
                const ByteRange shared = intersection(part, range);
                if (!shared.is_empty()) take(shared, staged);
              });
            });
          }
          return Result<Success>(Success{});
        }));
  }

 protected:
  const Program& program_;
  Staging& late_;
  PartialSteps<Fetched>& partial_;

 private:
  std::vector<DispatchId> writers_;
};

class HostCache : public CachedWrites<GuardedBuffer, std::vector<uint8_t>> {
 public:
  // All outlive this; `starts`: where the memories lie.
  HostCache(const Program& program, Staging& late, PartialSteps<std::vector<uint8_t>>& partial,
            const std::vector<uint8_t*>& starts)
      : CachedWrites(program, late, partial), starts_(starts) {}

  // The bytes as the dispatch finds them now: the host, with what it has written.
  std::vector<uint8_t> bytes_for(DispatchId dispatch, MemoryId memory, ByteRange range);

  // Carries a read of the host out, of what it has fetched before where it has.
  void read(DispatchId dispatch, std::vector<std::vector<uint8_t>>& host_reads);

 private:
  const std::vector<uint8_t*>& starts_;
};

}  // namespace interlock
