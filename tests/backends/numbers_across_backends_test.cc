// Every kernel on every backend of this build, over randomized shapes and magnitudes: each value
// within the bound that the device's arithmetic allows, no byte changed beside the outputs, and the
// bits of the CPU where the device rounds correctly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "backends/oracle_check.h"
#include "encoder/kernel_table.h"
#include "tests/backends/number_case.h"

namespace interlock {
namespace {

std::vector<std::string> backend_names() {
  std::vector<std::string> names;
  for (const Backend* backend : backend_registry()) names.emplace_back(backend->name());
  return names;
}

class NumbersAcrossBackends : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const Availability availability = backend().availability();
    if (!availability.is_available) GTEST_SKIP() << GetParam() << ": " << availability.reason;
    capabilities_ = backend().capabilities();
  }

  Backend& backend() const { return *find_backend(GetParam()); }
  const Capabilities& capabilities() const { return capabilities_; }

  static MemoryImage image_on(Backend& backend, const Program& program) {
    auto image = backend.run(program, issue_order_schedule(program), ExecutionMode::kWitness);
    if (!image) {
      ADD_FAILURE() << image.error().message;
      return initial_image(program, kExecutionLimitBytes).value();
    }
    return std::move(*image);
  }

  // Judges the last dispatch on this backend, and compares bits if they must be the CPU's.
  OracleCheck judged(const PreparedCase& c) const {
    const MemoryImage after = image_on(backend(), c.program);
    const auto check = check_against_oracle(c.program, c.last(), image_on(backend(), c.preparation),
                                            after, arithmetic_of(capabilities_));
    if (capabilities_.rounds_correctly) {
      EXPECT_TRUE(after == image_on(*find_backend("cpu"), c.program)) << "other bits than the CPU";
    }
    if (!check) {
      ADD_FAILURE() << check.error().message;
      return {};
    }
    EXPECT_FALSE(check->mismatch.has_value()) << check->mismatch->message;
    return *check;
  }

 private:
  Capabilities capabilities_;
};

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(, NumbersAcrossBackends, testing::ValuesIn(backend_names()), test_name);

struct Tally {
  double ratio_max = 0;
  uint64_t element_count = 0;
  uint64_t unbounded_count = 0;
};

// Bounds are sound if nothing leaves them, and tight if something comes near: within a factor of
// 50 for every kernel. Ratios are properties of the test's report.
TEST_P(NumbersAcrossBackends, AreWithinTightBounds) {
  std::map<std::string, Tally> tallies;
  for (const NumberCase& c : number_cases()) {
    SCOPED_TRACE(testing::PrintToString(c));
    const OracleCheck check = judged(prepared(c));
    EXPECT_TRUE(check.is_judged);
    Tally& tally = tallies[c.kernel.kernel];
    tally.ratio_max = std::max(tally.ratio_max, check.ratio_max);
    tally.element_count += check.element_count;
    tally.unbounded_count += check.unbounded_count;
    const bool is_tame = c.magnitudes == Magnitudes::kUnit || c.magnitudes == Magnitudes::kShifted;
    EXPECT_TRUE(!is_tame || check.unbounded_count == 0) << check.unbounded_count;
  }
  for (const auto& [kernel, tally] : tallies) {
    RecordProperty("ratio_max_" + kernel, std::to_string(tally.ratio_max));
    RecordProperty("unbounded_" + kernel, std::to_string(tally.unbounded_count) + " of " +
                                              std::to_string(tally.element_count));
    if (kernel == "fill" || kernel == "copy") continue;
    EXPECT_LE(tally.ratio_max, 1) << kernel;
    if (capabilities().rounds_correctly) {
      EXPECT_GT(tally.ratio_max, 1.0 / 50) << kernel;
      EXPECT_LT(tally.unbounded_count, tally.element_count / 4) << kernel;
    }
  }
}

}  // namespace
}  // namespace interlock
