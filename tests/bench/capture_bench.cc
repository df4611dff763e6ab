// What the layer adds to a call of an application: a record in the log, made and appended. The
// calls of a command buffer are what an application makes most of.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>

#include "capture/log/command_records.h"
#include "capture/log/log_writer.h"

namespace interlock {
namespace {

// A log that grows long is begun anew.
constexpr int64_t kRecordsMax = 1 << 20;

template <typename MakeRecord>
void append_records(benchmark::State& state, const MakeRecord& make_record) {
  const std::string path = "capture_bench-" + std::to_string(getpid()) + ".ilog";
  while (state.KeepRunningBatch(kRecordsMax)) {
    LogWriter writer;
    if (writer.open(path) != 0) return state.SkipWithError("the log cannot be opened.");
    for (int64_t i = 0; i < kRecordsMax; ++i) writer.append(make_record(static_cast<uint64_t>(i)));
    if (writer.write_error() != 0) state.SkipWithError("the log cannot be written.");
    std::remove(path.c_str());
  }
  state.SetItemsProcessed(state.iterations());
}

void append_dispatch(benchmark::State& state) {
  append_records(state, [](uint64_t i) { return DispatchRecord{i, 1, 2, 3}; });
}
BENCHMARK(append_dispatch)->Name("capture/append/dispatch");

void append_bound_set(benchmark::State& state) {
  append_records(state, [](uint64_t i) {
    BindSetsRecord record;
    record.commands = i;
    record.sets = {i};
    record.dynamic_offsets = {64};
    return record;
  });
}
BENCHMARK(append_bound_set)->Name("capture/append/bound_set");

void append_barrier(benchmark::State& state) {
  append_records(state, [](uint64_t i) { return BarrierRecord{i, {DependencyFields()}}; });
}
BENCHMARK(append_barrier)->Name("capture/append/barrier");

}  // namespace
}  // namespace interlock
