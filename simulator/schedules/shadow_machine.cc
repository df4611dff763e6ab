// The idea: each segment of bytes holds one 64-bit value. A run walks flat lists of segments,
// hashes what a slice reads into a digest, and what the digest says into the segments that it
// writes.
//
// Choices, and why:
// - A slice's digest hashes the values it reads in the order of its accesses; what it writes hashes
//   the digest, the slice and the position of the segment. So every source of every read counts.
// - A late write keeps only the digest of its slice: the values follow from it at the commit.
// - An `update` and a partial write fetch the old content of their bytes at their run, or before;
//   an atomic finds what memory holds when it commits. A strict write that is neither may fetch at
//   any time before its commit, as no output depends on that: it does so then. What the host has
//   lost there counts for nothing, as no dependency need separate the two.
// - What two operands of one dispatch write is written twice, whenever it is fetched or committed,
//   by the one that comes later over what the other one wrote. Which of them it is nobody says, so
//   that is `alias` to a check, and no difference between schedules. Slices of such a dispatch are
//   one.
// - No slice sees the waiting stores of another slice of its dispatch: they do not conflict.
// - An atomic is v -> R^-1(R(v) + h) with a bijection R of its operation: atomics of one operation
//   commute, those of two do not. h depends on what the slice reads and never on the atomic bytes:
//   an atomic that returned its old content would not commute.
// - The tap of a dispatch is a sum over its slices, because their order is not observable.
#include "simulator/schedules/shadow_machine.h"

#include <algorithm>
#include <optional>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/check.h"
#include "encoder/program/hash.h"
#include "encoder/program/stop.h"
#include "simulator/schedules/shadow_values.h"

