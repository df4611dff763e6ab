// The idea: each segment of bytes holds one 64-bit value. A run walks flat lists of segments,
// hashes what a slice reads into a digest, and what the digest says into the segments that it
// writes.
//
// Choices, and why:
// - A slice's digest hashes the values it reads in the order of its accesses; what it writes hashes
//   the digest, the slice and the position of the segment. So every source of every read counts.
// - A late write keeps only the digest of its slice: the values follow from it at the commit.
// - What depends on a byte's old content (a strict or a partial write, an atomic) reads it when it
//   commits: that is when memory changes. An `update` reads when it runs.
// - No slice sees the waiting stores of another slice of its dispatch: they do not conflict.
// - An atomic is v -> R^-1(R(v) + h) with a bijection R of its operation: atomics of one operation
//   commute, those of two do not. h depends on what the slice reads and never on the atomic bytes:
//   an atomic that returned its old content would not commute.
// - The tap of a dispatch is a sum over its slices, because their order is not observable.
#include "simulator/schedules/shadow_machine.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/hash.h"
#include "encoder/program/stop.h"
#include "simulator/order/scoped_order.h"
#include "simulator/schedules/shadow_program.h"

namespace interlock {
namespace {

// Hashes one more value; the order of the values counts.
uint64_t absorb(uint64_t digest, uint64_t value) {
  const uint64_t product = (digest ^ value) * 0xd6e8feb86659fd93;
  return product ^ (product >> 32);
}

// What freed and reset bytes hold at the end of an observable run. Strict runs keep what was
// written there: it takes part in hazards like any other.
constexpr uint64_t kPoison = 0xcbcbcbcbcbcbcbcb;

// R is one multiplication and one exclusive or, both of which can be undone. Without the latter the
// actions of different operations would commute.
struct AtomicBijection {
  uint64_t factor;
  uint64_t inverse;
};

constexpr uint64_t inverse_of(uint64_t odd) {
  uint64_t inverse = odd;  // Right in the lowest 3 bits; each step of Newton's method doubles them.
  for (int i = 0; i < 5; ++i) inverse *= 2 - odd * inverse;
  return inverse;
}

constexpr AtomicBijection bijection_of(uint64_t factor) { return {factor, inverse_of(factor)}; }

// By AtomicOp.
constexpr AtomicBijection kBijections[] = {
    bijection_of(0xa0761d6478bd642f), bijection_of(0xe7037ed1a0b428db),
    bijection_of(0x8ebc6af09c88c6e3), bijection_of(0x589965cc75374cc3),
    bijection_of(0x1d8e4e27c47d124f), bijection_of(0xeb44accab455d165),
    bijection_of(0x9c6e6877736c46e3)};

uint64_t apply_atomic(AtomicOp operation, uint64_t value, uint64_t term) {
  const AtomicBijection& r = kBijections[static_cast<size_t>(operation)];
  uint64_t image = value * r.factor;
  image = (image ^ (image >> 32)) + term;
  return (image ^ (image >> 32)) * r.inverse;
}

}  // namespace

struct ShadowMachine::Compiled {
  explicit Compiled(const Program& source);

  ShadowProgram program;
  std::vector<uint64_t> initial;  // By segment, then a zero for the tap of each dispatch.

  // Of one run.
  std::vector<uint64_t> values;     // As `initial`.
  std::vector<uint64_t> digests;    // By unit; of those whose writes wait.
  std::vector<uint8_t> is_waiting;  // By unit; all zero between runs of legal schedules.

  // Of one run whose steps fetch, or commit, some bytes by themselves.
  struct Fetched {
    StageAccess sort;
    uint64_t value;
  };
  // By dispatch and segment.
  using PerSegment = std::map<std::pair<uint32_t, uint32_t>, std::vector<Fetched>>;
  PerSegment fetched;
  std::set<std::pair<uint32_t, uint32_t>> committed;  // By unit and segment.

