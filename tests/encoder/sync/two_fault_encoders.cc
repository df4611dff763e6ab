// The basic idea is to answer two questions of the linear scan wrongly, which have nothing to do
// with each other; or one question, where two things meet.
#include "tests/encoder/sync/two_fault_encoders.h"

#include <cstddef>

#include "tests/encoder/sync/linear_scan_encoder.h"

namespace interlock {
namespace {

bool are_two_tensors(const Access& a, const Access& b) {
  return a.tensor.is_some() && b.tensor.is_some() && a.tensor != b.tensor;
}

class DropsRawAndWar final : public LinearScanEncoder {
  bool needs_order(const Tracked& earlier, const Tracked& later) const override {
    return is_waw(earlier, later);
  }
};

// And compares as a table keyed by address.
class DropsWarAndComparesBegins final : public LinearScanEncoder {
  bool needs_order(const Tracked& earlier, const Tracked& later) const override {
    return is_raw(earlier, later) || is_waw(earlier, later);
  }
  bool share_bytes(const Access& earlier, const Access& later) const override {
    return LinearScanEncoder::share_bytes(earlier, later) &&
           earlier.range.begin == later.range.begin;
  }
};

class TakesUpdatesForReadsAndComparesEnds final : public LinearScanEncoder {
  Access as_tracked(const Access& access) const override {
    Access result = access;
    if (result.mode == AccessMode::kUpdate) result.mode = AccessMode::kRead;
    return result;
  }
  bool share_bytes(const Access& earlier, const Access& later) const override {
    return LinearScanEncoder::share_bytes(earlier, later) && earlier.range.end == later.range.end;
  }
};

class MissesWarOfOnePairAndTheFifthOperand final : public LinearScanEncoder {
  size_t operand_limit() const override { return 4; }
  bool needs_order(const Tracked& earlier, const Tracked& later) const override {
    const bool is_the_pair = earlier.read_count == 1 && earlier.write_count == 1 &&
                             later.read_count == 2 && later.write_count == 1;
    return is_raw(earlier, later) || is_waw(earlier, later) ||
           (is_war(earlier, later) && !is_the_pair);
  }
};

// As a table keyed by what a value is called, which a barrier empties too late.
class ComparesNamesAndForgetsAfterBarrier final : public LinearScanEncoder {
  bool share_bytes(const Access& earlier, const Access& later) const override {
    return LinearScanEncoder::share_bytes(earlier, later) && !are_two_tensors(earlier, later);
  }
  void record(const Tracked& tracked, bool is_behind_barrier) override {
    if (!is_behind_barrier) epoch_.push_back(tracked);
  }
};

class ComparesNames final : public LinearScanEncoder {
  bool share_bytes(const Access& earlier, const Access& later) const override {
    return LinearScanEncoder::share_bytes(earlier, later) && !are_two_tensors(earlier, later);
  }
};

// Another value on recycled bytes, after many dispatches.
class MissesRecycledBytesLate final : public LinearScanEncoder {
  bool share_bytes(const Access& earlier, const Access& later) const override {
    const bool is_missed = dispatch_count_ >= 4 && are_two_tensors(earlier, later);
    return LinearScanEncoder::share_bytes(earlier, later) && !is_missed;
  }
  void after_dispatch(const EncoderDispatch& /*dispatch*/, CommandSink& /*sink*/) override {
    ++dispatch_count_;
  }
  size_t dispatch_count_ = 0;
};

// An in-place operand that another dispatch has read, if it is not the first operand: as a kernel
// that was fused, with the old one's way to bind.
class MissesWarOfLateUpdates final : public LinearScanEncoder {
  bool needs_order(const Tracked& earlier, const Tracked& later) const override {
    const bool is_missed = later.access.mode == AccessMode::kUpdate && later.read_count > 0 &&
                           !modifies(earlier.access);
    return LinearScanEncoder::needs_order(earlier, later) && !is_missed;
  }
};

// Makes nothing available or visible.
class OrdersOnly final : public Encoder {
 public:
  void encode(const EncoderDispatch& dispatch, CommandSink& sink) override {
    sink.issue_barrier(BarrierKind::kExecution);
    sink.issue_dispatch(dispatch.id);
  }
};

template <typename T>
std::unique_ptr<Encoder> create() {
  return std::make_unique<T>();
}

}  // namespace

std::vector<TwoFaultEncoder> two_fault_encoders() {
  return {
      {"names", "two tensors never conflict", {"two_tensors"}, &create<ComparesNames>},
      {"recycled-bytes-late",
       "from the fifth dispatch on, two tensors never conflict",
       {"two_tensors-dispatches_before"},
       &create<MissesRecycledBytesLate>},
      {"late-updates",
       "no WAR into an update of a dispatch that reads, too",
       {"update-operand_position"},
       &create<MissesWarOfLateUpdates>},
      {"orders-only", "its barriers are no memory dependencies", {"ordered"}, &create<OrdersOnly>},
      {"raw-war", "no barrier for RAW alone or WAR alone", {"RAW", "WAR"}, &create<DropsRawAndWar>},
      {"war-begins",
       "no barrier for WAR alone; compares begins only",
       {"WAR", "overlap"},
       &create<DropsWarAndComparesBegins>},
      {"updates-ends",
       "an in-place operand counts as read only; compares ends only",
       {"overlap", "update"},
       &create<TakesUpdatesForReadsAndComparesEnds>},
      {"pair-operands",
       "no WAR of one pair of dispatches; looks at four operands",
       {"WAR-operands", "operand_position"},
       &create<MissesWarOfOnePairAndTheFifthOperand>},
      {"names-barrier",
       "two tensors never conflict; the dispatch after a barrier is not taken down",
       {"barrier", "two_tensors"},
       &create<ComparesNamesAndForgetsAfterBarrier>},
  };
}

}  // namespace interlock
