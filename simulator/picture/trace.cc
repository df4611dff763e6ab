#include "simulator/picture/trace.h"

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "simulator/picture/shown_text.h"

namespace interlock {
namespace {

using TraceJson = nlohmann::ordered_json;

constexpr int kQueuesProcess = 1;
constexpr int kMemoryProcess = 2;
constexpr int kWitnessProcess = 3;

class TraceWriter {
 public:
  explicit TraceWriter(const Picture& picture) : picture_(picture) {
    mark_flow_ends();
    uint64_t now = 0;
    for (size_t i = 0; i < picture.rows.size(); ++i) {
      const PictureRow& row = picture.rows[i];
      starts_.push_back(now);
      if (row.kind == RowKind::kDispatch || row.kind == RowKind::kEnd) ++now;
      if (is_point(row) && is_flow_end_[i]) ++now;
      if (row.kind == RowKind::kFold && row.is_closed) now += row.dispatch_count;
    }
    end_ = now;
  }

  std::string text(std::string_view title) && {
    name_process(kQueuesProcess, fmt::format("queues of {}", visible_text(title)));
    for (size_t i = 0; i < picture_.lanes.size(); ++i) {
      const PictureLane& lane = picture_.lanes[i];
      name_thread(kQueuesProcess, i,
                  lane.detail.empty() ? lane.title : lane.title + ", " + lane.detail);
    }
    for (size_t i = 0; i < picture_.rows.size(); ++i) add_row(i);
    add_flows();
    add_memory();
    add_witness();
    TraceJson trace;
    trace["traceEvents"] = std::move(events_);
    trace["displayTimeUnit"] = "ns";
    trace["otherData"]["clock"] = "one microsecond for each dispatch, in the order of the program";
    trace["otherData"]["headline"] = visible_text(picture_.headline);
    if (!picture_.fix.empty()) trace["otherData"]["fix"] = visible_text(picture_.fix);
    return trace.dump() + "\n";
  }

 private:
  // What has no time of its own.
  static bool is_point(const PictureRow& row) {
    return row.kind == RowKind::kBarrier || row.kind == RowKind::kSync ||
           row.kind == RowKind::kLifetime || row.kind == RowKind::kRepair;
  }

  void mark_flow_ends() {
    is_flow_end_.resize(picture_.rows.size());
    for (const FindingArrow& arrow : picture_.arrows) {
      is_flow_end_[arrow.from_row] = is_flow_end_[arrow.to_row] = true;
    }
    for (const OrderLink& link : picture_.links) {
      is_flow_end_[link.from_row] = is_flow_end_[link.to_row] = true;
    }
  }

  TraceJson& add(std::string_view phase, const std::string& name, int process, uint64_t thread) {
    TraceJson event;
    event["ph"] = phase;
    event["name"] = visible_text(name);
    event["pid"] = process;
    event["tid"] = thread;
    events_.push_back(std::move(event));
    return events_.back();
  }

  void name_process(int process, const std::string& name) {
    add("M", "process_name", process, 0)["args"]["name"] = visible_text(name);
    add("M", "process_sort_index", process, 0)["args"]["sort_index"] = process;
  }

  void name_thread(int process, uint64_t thread, const std::string& name) {
    add("M", "thread_name", process, thread)["args"]["name"] = visible_text(name);
    add("M", "thread_sort_index", process, thread)["args"]["sort_index"] = thread;
  }

  void add_slice(const std::string& name, int process, uint64_t thread, uint64_t start,
                 uint64_t duration, TraceJson args) {
    TraceJson& event = add("X", name, process, thread);
    event["ts"] = start;
    event["dur"] = duration;
    if (!args.empty()) event["args"] = std::move(args);
  }

  uint64_t lane_of(const PictureRow& row) const { return row.lane == kNone32 ? 0 : row.lane; }