namespace interlock {
namespace {

// What freed, reset and lost bytes hold at the end of an observable run. Strict runs keep what was
// written to freed and reset ones: it takes part in hazards like any other.
constexpr uint64_t kPoison = 0xcbcbcbcbcbcbcbcb;

constexpr uint32_t kUnitsPerPoll = 64;

// Narrows the units of a dispatch to those that a step runs. False if it runs none: a unit of many
// slices runs with its first one.
bool narrow_to_slices(const Step& step, uint32_t& begin, uint32_t& end) {
  if (end - begin <= 1) return step.first_slice == 0;
  begin += step.first_slice;
  end = begin + step.slice_count;
  return true;
}

}  // namespace

ShadowMachine::ShadowMachine(const Program& program, bool may_run_plainly)
    : program_(compile_shadow_program(program)),
      initial_(program_.segment_count + program.dispatches.size(), 0),
      digests_(program_.units.size()),
      is_waiting_(program_.units.size(), 0) {
  for (uint32_t s = 0; s < program_.segment_count; ++s) initial_[s] = scrambled(~uint64_t{s});
  write_sorts_.reserve(program.dispatches.size());
  is_of_host_.reserve(program.dispatches.size());
  bool has_host = false;
  for (const Dispatch& dispatch : program.dispatches) {
    write_sorts_.push_back(write_sort_of(stage_of(dispatch)));
    puts_any_back_ = puts_any_back_ || dispatch.is_transition();
    has_host = has_host || dispatch.host != HostAccess::kNone;
    is_of_host_.push_back(dispatch.host != HostAccess::kNone);
  }
  for (const ShadowWrite& write : program_.writes) {
    has_partial_ = has_partial_ || write.effect == ShadowEffect::kPartial;
  }
  is_plain_ = may_run_plainly && !has_host && !puts_any_back_ && program_.over_lost.empty();
}

uint64_t ShadowMachine::digest_of(uint32_t unit) const {
  uint64_t digest = scrambled(unit + 1);
  const uint32_t end = program_.units[unit + 1].first_read;
  for (uint32_t r = program_.units[unit].first_read; r < end; ++r) {
    const uint64_t* value = values_.data() + program_.reads[r].begin;
    for (const uint64_t* last = values_.data() + program_.reads[r].end; value < last; ++value) {
      digest = absorb(digest, *value);
    }
  }
  return digest;
}

bool ShadowMachine::is_written_before(uint32_t unit, uint32_t write, uint32_t segment) const {
  const auto first = program_.writes.begin() + program_.units[unit].first_write;
  return std::any_of(first, program_.writes.begin() + write, [segment](const ShadowWrite& other) {
    return other.span.begin <= segment && segment < other.span.end;
  });
}

void ShadowMachine::keep_old_content(uint32_t dispatch, uint32_t unit) {
  const uint32_t first = program_.units[unit].first_write;
  const uint32_t end = program_.units[unit + 1].first_write;
  std::vector<std::optional<uint64_t>> old;
  for (uint32_t w = first; w < end; ++w) {
    const ShadowWrite& write = program_.writes[w];
    if (write.effect != ShadowEffect::kPartial) continue;
    for (uint32_t s = write.span.begin; s < write.span.end; ++s) {
      const uint64_t* const early = find_fetched(dispatch, s, write_sorts_[dispatch]);
      old.push_back(is_written_before(unit, w, s)
                        ? std::nullopt
                        : std::optional(early != nullptr ? *early : values_[s]));
    }
  }
  if (!old.empty()) kept_.insert_or_assign(unit, std::move(old));
}

const ShadowMachine::KeptContent* ShadowMachine::find_kept(uint32_t unit) const {
  if (kept_.empty()) return nullptr;
  const auto found = kept_.find(unit);
  return found == kept_.end() ? nullptr : &found->second;
}

template <bool kIsStrict>
void ShadowMachine::commit(uint32_t unit) {
  const uint32_t end = program_.units[unit + 1].first_write;
  const KeptContent* const kept = find_kept(unit);
  size_t kept_at = 0;
  const uint64_t* found = puts_back(unit) ? found_.at(unit).data() : nullptr;
  uint64_t position = digests_[unit];
  for (uint32_t w = program_.units[unit].first_write; w < end; ++w) {
    const ShadowWrite& write = program_.writes[w];
    uint64_t* const values = values_.data();
    const auto for_each = [&](const auto& changed) {
      for (uint32_t s = write.span.begin; s < write.span.end; ++s) {
        position += kGolden64;
        values[s] = changed(values[s], scrambled(position));
      }
    };
    if (write.effect == ShadowEffect::kAtomic) {
      for_each([&](uint64_t old, uint64_t written) {
        return apply_atomic(write.operation, old, written);
      });
    } else if (!kIsStrict && write.effect == ShadowEffect::kKeep) {
      for_each([&](uint64_t /*old*/, uint64_t /*written*/) { return *found++; });
    } else if (write.effect == ShadowEffect::kPartial && kept != nullptr) {
      for_each([&](uint64_t old, uint64_t written) {
        return absorb(absorb(written, (*kept)[kept_at++].value_or(old)), kGolden64);
      });
    } else if (kIsStrict || write.effect == ShadowEffect::kPartial) {
      for_each(
          [](uint64_t old, uint64_t written) { return absorb(absorb(written, old), kGolden64); });
    } else {
      for_each([](uint64_t /*old*/, uint64_t written) { return written; });
    }
  }
}

// As commit(). Requires: the program is plain, and none of its writes is partial.
template <bool kIsStrict>
void ShadowMachine::commit_plainly(uint32_t unit) {
  const ShadowWrite* const end = program_.writes.data() + program_.units[unit + 1].first_write;
  const ShadowWrite* write = program_.writes.data() + program_.units[unit].first_write;
  uint64_t position = digests_[unit];
  for (; write < end; ++write) {
    uint64_t* value = values_.data() + write->span.begin;
    uint64_t* const last = values_.data() + write->span.end;
    if (write->effect == ShadowEffect::kAtomic) {
      for (; value < last; ++value) {
        *value = apply_atomic(write->operation, *value, scrambled(position += kGolden64));
      }
      continue;
    }
    for (; value < last; ++value) {
      const uint64_t written = scrambled(position += kGolden64);
      *value = kIsStrict ? absorb(absorb(written, *value), kGolden64) : written;
    }
  }
}

// As execute(). Requires: the program is plain, and no step concerns some bytes alone.
template <bool kIsStrict>
void ShadowMachine::execute_plainly(const Schedule& schedule) {
  fetched_.clear();
  kept_.clear();
  const auto commit_unit = [this](uint32_t unit) {
    has_partial_ ? commit<kIsStrict>(unit) : commit_plainly<kIsStrict>(unit);
  };
  for (const Step& step : schedule.steps) {
    if (is_stopped()) return;
    const uint32_t dispatch = step.dispatch.index;
    uint32_t begin = program_.first_unit[dispatch];
    uint32_t end = program_.first_unit[dispatch + 1];
    if (step.kind == StepKind::kCommit) {
      for (uint32_t unit = begin; unit < end; ++unit) {
        if (is_waiting_[unit] == 0) continue;
        is_waiting_[unit] = 0;
        commit_unit(unit);
      }
      continue;
    }
    if (!narrow_to_slices(step, begin, end)) continue;
    const bool is_late = step.kind == StepKind::kRunLate;
    INTERLOCK_CHECK(is_late || step.kind == StepKind::kRun);
    uint64_t tap = 0;
    for (uint32_t unit = begin; unit < end; ++unit) {
      if (unit % kUnitsPerPoll == 0 && is_stopped()) return;
      const uint64_t digest = digest_of(unit);
      tap += scrambled(digest);
      digests_[unit] = digest;
      is_waiting_[unit] = is_late;
      if (!is_late) commit_unit(unit);
      if (is_late && has_partial_) keep_old_content(dispatch, unit);
    }
    if (kIsStrict) values_[program_.segment_count + dispatch] += tap;
  }
}

template <bool kIsStrict>
void ShadowMachine::execute(const Schedule& schedule) {
  const bool is_split = !schedule.bytes.empty();
  fetched_.clear();
  found_.clear();
  kept_.clear();
  committed_.clear();
  cached_.clear();
  found_beside_.clear();
  for (const Step& step : schedule.steps) {
    const uint32_t dispatch = step.dispatch.index;
    if (is_stopped()) return;
    uint32_t begin = program_.first_unit[dispatch];
    uint32_t end = program_.first_unit[dispatch + 1];
    const bool is_by_segment = is_split || (kIsStrict && overwrites_lost(dispatch));
    const auto commit_unit = [&](uint32_t unit, std::span<const StepBytes> places) {
      is_by_segment ? commit_split<kIsStrict>(dispatch, unit, places) : commit<kIsStrict>(unit);
    };
    if (step.kind == StepKind::kFetch) {
      fetch(schedule, step);
      continue;
    }
    if (step.kind == StepKind::kDrop) {
      drop(schedule, step);
      continue;
    }
    if (step.kind == StepKind::kCommit) {
      take_from_cache(dispatch, schedule.bytes_of(step));
      for (uint32_t unit = begin; unit < end; ++unit) {
        if (is_waiting_[unit] == 0) continue;
        is_waiting_[unit] = step.slice_count > 0;
        commit_unit(unit, schedule.bytes_of(step));
      }
      put_back_beside(dispatch, schedule.bytes_of(step));
      continue;
    }
    if (!narrow_to_slices(step, begin, end)) continue;
    find_beside(dispatch);
    for (uint32_t unit = begin; unit < end; ++unit) {
      if (is_stopped()) return;
      if (puts_back(unit)) find_for_putting_back(dispatch, unit, is_split);
      const bool is_apart = is_split || (is_of_host_[dispatch] && !cached_.empty());
      digests_[unit] = is_apart ? split_digest_of(dispatch, unit) : digest_of(unit);
      if (kIsStrict) values_[program_.segment_count + dispatch] += scrambled(digests_[unit]);
      if (step.kind == StepKind::kRunLate) {
        is_waiting_[unit] = 1;
        keep_old_content(dispatch, unit);
        if (is_of_host_[dispatch]) keep_in_cache<kIsStrict>(dispatch, unit);
      } else {
        commit_unit(unit, {});
      }
    }
    if (step.kind == StepKind::kRun) put_back_beside(dispatch, {});
  }
}

// What the unit finds where it puts that back.
void ShadowMachine::find_for_putting_back(uint32_t dispatch, uint32_t unit, bool is_split) {
  std::vector<uint64_t>& found = found_[unit];
  found.clear();
  const uint32_t end = program_.units[unit + 1].first_write;
  for (uint32_t w = program_.units[unit].first_write; w < end; ++w) {
    for (uint32_t s = program_.writes[w].span.begin; s < program_.writes[w].span.end; ++s) {
      const uint64_t* const early =
          is_split ? find_fetched(dispatch, s, StageAccess::kTransitionRead) : nullptr;
      found.push_back(early != nullptr ? *early : values_[s]);
    }
  }
}

ShadowResult ShadowMachine::run(const Schedule& schedule, ShadowMode mode) {
  ShadowResult result;
  run(schedule, mode, result);
  return result;
}

uint64_t ShadowMachine::touched_segment_count() const {
  uint64_t count = 0;
  for (const SegmentSpan& read : program_.reads) count += read.end - read.begin;
  for (const ShadowWrite& write : program_.writes) count += write.span.end - write.span.begin;
  return count;
}

std::vector<uint32_t> ShadowMachine::differing_outputs(const ShadowResult& a,
                                                       const ShadowResult& b) const {
  INTERLOCK_CHECK(a.values.size() == b.values.size());
  std::vector<uint32_t> differing;
  for (uint32_t i = 0; i < program_.live_spans.size(); ++i) {
    const SegmentSpan span = program_.live_spans[i];
    if (!std::equal(a.values.begin() + span.begin, a.values.begin() + span.end,
                    b.values.begin() + span.begin)) {
      differing.push_back(i);
    }
  }
  return differing;
}

void ShadowMachine::run(const Schedule& schedule, ShadowMode mode, ShadowResult& result) {
  values_ = initial_;
  const bool is_plain = is_plain_ && schedule.bytes.empty();
  const auto poison = [this](const std::vector<SegmentSpan>& spans) {
    for (const SegmentSpan& span : spans) {
      std::fill(values_.begin() + span.begin, values_.begin() + span.end, kPoison);
    }
  };
  if (mode == ShadowMode::kStrict) {
    is_plain ? execute_plainly<true>(schedule) : execute<true>(schedule);
    poison(program_.lost);
    std::swap(result.values, values_);
    return;
  }
  is_plain ? execute_plainly<false>(schedule) : execute<false>(schedule);
  poison(program_.ended);
  result.values.clear();
  if (program_.is_all_live) {
    result.values.assign(values_.begin(), values_.begin() + program_.segment_count);
  }
  for (const uint32_t segment : program_.live_segments) result.values.push_back(values_[segment]);
  for (const uint32_t dispatch : program_.host_reads) {
    uint64_t& read = result.values.emplace_back(0);
    const uint32_t end = program_.first_unit[dispatch + 1];
    for (uint32_t unit = program_.first_unit[dispatch]; unit < end; ++unit) read += digests_[unit];
  }
}

}  // namespace interlock