  template <bool kIsStrict>
  void execute(const Schedule& schedule);
  uint64_t digest_of(uint32_t unit) const;
  template <bool kIsStrict>
  void commit(uint32_t unit, uint64_t digest);

  template <bool kIsStrict>
  void execute_split(const Schedule& schedule);
  template <bool kIsStrict>
  void run_split(const Step& step);
  void fetch(const Schedule& schedule, const Step& step);
  const uint64_t* find_fetched(uint32_t dispatch, uint32_t segment, StageAccess sort) const;
  uint64_t split_digest_of(uint32_t dispatch, uint32_t unit) const;
  // The segments in `places` that have not been committed; all if it names none.
  template <bool kIsStrict>
  void commit_split(uint32_t dispatch, uint32_t unit, std::span<const StepBytes> places);
  ShadowRead segments_of(const StepBytes& bytes) const {
    const uint32_t memory = bytes.memory.index;
    const uint32_t begin = program.index.segment_at(memory, bytes.range.begin);
    return {begin, program.index.segment_at(memory, bytes.range.end) - begin};
  }
  bool covers(std::span<const StepBytes> places, uint32_t segment) const;

  std::vector<StageAccess> write_sorts;  // By dispatch.
};

uint64_t ShadowMachine::Compiled::digest_of(uint32_t unit) const {
  uint64_t digest = scrambled(unit + 1);
  const uint32_t end = program.units[unit + 1].first_read;
  for (uint32_t r = program.units[unit].first_read; r < end; ++r) {
    const uint64_t* value = values.data() + program.reads[r].first_segment;
    for (const uint64_t* last = value + program.reads[r].segment_count; value < last; ++value) {
      digest = absorb(digest, *value);
    }
  }
  return digest;
}

template <bool kIsStrict>
void ShadowMachine::Compiled::commit(uint32_t unit, uint64_t digest) {
  const uint32_t end = program.units[unit + 1].first_write;
  uint64_t position = digest;
  for (uint32_t w = program.units[unit].first_write; w < end; ++w) {
    const ShadowWrite& write = program.writes[w];
    uint64_t* value = values.data() + write.first_segment;
    for (const uint64_t* last = value + write.segment_count; value < last; ++value) {
      position += kGolden64;
      const uint64_t written = scrambled(position);
      if (write.effect == ShadowEffect::kAtomic) {
        *value = apply_atomic(write.operation, *value, written);
      } else if (kIsStrict || write.effect == ShadowEffect::kPartial) {
        *value = absorb(absorb(written, *value), kGolden64);
      } else {
        *value = written;
      }
    }
  }
}

template <bool kIsStrict>
void ShadowMachine::Compiled::execute(const Schedule& schedule) {
  if (!schedule.bytes.empty()) {
    execute_split<kIsStrict>(schedule);
    return;
  }
  for (const Step& step : schedule.steps) {
    const uint32_t dispatch = step.dispatch.index;
    if (is_stopped()) return;
    uint32_t begin = program.first_unit[dispatch];
    uint32_t end = program.first_unit[dispatch + 1];
    if (step.kind == StepKind::kCommit) {
      for (uint32_t unit = begin; unit < end; ++unit) {
        if (is_waiting[unit] == 0) continue;
        is_waiting[unit] = 0;
        commit<kIsStrict>(unit, digests[unit]);
      }
      continue;
    }
    if (end - begin > 1) {
      begin += step.first_slice;
      end = begin + step.slice_count;
    } else if (step.first_slice > 0) {
      continue;  // A unit of many slices runs with its first one.
    }
    for (uint32_t unit = begin; unit < end; ++unit) {
      if (is_stopped()) return;
      const uint64_t digest = digest_of(unit);
      if (kIsStrict) values[program.segment_count + dispatch] += scrambled(digest);
      if (step.kind == StepKind::kRunLate) {
        digests[unit] = digest;
        is_waiting[unit] = 1;
      } else {
        commit<kIsStrict>(unit, digest);
      }
    }
  }
}

// Schedules with such steps are those of witnesses, and few: clear rather than fast.
template <bool kIsStrict>
void ShadowMachine::Compiled::execute_split(const Schedule& schedule) {
  fetched.clear();
  committed.clear();
  for (const Step& step : schedule.steps) {
    if (is_stopped()) return;
    const uint32_t dispatch = step.dispatch.index;
    if (step.kind == StepKind::kFetch) {
      fetch(schedule, step);
    } else if (step.kind == StepKind::kCommit) {
      for (uint32_t unit = program.first_unit[dispatch]; unit < program.first_unit[dispatch + 1];
           ++unit) {
        if (is_waiting[unit] == 0) continue;
        commit_split<kIsStrict>(dispatch, unit, schedule.bytes_of(step));
        if (step.slice_count == 0) is_waiting[unit] = 0;
      }
    } else {
      run_split<kIsStrict>(step);
    }
  }
}

template <bool kIsStrict>
void ShadowMachine::Compiled::run_split(const Step& step) {
  const uint32_t dispatch = step.dispatch.index;
  uint32_t begin = program.first_unit[dispatch];
  uint32_t end = program.first_unit[dispatch + 1];
  if (end - begin > 1) {
    begin += step.first_slice;
    end = begin + step.slice_count;
  } else if (step.first_slice > 0) {
    return;
  }
  for (uint32_t unit = begin; unit < end; ++unit) {
    digests[unit] = split_digest_of(dispatch, unit);
    if (kIsStrict) values[program.segment_count + dispatch] += scrambled(digests[unit]);
    if (step.kind == StepKind::kRunLate) {
      is_waiting[unit] = 1;
    } else {
      commit_split<kIsStrict>(dispatch, unit, {});
    }
  }
}

void ShadowMachine::Compiled::fetch(const Schedule& schedule, const Step& step) {
  for (const StepBytes& bytes : schedule.bytes_of(step)) {
    const ShadowRead segments = segments_of(bytes);
    for (uint32_t i = 0; i < segments.segment_count; ++i) {
      const uint32_t segment = segments.first_segment + i;
      fetched[{step.dispatch.index, segment}].push_back({bytes.sort, values[segment]});
    }
  }
}

const uint64_t* ShadowMachine::Compiled::find_fetched(uint32_t dispatch, uint32_t segment,
                                                      StageAccess sort) const {
  const auto found = fetched.find({dispatch, segment});
  if (found == fetched.end()) return nullptr;
  const auto latest =
      std::find_if(found->second.rbegin(), found->second.rend(),
                   [sort](const Fetched& candidate) { return candidate.sort == sort; });
  return latest == found->second.rend() ? nullptr : &latest->value;
}

// As digest_of(), of what has been fetched before where something was.
uint64_t ShadowMachine::Compiled::split_digest_of(uint32_t dispatch, uint32_t unit) const {
  uint64_t digest = scrambled(unit + 1);
  const uint32_t end = program.units[unit + 1].first_read;
  for (uint32_t r = program.units[unit].first_read; r < end; ++r) {
    for (uint32_t i = 0; i < program.reads[r].segment_count; ++i) {
      const uint32_t segment = program.reads[r].first_segment + i;
      const uint64_t* const early = find_fetched(dispatch, segment, program.read_sorts[r]);
      digest = absorb(digest, early != nullptr ? *early : values[segment]);
    }
  }
  return digest;
}

bool ShadowMachine::Compiled::covers(std::span<const StepBytes> places, uint32_t segment) const {
  return std::any_of(places.begin(), places.end(), [&](const StepBytes& bytes) {
    const ShadowRead segments = segments_of(bytes);
    return segments.first_segment <= segment &&
           segment < segments.first_segment + segments.segment_count;
  });
}

// As commit(), segment by segment.
template <bool kIsStrict>
void ShadowMachine::Compiled::commit_split(uint32_t dispatch, uint32_t unit,
                                           std::span<const StepBytes> places) {
  const uint32_t end = program.units[unit + 1].first_write;
  uint64_t position = digests[unit];
  std::vector<uint32_t> changed;
  for (uint32_t w = program.units[unit].first_write; w < end; ++w) {
    const ShadowWrite& write = program.writes[w];
    for (uint32_t i = 0; i < write.segment_count; ++i) {
      const uint32_t segment = write.first_segment + i;
      position += kGolden64;
      if (committed.count({unit, segment}) > 0) continue;
      if (!places.empty() && !covers(places, segment)) continue;
      if (!places.empty()) changed.push_back(segment);
      uint64_t& value = values[segment];
      const uint64_t written = scrambled(position);
      const uint64_t* const early = find_fetched(dispatch, segment, write_sorts[dispatch]);
      if (write.effect == ShadowEffect::kAtomic) {
        value = apply_atomic(write.operation, value, written);
      } else if (kIsStrict || write.effect == ShadowEffect::kPartial) {
        value = absorb(absorb(written, early != nullptr ? *early : value), kGolden64);
      } else {
        value = written;
      }
    }
  }
  // Several operands may write one segment, one after the other.
  for (const uint32_t segment : changed) committed.insert({unit, segment});
}

ShadowMachine::Compiled::Compiled(const Program& source)
    : program(compile_shadow_program(source)),
      initial(program.segment_count + source.dispatches.size(), 0),
      digests(program.units.size()),
      is_waiting(program.units.size(), 0) {
  for (uint32_t s = 0; s < program.segment_count; ++s) initial[s] = scrambled(~uint64_t{s});
  write_sorts.reserve(source.dispatches.size());
  for (const Dispatch& dispatch : source.dispatches) {
    write_sorts.push_back(write_sort_of(stage_of(dispatch)));
  }
}

ShadowMachine::ShadowMachine(const Program& program)
    : compiled_(std::make_unique<Compiled>(program)) {}

ShadowMachine::~ShadowMachine() = default;
ShadowMachine::ShadowMachine(ShadowMachine&&) noexcept = default;
ShadowMachine& ShadowMachine::operator=(ShadowMachine&&) noexcept = default;

ShadowResult ShadowMachine::run(const Schedule& schedule, ShadowMode mode) {
  ShadowResult result;
  run(schedule, mode, result);
  return result;
}

uint64_t ShadowMachine::touched_segment_count() const {
  uint64_t count = 0;
  for (const ShadowRead& read : compiled_->program.reads) count += read.segment_count;
  for (const ShadowWrite& write : compiled_->program.writes) count += write.segment_count;
  return count;
}

std::vector<uint32_t> ShadowMachine::differing_outputs(const ShadowResult& a,
                                                       const ShadowResult& b) const {
  INTERLOCK_CHECK(a.values.size() == b.values.size());
  std::vector<uint32_t> differing;
  const std::vector<LiveSpan>& spans = compiled_->program.live_spans;
  for (uint32_t i = 0; i < spans.size(); ++i) {
    if (!std::equal(a.values.begin() + spans[i].begin, a.values.begin() + spans[i].end,
                    b.values.begin() + spans[i].begin)) {
      differing.push_back(i);
    }
  }
  return differing;
}

void ShadowMachine::run(const Schedule& schedule, ShadowMode mode, ShadowResult& result) {
  Compiled& c = *compiled_;
  c.values = c.initial;
  if (mode == ShadowMode::kStrict) {
    c.execute<true>(schedule);
    std::swap(result.values, c.values);
    return;
  }
  c.execute<false>(schedule);
  for (const ShadowRead& ended : c.program.ended) {
    std::fill_n(c.values.begin() + ended.first_segment, ended.segment_count, kPoison);
  }
  result.values.clear();
  if (c.program.is_all_live) {
    result.values.assign(c.values.begin(), c.values.begin() + c.program.segment_count);
    return;
  }
  for (const uint32_t segment : c.program.live_segments) result.values.push_back(c.values[segment]);
}

}  // namespace interlock
