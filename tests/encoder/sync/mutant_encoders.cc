// The basic idea is one linear-scan encoder that is plainly right, with small questions as virtual
// functions; a mutant answers one of them wrongly.

#include "tests/encoder/sync/mutant_encoders.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "tests/encoder/sync/linear_scan_encoder.h"

namespace interlock {
namespace {

class DropsRaw final : public LinearScanEncoder {
  bool needs_order(const Tracked& earlier, const Tracked& later) const override {
    return is_war(earlier, later) || is_waw(earlier, later);
  }
};

class DropsWar final : public LinearScanEncoder {
  bool needs_order(const Tracked& earlier, const Tracked& later) const override {
    return is_raw(earlier, later) || is_waw(earlier, later);
  }
};

class DropsWaw final : public LinearScanEncoder {
  bool needs_order(const Tracked& earlier, const Tracked& later) const override {
    return is_raw(earlier, later) || is_war(earlier, later);
  }
};

class MissesFirstByte final : public LinearScanEncoder {
  bool share_bytes(const Access& earlier, const Access& later) const override {
    return earlier.memory == later.memory && !later.range.is_empty() &&
           share_a_byte(earlier.range, {later.range.begin + 1, later.range.end});
  }
};

class MissesLastByte final : public LinearScanEncoder {
  bool share_bytes(const Access& earlier, const Access& later) const override {
    return earlier.memory == later.memory && !later.range.is_empty() &&
           share_a_byte(earlier.range, {later.range.begin, later.range.end - 1});
  }
};

// As a table keyed by address.
class ComparesBeginsOnly final : public LinearScanEncoder {
  bool share_bytes(const Access& earlier, const Access& later) const override {
    return LinearScanEncoder::share_bytes(earlier, later) &&
           earlier.range.begin == later.range.begin;
  }
};

// Whether the later range has bytes of the earlier is asked at its ends, so what lies strictly
// inside it is missed.
class ComparesEndsOnly final : public LinearScanEncoder {
  bool share_bytes(const Access& earlier, const Access& later) const override {
    const auto is_in_earlier = [&](uint64_t byte) {
      return earlier.range.begin <= byte && byte < earlier.range.end;
    };
    return LinearScanEncoder::share_bytes(earlier, later) &&
           (is_in_earlier(later.range.begin) || is_in_earlier(later.range.end - 1));
  }
};

class ForgetsBehindBarrier final : public LinearScanEncoder {
  void record(const Tracked& tracked, bool is_behind_barrier) override {
    if (!is_behind_barrier) epoch_.push_back(tracked);
  }
};

class FirstOperandOnly final : public LinearScanEncoder {
  size_t operand_limit() const override { return 1; }
};

class FirstFourOperandsOnly final : public LinearScanEncoder {
  size_t operand_limit() const override { return 4; }
};

// As a command-buffer split that forgets without waiting.
class ResetsTooEarly final : public LinearScanEncoder {
  void after_dispatch(const EncoderDispatch& /*dispatch*/, CommandSink& /*sink*/) override {
    if (++dispatch_count_ % 4 == 0) epoch_.clear();
  }
  size_t dispatch_count_ = 0;
};

class OverflowsAfterEighteenOutputs final : public LinearScanEncoder {
  void record(const Tracked& tracked, bool /*is_behind_barrier*/) override {
    const auto output_count = std::count_if(epoch_.begin(), epoch_.end(),
                                            [](const Tracked& t) { return modifies(t.access); });
    if (modifies(tracked.access) && output_count >= 18) return;
    epoch_.push_back(tracked);
  }
};

// Encoders see no kernel names; one pair of kernels is known by its operand counts.
class MissesWarOfOneKernelPair final : public LinearScanEncoder {
  bool needs_order(const Tracked& earlier, const Tracked& later) const override {
    const bool is_the_pair = earlier.read_count == 1 && earlier.write_count == 1 &&
                             later.read_count == 2 && later.write_count == 1;
    return is_raw(earlier, later) || is_waw(earlier, later) ||
           (is_war(earlier, later) && !is_the_pair);
  }
};

class IgnoresAtomicOp final : public LinearScanEncoder {
  bool needs_order(const Tracked& earlier, const Tracked& later) const override {
    if (earlier.access.is_atomic() && later.access.is_atomic()) return false;
    return LinearScanEncoder::needs_order(earlier, later);
  }
};

class TakesUpdatesForReads final : public LinearScanEncoder {
  Access as_tracked(const Access& access) const override {
    Access result = access;
    if (result.mode == AccessMode::kUpdate) result.mode = AccessMode::kRead;
    return result;
  }
};

class RemembersOneRangePerMemory final : public LinearScanEncoder {
  // As a map from memory to its last use, with that use's range.
  void record(const Tracked& tracked, bool /*is_behind_barrier*/) override {
    const auto is_same_memory = [&](const Tracked& t) {
      return t.access.memory == tracked.access.memory;
    };
    epoch_.erase(std::remove_if(epoch_.begin(), epoch_.end(), is_same_memory), epoch_.end());
    epoch_.push_back(tracked);
  }
};

// As a hash of the handle into a table of four.
class ConfusesMemories final : public LinearScanEncoder {
  bool share_bytes(const Access& earlier, const Access& later) const override {
    return earlier.memory.index % 4 == later.memory.index % 4 &&
           share_a_byte(earlier.range, later.range);
  }
};

class IgnoresOffsets final : public LinearScanEncoder {
  bool share_bytes(const Access& earlier, const Access& later) const override {
    return earlier.memory == later.memory && !earlier.range.is_empty() && !later.range.is_empty();
  }
};

class TouchingConflicts final : public LinearScanEncoder {
  bool share_bytes(const Access& earlier, const Access& later) const override {
    return earlier.memory == later.memory && !earlier.range.is_empty() && !later.range.is_empty() &&
           later.range.begin <= earlier.range.end && earlier.range.begin <= later.range.end;
  }
};

class ReadsConflict final : public LinearScanEncoder {
  bool needs_order(const Tracked& earlier, const Tracked& later) const override {
    const bool both_read = !modifies(earlier.access) && !modifies(later.access);
    return both_read || LinearScanEncoder::needs_order(earlier, later);
  }
};

class AtomicsConflict final : public LinearScanEncoder {
  bool needs_order(const Tracked& earlier, const Tracked& later) const override {
    return modifies(earlier.access) || modifies(later.access);
  }
};

// Issues the barrier and keeps what stood before it.
class KeepsEpochAtBarrier final : public Encoder {
 public:
  void encode(const EncoderDispatch& dispatch, CommandSink& sink) override {
    const auto needs_order = [&](const Access& a, const Access& b) {
      return a.memory == b.memory && share_a_byte(a.range, b.range) && (modifies(a) || modifies(b));
    };
    bool needs_barrier = false;
    for (const Access& later : dispatch.accesses) {
      for (const Access& earlier : all_) needs_barrier |= needs_order(earlier, later);
    }
    if (needs_barrier) sink.issue_barrier(BarrierKind::kFull);
    all_.insert(all_.end(), dispatch.accesses.begin(), dispatch.accesses.end());
    sink.issue_dispatch(dispatch.id);
  }

