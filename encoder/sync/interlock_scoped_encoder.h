// InterlockScopedEncoder: our own, for devices whose barriers have scopes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "encoder/sync/barrier_needs.h"
#include "encoder/sync/encoder.h"
#include "encoder/sync/scope_clocks.h"

namespace interlock {

// Places a barrier wherever InterlockEncoder does, so as few as can be, and gives it one dependency
// of stages and accesses of which nothing can go: stages alone for a write after a read, the cache
// that must be flushed and those that must look again for what follows a write.
//
// A barrier cannot know when it is reached what it will be needed for. So the dispatches after it
// are held until the next one; then it is given what they need of it and what barriers before it
// do not bring. All barriers after it may bring everything: what they leave out, an epoch later
// asks for. So nothing that is dropped is missed, and nothing that is kept could be dropped once
// the later ones are smaller, as order only shrinks with them: docs/theory.md, "Scopes that nothing
// can leave".
//
// Cost: O(log r) for each access and r runs of bytes used alike, and each run that it covers: what
// was written in many parts at many times costs as many steps each time it is read whole. Some
// hundred steps a barrier.
class InterlockScopedEncoder final : public Encoder {
 public:
  void encode(const EncoderDispatch& dispatch, CommandSink& sink) override;
  void end_command_buffer(CommandSink& sink) override;
  void wait_for(std::span<const Access> bytes, bool is_pending, CommandSink& sink) override;
  void wait_for_all(CommandSink& sink) override;
  void finish(CommandSink& sink) override;

 private:
  // Takes what needs no dispatch of the current epoch to be over; else begins another one.
  void take(const BarrierNeeds& needs, CommandSink& sink);
  void issue_held(CommandSink& sink);

  LatestUses uses_;
  ScopeClocks clocks_;            // Of the barriers that are issued.
  uint32_t epoch_ = 1;            // The current one.
  bool owes_barrier_ = false;     // The one before it is not issued yet.
  BarrierNeeds needs_;            // Of the epoch.
  std::vector<DispatchId> held_;  // Its dispatches; none: a command buffer ends.
};

}  // namespace interlock
