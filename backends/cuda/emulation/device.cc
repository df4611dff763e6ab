#include "backends/cuda/emulation/device.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "backends/cuda/emulation/words.h"
#include "encoder/program/check.h"
#include "encoder/program/error_of.h"
#include "encoder/program/hash.h"
#include "encoder/program/stop.h"

namespace interlock {
namespace {

constexpr uint32_t kGuardBytes = 256;
constexpr uint8_t kGuard = 0xa5;

}  // namespace

inline namespace emulated {

__thread uint3 threadIdx;
__thread uint3 blockIdx;
__thread dim3 blockDim;
__thread dim3 gridDim;
alignas(16) __thread unsigned char shared_storage[EmulatedDevice::kSharedBytesMax + kGuardBytes];

}  // namespace emulated

namespace {

Index3 index_in(const Extent3& extent, uint64_t position) {
  const uint64_t row = position / extent.x;
  return {static_cast<uint32_t>(position % extent.x), static_cast<uint32_t>(row % extent.y),
          static_cast<uint32_t>(row / extent.y)};
}

bool is_same(const BarrierPlace& a, const BarrierPlace& b) {
  return a.line == b.line && std::string_view(a.file) == b.file;
}

enum class ThreadState : uint8_t { kReady, kWaiting, kEnded };

struct Thread {
  Fiber* fiber = nullptr;
  ThreadState state = ThreadState::kReady;
  BarrierPlace place;  // Where it waits.
};

// One block at a time. A block of one thread needs no fiber: it waits for nobody.
class RunningBlock {
 public:
  RunningBlock(const LaunchShape& shape, Choice& choice, const std::function<void()>& thread_body,
               std::span<const std::unique_ptr<Fiber>> fibers)
      : shape_(shape), choice_(choice), thread_body_(thread_body) {
    threads_.resize(shape.block.count());
    for (size_t i = 0; i < fibers.size(); ++i) threads_[i].fiber = fibers[i].get();
  }

  std::optional<LaunchFinding> run(Index3 block) {
    blockIdx = block;
    poison_shared();
    if (is_alone()) {
      threadIdx = {};
      thread_body_();
    } else {
      ready_.resize(threads_.size());
      std::iota(ready_.begin(), ready_.end(), size_t{0});
      for (Thread& thread : threads_) {
        thread.state = ThreadState::kReady;
        thread.fiber->start(
            [](void* body) { (*static_cast<const std::function<void()>*>(body))(); },
            const_cast<std::function<void()>*>(&thread_body_));
      }
      for (;;) {
        run_ready_threads();
        const LaunchFinding stop = finding(LaunchFindingKind::kBarrierDivergence);
        if (stop.ended_count == threads_.size()) break;
        if (stop.waiting_count < threads_.size()) return stop;
        for (size_t i = 0; i < threads_.size(); ++i) {
          threads_[i].state = ThreadState::kReady;
          ready_.push_back(i);
        }
      }
    }
    if (is_shared_guarded()) return std::nullopt;
    return finding(LaunchFindingKind::kSharedOverrun);
  }

  // Of the thread that runs now.
  void wait(BarrierPlace place) {
    if (is_alone()) return;
    threads_[running_].state = ThreadState::kWaiting;
    threads_[running_].place = place;
    threads_[running_].fiber->give_way();
  }
  void give_way_by_chance() {
    if (!is_alone() && choice_.chance(1, 4)) threads_[running_].fiber->give_way();
  }

 private:
  bool is_alone() const { return threads_.size() == 1; }

  // NaN as floats, and other words in each block, so that a result that uses them shows it.
  void poison_shared() {
    constexpr uint32_t kNan = 0xffc00000;
    for (uint32_t i = 0; i < shape_.shared_bytes; i += sizeof kNan) {
      const uint32_t word = kNan | static_cast<uint32_t>(splitmix64(poison_seed_++));
      std::memcpy(shared_storage + i, &word, sizeof word);
    }
    std::memset(shared_storage + shape_.shared_bytes, kGuard, kGuardBytes);
  }

  bool is_shared_guarded() const {
    const unsigned char* const guard = shared_storage + shape_.shared_bytes;
    return std::all_of(guard, guard + kGuardBytes, [](unsigned char b) { return b == kGuard; });
  }

  // Until each of them waits or has ended.
  void run_ready_threads() {
    while (!ready_.empty()) {
      const size_t drawn = choice_.below(ready_.size());
      running_ = ready_[drawn];
      Thread& thread = threads_[running_];
      threadIdx = index_in(shape_.block, running_);
      thread.fiber->resume();
      if (thread.fiber->is_done()) thread.state = ThreadState::kEnded;
      if (thread.state == ThreadState::kReady) continue;
      ready_[drawn] = ready_.back();
      ready_.pop_back();
    }
  }

