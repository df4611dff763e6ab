// Of QueueClocks, what the host does: its order reaches queues by submissions and signals, and that
// of queues reaches it by waits.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "simulator/order/host_atoms.h"
#include "simulator/order/queue_clocks.h"

namespace interlock {

// What the host does before a submission is there when it runs; the rest of the host's row comes
// along (7.9).
void QueueClocks::submit_to(QueueIndex queue, uint32_t host_count) {
  QueueState& state = queues_[queue];
  if (host_count <= state.host_count) return;
  state.host_count = host_count;
  if (host_count < first_moment_) return;
  const HostMoment& moment = host_moments_[host_count - first_moment_];
  Row row = *moment.row;
  add_host(row, moment, true);
  if (watch_ != nullptr) {
    state.come_to.resize(columns_.count);
    raise_row(state.come_to, ClockRow(row).first(columns_.count));
  }
  deliver(row, queue, {kAllStages, kDeviceAccesses});
}

// Execution only, but for what unified memory holds: the first access scope is the device's.
void QueueClocks::host_signal(const SyncStep& step) {
  for (uint32_t k = 0; k < step.count; ++k) {
    const uint32_t part_index = step.first + k;
    refresh_host_row();
    const HostMoment moment = host_moment();
    Row row = *moment.row;
    add_host(row, moment, false);
    if (is_watched(program_.signal_parts[part_index].semaphore)) {
      watch_signal(part_index, step.statement, row);
      deliver_to_host(row);
    }
    if (!is_waited_for(part_index)) continue;
    signals_.emplace(part_index, host_snapshots_.take(row));
  }
}

// Whatever is submitted has run in the reference by now, and nothing else has.
void QueueClocks::idle(QueueIndex queue) {
  const DependencyEnds ends = {{kAllStages, kDeviceAccesses, true}, {}, true};
  for (size_t q = 0; q < queues_.size(); ++q) {
    if (queue != kNoQueue && queue != q) continue;
    Row row = gather(static_cast<QueueIndex>(q), ends);
    if (watch_ != nullptr && !queues_[q].signaled.empty()) raise_row(row, queues_[q].signaled);
    deliver_to_host(row);
  }
}

QueueClocks::HostMoment QueueClocks::host_moment() const {
  return {now(places_.host()), now(columns_.moved), host_row_};
}

void QueueClocks::refresh_host_row() {
  if (host_row_ != nullptr) return;
  const auto begin = rows_.begin() + static_cast<std::ptrdiff_t>(row_begin(kNoQueue, Stage::kHost));
  host_row_ = std::make_shared<const Row>(begin, rows_.end());
}

void QueueClocks::save_host() {
  refresh_host_row();
  host_moments_.push_back(host_moment());
}

void QueueClocks::add_host(Row& row, const HostMoment& moment, bool makes_available) const {
  const auto set = [&](PlaceIndex column, uint32_t value, bool is_available) {
    if (column == Places::kNone) return;
    row[column] = std::max(row[column], value);
    uint32_t& available = row[columns_.count + column];
    if (is_available) available = std::max(available, value);
  };
  set(places_.host(), moment.now, makes_available);
  set(columns_.moved, moment.moved, makes_available);
  set(columns_.unified, moment.now, true);
}

bool QueueClocks::moves_tracked(const SyncStep& step) const {
  if (!tracked_) return false;
  const Memory& memory = program_.memory(tracked_->memory);
  return std::ranges::any_of(program_.operands_of(step), [&](const Access& operand) {
    return operand.memory == tracked_->memory &&
           share_a_byte(in_whole_atoms(memory, operand.range), tracked_->bytes);
  });
}

void QueueClocks::deliver_to_host(const Row& row) {
  deliver(row, kNoQueue, {bit_of(Stage::kHost), 0});
  host_row_ = nullptr;
  if (tracked_ && program_.memory(tracked_->memory).atom_bytes == 0) see_host();
}

// What has got to the host's domain is there; of memory that is not coherent, after an
// invalidation.
void QueueClocks::see_host() {
  const bool is_unified = program_.memory(tracked_->memory).is_unified;
  const ClockRow row =
      is_unified ? available(kNoQueue, Stage::kHost) : in_host_domain(kNoQueue, Stage::kHost);
  is_visible_to_host_ = is_visible_to_host_ || row[own_column()] > 0;
}

}  // namespace interlock
