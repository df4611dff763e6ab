// What it costs to track one dispatch: ours, with registered buffers and with raw ranges, beside
// peers, on pools of buffers and on recorded streams. A pass is a barrier and the stream, which the
// contestant has met before; "first" rows time a new tracker for each pass instead, as do those of
// ranges that are new each time. Before each stretch of passes (by_turns.h) the stream is read
// once, untimed.
//
// A cell above its bound (tracker_bounds.h) is marked.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "encoder/sync/ggml.h"
#include "encoder/sync/mlx.h"
#include "encoder/sync/tracker.h"
#include "encoder/text/files.h"
#include "tests/bench/contest.h"
#include "tests/bench/tracker_bounds.h"
#include "tests/bench/tracker_peers.h"
#include "tests/bench/tracker_streams.h"

namespace interlock {
namespace {

// --- Contestants: each has add(), which takes a dispatch of the stream
// ----------------------------

class RawTracker {
 public:
  explicit RawTracker(const TrackerStream& /*stream*/) {}
  bool add(const TrackerStream& stream, size_t begin, size_t end) {
    return tracker_.add({&stream.accesses[begin], end - begin});
  }
  void begin_epoch() { tracker_.begin_epoch(); }

 private:
  HazardTracker tracker_;
};

class RegisteredTracker {
 public:
  explicit RegisteredTracker(const TrackerStream& stream) {
    std::vector<BufferId> ids;
    for (const Access& bytes : stream.ranges) {
      ids.push_back(tracker_.register_buffer(bytes.memory, bytes.range));
    }
    for (size_t i = 0; i < stream.accesses.size(); ++i) {
      accesses_.push_back({ids[stream.buffers[i]], stream.accesses[i].mode});
    }
  }
  bool add(const TrackerStream& /*stream*/, size_t begin, size_t end) {
    return tracker_.add(std::span<const BufferAccess>(&accesses_[begin], end - begin));
  }
  void begin_epoch() { tracker_.begin_epoch(); }

 private:
  HazardTracker tracker_;
  std::vector<BufferAccess> accesses_;
};

class CountingSink final : public CommandSink {
 public:
  void issue_dispatch(DispatchId /*id*/) override {}
  void issue_barrier(BarrierKind /*kind*/) override { ++barrier_count_; }
  int64_t barrier_count() const { return barrier_count_; }

 private:
  int64_t barrier_count_ = 0;
};

// A restated encoder, with nothing of a program behind it. MLX keys on resources, so that each
// buffer is a memory for its models.
template <typename Model, bool kHasMemoryEach>
class ModelTracker {
 public:
  explicit ModelTracker(const TrackerStream& stream) {
    if (!kHasMemoryEach) return;
    accesses_ = stream.accesses;
    for (size_t i = 0; i < accesses_.size(); ++i) accesses_[i].memory = MemoryId(stream.buffers[i]);
  }
  bool add(const TrackerStream& stream, size_t begin, size_t end) {
    const std::vector<Access>& accesses = kHasMemoryEach ? accesses_ : stream.accesses;
    const int64_t before = sink_.barrier_count();
    model_.encode({DispatchId(0), {&accesses[begin], end - begin}, AtomicOp::kNone}, sink_);
    return sink_.barrier_count() != before;
  }
  // A barrier of the caller's is none that MLX's model knows.
  void begin_epoch() {
    if constexpr (kHasMemoryEach) {
      model_.forget();
    } else {
      model_.wait_for_all(sink_);
    }
  }

 private:
  std::vector<Access> accesses_;
  Model model_;
  CountingSink sink_;
};

template <typename Peer>
class PeerTracker {
 public:
  explicit PeerTracker(const TrackerStream& /*stream*/) {}
  bool add(const TrackerStream& stream, size_t begin, size_t end) {
    return peer_.add({&stream.accesses[begin], end - begin});
  }
  void begin_epoch() { peer_.begin_epoch(); }

 private:
  Peer peer_;
};

class DenseTracker {
 public:
  explicit DenseTracker(const TrackerStream& stream) : peer_(stream.ranges.size()) {}
  bool add(const TrackerStream& stream, size_t begin, size_t end) {
    return peer_.add({&stream.buffers[begin], end - begin}, {&stream.accesses[begin], end - begin});
  }
  void begin_epoch() { peer_.begin_epoch(); }

