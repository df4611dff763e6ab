// What it costs to track one dispatch: ours beside the restated trackers and a linear scan.
//
// Every dispatch has 3 reads and 1 write. Reads take one of 512 buffers at random. A column says
// how often a dispatch depends on the one before: every 64th, every 8th, every one. Writes walk
// through another 512 buffers, which makes 1024; without dependencies (`none`) every dispatch has
// an output of its own, as it must. Nothing is emitted: trackers that are encoders issue into a
// sink that counts.
//
// The rows of ranges seen before have met the whole stream once, untimed. MLX keys on resources, so
// for its models every buffer is a memory; the others see one memory. Rows of new ranges take 4
// ranges that never occur again, and the caller puts a barrier after every 64th, 8th or each
// dispatch.
//
// The table that ends the run has the best repetition of every row. A linear scan without
// dependencies is quadratic, and stops at 1e4.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encoder/program/hash.h"
#include "encoder/sync/ggml.h"
#include "encoder/sync/mlx.h"
#include "encoder/sync/tracker.h"

namespace interlock {
namespace {

constexpr size_t kAccessCount = 4;
constexpr uint64_t kBufferBytes = 256;
constexpr uint64_t kReadBuffers = 512;
constexpr uint64_t kWrittenBuffers = 512;
constexpr int64_t kNoDependency = 0;  // As a period.

// The same streams everywhere.
class StreamRandom {
 public:
  uint64_t below(uint64_t n) { return scrambled(state_ += kGolden64) % n; }

 private:
  uint64_t state_ = 0;
};

// Buffers by number: kAccessCount for each dispatch, the last one written.
std::vector<uint32_t> pool_stream(int64_t dispatch_count, int64_t period) {
  StreamRandom random;
  std::vector<uint32_t> buffers;
  const bool has_dependencies = period != kNoDependency;
  const auto output_of = [&](int64_t i) {
    const uint64_t number = static_cast<uint64_t>(i);
    return kReadBuffers + (has_dependencies ? number % kWrittenBuffers : number);
  };
  for (int64_t i = 0; i < dispatch_count; ++i) {
    const bool depends = has_dependencies && i > 0 && i % period == 0;
    for (size_t read = 0; read + 1 < kAccessCount; ++read) {
      const uint64_t buffer = depends && read == 0 ? output_of(i - 1) : random.below(kReadBuffers);
      buffers.push_back(static_cast<uint32_t>(buffer));
    }
    buffers.push_back(static_cast<uint32_t>(output_of(i)));
  }
  return buffers;
}

AccessMode mode_of(size_t access) {
  return access % kAccessCount == kAccessCount - 1 ? AccessMode::kWrite : AccessMode::kRead;
}

std::vector<Access> ranges_of(const std::vector<uint32_t>& buffers, bool has_memory_each) {
  std::vector<Access> accesses(buffers.size());
  for (size_t i = 0; i < buffers.size(); ++i) {
    const uint64_t begin = has_memory_each ? 0 : buffers[i] * kBufferBytes;
    accesses[i].memory = MemoryId(has_memory_each ? buffers[i] : 0);
    accesses[i].range = {begin, begin + kBufferBytes};
    accesses[i].mode = mode_of(i);
  }
  return accesses;
}

// --- Trackers: add() says whether the dispatch needs a barrier
// ------------------------------------

class RawTracker {
 public:
  static std::vector<Access> stream_of(const std::vector<uint32_t>& buffers) {
    return ranges_of(buffers, false);
  }
  bool add(std::span<const Access> accesses) { return tracker_.add(accesses); }
  void begin_epoch() { tracker_.begin_epoch(); }

 private:
  HazardTracker tracker_;
};

class RegisteredTracker {
 public:
  std::vector<BufferAccess> stream_of(const std::vector<uint32_t>& buffers) {
    const uint64_t buffer_count = 1 + *std::max_element(buffers.begin(), buffers.end());
    std::vector<BufferId> ids;
    for (uint64_t i = 0; i < buffer_count; ++i) {
      ids.push_back(
          tracker_.register_buffer(MemoryId(0), {i * kBufferBytes, (i + 1) * kBufferBytes}));
    }
    std::vector<BufferAccess> accesses(buffers.size());
    for (size_t i = 0; i < buffers.size(); ++i) accesses[i] = {ids[buffers[i]], mode_of(i)};
    return accesses;
  }
  bool add(std::span<const BufferAccess> accesses) { return tracker_.add(accesses); }
  void begin_epoch() { tracker_.begin_epoch(); }