  void add_row(size_t index) {
    const PictureRow& row = picture_.rows[index];
    TraceJson args = TraceJson::object();
    if (!row.text.empty()) args["statement"] = visible_text(row.text);
    if (!row.access.empty()) args["finding"] = visible_text(row.access);
    if (row.is_useless) args["can go"] = true;
    switch (row.kind) {
      case RowKind::kDispatch:
      case RowKind::kEnd:
        return add_slice(row.label, kQueuesProcess, lane_of(row), starts_[index], 1,
                         std::move(args));
      case RowKind::kFold:
        if (!row.is_closed || row.dispatch_count == 0) return;
        return add_slice(row.label, kQueuesProcess, lane_of(row), starts_[index],
                         row.dispatch_count, std::move(args));
      case RowKind::kBarrier:
      case RowKind::kSync:
      case RowKind::kLifetime:
      case RowKind::kRepair: {
        const std::string name = row.kind == RowKind::kRepair ? "repair: " + row.label : row.label;
        if (is_flow_end_[index]) {
          return add_slice(name, kQueuesProcess, lane_of(row), starts_[index], 1, std::move(args));
        }
        TraceJson& event = add("i", name, kQueuesProcess, lane_of(row));
        event["ts"] = starts_[index];
        event["s"] = "t";
        event["args"] = std::move(args);
      }
    }
  }

  void add_flows() {
    for (size_t i = 0; i < picture_.arrows.size(); ++i) {
      const FindingArrow& arrow = picture_.arrows[i];
      add_flow("finding", arrow.label, i, arrow.from_row, arrow.to_row);
    }
    for (size_t i = 0; i < picture_.links.size(); ++i) {
      const OrderLink& link = picture_.links[i];
      add_flow(link.is_repair ? "repair" : "order", link.is_repair ? "to be added" : "before",
               picture_.arrows.size() + i, link.from_row, link.to_row);
    }
  }

  void add_flow(std::string_view category, const std::string& name, size_t id, uint32_t from,
                uint32_t to) {
    for (const bool is_start : {true, false}) {
      const uint32_t row = is_start ? from : to;
      TraceJson& event =
          add(is_start ? "s" : "f", name, kQueuesProcess, lane_of(picture_.rows[row]));
      event["cat"] = category;
      event["id"] = id;
      event["ts"] = starts_[row];
      if (!is_start) event["bp"] = "e";
    }
  }

  void add_memory() {
    if (picture_.memories.empty()) return;
    name_process(kMemoryProcess, "memory, by owner");
    std::vector<uint64_t> first_thread;
    uint64_t thread = 0;
    for (const PictureMemory& memory : picture_.memories) {
      first_thread.push_back(thread);
      for (size_t i = 0; i + 1 < memory.boundaries.size(); ++i) {
        name_thread(
            kMemoryProcess, thread++,
            fmt::format("{}[{}:{}]", memory.title, memory.boundaries[i], memory.boundaries[i + 1]));
      }
    }
    for (const OwnerRun& run : picture_.owners) {
      const uint64_t start = run.first_row == kNone32 ? 0 : starts_[run.first_row];
      const uint64_t end = run.last_row == kNone32 ? end_ : starts_[run.last_row];
      for (uint32_t i = 0; i < run.segment_count && end > start; ++i) {
        add_slice(run.label, kMemoryProcess, first_thread[run.memory] + run.first_segment + i,
                  start, end - start, TraceJson::object());
      }
    }
  }

  void add_witness() {
    if (picture_.witness.empty()) return;
    name_process(kWitnessProcess, "this may happen: " + picture_.witness_text);
    name_thread(kWitnessProcess, 0, "order of the witness");
    for (size_t i = 0; i < picture_.witness.size(); ++i) {
      const WitnessEntry& entry = picture_.witness[i];
      TraceJson args = TraceJson::object();
      if (entry.is_moved) args["moved"] = true;
      for (const std::string& note : entry.notes) args["then"].push_back(visible_text(note));
      add_slice(entry.label, kWitnessProcess, 0, i, 1, std::move(args));
    }
  }

  const Picture& picture_;
  std::vector<uint64_t> starts_;  // By row.
  // By row. Viewers drop a flow that does not lead from a slice to a slice.
  std::vector<bool> is_flow_end_;
  uint64_t end_ = 0;
  TraceJson events_ = TraceJson::array();
};

}  // namespace

PictureLimits trace_limits() {
  return {.rows_whole = 20'000,
          .rows_shown = 200,
          .rows_unfolded = 20'000,
          .lanes = 64,
          .memories = 16,
          .segments = 16,
          .links = 2'000};
}

std::string trace_of(const Picture& picture, std::string_view title) {
  return TraceWriter(picture).text(title);
}

}  // namespace interlock
