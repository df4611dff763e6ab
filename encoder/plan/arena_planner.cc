#include "encoder/plan/arena_planner.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "encoder/plan/plan_layout.h"
#include "encoder/plan/plan_values.h"

namespace interlock {
namespace {

enum class ArenaPins : uint8_t { kNone, kOnce, kPerConsumer };

constexpr uint32_t kArena = 0;
constexpr uint32_t kHeap = 1;

// How many dispatches stand before each reset, ascending; none at the ends of the program.
std::vector<uint32_t> resets_of(const Program& program, const PlanOptions& options) {
  const uint32_t dispatch_count = static_cast<uint32_t>(program.dispatches.size());
  std::vector<uint32_t> resets;
  uint32_t seen = 0;
  bool has_resets = false;
  for (const Statement& statement : program.statements) {
    if (statement.kind == StatementKind::kDispatch) ++seen;
    if (statement.kind != StatementKind::kLifetime ||
        program.lifetimes[statement.index].kind != LifetimeKind::kReset) {
      continue;
    }
    has_resets = true;
    if (seen > 0 && seen < dispatch_count && (resets.empty() || resets.back() < seen)) {
      resets.push_back(seen);
    }
  }
  if (has_resets) return resets;
  for (uint64_t at = options.region_dispatches; at < dispatch_count;
       at += options.region_dispatches) {
    resets.push_back(static_cast<uint32_t>(at));
  }
  return resets;
}

class ArenaPlanner {
 public:
  ArenaPlanner(const Program& program, const PlanOptions& options, ArenaPins pins,
               const PlanValues& values)
      : values_(values), pins_(pins), resets_(resets_of(program, options)) {
    layout_.memories = {{"arena", 0}, {"heap", 0}};
    layout_.places.resize(values.tensors.size());
  }

  PlanLayout run();

 private:
  bool is_persistent(uint32_t value) const;
  // The region of a dispatch, counted from 0.
  size_t region_of(uint32_t dispatch) const {
    return static_cast<size_t>(std::upper_bound(resets_.begin(), resets_.end(), dispatch) -
                               resets_.begin());
  }
  void fill_heap();
  void fill_region(size_t region, const std::vector<uint32_t>& born);
  void pin(uint32_t value);

  const PlanValues& values_;
  const ArenaPins pins_;
  const std::vector<uint32_t> resets_;
  std::vector<uint32_t> pinned_;  // Values of earlier regions that the current one must spare.
  PlanLayout layout_;
};

bool ArenaPlanner::is_persistent(uint32_t value) const {
  return values_.problem.values[value].first_step == 0 || values_.is_live_at_end[value] ||
         values_.is_adopted[value] || values_.dispatches[value].empty();
}

void ArenaPlanner::fill_heap() {
  PlanMemory& heap = layout_.memories[kHeap];
  for (uint32_t value = 0; value < layout_.places.size(); ++value) {
    if (!is_persistent(value)) continue;
    layout_.places[value] = {kHeap, heap.size_bytes, PlanValues::kNoValue};
    heap.size_bytes += values_.problem.values[value].size_bytes;
  }
}

void ArenaPlanner::fill_region(size_t region, const std::vector<uint32_t>& born) {
  const auto is_over = [&](uint32_t value) {
    return region_of(values_.dispatches[value].back()) < region;
  };
  std::erase_if(pinned_, is_over);
  std::vector<ByteRange> spared;
  for (const uint32_t value : pinned_) {
    const uint64_t begin = layout_.places[value].offset_bytes;
    spared.push_back({begin, begin + values_.problem.values[value].size_bytes});
  }
  std::ranges::sort(spared, {}, &ByteRange::begin);
  PlanMemory& arena = layout_.memories[kArena];
  uint64_t cursor = 0;
  size_t next = 0;
  for (const uint32_t value : born) {
    const uint64_t size_bytes = values_.problem.values[value].size_bytes;
    for (; next < spared.size() && spared[next].begin < cursor + size_bytes; ++next) {
      cursor = std::max(cursor, spared[next].end);
    }
    layout_.places[value] = {kArena, cursor, PlanValues::kNoValue};
    cursor += size_bytes;
    arena.size_bytes = std::max(arena.size_bytes, cursor);
  }
  for (const uint32_t value : born) {
    if (region_of(values_.dispatches[value].back()) > region) pin(value);
  }
}

void ArenaPlanner::pin(uint32_t value) {
  if (pins_ == ArenaPins::kNone) return;
  pinned_.push_back(value);
  const std::vector<uint32_t>& users = values_.dispatches[value];
  const size_t region = region_of(users.front());
  // A donation is a value of its own, which a reset ends like any other.
  for (const TensorId owner : values_.owners[value]) {
    if (pins_ == ArenaPins::kOnce) {
      layout_.lifetimes.push_back({resets_[region], LifetimeKind::kPin, owner, 0});
      layout_.lifetimes.push_back({users.back() + 1, LifetimeKind::kUnpin, owner, 0});
      continue;
    }
    for (const uint32_t user : users) {
      if (region_of(user) == region) continue;
      layout_.lifetimes.push_back({users.front() + 1, LifetimeKind::kPin, owner, 0});
      layout_.lifetimes.push_back({user + 1, LifetimeKind::kUnpin, owner, 0});
    }
  }
}

PlanLayout ArenaPlanner::run() {
  fill_heap();
  std::vector<std::vector<uint32_t>> born(resets_.size() + 1);
  for (uint32_t value = 0; value < layout_.places.size(); ++value) {
    if (!is_persistent(value)) born[region_of(values_.dispatches[value].front())].push_back(value);
  }
  for (size_t region = 0; region < born.size(); ++region) {
    std::ranges::stable_sort(born[region], {},
                             [&](uint32_t value) { return values_.dispatches[value].front(); });
    fill_region(region, born[region]);
  }
  if (layout_.memories[kArena].size_bytes == 0) return std::move(layout_);
  for (const uint32_t at : resets_) {
    layout_.lifetimes.push_back({at, LifetimeKind::kReset, TensorId(), kArena});
  }
  // At one place, what has been used is given back first, and a reset finds all pins in place.
  const auto rank_of = [](const PlanLifetime& lifetime) {
    const int rank = lifetime.kind == LifetimeKind::kUnpin ? 0
                     : lifetime.kind == LifetimeKind::kPin ? 1
                                                           : 2;
    return std::pair(lifetime.dispatch_count, rank);
  };
  std::ranges::stable_sort(layout_.lifetimes, {}, rank_of);
  return std::move(layout_);
}

Result<Program> plan_with_pins(const Program& program, const PlanOptions& options, ArenaPins pins) {
  const auto values = values_of(program, options);
  if (!values) return values.error();
  return place_values(program, *values, ArenaPlanner(program, options, pins, *values).run());
}

}  // namespace

Result<Program> plan_arena(const Program& program, const PlanOptions& options) {
  return plan_with_pins(program, options, ArenaPins::kOnce);
}

Result<Program> plan_ztensor_167(const Program& program, const PlanOptions& options) {
  return plan_with_pins(program, options, ArenaPins::kNone);
}

Result<Program> plan_ztensor(const Program& program, const PlanOptions& options) {
  return plan_with_pins(program, options, ArenaPins::kPerConsumer);
}

}  // namespace interlock