 private:
  HazardTracker tracker_;
};

class CountingSink final : public CommandSink {
 public:
  void issue_dispatch(DispatchId /*id*/) override {}
  void issue_barrier(BarrierKind /*kind*/) override { ++barrier_count_; }
  int64_t barrier_count() const { return barrier_count_; }

 private:
  int64_t barrier_count_ = 0;
};

// A restated encoder, with nothing of a program behind it.
template <typename Model, bool kHasMemoryEach>
class ModelTracker {
 public:
  static std::vector<Access> stream_of(const std::vector<uint32_t>& buffers) {
    return ranges_of(buffers, kHasMemoryEach);
  }
  bool add(std::span<const Access> accesses) {
    const int64_t before = sink_.barrier_count();
    model_->encode({DispatchId(0), accesses, AtomicOp::kNone}, sink_);
    return sink_.barrier_count() != before;
  }
  void begin_epoch() { model_ = std::make_unique<Model>(); }

 private:
  std::unique_ptr<Model> model_ = std::make_unique<Model>();
  CountingSink sink_;
};

// The least that is exact: every access against all of the epoch.
class LinearScan {
 public:
  static std::vector<Access> stream_of(const std::vector<uint32_t>& buffers) {
    return ranges_of(buffers, false);
  }
  bool add(std::span<const Access> accesses) {
    const bool is_conflict = std::any_of(accesses.begin(), accesses.end(), [&](const Access& a) {
      return std::any_of(epoch_.begin(), epoch_.end(), [&](const Access& earlier) {
        return earlier.memory == a.memory && earlier.range.begin < a.range.end &&
               a.range.begin < earlier.range.end && (a.writes() || earlier.writes());
      });
    });
    if (is_conflict) epoch_.clear();
    epoch_.insert(epoch_.end(), accesses.begin(), accesses.end());
    return is_conflict;
  }
  void begin_epoch() { epoch_.clear(); }