  LaunchFinding finding(LaunchFindingKind kind) const {
    LaunchFinding finding{
        .kind = kind, .block = blockIdx, .thread_count = static_cast<uint32_t>(threads_.size())};
    for (const Thread& thread : threads_) {
      if (thread.state == ThreadState::kEnded || is_alone()) {
        ++finding.ended_count;
      } else if (finding.waiting_count == 0) {
        finding.place = thread.place;
        finding.waiting_count = 1;
      } else {
        ++(is_same(thread.place, finding.place) ? finding.waiting_count
                                                : finding.waiting_elsewhere_count);
      }
    }
    return finding;
  }

  const LaunchShape& shape_;
  Choice& choice_;
  const std::function<void()>& thread_body_;
  std::vector<Thread> threads_;
  std::vector<size_t> ready_;
  size_t running_ = 0;
  uint64_t poison_seed_ = 0;
};

thread_local RunningBlock* running_block = nullptr;

Result<Success> check_shape(const LaunchShape& shape) {
  constexpr uint64_t kThreadsMax = EmulatedDevice::kBlockThreadsMax;
  const Extent3& block = shape.block;
  if (block.count() == 0 || shape.grid.count() == 0) {
    return Error{"A launch needs at least one block, and a block at least one thread."};
  }
  if (std::max({block.x, block.y, block.z}) > kThreadsMax || block.count() > kThreadsMax) {
    return error_of("A block has {} x {} x {} threads; a device takes at most {} in all.", block.x,
                    block.y, block.z, kThreadsMax);
  }
  if (shape.shared_bytes > EmulatedDevice::kSharedBytesMax) {
    return error_of("A block has {} bytes of shared memory; a device takes at most {}.",
                    shape.shared_bytes, EmulatedDevice::kSharedBytesMax);
  }
  if (shape.grid.count() > EmulatedDevice::kGridBlocksMax) {
    return error_of(
        "A launch has {} x {} x {} blocks; the emulated device takes at most {} in all.",
        shape.grid.x, shape.grid.y, shape.grid.z, EmulatedDevice::kGridBlocksMax);
  }
  return Success{};
}

template <class T>
void shuffle(std::vector<T>& values, Choice& choice) {
  for (size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[choice.below(i)]);
}

}  // namespace

inline namespace emulated {

void __syncthreads(BarrierPlace place) {
  INTERLOCK_CHECK(running_block != nullptr);
  running_block->wait(place);
}

unsigned int atomicAdd(unsigned int* word, unsigned int value) {
  INTERLOCK_CHECK(running_block != nullptr);
  running_block->give_way_by_chance();
  const unsigned int old = *word;
  *word = old + value;
  return old;
}

unsigned int atomicCAS(unsigned int* word, unsigned int expected, unsigned int desired) {
  INTERLOCK_CHECK(running_block != nullptr);
  running_block->give_way_by_chance();
  const unsigned int old = *word;
  if (old == expected) *word = desired;
  return old;
}

}  // namespace emulated

std::string text_of(const LaunchFinding& finding) {
  const std::string block =
      fmt::format("Block ({}, {}, {})", finding.block.x, finding.block.y, finding.block.z);
  if (finding.kind == LaunchFindingKind::kSharedOverrun) {
    return block + " writes past its shared memory.";
  }
  const std::string_view file = finding.place.file;
  return fmt::format(
      "{} diverges at a barrier: of {} threads, {} wait in line {} of {}, {} wait elsewhere, {} have ended.",
      block, finding.thread_count, finding.waiting_count, finding.place.line,
      file.substr(file.rfind('/') + 1), finding.waiting_elsewhere_count, finding.ended_count);
}

Result<std::optional<LaunchFinding>> EmulatedDevice::launch(
    const LaunchShape& shape, Choice& choice, const std::function<void()>& thread_body,
    const std::function<void()>& between_blocks) {
  INTERLOCK_CHECK(running_block == nullptr && !is_launching_);
  auto checked = check_shape(shape);
  if (!checked) return checked.error();
  const size_t fiber_count = shape.block.count() > 1 ? shape.block.count() : 0;
  while (fibers_.size() < fiber_count) {
    auto fiber = Fiber::create(kind_);
    if (!fiber) return fiber.error();
    fibers_.push_back(std::move(*fiber));
  }
  std::vector<uint32_t> blocks(shape.grid.count());
  std::iota(blocks.begin(), blocks.end(), 0u);
  shuffle(blocks, choice);
  is_launching_ = true;
  RunningBlock running(shape, choice, thread_body, std::span(fibers_).first(fiber_count));
  std::optional<LaunchFinding> finding;
  for (size_t i = 0; i < blocks.size() && !finding; ++i) {
    if (i > 0 && between_blocks) between_blocks();
    if (is_stopped()) break;
    blockDim = shape.block;
    gridDim = shape.grid;
    running_block = &running;
    finding = running.run(index_in(shape.grid, blocks[i]));
    running_block = nullptr;
  }
  is_launching_ = false;
  if (finding) fibers_.clear();  // Some wait for ever.
  if (is_stopped()) return Error{"The launch was stopped."};
  return finding;
}

}  // namespace interlock
