// EmulatedDevice: launches kernels that are written in CUDA's words (words.h) on the host, in
// orders drawn at random. Blocks run one after another; the threads of a block are fibers, of which
// one runs until it waits in __syncthreads(), ends, or gives way in an atomic.
//
// This folder is that device, and knows nothing of programs or backends.
//
// What a launch shows: kernels whose results depend on the order of blocks, on the order of threads
// between barriers, or on shared memory that nobody initialized; barriers that not all threads of a
// block reach. What it cannot show: what nvcc makes of the source, threads that interleave anywhere
// else, warps, blocks that run at the same time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/cuda/emulation/fiber.h"
#include "encoder/program/result.h"
#include "simulator/schedules/choice.h"

namespace interlock {

struct Index3 {
  uint32_t x = 0;
  uint32_t y = 0;
  uint32_t z = 0;

  bool operator==(const Index3&) const = default;
};

struct Extent3 {
  uint32_t x = 1;
  uint32_t y = 1;
  uint32_t z = 1;

  // As many as fit into 64 bits.
  uint64_t count() const {
    const uint64_t row = uint64_t{x} * y;
    return row != 0 && z > UINT64_MAX / row ? UINT64_MAX : row * z;
  }
};

// What stands between the brackets of a launch <<<grid, block, shared_bytes>>>.
struct LaunchShape {
  Extent3 grid;
  Extent3 block;
  uint32_t shared_bytes = 0;  // Of dynamic shared memory.
};

// A line of source that waits for all threads of a block.
struct BarrierPlace {
  const char* file = "";
  int line = 0;
};

enum class LaunchFindingKind : uint8_t {
  kBarrierDivergence,  // Some threads of a block wait; others ended, or wait in another line.
  kSharedOverrun,      // Bytes past the shared memory of the block were written.
};

struct LaunchFinding {
  LaunchFindingKind kind = LaunchFindingKind::kBarrierDivergence;
  Index3 block;
  uint32_t thread_count = 0;             // Of the block; each of them is in one of these three.
  uint32_t waiting_count = 0;            // At `place`.
  uint32_t waiting_elsewhere_count = 0;  // At other places.
  uint32_t ended_count = 0;
  BarrierPlace place;
};

// A complete sentence with the block and the counts.
std::string text_of(const LaunchFinding& finding);

class EmulatedDevice {
 public:
  static constexpr uint64_t kBlockThreadsMax = 1024;
  static constexpr uint32_t kSharedBytesMax = 48u << 10;
  static constexpr uint64_t kGridBlocksMax = 1ull << 24;

  // Requires: `kind` is one of fiber_switches(). Stacks are made when a launch needs them.
  explicit EmulatedDevice(FiberSwitch kind = fiber_switches().front()) : kind_(kind) {}

  // Calls `thread_body` once for every thread of the grid, on this host thread. `choice` decides
  // the order of blocks, which thread is next, and whether one gives way; with an ExhaustiveChoice,
  // all orders can be tried. Shared memory of a block starts with bytes of no meaning.
  // Returns the first finding, at which the launch ends; none if all blocks ran to their end.
  // Errors: a shape that no device takes, or that is too large here; no memory for stacks.
  // Cost: two switches per thread and barrier.
  // `between_blocks`, if any, is called before every block but the first; it may run launches of
  // other devices, and so give way to them where the launch itself is in a fiber.
  Result<std::optional<LaunchFinding>> launch(
      const LaunchShape& shape, Choice& choice, const std::function<void()>& thread_body,
      const std::function<void()>& between_blocks = nullptr);

 private:
  FiberSwitch kind_;
  bool is_launching_ = false;
  std::vector<std::unique_ptr<Fiber>> fibers_;  // All done between launches.
};

}  // namespace interlock
