// Of ShadowMachine, the steps that fetch or commit some bytes by themselves, and the host's cache:
// segment by segment, as each may have another history.
#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/check.h"
#include "encoder/program/hash.h"
#include "simulator/schedules/shadow_machine.h"
#include "simulator/schedules/shadow_values.h"

namespace interlock {

void ShadowMachine::fetch(const Schedule& schedule, const Step& step) {
  for (const StepBytes& bytes : schedule.bytes_of(step)) {
    const SegmentSpan span = program_.index.span_of(bytes.memory, bytes.range);
    for (uint32_t segment = span.begin; segment < span.end; ++segment) {
      const uint64_t value = value_for(step.dispatch.index, segment);
      fetched_[{step.dispatch.index, segment}].push_back({bytes.sort, value});
    }
  }
}

const uint64_t* ShadowMachine::find_fetched(uint32_t dispatch, uint32_t segment,
                                            StageAccess sort) const {
  const auto found = fetched_.find({dispatch, segment});
  if (found == fetched_.end()) return nullptr;
  const auto latest =
      std::find_if(found->second.rbegin(), found->second.rend(),
                   [sort](const Fetched& candidate) { return candidate.sort == sort; });
  return latest == found->second.rend() ? nullptr : &latest->value;
}

// As digest_of(), of what has been fetched before where something was.
uint64_t ShadowMachine::split_digest_of(uint32_t dispatch, uint32_t unit) const {
  INTERLOCK_CHECK(program_.read_sorts.size() == program_.reads.size());
  uint64_t digest = scrambled(unit + 1);
  const uint32_t end = program_.units[unit + 1].first_read;
  for (uint32_t r = program_.units[unit].first_read; r < end; ++r) {
    for (uint32_t s = program_.reads[r].begin; s < program_.reads[r].end; ++s) {
      const uint64_t* const early = find_fetched(dispatch, s, program_.read_sorts[r]);
      digest = absorb(digest, early != nullptr ? *early : value_for(dispatch, s));
    }
  }
  return digest;
}

uint64_t ShadowMachine::value_for(uint32_t dispatch, uint32_t segment) const {
  if (is_of_host_[dispatch]) {
    const auto found = cached_.find(segment);
    if (found != cached_.end() && !found->second.empty()) return found->second.back().second;
  }
  return values_[segment];
}

std::span<const BesideWrite> ShadowMachine::beside_of(uint32_t dispatch) const {
  const auto& all = program_.beside;
  return {std::ranges::lower_bound(all, dispatch, {}, &BesideWrite::dispatch),
          std::ranges::upper_bound(all, dispatch, {}, &BesideWrite::dispatch)};
}

void ShadowMachine::find_beside(uint32_t dispatch) {
  if (!is_of_host_[dispatch]) return;
  for (const BesideWrite& beside : beside_of(dispatch)) {
    for (uint32_t segment = beside.span.begin; segment < beside.span.end; ++segment) {
      const uint64_t* const early = find_fetched(dispatch, segment, StageAccess::kHostWrite);
      found_beside_[{dispatch, segment}] = early != nullptr ? *early : value_for(dispatch, segment);
    }
  }
}

// Of what still waits; all if `places` names nothing.
void ShadowMachine::put_back_beside(uint32_t dispatch, std::span<const StepBytes> places) {
  if (!is_of_host_[dispatch]) return;
  for (const BesideWrite& beside : beside_of(dispatch)) {
    for (uint32_t segment = beside.span.begin; segment < beside.span.end; ++segment) {
      if (!places.empty() && !covers(places, segment)) continue;
      const auto found = found_beside_.find({dispatch, segment});
      if (found == found_beside_.end()) continue;
      values_[segment] = found->second;
      found_beside_.erase(found);
    }
  }
}

// As commit_split() will write it, if nobody comes between.
template <bool kIsStrict>
void ShadowMachine::keep_in_cache(uint32_t dispatch, uint32_t unit) {
  const uint32_t end = program_.units[unit + 1].first_write;
  uint64_t position = digests_[unit];
  for (uint32_t w = program_.units[unit].first_write; w < end; ++w) {
    const SegmentSpan span = program_.writes[w].span;
    for (uint32_t segment = span.begin; segment < span.end; ++segment) {
      position += kGolden64;
      uint64_t value = scrambled(position);
      const uint64_t* const early = is_written_before(unit, w, segment)
                                        ? nullptr
                                        : find_fetched(dispatch, segment, write_sorts_[dispatch]);
      const uint64_t old = early != nullptr ? *early : value_for(dispatch, segment);
      if (kIsStrict && !is_over_lost(dispatch, segment)) {
        value = absorb(absorb(value, old), kGolden64);
      }
      cached_[segment].push_back({dispatch, value});
    }
  }
}

void ShadowMachine::take_from_cache(uint32_t dispatch, std::span<const StepBytes> places) {
  if (!is_of_host_[dispatch]) return;
  for (auto& [segment, writes] : cached_) {
    if (!places.empty() && !covers(places, segment)) continue;
    std::erase_if(writes, [&](const auto& write) { return write.first == dispatch; });
  }
}

// What is dropped has been dealt with, as what is committed has.
void ShadowMachine::drop(const Schedule& schedule, const Step& step) {
  const uint32_t dispatch = step.dispatch.index;
  const std::span<const StepBytes> places = schedule.bytes_of(step);
  take_from_cache(dispatch, places);
  std::erase_if(found_beside_, [&](const auto& found) {
    return found.first.first == dispatch && (places.empty() || covers(places, found.first.second));
  });
  const uint32_t end = program_.first_unit[dispatch + 1];
  for (uint32_t unit = program_.first_unit[dispatch]; unit < end; ++unit) {
    if (places.empty()) is_waiting_[unit] = 0;
    const uint32_t write_end = program_.units[unit + 1].first_write;
    for (uint32_t w = program_.units[unit].first_write; w < write_end; ++w) {
      const SegmentSpan span = program_.writes[w].span;
      for (uint32_t segment = span.begin; segment < span.end; ++segment) {
        if (covers(places, segment)) committed_.insert({unit, segment});
      }
    }
  }
}

bool ShadowMachine::covers(std::span<const StepBytes> places, uint32_t segment) const {
  return std::ranges::any_of(places, [&](const StepBytes& bytes) {
    const SegmentSpan span = program_.index.span_of(bytes.memory, bytes.range);
    return span.begin <= segment && segment < span.end;
  });
}

bool ShadowMachine::overwrites_lost(uint32_t dispatch) const {
  return std::ranges::binary_search(program_.over_lost, dispatch, {}, &OverLost::dispatch);
}

bool ShadowMachine::is_over_lost(uint32_t dispatch, uint32_t segment) const {
  if (program_.over_lost.empty()) return false;
  const auto after = std::ranges::upper_bound(
      program_.over_lost, std::pair(dispatch, segment), {},
      [](const OverLost& at) { return std::pair(at.dispatch, at.span.begin); });
  if (after == program_.over_lost.begin()) return false;
  const OverLost& at = *std::prev(after);
  return at.dispatch == dispatch && segment < at.span.end;
}

// As commit(), segment by segment.
template <bool kIsStrict>
void ShadowMachine::commit_split(uint32_t dispatch, uint32_t unit,
                                 std::span<const StepBytes> places) {
  const uint32_t end = program_.units[unit + 1].first_write;
  const KeptContent* const kept = find_kept(unit);
  size_t kept_at = 0;
  const uint64_t* next_found = puts_back(unit) ? found_.at(unit).data() : nullptr;
  uint64_t position = digests_[unit];
  std::vector<uint32_t> changed;
  for (uint32_t w = program_.units[unit].first_write; w < end; ++w) {
    const ShadowWrite& write = program_.writes[w];
    for (uint32_t segment = write.span.begin; segment < write.span.end; ++segment) {
      position += kGolden64;
      const uint64_t put_back = next_found != nullptr ? *next_found++ : 0;
      const bool is_kept = write.effect == ShadowEffect::kPartial && kept != nullptr;
      const std::optional<uint64_t> old = is_kept ? (*kept)[kept_at++] : std::nullopt;
      if (committed_.contains({unit, segment})) continue;
      if (!places.empty() && !covers(places, segment)) continue;
      if (!places.empty()) changed.push_back(segment);
      uint64_t& value = values_[segment];
      const uint64_t written = scrambled(position);
      const bool finds_early = !is_kept && !is_written_before(unit, w, segment);
      const uint64_t* const early =
          finds_early ? find_fetched(dispatch, segment, write_sorts_[dispatch]) : nullptr;
      if (write.effect == ShadowEffect::kAtomic) {
        value = apply_atomic(write.operation, value, written);
      } else if (!kIsStrict && write.effect == ShadowEffect::kKeep) {
        value = put_back;
      } else if (write.effect == ShadowEffect::kPartial ||
                 (kIsStrict && !is_over_lost(dispatch, segment))) {
        const uint64_t found = early != nullptr ? *early : old.value_or(value);
        value = absorb(absorb(written, found), kGolden64);
      } else {
        value = written;
      }
    }
  }
  // Several operands may write one segment, one after the other.
  for (const uint32_t segment : changed) committed_.insert({unit, segment});
}

template void ShadowMachine::keep_in_cache<true>(uint32_t, uint32_t);
template void ShadowMachine::keep_in_cache<false>(uint32_t, uint32_t);
template void ShadowMachine::commit_split<true>(uint32_t, uint32_t, std::span<const StepBytes>);
template void ShadowMachine::commit_split<false>(uint32_t, uint32_t, std::span<const StepBytes>);

}  // namespace interlock