 private:
  std::vector<Access> all_;
};

template <typename T>
std::unique_ptr<Encoder> create() {
  return std::make_unique<T>();
}

constexpr auto kUnsafe = MutantKind::kUnsafe;
constexpr auto kExcess = MutantKind::kExcess;

constexpr std::array kEncoderMutants = {
    MutantEncoder{"drops-raw", "no barrier for RAW alone", kUnsafe, &create<DropsRaw>},
    MutantEncoder{"drops-war", "no barrier for WAR alone", kUnsafe, &create<DropsWar>},
    MutantEncoder{"drops-waw", "no barrier for WAW alone", kUnsafe, &create<DropsWaw>},
    MutantEncoder{"misses-first-byte", "ranges begin one byte late", kUnsafe,
                  &create<MissesFirstByte>},
    MutantEncoder{"misses-last-byte", "ranges end one byte early", kUnsafe,
                  &create<MissesLastByte>},
    MutantEncoder{"compares-begins-only", "only ranges of one begin conflict", kUnsafe,
                  &create<ComparesBeginsOnly>},
    MutantEncoder{"compares-ends-only", "misses a range strictly inside a later one", kUnsafe,
                  &create<ComparesEndsOnly>},
    MutantEncoder{"forgets-after-barrier", "the dispatch after a barrier is not taken down",
                  kUnsafe, &create<ForgetsBehindBarrier>},
    MutantEncoder{"first-operand-only", "looks at the first operand", kUnsafe,
                  &create<FirstOperandOnly>},
    MutantEncoder{"first-four-operands", "looks at four operands (llama.cpp#16412)", kUnsafe,
                  &create<FirstFourOperandsOnly>},
    MutantEncoder{"resets-too-early", "forgets every four dispatches", kUnsafe,
                  &create<ResetsTooEarly>},
    MutantEncoder{"overflows-after-18-outputs", "an epoch's nineteenth output is dropped", kUnsafe,
                  &create<OverflowsAfterEighteenOutputs>},
    MutantEncoder{"misses-war-of-one-pair", "no WAR from a 1-in-1-out to a 2-in-1-out dispatch",
                  kUnsafe, &create<MissesWarOfOneKernelPair>},
    MutantEncoder{"ignores-atomic-op", "atomics never conflict, whatever they compute", kUnsafe,
                  &create<IgnoresAtomicOp>},
    MutantEncoder{"updates-as-reads", "an in-place operand counts as read only", kUnsafe,
                  &create<TakesUpdatesForReads>},
    MutantEncoder{"one-range-per-memory", "a memory remembers its last access only", kUnsafe,
                  &create<RemembersOneRangePerMemory>},
    MutantEncoder{"confuses-memories", "every fourth memory counts as one", kExcess,
                  &create<ConfusesMemories>},
    MutantEncoder{"ignores-offsets", "whole memories conflict", kExcess, &create<IgnoresOffsets>},
    MutantEncoder{"touching-conflicts", "adjacent ranges conflict", kExcess,
                  &create<TouchingConflicts>},
    MutantEncoder{"reads-conflict", "two reads conflict", kExcess, &create<ReadsConflict>},
    MutantEncoder{"atomics-conflict", "atomics of one operation conflict", kExcess,
                  &create<AtomicsConflict>},
    MutantEncoder{"keeps-epoch", "nothing is forgotten at a barrier", kExcess,
                  &create<KeepsEpochAtBarrier>},
};

}  // namespace

std::span<const MutantEncoder> mutant_encoders() { return kEncoderMutants; }

std::unique_ptr<Encoder> make_faultless_encoder() { return std::make_unique<LinearScanEncoder>(); }

}  // namespace interlock
