#include "encoder/sync/barrier_needs.h"

#include <cstddef>
#include <optional>

#include "encoder/kernel/kernel_table.h"

namespace interlock {
namespace {

constexpr size_t index_of(Stage stage) { return static_cast<size_t>(stage); }
constexpr size_t index_of(StageAccess sort) { return static_cast<size_t>(sort); }

// Where a dispatch that executes in `stage` does this access.
Stage stage_of_access(Stage stage, const Access& access) {
  return access.mode == AccessMode::kIndirect ? Stage::kIndirect : stage;
}

void raise(uint32_t& epoch, uint32_t to) { epoch = std::max(epoch, to); }

void raise(EpochByStage& epochs, const EpochByStage& to) {
  for (size_t i = 0; i < kStageCount; ++i) raise(epochs[i], to[i]);
}

}  // namespace

uint32_t BarrierNeeds::latest() const {
  uint32_t latest = 0;
  for (const auto& row : executed) raise(latest, *std::ranges::max_element(row));
  for (const auto& row : visible) raise(latest, *std::ranges::max_element(row));
  raise(latest, *std::ranges::max_element(over));
  return latest;
}

BarrierNeeds& BarrierNeeds::operator|=(const BarrierNeeds& more) {
  for (size_t i = 0; i < executed.size(); ++i) raise(executed[i], more.executed[i]);
  for (size_t i = 0; i < visible.size(); ++i) raise(visible[i], more.visible[i]);
  raise(over, more.over);
  return *this;
}

void LatestUses::Uses::end_row() {
  raise(written[index_of(Stage::kCompute)], row);
  row = 0;
  row_op = AtomicOp::kNone;
}

BarrierNeeds LatestUses::needs_of(std::span<const Access> accesses, Stage stage,
                                  AtomicOp atomic_op) const {
  BarrierNeeds needs;
  for (const Access& access : accesses) {
    const std::optional<StageAccess> read_sort = read_sort_of(stage, access);
    const std::optional<StageAccess> write_sort = write_sort_of(stage, access);
    uses_.for_each(access.memory, access.range, [&](const IntervalMap<Uses>::Run& run) {
      const Uses& uses = run.value;
      EpochByStage written = uses.written;
      const bool commutes =
          access.is_atomic() && atomic_op != AtomicOp::kNone && uses.row_op == atomic_op;
      if (!commutes) raise(written[index_of(Stage::kCompute)], uses.row);
      if (read_sort) raise(needs.visible[index_of(*read_sort)], written);
      if (!write_sort) return;
      raise(needs.visible[index_of(*write_sort)], written);
      raise(needs.executed[index_of(stage)], uses.read);
    });
  }
  return needs;
}

BarrierNeeds LatestUses::needs_of_destroy(std::span<const Access> bytes) const {
  BarrierNeeds needs;
  for (const Access& access : bytes) {
    uses_.for_each(access.memory, access.range, [&](const IntervalMap<Uses>::Run& run) {
      raise(needs.over, run.value.read);
      raise(needs.over, run.value.written);
      raise(needs.over[index_of(Stage::kCompute)], run.value.row);
    });
  }
  return needs;
}

void LatestUses::add(std::span<const Access> accesses, Stage stage, AtomicOp atomic_op,
                     uint32_t epoch) {
  for (const Access& access : accesses) {
    uses_.change(access.memory, access.range, [&](Uses& uses) {
      const Uses before = uses;
      if (access.only_reads()) {
        uses.read[index_of(stage_of_access(stage, access))] = epoch;
      } else if (access.is_atomic() && atomic_op != AtomicOp::kNone) {
        if (uses.row_op != atomic_op) uses.end_row();
        uses.row_op = atomic_op;
        uses.row = epoch;
      } else {
        uses.end_row();
        uses.written[index_of(stage)] = epoch;
      }
      return uses != before;
    });
  }
}

}  // namespace interlock