 private:
  std::vector<Access> epoch_;
};

// --- Benchmarks
// -----------------------------------------------------------------------------------

template <typename Tracker, typename Accesses>
int64_t add_all(Tracker& tracker, const Accesses& accesses, int64_t barrier_period) {
  int64_t barrier_count = 0;
  int64_t until_barrier = barrier_period;
  for (size_t i = 0; i < accesses.size(); i += kAccessCount) {
    barrier_count += tracker.add(std::span(accesses).subspan(i, kAccessCount));
    if (--until_barrier == 0) {
      tracker.begin_epoch();
      until_barrier = barrier_period;
    }
  }
  return barrier_count;
}

template <typename Tracker>
void track_known(benchmark::State& state, int64_t dispatch_count, int64_t period) {
  Tracker tracker;
  const auto accesses = tracker.stream_of(pool_stream(dispatch_count, period));
  add_all(tracker, accesses, kNoDependency);
  tracker.begin_epoch();
  int64_t barrier_count = 0;
  for (auto _ : state) {
    barrier_count = add_all(tracker, accesses, kNoDependency);
    benchmark::DoNotOptimize(barrier_count);
    // Keeps the passes alike.
    state.PauseTiming();
    tracker.begin_epoch();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * dispatch_count);
  state.counters["barriers"] = static_cast<double>(barrier_count);
}

// A stream of ranges that never come again, of `kBufferBytes` at the most.
std::vector<Access> new_ranges(int64_t dispatch_count, bool is_sequential) {
  std::vector<uint32_t> places(static_cast<size_t>(dispatch_count) * kAccessCount);
  for (size_t i = 0; i < places.size(); ++i) places[i] = static_cast<uint32_t>(i);
  StreamRandom random;
  for (size_t i = places.size(); !is_sequential && i > 1; --i) {
    std::swap(places[i - 1], places[random.below(i)]);
  }
  std::vector<Access> accesses = ranges_of(places, false);
  for (Access& access : accesses) access.range.end -= 64;  // Gaps, or neighbours would be alike.
  return accesses;
}

// One tracker over a stream without end: every pass lies after the one before.
void track_new(benchmark::State& state, int64_t dispatch_count, int64_t period,
               bool is_sequential) {
  std::vector<Access> accesses = new_ranges(dispatch_count, is_sequential);
  const auto move_on = [&] {
    for (Access& access : accesses) {
      access.range.begin += accesses.size() * kBufferBytes;
      access.range.end += accesses.size() * kBufferBytes;
    }
  };
  RawTracker tracker;
  const auto start_over = [&] {
    move_on();
    tracker.begin_epoch();
  };
  // Until the tracker is as large as such a stream makes it.
  for (int pass = 0; pass < 3; ++pass) {
    add_all(tracker, accesses, period);
    start_over();
  }
  for (auto _ : state) {
    state.PauseTiming();
    start_over();
    state.ResumeTiming();
    benchmark::DoNotOptimize(add_all(tracker, accesses, period));
  }
  state.SetItemsProcessed(state.iterations() * dispatch_count);
}

// --- The table
// ------------------------------------------------------------------------------------

using Cell = std::pair<int64_t, int64_t>;  // Dispatches, period.

constexpr std::array<int64_t, 4> kDispatchCounts = {1'000, 10'000, 100'000, 1'000'000};
constexpr std::array<int64_t, 4> kPeriods = {kNoDependency, 64, 8, 1};

constexpr int64_t kNoLimit = INT64_MAX;

struct Row {
  std::string_view name;
  void (*track)(benchmark::State& state, int64_t dispatch_count, int64_t period);
  int64_t most_dispatches;  // Without dependencies: where a row would take too long.
};

constexpr std::array kRows = {
    Row{"ours, registered buffers", track_known<RegisteredTracker>, kNoLimit},
    Row{"ours, raw ranges", track_known<RawTracker>, kNoLimit},
    Row{"mlx-2024", track_known<ModelTracker<Mlx2024Encoder, true>>, kNoLimit},
    Row{"mlx-2026", track_known<ModelTracker<Mlx2026Encoder, true>>, kNoLimit},
    Row{"ggml-metal", track_known<ModelTracker<GgmlMetalEncoder, false>>, 10'000},
    Row{"linear scan", track_known<LinearScan>, 10'000},
    Row{"ours, new ranges in sequence",
        [](benchmark::State& state, int64_t dispatch_count, int64_t period) {
          track_new(state, dispatch_count, period, true);
        },
        kNoLimit},
    Row{"ours, new ranges shuffled",
        [](benchmark::State& state, int64_t dispatch_count, int64_t period) {
          track_new(state, dispatch_count, period, false);
        },
        100'000},
};

std::string benchmark_name(const Row& row, Cell cell) {
  const std::string period = cell.second == kNoDependency ? "none" : std::to_string(cell.second);
  return std::string(row.name) + "/" + std::to_string(cell.first) + "/" + period;
}

void register_all() {
  for (const Row& row : kRows) {
    for (const int64_t period : kPeriods) {
      for (const int64_t dispatch_count : kDispatchCounts) {
        if (period == kNoDependency && dispatch_count > row.most_dispatches) continue;
        benchmark::RegisterBenchmark(benchmark_name(row, {dispatch_count, period}).c_str(),
                                     row.track, dispatch_count, period)
            ->MinTime(0.02)
            ->Repetitions(3);
      }
    }
  }
}

// Prints what the console reporter does, and keeps the best time of every benchmark.
class TableReporter : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    ConsoleReporter::ReportRuns(runs);
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration) continue;
      const double seconds = 1.0 / run.counters.at("items_per_second").value;
      const auto place = best_.emplace(run.run_name.function_name, seconds).first;
      place->second = std::min(place->second, seconds);
    }
  }

  void print_table() const {
    std::printf("\nns per dispatch (3 reads, 1 write); a dependency every k dispatches:\n");
    std::printf("%-40s%10s%10s%10s%10s\n", "", "none", "64", "8", "1");
    for (const int64_t dispatch_count : kDispatchCounts) {
      for (const Row& row : kRows) print_row(row, dispatch_count);
    }
  }

 private:
  void print_row(const Row& row, int64_t dispatch_count) const {
    std::string line;
    bool is_measured = false;
    for (const int64_t period : kPeriods) {
      const auto found = best_.find(benchmark_name(row, {dispatch_count, period}));
      std::array<char, 32> cell;
      if (found == best_.end()) {
        std::snprintf(cell.data(), cell.size(), "%10s", "-");
      } else {
        is_measured = true;
        std::snprintf(cell.data(), cell.size(), "%10.1f", found->second * 1e9);
      }
      line += cell.data();
    }
    const std::string name =
        std::string(row.name) + ", N = 1e" + std::to_string(exponent_of(dispatch_count));
    if (is_measured) std::printf("%-40s%s\n", name.c_str(), line.c_str());
  }

  static int exponent_of(int64_t n) { return n < 10 ? 0 : 1 + exponent_of(n / 10); }

  std::map<std::string, double> best_;  // Seconds per dispatch, by benchmark_name().
};

}  // namespace
}  // namespace interlock

int main(int argc, char** argv) {
  interlock::register_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  interlock::TableReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  reporter.print_table();
  return 0;
}
