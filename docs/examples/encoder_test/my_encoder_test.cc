#include <gmock/gmock.h>

#include <vector>

#include "encoder/sync/encoder.h"
#include "fuzz/testing/conformance.h"
#include "fuzz/testing/matchers.h"

using namespace interlock;
using testing::AllOf;

// A barrier where a dispatch conflicts with one since the last barrier.
class MyEncoder final : public Encoder {
 public:
  void encode(const EncoderDispatch& dispatch, CommandSink& sink) override {
    if (has_conflict(dispatch)) wait_for_all(sink);
    for (const Access& access : dispatch.accesses) since_.push_back({access, dispatch.atomic_op});
    sink.issue_dispatch(dispatch.id);
  }

  void wait_for_all(CommandSink& sink) override {
    sink.issue_barrier(BarrierKind::kFull);
    since_.clear();
  }

 private:
  struct Earlier {
    Access access;
    AtomicOp atomic_op;
  };

  bool has_conflict(const EncoderDispatch& dispatch) const {
    for (const Access& access : dispatch.accesses) {
      for (const Earlier& earlier : since_) {
        if (conflicts(earlier.access, access, earlier.atomic_op == dispatch.atomic_op)) return true;
      }
    }
    return false;
  }

  std::vector<Earlier> since_;
};

TEST(MyEncoder, OrdersEveryHazard) {
  EXPECT_THAT(encode_with(MyEncoder(), kLayerNormVjp), AllOf(IsHazardFree(), HasFewestBarriers()));
}

TEST(MyEncoder, OrdersAllThatOthersGetWrong) {
  for (const SampleProgram& sample : sample_programs()) {
    EXPECT_THAT(encode_with(MyEncoder(), sample.text), AllOf(IsHazardFree(), HasFewestBarriers()))
        << sample.name << ": " << sample.trap;
  }
}

INTERLOCK_CONFORMANCE(MyEncoder);
