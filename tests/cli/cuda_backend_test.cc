// The CUDA backend as the command line has it, on a machine whose device is hidden.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/cli/command.h"
#include "tests/cli/environment.h"

namespace interlock::cuda_backend_test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

const std::string kBug = INTERLOCK_SOURCE_DIR "/corpus/bugs/mlx-3630.ilk";

class CudaOnTheCommandLine : public testing::Test {
 private:
  const EnvironmentVariable hidden_devices_{"CUDA_VISIBLE_DEVICES", "-1"};
};

TEST_F(CudaOnTheCommandLine, IsListedWithWhyItIsMissing) {
  const CommandResult result = run_interlock({"list", "backends"});
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(
      result.out,
      AnyOf(HasSubstr("cuda                not available: this build has no CUDA; it needs"),
            HasSubstr("cuda                not available: there is no CUDA device (cudaErr")));
}

TEST_F(CudaOnTheCommandLine, IsStatusThreeWithoutADevice) {
  for (const char* command : {"run", "replay"}) {
    const CommandResult result = run_interlock({command, "--backend=cuda", kBug});
    EXPECT_EQ(result.status, 3);
    EXPECT_THAT(result.err, HasSubstr("backend 'cuda' is not available: th"));
  }
  EXPECT_EQ(
      run_interlock({"run", "--backend=cuda", "--mode=overlap", "--lowering=graph", kBug}).status,
      3);
  EXPECT_EQ(run_interlock({"fuzz", "--backend=cuda", "--runs=1"}).status, 3);
}

}  // namespace
}  // namespace interlock::cuda_backend_test
