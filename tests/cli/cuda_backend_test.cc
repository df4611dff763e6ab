// The CUDA backend as the command line has it, on a machine whose device is hidden.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "tests/cli/command.h"

namespace interlock {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

const std::string kBug = INTERLOCK_SOURCE_DIR "/corpus/bugs/mlx-3630.ilk";

// For this test and the programs that it starts; under ctest it has a process of its own.
void hide_cuda_devices() { setenv("CUDA_VISIBLE_DEVICES", "-1", 1); }

TEST(CudaOnTheCommandLine, IsListedWithWhyItIsMissing) {
  hide_cuda_devices();
  const CommandResult result = run_interlock({"list", "backends"});
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.out,
              AnyOf(HasSubstr("cuda             not available: this build has no CUDA; it needs"),
                    HasSubstr("cuda             not available: there is no CUDA device (cudaErr")));
}

TEST(CudaOnTheCommandLine, IsStatusThreeWithoutADevice) {
  hide_cuda_devices();
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
}  // namespace interlock
