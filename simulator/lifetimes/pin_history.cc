#include "simulator/lifetimes/pin_history.h"

#include <algorithm>
#include <utility>

namespace interlock {

PinHistory::PinHistory(const Program& program) {
  for (size_t i = 0; i < program.lifetimes.size(); ++i) {
    const Lifetime& lifetime = program.lifetimes[i];
    const bool is_pin = lifetime.kind == LifetimeKind::kPin;
    if (!is_pin && lifetime.kind != LifetimeKind::kUnpin) continue;
    entries_.push_back({lifetime.tensor, LifetimeId(i), is_pin ? 1U : 0U});
  }
  std::ranges::stable_sort(entries_, {}, &Entry::tensor);
  uint32_t count = 0;
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (i == 0 || entries_[i].tensor != entries_[i - 1].tensor) count = 0;
    count = entries_[i].count > 0 ? count + 1 : count - 1;
    entries_[i].count = count;
  }
}

bool PinHistory::is_pinned(TensorId tensor, LifetimeId after) const {
  const auto next = std::ranges::upper_bound(
      entries_, std::pair(tensor, after), {},
      [](const Entry& entry) { return std::pair(entry.tensor, entry.at); });
  if (next == entries_.begin()) return false;
  const Entry& last = *(next - 1);
  return last.tensor == tensor && last.count > 0;
}

}  // namespace interlock
