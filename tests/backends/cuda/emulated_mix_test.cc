// mix in CUDA's words, emulated, has the bits of the CPU where one block becomes two launches of
// many.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "simulator/order/happens_before.h"
#include "simulator/schedules/strategy_random.h"
#include "simulator/schedules/strategy_three.h"

#include "tests/backends/cuda/emulated_cuda.h"
#include "tests/backends/kernels/kernel_case.h"

namespace interlock::emulated_mix_test {
namespace {

// Many blocks by size, at the bounds of a word and of a block.
TEST(EmulatedMix, HasTheBitsOfTheCpuAtAnySize) {
  for (const uint64_t size : {65'535u, 65'536u, 65'537u, 200'003u}) {
    for (const int begin : {0, 1}) {
      const Program program = parsed(fmt::format(R"(interlock 1
memory r {0}
memory y 3001
memory u 4002
memory c 2003
k: dispatch K reads r[{1}:{0}] writes y[{1}:3001] updates u atomics c[{1}:2003] atomic=max
)",
                                                 size, begin));
      for (const Schedule& schedule :
           {reference_order_schedule(program), lazy_schedule(program, HappensBefore(program))}) {
        EXPECT_TRUE(image_on_emulated_cuda(program, schedule, {.block_thread_count = 32}) ==
                    image_after(program, schedule))
            << size << " from " << begin;
      }
    }
  }
}

}  // namespace
}  // namespace interlock::emulated_mix_test