 private:
  DenseEpochs peer_;
};

volatile int64_t barrier_sink = 0;  // Escapes the optimizer.
volatile uint64_t byte_sink = 0;

// Most contestants read the stream itself, which takes longer than to track short epochs once it
// fits in no cache of a core: none is to find it nearer than others because who comes before has
// just read it. A stream that is passed often in a stretch is short, and near from its first pass
// on.
void read_once(const TrackerStream& stream) {
  uint64_t sum = 0;
  for (const Access& access : stream.accesses) sum += access.range.begin;
  byte_sink = sum;
}

template <typename Tracker>
int64_t barriers_of(Tracker& tracker, const TrackerStream& stream) {
  int64_t barrier_count = 0;
  size_t begin = 0;
  for (const size_t end : stream.ends) {
    barrier_count += tracker.add(stream, begin, end);
    begin = end;
  }
  return barrier_count;
}

// One tracker for all passes.
template <typename Tracker>
Contestant who_met_it(std::string name, const TrackerStream& stream) {
  auto tracker = std::make_shared<std::unique_ptr<Tracker>>();
  const auto prepare = [tracker, &stream](int /*passes*/) {
    if (*tracker == nullptr) *tracker = std::make_unique<Tracker>(stream);
    read_once(stream);
  };
  const auto pass = [tracker, &stream] {
    (*tracker)->begin_epoch();
    barrier_sink = barriers_of(**tracker, stream);
  };
  return {std::move(name), prepare, pass};
}

// A new one for each pass. All of a stretch are made before it, and unmade before the next.
template <typename Tracker>
Contestant who_is_new(std::string name, const TrackerStream& stream) {
  struct Trackers {
    std::vector<std::unique_ptr<Tracker>> made;
    size_t next = 0;
  };
  auto trackers = std::make_shared<Trackers>();
  const auto prepare = [trackers, &stream](int passes) {
    *trackers = {};
    for (int i = 0; i < passes; ++i) trackers->made.push_back(std::make_unique<Tracker>(stream));
    read_once(stream);
  };
  const auto pass = [trackers, &stream] {
    barrier_sink = barriers_of(*trackers->made[trackers->next++], stream);
  };
  return {std::move(name), prepare, pass};
}

template <typename Tracker>
Contestant contestant(std::string name, const TrackerStream& stream, bool is_first) {
  return is_first ? who_is_new<Tracker>(std::move(name), stream)
                  : who_met_it<Tracker>(std::move(name), stream);
}

// --- The table
// ------------------------------------------------------------------------------------

struct Column {
  const char* name;
  Role role;
  Contestant (*make)(std::string name, const TrackerStream& stream, bool is_first);
  bool is_quadratic;  // Without barriers.
  bool sees_overlap;
};

constexpr Column kColumns[] = {
    {"registered", Role::kRegistered, contestant<RegisteredTracker>, false, true},
    {"raw", Role::kRaw, contestant<RawTracker>, false, true},
    {"list", Role::kExact, contestant<PeerTracker<LinearScan>>, true, true},
    {"map", Role::kExact, contestant<PeerTracker<OrderedMap>>, false, true},
    {"ggml", Role::kInexact, contestant<ModelTracker<GgmlMetalEncoder, false>>, true, true},
    {"mlx-2026", Role::kInexact, contestant<ModelTracker<Mlx2026Encoder, true>>, false, false},
    {"hash", Role::kInexact, contestant<PeerTracker<FlatHash>>, false, false},
    {"dense", Role::kIdeal, contestant<DenseTracker>, false, false},
};

class Table {
 public:
  explicit Table(ContestProgram& program) : program_(program) {}

  void print_head() const {
    std::printf("%-36s", "ns a dispatch");
    for (const Column& column : kColumns) std::printf("%11s", column.name);
    std::printf("%11s%11s%9s%9s\n", "reg/bound", "raw/bound", "spread", "barriers");
  }

  void measure(const std::string& name, const TrackerStream& stream, bool is_first,
               bool has_barriers, bool has_overlap = false) {
    std::vector<Contestant> contestants;
    const bool is_long = stream.dispatch_count() > 10'000;
    for (const Column& column : kColumns) {
      Contestant made = column.make(column.name, stream, is_first);
      made.is_judged = column.role == Role::kRegistered || column.role == Role::kRaw;
      if (column.is_quadratic && is_long && !has_barriers) made.pass = nullptr;
      if (has_overlap && !column.sees_overlap) made.pass = nullptr;
      contestants.push_back(std::move(made));
    }
    const auto timings = program_.measure(
        "tracker/" + name, static_cast<double>(stream.dispatch_count()), contestants);
    std::vector<Measured> row;
    std::vector<std::optional<size_t>> places;  // In `row`, of each column.
    for (size_t i = 0; i < timings.size(); ++i) {
      places.push_back(timings[i] ? std::optional(row.size()) : std::nullopt);
      if (timings[i]) row.push_back({kColumns[i].role, *timings[i]});
    }
    if (row.empty()) return;
    RawTracker ours(stream);
    print_row(name, row, places, barriers_of(ours, stream));
  }

  void print_end() const {
    if (to_best_.empty()) return;
    std::printf(
        "\nTo the best peer of each cell, geometric mean of %zu: %.2f; above the bound: %d\n",
        to_best_.size(), geometric_mean(to_best_), above_count_);
  }

