// What recording costs a runtime for each dispatch of 3 reads and 1 write over 1024 buffers, a
// barrier after every 8th. Beside it the least that any text costs: snprintf of the same line.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <string>
#include <vector>

#include "encoder/recorder.h"
#include "simulator/schedules/choice.h"

namespace interlock {
namespace {

constexpr uint64_t kBufferBytes = 1 << 16;
constexpr uint64_t kBufferCount = 1024;
constexpr size_t kDispatchCount = 1 << 14;

struct Operand {
  size_t buffer;
  uint64_t offset_bytes;
  uint64_t size_bytes;
};

// Four for each dispatch; the last is written.
std::vector<Operand> random_operands() {
  SeededChoice choice(1);
  std::vector<Operand> operands(4 * kDispatchCount);
  for (Operand& operand : operands) {
    operand = {choice.below(kBufferCount), choice.below(kBufferBytes / 2), 4096};
  }
  return operands;
}

uint64_t address_of(size_t buffer) { return 0x7f0000000000 + buffer * 2 * kBufferBytes; }

enum class Lookup { kHandle, kAddress };

void record(benchmark::State& state, const char* path, Lookup lookup, const char* label,
            size_t queue_count = 0) {
  const std::vector<Operand> operands = random_operands();
  interlock_recorder* const r = interlock_recorder_open(path);
  std::vector<interlock_memory> memories;
  for (size_t i = 0; i < kBufferCount; ++i) {
    memories.push_back(interlock_recorder_memory(r, "buffer", address_of(i), kBufferBytes, 0));
  }
  std::vector<interlock_queue> queues;
  for (size_t i = 0; i < queue_count; ++i) {
    queues.push_back(interlock_recorder_queue(r, "stream", INTERLOCK_SERIAL));
  }
  const interlock_semaphore done = interlock_recorder_semaphore(r, "done", 0);
  interlock_semaphore_use use = {done, 0, nullptr};
  size_t next = 0;
  for (auto _ : state) {
    interlock_recorder_dispatch(r, "kernel_mul_mat_f32", label);
    if (queue_count != 0) interlock_recorder_on(r, queues[next / 4 % queue_count]);
    for (size_t i = 0; i < 4; ++i) {
      const Operand& operand = operands[next + i];
      const interlock_access_kind kind = i < 3 ? INTERLOCK_READ : INTERLOCK_WRITE;
      if (lookup == Lookup::kHandle) {
        interlock_recorder_access(r, kind, memories[operand.buffer], operand.offset_bytes,
                                  operand.size_bytes);
      } else {
        interlock_recorder_access_at(r, kind, address_of(operand.buffer), operand.offset_bytes,
                                     operand.size_bytes);
      }
    }
    interlock_recorder_end(r);
    if (next % 32 == 0 && queue_count == 0) interlock_recorder_barrier(r, nullptr);
    if (next % 32 == 0 && queue_count != 0) {
      ++use.value;
      interlock_recorder_signal(r, queues[0], &use, 1);
      interlock_recorder_wait(r, queues[1], &use);
    }
    next = (next + 4) % operands.size();
  }
  if (interlock_recorder_close(r) != INTERLOCK_OK) state.SkipWithError("The recording failed.");
  state.SetItemsProcessed(state.iterations());
}

void BM_recorder_by_handle(benchmark::State& state) {
  record(state, "/dev/null", Lookup::kHandle, nullptr);
}
BENCHMARK(BM_recorder_by_handle);

void BM_recorder_by_address(benchmark::State& state) {
  record(state, "/dev/null", Lookup::kAddress, nullptr);
}
BENCHMARK(BM_recorder_by_address);

void BM_recorder_with_labels(benchmark::State& state) {
  record(state, "/dev/null", Lookup::kHandle, "layers.attention");
}
BENCHMARK(BM_recorder_with_labels);

// Two streams in turns, with a signal and a wait for it instead of the barrier.
void BM_recorder_of_two_streams(benchmark::State& state) {
  record(state, "/dev/null", Lookup::kHandle, nullptr, 2);
}
BENCHMARK(BM_recorder_of_two_streams);

// The page cache, and the disk as far as it keeps up. About 100 bytes a dispatch.
void BM_recorder_into_a_file(benchmark::State& state) {
  const std::string path = "recorder_bench.ilk";
  record(state, path.c_str(), Lookup::kHandle, nullptr);
  std::remove(path.c_str());
}
BENCHMARK(BM_recorder_into_a_file)->Iterations(1'000'000);

void BM_snprintf_of_the_same_line(benchmark::State& state) {
  const std::vector<Operand> operands = random_operands();
  char line[256];
  size_t next = 0;
  for (auto _ : state) {
    const Operand* const operand = &operands[next];
    const auto end = [operand](size_t i) {
      return static_cast<unsigned long long>(operand[i].offset_bytes + operand[i].size_bytes);
    };
    const auto begin = [operand](size_t i) {
      return static_cast<unsigned long long>(operand[i].offset_bytes);
    };
    benchmark::DoNotOptimize(std::snprintf(
        line, sizeof line,
        "dispatch %s reads buffer.%zu[%llu:%llu] buffer.%zu[%llu:%llu] buffer.%zu[%llu:%llu] writes buffer.%zu[%llu:%llu]\n",
        "Kernel_mul_mat_f32", operand[0].buffer, begin(0), end(0), operand[1].buffer, begin(1),
        end(1), operand[2].buffer, begin(2), end(2), operand[3].buffer, begin(3), end(3)));
    next = (next + 4) % operands.size();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_snprintf_of_the_same_line);

}  // namespace
}  // namespace interlock
