// What several queues and the host cost: `check` beside the same dispatches on one queue, bytes of
// signals that nothing waits for, host writes, and encoders and trackers for several queues beside
// ours for one.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <cstdint>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "encoder/program/check.h"
#include "encoder/program/program.h"
#include "encoder/queues/minimal_encoders.h"
#include "encoder/queues/streams_encoder.h"
#include "encoder/sync/encoder.h"
#include "encoder/sync/interlock_encoder.h"
#include "encoder/sync/queue_tracker.h"
#include "encoder/sync/tracker.h"
#include "encoder/text/parser.h"
#include "simulator/report/check.h"
#include "simulator/schedules/choice.h"
#include "tests/bench/allocated_bytes.h"
#include "tests/bench/targets.h"

namespace interlock {
namespace {

constexpr int64_t kSlotBytes = 256;
constexpr const char* kBarrier = "barrier compute.read|compute.write -> compute.read|compute.write";

class Text {
 public:
  template <typename... Arguments>
  void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
    text_ += '\n';
  }

  Program program() const {
    ParseOptions options;
    options.reads_every_queue = true;
    options.limits.input_bytes = UINT64_MAX;
    return parse(text_, "bench", options).value();
  }

 private:
  std::string text_ = "interlock 1\n";
};

std::string slot(int64_t index) {
  return fmt::format("pool[{}:{}]", index * kSlotBytes, (index + 1) * kSlotBytes);
}

void expect_clean(const Program& program, const CheckOptions& options = {}) {
  const CheckReport report = check(program, options);
  INTERLOCK_CHECK(report.findings.empty() && !report.is_truncated());
}

// Both by turns; several queues may take at most `most` times as long as one.
void measure_beside_one_queue(benchmark::State& state, std::function<void()> one,
                              std::function<void()> several, double most) {
  const std::vector<Timing> timings =
      measure_rounds(state, {{"one", {}, std::move(one)}, {"several", {}, std::move(several)}});
  const auto dispatch_count = static_cast<double>(state.range(0));
  note_time(state, "one_ns", timings[0], dispatch_count);
  note_time(state, "several_ns", timings[1], dispatch_count);
  hold_ratio(state, ratio_by_round(timings[1], timings[0]), most);
}

void check_beside_one_queue(benchmark::State& state, const Program& several, const Program& one,
                            double most) {
  measure_beside_one_queue(
      state, [&] { expect_clean(one); }, [&] { expect_clean(several); }, most);
}

// Blocks of 16 dispatches, each on the next of four queues. A block waits for the one that its
// neighbour had a round before and reads what that wrote, and signals at its end; scoped barriers
// stand between four dispatches. On one queue the same, without semaphores.
Program blocks(int64_t dispatch_count, bool is_on_four) {
  constexpr int64_t kBlock = 16;
  constexpr int64_t kQueues = 4;
  constexpr int64_t kRounds = 8;  // Then a slot is written again.
  constexpr int64_t kWaitedBack = kQueues + 1;
  const auto slot_of = [](int64_t block, int64_t i) {
    return slot((block % (kQueues * kRounds)) * kBlock + i);
  };
  Text text;
  text.line("memory pool {}", kQueues * kRounds * kBlock * kSlotBytes);
  for (int64_t q = 1; is_on_four && q < kQueues; ++q) text.line("q{}: queue concurrent", q);
  for (int64_t block = 0; block * kBlock < dispatch_count; ++block) {
    const std::string on = is_on_four ? fmt::format(" on q{}", block % kQueues) : "";
    const int64_t waited = block - kWaitedBack;
    if (is_on_four && waited >= 0) {
      text.line("wait s{}={}{}", waited % kQueues, waited / kQueues + 1, on);
    }
    for (int64_t i = 0; i < kBlock; ++i) {
      if (i % 4 == 0) text.line("{}{}", kBarrier, on);
      std::string reads;
      if (waited >= 0) reads += " " + slot_of(waited, i);
      if (i >= 4) {
        reads += " " + slot_of(block, i - 4);
      } else if (block >= kQueues) {
        reads += " " + slot_of(block - kQueues, i);
      }
      text.line("dispatch Work{}{} writes {}{}", reads.empty() ? "" : " reads", reads,
                slot_of(block, i), on);
    }
    if (is_on_four) text.line("signal s{}={}{}", block % kQueues, block / kQueues + 1, on);
  }
  return text.program();
}

void FourQueues(benchmark::State& state) {
  check_beside_one_queue(state, blocks(state.range(0), true), blocks(state.range(0), false), 3);
}
BENCHMARK(FourQueues)->Arg(100'000)->Arg(1'000'000)->Iterations(2);

// Layers of 64: each operation reads what three of the layer before have written, and comes after
// those. On one queue a scoped barrier stands between two layers.
Program layers(int64_t dispatch_count, bool is_graph) {
  constexpr int64_t kWidth = 64;
  constexpr int64_t kLayers = 4;  // Then a slot is written again.
  Text text;
  text.line("memory pool {}", kWidth * kLayers * kSlotBytes);
  if (is_graph) text.line("g: queue graph");
  for (int64_t i = 0; i < dispatch_count; ++i) {
    if (!is_graph && i > 0 && i % kWidth == 0) text.line("{}", kBarrier);
    std::string reads;
    std::string after;
    for (const int64_t side : {-1, 0, 1}) {
      if (i < kWidth) break;
      const int64_t from = i - i % kWidth - kWidth + (i + side + kWidth) % kWidth;
      reads += " " + slot(from % (kWidth * kLayers));
      after += fmt::format(" {}", from);
    }
    text.line("dispatch Work{}{} writes {}{}{}{}", reads.empty() ? "" : " reads", reads,
              slot(i % (kWidth * kLayers)), is_graph && i >= kWidth ? " after" : "",
              is_graph ? after : "", is_graph ? " on g" : "");
  }
  return text.program();
}

void WideGraph(benchmark::State& state) {
  check_beside_one_queue(state, layers(state.range(0), true), layers(state.range(0), false), 5);
}
BENCHMARK(WideGraph)->Arg(100'000)->Arg(1'000'000)->Iterations(2);

// 256 paths, and after each dispatch a signal of a semaphore of its own, for which nothing waits.
Program paths(int64_t dispatch_count, bool has_signals) {
  constexpr int64_t kPaths = 256;
  Text text;
  text.line("memory pool {}", kPaths * kSlotBytes);
  text.line("g: queue graph");
  for (int64_t i = 0; i < dispatch_count; ++i) {
    text.line("dispatch Work writes {}{} on g", slot(i % kPaths),
              i < kPaths ? "" : fmt::format(" after {}", i - kPaths));
    if (has_signals) text.line("signal s{}=1 on g", i);
  }
  return text.program();
}

// Of hazards alone: that none of the signals is needed takes a check of each.
void OpenSignals(benchmark::State& state) {
  const Program with = paths(state.range(0), true);
  const Program without = paths(state.range(0), false);
  const CheckOptions options{.redundancy_budget = 0};
  const auto check_of = [&](const Program& program) {
    return [&] { expect_clean(program, options); };
  };
  const auto with_bytes = static_cast<double>(peak_bytes_of(check_of(with)));
  const auto without_bytes = static_cast<double>(peak_bytes_of(check_of(without)));
  const auto signal_count = static_cast<double>(state.range(0));
  state.counters["bytes_a_signal"] = (with_bytes - without_bytes) / signal_count;
  const std::vector<Timing> timings = measure_rounds(state, {{"with", {}, check_of(with)}});
  note_time(state, "ns_a_signal", timings[0], signal_count);
}
BENCHMARK(OpenSignals)->Arg(10'000)->Arg(100'000)->Iterations(1);

// Each to an atom of its own, which is flushed, and read on a device once all are submitted.
void HostWrites(benchmark::State& state) {
  constexpr int64_t kAtomBytes = 64;
  Text text;
  text.line("memory x {} noncoherent={}", state.range(0) * kAtomBytes, kAtomBytes);
  text.line("memory y {}", state.range(0));
  for (int64_t i = 0; i < state.range(0); ++i) {
    text.line("host writes x[{}:{}]", i * kAtomBytes + i % 32, i * kAtomBytes + i % 32 + 8);
    text.line("host flushes x[{}:{}]", i * kAtomBytes, (i + 1) * kAtomBytes);
  }
  for (int64_t i = 0; i < state.range(0); ++i) {
    text.line("dispatch Use reads x[{}:{}] writes y[{}:{}]", i * kAtomBytes, (i + 1) * kAtomBytes,
              i, i + 1);
  }
  const Program program = text.program();
  const std::vector<Timing> timings =
      measure_rounds(state, {{"check", {}, [&] { expect_clean(program); }}});
  note_time(state, "ns_a_write", timings[0], static_cast<double>(state.range(0)));
}
BENCHMARK(HostWrites)->Arg(250)->Arg(500)->Iterations(1)->Unit(benchmark::kMillisecond);

// Two reads of one half of 1024 slots at random, and a write that walks through the other.
Program pool_program(int64_t dispatch_count) {
  constexpr int64_t kHalf = 512;
  SeededChoice choice(1);
  Text text;
  text.line("memory pool {}", 2 * kHalf * kSlotBytes);
  for (int64_t i = 0; i < dispatch_count; ++i) {
    const auto any = [&] { return static_cast<int64_t>(choice.below(2 * kHalf)); };
    const int64_t written = kHalf + i % kHalf;
    int64_t read = any();
    while (read == written) read = any();
    text.line("dispatch Work reads {} writes {}", slot(read), slot(written));
  }
  return text.program();
}

// Where the C library would give memory back to the system after each turn, and fetch it again page
// by page, what that takes depends on the sizes of blocks more than on the work: a page is as long
// as ten dispatches. From here on it keeps what it has, as the allocator of the program does.
void keep_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, INT32_MAX);
#endif
}

// From a program to a program, as all of them do it. Of the others than `streams` that is not like
// with like: they look at the whole program, and choose the queues or the edges, where ours for one
// queue takes the dispatches one by one.
void EncodeOnQueues(benchmark::State& state,
                    Result<Program> (*encode_on_queues)(const Program&, uint32_t),
                    uint32_t queue_count) {
  keep_memory();
  const Program program = pool_program(state.range(0));
  const auto one = [&] {
    InterlockEncoder encoder;
    benchmark::DoNotOptimize(encode(program, encoder));
  };
  const auto several = [&] {
    benchmark::DoNotOptimize(encode_on_queues(program, queue_count).value());
  };
  measure_beside_one_queue(state, one, several, 2);
}
BENCHMARK_CAPTURE(EncodeOnQueues, semaphores, encode_semaphores, 4)
    ->Arg(1'000)
    ->Arg(16'000)
    ->Iterations(9);
BENCHMARK_CAPTURE(EncodeOnQueues, edges, encode_edges, 0)->Arg(1'000)->Arg(16'000)->Iterations(9);
BENCHMARK_CAPTURE(EncodeOnQueues, streams, encode_streams, 4)
    ->Arg(1'000)
    ->Arg(16'000)
    ->Iterations(9);

// A runtime that only counts what it is told.
class CountingSink final : public CommandSink {
 public:
  void issue_dispatch(DispatchId /*id*/) override { ++count_; }
  void issue_barrier(BarrierKind /*kind*/) override { ++count_; }
  void issue_signal(const SemaphorePoint& /*point*/) override { ++count_; }
  void issue_wait(const SemaphorePoint& /*point*/) override { ++count_; }
  void issue_submission(QueueIndex /*queue*/, std::span<const QueuePoint> waits, DispatchId /*id*/,
                        uint64_t /*number*/) override {
    count_ += waits.size() + 2;
  }

  size_t count() const { return count_; }

 private:
  size_t count_ = 0;
};

// Encoders that take the dispatches one by one, new ones, into one sink. Dispatches go to the
// queues in turn.
void IssueOnQueues(benchmark::State& state) {
  const Program program = pool_program(state.range(0));
  const auto queue_count = static_cast<uint32_t>(state.range(1));
  const auto issue = [&](Encoder& encoder) {
    CountingSink sink;
    QueueIndex queue = 0;
    for (size_t i = 0; i < program.dispatches.size(); ++i) {
      const DispatchId id(i);
      encoder.encode({.id = id, .accesses = program.declared_accesses_of(id), .queue = queue},
                     sink);
      queue = queue + 1u == queue_count ? QueueIndex{0} : static_cast<QueueIndex>(queue + 1);
    }
    benchmark::DoNotOptimize(sink.count());
  };
  measure_beside_one_queue(
      state,
      [&] {
        InterlockEncoder encoder;
        issue(encoder);
      },
      [&] {
        StreamsEncoder encoder(queue_count);
        issue(encoder);
      },
      2);
}
BENCHMARK(IssueOnQueues)
    ->ArgNames({"", "queues"})
    ->ArgsProduct({{16'000, 1'000'000}, {2, 4, 8}})
    ->Iterations(9);

// Trackers alone, from new ones: ours for several queues, to which so many dispatches go one after
// another, beside ours for one.
void TrackQueues(benchmark::State& state) {
  const Program program = pool_program(state.range(0));
  const auto queue_count = static_cast<uint32_t>(state.range(1));
  const size_t block = static_cast<size_t>(state.range(2));
  measure_beside_one_queue(
      state,
      [&] {
        HazardTracker tracker;
        for (size_t i = 0; i < program.dispatches.size(); ++i) {
          benchmark::DoNotOptimize(tracker.add(program.declared_accesses_of(DispatchId(i))));
        }
      },
      [&] {
        QueueTracker tracker(queue_count);
        for (size_t i = 0; i < program.dispatches.size(); ++i) {
          benchmark::DoNotOptimize(tracker.add(static_cast<uint32_t>(i / block % queue_count),
                                               program.declared_accesses_of(DispatchId(i))));
        }
      },
      2);
}
BENCHMARK(TrackQueues)
    ->ArgNames({"", "queues", "block"})
    ->ArgsProduct({{1'000, 16'000, 1'000'000}, {4}, {1, 16}})
    ->Args({1'000'000, 2, 1})
    ->Args({1'000'000, 8, 1})
    ->Iterations(9);

}  // namespace
}  // namespace interlock