 private:
  void print_row(const std::string& name, const std::vector<Measured>& row,
                 const std::vector<std::optional<size_t>>& places, int64_t barrier_count) {
    std::printf("%-36s", name.c_str());
    double spread = 0;
    for (const std::optional<size_t>& place : places) {
      std::printf("%11s", place ? figure_text(row[*place].timing.median()).c_str() : "-");
      if (place) spread = std::max(spread, row[*place].timing.spread());
    }
    for (size_t i = 0; i < 2; ++i) {
      const auto ratio = places[i] ? ratio_to_bound(row, *places[i]) : std::nullopt;
      if (!ratio) {
        std::printf("%11s", "-");
        continue;
      }
      above_count_ += *ratio > 1;
      to_best_.push_back(*ratio_to_best_peer(row, *places[i]));
      const std::string cell = "tracker/" + name + "/" + kColumns[i].name;
      program_.note(cell, "to_bound", *ratio);
      program_.note(cell, "to_best", to_best_.back());
      std::printf("%10.2f%c", *ratio, *ratio > 1 ? '!' : ' ');
    }
    std::printf("%8.0f%%%9lld\n", 100 * spread, static_cast<long long>(barrier_count));
    std::fflush(stdout);
  }

  ContestProgram& program_;
  std::vector<double> to_best_;
  int above_count_ = 0;
};

std::string power_of_ten(int64_t n) {
  int exponent = 0;
  for (int64_t rest = n; rest >= 10; rest /= 10) ++exponent;
  return "1e" + std::to_string(exponent);
}

bool is_wanted(const ContestProgram& program, const std::string& name) {
  return std::any_of(std::begin(kColumns), std::end(kColumns), [&](const Column& column) {
    return program.is_wanted("tracker/" + name + "/" + column.name);
  });
}

void measure_pools(Table& table, ContestProgram& program, bool is_first) {
  struct Pool {
    const char* name;
    uint64_t buffers;
    bool has_gaps;
  };
  constexpr Pool kPools[] = {{"64", 64, false},
                             {"1e4", 10'000, false},
                             {"1e4-gaps", 10'000, true},
                             {"1e6", 1'000'000, false}};
  for (const Pool& pool : kPools) {
    for (const int64_t period : {kNoDependency, int64_t{64}, int64_t{8}, int64_t{1}}) {
      for (const int64_t dispatches : {1'000, 10'000, 100'000, 1'000'000}) {
        if (is_first && dispatches != 100'000) continue;
        const std::string distance = period == kNoDependency ? "never" : std::to_string(period);
        const std::string name = std::string(is_first ? "first/" : "pool/") + pool.name + "/" +
                                 distance + "/" + power_of_ten(dispatches);
        if (!is_wanted(program, name)) continue;
        const TrackerStream stream = pool_stream({dispatches, period, pool.buffers, pool.has_gaps});
        table.measure(name, stream, is_first, period != kNoDependency);
      }
    }
  }
}

// Beside those that see overlap.
void measure_overlapping(Table& table, ContestProgram& program) {
  for (const auto& [count_name, buffers] : {std::pair("64", 64), std::pair("1e4", 10'000)}) {
    for (const int64_t period : {kNoDependency, int64_t{64}, int64_t{8}, int64_t{1}}) {
      constexpr int64_t kDispatches = 100'000;
      const std::string distance = period == kNoDependency ? "never" : std::to_string(period);
      const std::string name = std::string("overlapping/") + count_name + "/" + distance + "/1e5";
      if (!is_wanted(program, name)) continue;
      const auto buffer_count = static_cast<uint64_t>(buffers);
      table.measure(name, overlapping_stream(kDispatches, period, buffer_count), false,
                    period != kNoDependency, true);
    }
  }
}

void measure_new_ranges(Table& table, ContestProgram& program) {
  for (const bool is_sequential : {true, false}) {
    for (const int64_t period : {kNoDependency, int64_t{64}}) {
      constexpr int64_t kDispatches = 100'000;
      const std::string name = std::string("new/") + (is_sequential ? "sequence" : "shuffled") +
                               (period == kNoDependency ? "/never" : "/64") + "/1e5";
      if (!is_wanted(program, name)) continue;
      table.measure(name, new_ranges_stream(kDispatches, period, is_sequential), true,
                    period != kNoDependency);
    }
  }
}

void measure_streams(Table& table, bool is_first) {
  constexpr const char* kStreams[] = {"ggml-llama24-metal", "ggml-llama24kv-metal",
                                      "ggml-train-metal-30", "ggml-llama24-metal-64steps"};
  for (const char* name : kStreams) {
    const std::string path = std::string(INTERLOCK_SOURCE_DIR) + "/corpus/streams/" + name + ".ilk";
    const Result<Program> program = parse_file(path);
    if (!program.has_value()) {
      std::fprintf(stderr, "%s\n", program.error().message.c_str());
      std::exit(1);
    }
    const TrackerStream stream = stream_of(*program);
    table.measure(std::string(is_first ? "first/" : "stream/") + name, stream, is_first, true);
  }
}

int run(int argc, char** argv) {
  ContestProgram program(argc, argv);
  Table table(program);
  table.print_head();
  for (const bool is_first : {false, true}) {
    measure_streams(table, is_first);
    measure_pools(table, program, is_first);
  }
  measure_overlapping(table, program);
  measure_new_ranges(table, program);
  table.print_end();
  return program.finish();
}

}  // namespace
}  // namespace interlock

int main(int argc, char** argv) { return interlock::run(argc, argv); }
