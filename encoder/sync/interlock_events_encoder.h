// InterlockEventsEncoder: our own, for devices with split barriers: events of Vulkan, fences of
// Metal within a command buffer, split barriers of Direct3D 12.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "encoder/sync/barrier_needs.h"
#include "encoder/sync/encoder.h"
#include "encoder/sync/scope_clocks.h"

namespace interlock {

// Orders where InterlockScopedEncoder places a barrier, with scopes that are found as there. Where
// dispatches stand between the last one that is waited for and the one that waits, the barrier is
// an event: it is set as early as what it is needed for allows, so that these dispatches hold back
// nobody. Each event is set once, and awaited once, right before the dispatch that needs it.
//
// What stands between two of these is an epoch; the last dispatch that is waited for is in the
// epoch before. So the `set` of an event comes after the `await` of the one before, no two are open
// at once, and what was ordered before the one is ordered before the other, as with barriers:
// docs/theory.md, "Scopes that nothing can leave", holds with the number of the last dispatch
// before the `set` in the place of the epoch. As order only shrinks as a `set` moves up, the
// highest place at which it suffices is found by bisection.
//
// Cost: as InterlockScopedEncoder's, with a run of bytes for each dispatch that used them. Two
// epochs are held.
class InterlockEventsEncoder final : public Encoder {
 public:
  void encode(const EncoderDispatch& dispatch, CommandSink& sink) override;
  void end_command_buffer(CommandSink& sink) override;
  void wait_for(std::span<const Access> bytes, bool is_pending, CommandSink& sink) override;
  void wait_for_all(CommandSink& sink) override;
  void finish(CommandSink& sink) override;

  // Everything that was issued is over by other means, and what it wrote is to be seen.
  // Requires: nothing since finish().
  void join_all();

 private:
  static constexpr uint32_t kNoSet = 0;  // In the place of a dispatch: it is a barrier.

  // What is issued next to each other. Dispatches count from 1; none: a command buffer ends.
  struct Epoch {
    uint32_t first = 1;                // The number of its first dispatch, or of the next one.
    std::vector<DispatchId> issued{};  // In order.
    BarrierNeeds needs{};              // Of those before it.
  };

  // Takes what needs no dispatch of the current epoch to be over; else begins another one.
  void take(const BarrierNeeds& needs, CommandSink& sink);

  // Issues the epoch before and what stands between it and the current one, which becomes the epoch
  // before, and begins another. Its needs are known by then.
  void issue_before(CommandSink& sink);

  // With an event of these scopes set after that dispatch, if it is some.
  void issue_epoch(const Epoch& epoch, uint32_t set_after, const ScopePair& scopes,
                   CommandSink& sink);
  // The first dispatch of the epoch before after which an event of the scopes meets what the
  // current one needs. Requires: after the last one it does.
  uint32_t earliest_set(const ScopePair& scopes) const;

  LatestUses uses_;     // By number of the dispatch.
  ScopeClocks clocks_;  // Of what stands up to the current epoch, but for what owes_sync_ says.
  uint32_t count_ = 0;  // Dispatches so far.
  uint32_t event_count_ = 0;
  Epoch before_;
  Epoch current_;
  bool owes_sync_ = false;  // Between the two.
};

}  // namespace interlock
