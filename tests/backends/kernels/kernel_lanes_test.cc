// Bodies run by many cooperating lanes, as on a GPU: each lane a host thread, sync() a barrier.
#include <gtest/gtest.h>

#include <array>
#include <barrier>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "backends/cpu/execute.h"
#include "backends/interface/dispatch_params.h"
#include "backends/kernels/all_kernels.h"
#include "encoder/kernel/kernel_binding.h"
#include "tests/backends/kernels/kernel_case.h"
#include "tests/program_count.h"

namespace interlock::kernel_lanes_test {
namespace {

struct SliceStorage {
  explicit SliceStorage(uint32_t lane_count) : barrier(lane_count) {}

  std::barrier<> barrier;
  std::array<float, kSharedCount> shared{};
  std::array<uint32_t, kSharedCount> shared_words{};
};

class CooperatingLane {
 public:
  CooperatingLane(uint32_t index, uint32_t count, SliceStorage& storage)
      : index_(index), count_(count), storage_(storage) {}

  uint32_t index() const { return index_; }
  uint32_t count() const { return count_; }
  void sync() const { storage_.barrier.arrive_and_wait(); }
  float& shared(uint32_t i) const { return storage_.shared[i]; }
  uint32_t& shared_word(uint32_t i) const { return storage_.shared_words[i]; }

 private:
  uint32_t index_;
  uint32_t count_;
  SliceStorage& storage_;
};

using LaneBody = void (*)(const CooperatingLane&, CpuMemory&, const KernelParams&, uint64_t);

std::map<KernelId, LaneBody> lane_bodies() {
  std::map<KernelId, LaneBody> bodies;
  for_each_kernel([&]<class Kernel>(KernelId kernel) {
    bodies[kernel] = [](const CooperatingLane& lane, CpuMemory& memory, const KernelParams& params,
                        uint64_t slice) { Kernel::run(lane, memory, params, slice); };
  });
  return bodies;
}

// The final image of a program of one dispatch, all slices by `lane_count` lanes.
MemoryImage image_by_lanes(const Program& program, uint32_t lane_count) {
  MemoryImage image = initial_image(program, kExecutionLimitBytes).value();
  const DispatchId id{0};
  const KernelParams params = dispatch_params_of(program, id);
  std::vector<CpuOperand> operands;
  for (const Access& access : program.accesses_of(id)) {
    operands.push_back({.data = &image.memories[access.memory.index][access.range.begin],
                        .size_bytes = access.range.size_bytes(),
                        .mode = access.mode});
  }
  const LaneBody body = lane_bodies().at(program.dispatch(id).kernel);
  const uint64_t slice_count = slice_count_of(program, program.dispatch(id));
  SliceStorage storage(lane_count);
  std::vector<std::thread> lanes;
  for (uint32_t i = 0; i < lane_count; ++i) {
    lanes.emplace_back([&, i] {
      const CooperatingLane lane(i, lane_count, storage);
      CpuMemory memory(operands);
      for (uint64_t slice = 0; slice < slice_count; ++slice) {
        body(lane, memory, params, slice);
        lane.sync();
      }
    });
  }
  for (std::thread& lane : lanes) {
    lane.join();
  }
  return image;
}

TEST(Kernels, GiveTheSameBitsForEveryLaneCount) {
  for (KernelCase c : one_case_per_kernel()) {
    for (const uint64_t cols : {9, 70}) {
      c.cols = cols;
      c.rows = 2;
      const Program program = program_of(c);
      const MemoryImage expected = image_after(program, reference_order_schedule(program));
      for (const uint32_t lane_count : {1u, 7u, 32u}) {
        // So many threads mostly wait for each other; more than 7 columns give them work.
        if (lane_count > 7 && (is_slow_build() || cols < 70)) continue;
        EXPECT_EQ(image_by_lanes(program, lane_count), expected)
            << testing::PrintToString(c) << " with " << lane_count << " lanes";
      }
    }
  }
}

TEST(Mix, GivesTheSameBitsForEveryLaneCount) {
  const Program program = parsed(R"(interlock 1
memory a 1000
memory b 1000
memory c 1000
dispatch Kernel reads a[1:334] b[0:3] writes b[100:201] updates c[10:21] atomics c[30:43] atomic=xor
)");
  const MemoryImage expected = image_after(program, reference_order_schedule(program));
  for (const uint32_t lane_count : {1u, 7u, 32u, 70u}) {
    EXPECT_EQ(image_by_lanes(program, lane_count), expected) << lane_count << " lanes";
  }
}

}  // namespace
}  // namespace interlock::kernel_lanes_test
