// What a check says of destroys, against the search of chains: of each access that it looks at
// whether that is over, and that it looks at enough of them.
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/check.h"
#include "fuzz/judge/queue_comparisons.h"
#include "simulator/bytes/access_ref.h"
#include "simulator/chains/chain_destroys.h"
#include "simulator/chains/chain_search.h"
#include "simulator/lifetimes/owner_walk.h"
#include "simulator/order/in_reference_order.h"
#include "simulator/order/queue_order.h"

namespace interlock {
namespace {

class DestroyObserver final : public ReadObserver {
 public:
  DestroyObserver(const Program& text, const Program& run)
      : text_(text), run_(run), chains_(text) {}

  void see_read(AccessRef /*reader*/, TensorId /*root*/, MemoryId /*memory*/,
                const ValueRun& /*run*/) override {}

  void see_destroyed(const DestroyedAccess& destroyed) override {
    const bool is_as_text = run_.text_order == nullptr;
    const DispatchId run_id = destroyed.access.dispatch;
    const DispatchId id = is_as_text ? run_id : in_text(text_, run_, run_id);
    const LifetimeId at = is_as_text ? destroyed.done_at : in_text(text_, run_, destroyed.done_at);
    const Stage stage = stage_of(run_.dispatch(run_id), access_of(run_, destroyed.access));
    if (destroyed.is_pending) pending_.push_back({at, id, stage});
    const bool is_over = chains_.is_over_at(id, stage, text_.lifetimes[at.index].statement);
    if (difference_ || is_over != destroyed.is_pending) return;
    difference_ = fmt::format(
        "{} may be under way at '{}' {}.", text_.reference_of(id),
        text_.text_of(text_.lifetimes[at.index]),
        is_over ? "by the clocks, and chains order it before" : "by chains, and not by the clocks");
  }

  // The latest access of a place stands for those before it, so that one of its queue is enough.
  bool has_one_for(const ChainDestroy& wanted) const {
    return std::ranges::any_of(pending_, [&](const ChainDestroy& found) {
      const QueueIndex queue = text_.queue_of(text_.dispatch(found.access));
      const bool is_graph = queue != kNoQueue && text_.kind_of(queue) == QueueKind::kGraph;
      return found.done_at == wanted.done_at && found.access >= wanted.access &&
             queue == text_.queue_of(text_.dispatch(wanted.access)) &&
             (is_graph || found.stage == wanted.stage);
    });
  }

  const Difference& difference() const { return difference_; }

 private:
  const Program& text_;
  const Program& run_;
  const ChainSearch chains_;
  std::vector<ChainDestroy> pending_;
  Difference difference_;
};

}  // namespace

Difference compare_destroys(const Program& text, const Program& run) {
  if (!run.has_any(LifetimeKind::kDestroy) || !needs_queue_order(run)) return std::nullopt;
  const QueueOrder order(run);
  if (order.is_too_wide()) return std::nullopt;
  DestroyObserver observer(text, run);
  constexpr uint64_t kWorkMax = 1'000'000;
  OwnerWalk(run, &order, kWorkMax, observer).run(false);
  if (observer.difference()) return observer.difference();
  for (const ChainDestroy& pending : chain_destroys_of(text)) {
    if (observer.has_one_for(pending)) continue;
    return fmt::format("{} may be under way at '{}' by chains, and the check names none such.",
                       text.reference_of(pending.access),
                       text.text_of(text.lifetimes[pending.done_at.index]));
  }
  return std::nullopt;
}

}  // namespace interlock
