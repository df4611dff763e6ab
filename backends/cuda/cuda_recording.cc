// The basic idea is that lowering knows no addresses and issuing knows no program: a recording
// takes its memory once, and every execution uploads what changed, issues, waits and downloads.
#include "backends/cuda/cuda_recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "backends/cuda/conflict_graph.h"
#include "backends/cuda/device.h"
#include "backends/cuda/graph_parts.h"
#include "backends/cuda/issuing.h"
#include "backends/cuda/lowering.h"
#include "backends/cuda/recorded_graphs.h"
#include "backends/interface/poison.h"
#include "simulator/bytes/byte_segments.h"
#include "simulator/order/happens_before.h"

namespace interlock {

namespace {

bool issues_to_streams(CudaLowering lowering) {
  return lowering == CudaLowering::kOneStream || lowering == CudaLowering::kStreams;
}

Result<DispatchGraph> order_of(const Program& program, CudaLowering lowering) {
  switch (lowering) {
    case CudaLowering::kOneStream:
      return chain_of(program);
    case CudaLowering::kConflictGraph:
      return conflict_graph_of(program, ByteSegments(program));
    case CudaLowering::kStreams:
    case CudaLowering::kGraph:
    case CudaLowering::kCapturedGraph:
      break;
  }
  return graph_of(program, HappensBefore(program));
}

}  // namespace

class CudaRecording::State {
 public:
  State(std::shared_ptr<CudaDevice> device, LoweredProgram lowered, Poison poison)
      : device_(std::move(device)),
        lowered_(std::move(lowered)),
        poison_(std::move(poison)),
        graphs_(device_) {}
  ~State() {
    if (base_ != nullptr && !device_->lost()) device_->give_memory_back(base_);
  }

  Result<Success> take_memory() {
    auto memory = device_->take_memory(lowered_.layout.size_bytes());
    if (!memory) return memory.error();
    base_ = *memory;
    host_bytes_.resize(lowered_.layout.size_bytes());
    lowered_.list.store_table(base_, host_bytes_.data());
    return Success{};
  }

  // Requires: `program` orders poison; `replays` are those of the same program.
  Result<Success> record(const Program& program, std::span<const GraphReplay> replays,
                         const CudaRecordingOptions& options) {
    options_ = options;
    dispatch_count_ = program.dispatches.size();
    auto order = order_of(program, options.lowering);
    if (!order) return order.error();
    const GraphParts parts(*order);
    return issues_to_streams(options.lowering) ? record_streams(parts, replays)
                                               : record_graphs(parts, replays);
  }

  Result<MemoryImage> execute(const MemoryImage& image) {
    lowered_.layout.store(image, host_bytes_.data());
    lowered_.host.store(host_bytes_.data());
    auto done = upload({0, lowered_.layout.size_bytes()});
    if (done) done = issue();
    if (!done) return done.error();
    return download();
  }

  Result<MemoryImage> execute_again(const MemoryImage& image, std::span<const MemoryId> replaced) {
    const DeviceLayout& layout = lowered_.layout;
    for (const MemoryId memory : replaced) {
      layout.store(memory, image.memories[memory.index], host_bytes_.data());
      auto uploaded = upload(layout.range_of(memory));
      if (!uploaded) return uploaded.error();
    }
    auto done = clear_digests();
    if (done) done = issue();
    if (!done) return done.error();
    return download();
  }

  Result<double> measure_seconds() {
    auto stream = device_->stream(0);
    if (!stream) return stream.error();
    auto begin = device_->timed_event(0);
    if (!begin) return begin.error();
    auto end = device_->timed_event(1);
    if (!end) return end.error();
    auto done = clear_digests();
    if (done) {
      done = device_->check(device_->runtime().record(*begin, *stream), "recording an event");
    }
    if (done) done = issue();
    if (!done) return done.error();
    done = device_->check(device_->runtime().record(*end, *stream), "recording an event");
    if (done) done = device_->wait(*stream);
    if (!done) return done.error();
    double seconds = 0;
    done = device_->check(device_->runtime().elapsed(*begin, *end, seconds), "reading a timer");
    if (!done) return done.error();
    return seconds;
  }

  // Where something failed half way, lets end what has begun: the memory is soon another's.
  template <typename T>
  Result<T> settle(Result<T> result) {
    if (result || device_->lost()) return result;
    auto drained = device_->wait_for_all();
    if (!drained) return drained.error();
    return result;
  }

 private:
  Issuing issuing() {
    return {*device_, lowered_, base_, options_.seed, options_.delay_ns, graphs_.launches()};
  }

  // The streams launch the replays among the dispatches.
  Result<Success> record_streams(const GraphParts& order, std::span<const GraphReplay> replays) {
    std::vector<DispatchRange> ranges;
    for (const GraphReplay& replay : replays) {
      auto added = graphs_.add_replay(issuing(), replay, order);
      if (!added) return added;
      ranges.push_back(replay.dispatches);
    }
    const bool is_one = options_.lowering == CudaLowering::kOneStream;
    plan_ =
        plan_streams(order.contracted(ranges), is_one ? 1 : options_.stream_count, options_.seed);
    return Success{};
  }

  // All that is between two replays is a graph, and all graphs are launched one after the other.
  Result<Success> record_graphs(const GraphParts& order, std::span<const GraphReplay> replays) {
    DispatchId next(0);
    for (const GraphReplay& replay : replays) {
      auto added = record_graph(order, {next, replay.dispatches.begin});
      if (added) added = graphs_.add_replay(issuing(), replay, order);
      if (!added) return added;
      next = replay.dispatches.end;
    }
    auto added = record_graph(order, {next, DispatchId(dispatch_count_)});
    if (!added) return added;
    StreamPlan& plan = plan_.emplace();
    plan.stream_count = 1;
    for (const GraphLaunch& launch : graphs_.launches()) {
      plan.actions.push_back({StreamAction::Kind::kLaunch, 0, launch.dispatches.begin.index});
    }
    return Success{};
  }

  Result<Success> record_graph(const GraphParts& order, DispatchRange range) {
    if (range.begin == range.end) return Success{};
    if (options_.lowering != CudaLowering::kCapturedGraph) {
      return graphs_.add(issuing(), range, order);
    }
    const StreamPlan plan = plan_streams(order.part(range), options_.stream_count, options_.seed);
    return graphs_.add_captured(issuing(), range, plan);
  }

  Result<Success> upload(DeviceRange range) {
    if (range.size_bytes == 0) return Success{};
    auto stream = device_->stream(0);
    if (!stream) return stream.error();
    return device_->check(
        device_->runtime().copy(base_ + range.offset_bytes, host_bytes_.data() + range.offset_bytes,
                                range.size_bytes, *stream),
        "copying memories to the device");
  }

  // Uploads what is after the memories, which executions change as well.
  Result<Success> clear_digests() {
    const DeviceLayout& layout = lowered_.layout;
    return upload({layout.memories_end_bytes(), layout.size_bytes() - layout.memories_end_bytes()});
  }

  Result<Success> issue() {
    return plan_ ? issue_streams(issuing(), *plan_, false) : issue_list(issuing());
  }

  // Only once all else is over: the copy would block without a time limit.
  Result<MemoryImage> download() {
    auto stream = device_->stream(0);
    if (!stream) return stream.error();
    auto done = device_->wait(*stream);
    if (!done) return done.error();
    const uint64_t size_bytes =
        std::max(lowered_.layout.memories_end_bytes(), lowered_.host.reads_end_bytes());
    done = device_->check(device_->runtime().copy(host_bytes_.data(), base_, size_bytes, *stream),
                          "copying memories from the device");
    if (done) done = device_->wait(*stream);
    if (!done) return done.error();
    if (const auto stray = lowered_.layout.find_stray_write(host_bytes_.data())) {
      const std::string place = stray->is_before
                                    ? "before the first memory"
                                    : fmt::format("past memory '{}', which has {} bytes",
                                                  stray->memory, stray->size_bytes);
      return Error{fmt::format("The device wrote bytes {}: a kernel or a driver is wrong.", place),
                   ErrorKind::kFault};
    }
    MemoryImage image = lowered_.layout.load(host_bytes_.data());
    image.host_reads = lowered_.host.load(host_bytes_.data());
    poison_.fill_at_end(image);
    return image;
  }

  std::shared_ptr<CudaDevice> device_;
  LoweredProgram lowered_;
  Poison poison_;
  CudaRecordingOptions options_;
  std::optional<StreamPlan> plan_;  // None: the list is issued.
  RecordedGraphs graphs_;           // What the plan launches as graphs.
  size_t dispatch_count_ = 0;
  uint8_t* base_ = nullptr;
  std::vector<uint8_t> host_bytes_;  // What is uploaded from and downloaded to.
};

CudaRecording::CudaRecording(std::unique_ptr<State> state) : state_(std::move(state)) {}

CudaRecording::~CudaRecording() = default;

Result<std::unique_ptr<CudaRecording>> CudaRecording::record(std::shared_ptr<CudaDevice> device,
                                                             const Program& program,
                                                             const CudaRecordingOptions& options) {
  const Poison poison(program);
  auto state =
      std::make_unique<State>(std::move(device), lower_dispatches(program, poison), poison);
  auto recorded = state->take_memory();
  if (recorded) {
    recorded = state->record(with_poison_ordered(program, poison),
                             graph_replays_of(program, poison), options);
  }
  if (!recorded) return recorded.error();
  return std::unique_ptr<CudaRecording>(new CudaRecording(std::move(state)));
}

Result<std::unique_ptr<CudaRecording>> CudaRecording::record(std::shared_ptr<CudaDevice> device,
                                                             const Program& program,
                                                             const Schedule& schedule,
                                                             uint64_t limit_bytes) {
  auto lowered = lower_schedule(program, schedule, limit_bytes);
  if (!lowered) return lowered.error();
  auto state = std::make_unique<State>(std::move(device), std::move(*lowered), Poison(program));
  auto recorded = state->take_memory();
  if (!recorded) return recorded.error();
  return std::unique_ptr<CudaRecording>(new CudaRecording(std::move(state)));
}

Result<MemoryImage> CudaRecording::execute(const MemoryImage& image) {
  return state_->settle(state_->execute(image));
}

Result<MemoryImage> CudaRecording::execute_again(const MemoryImage& image,
                                                 std::span<const MemoryId> replaced) {
  return state_->settle(state_->execute_again(image, replaced));
}

Result<double> CudaRecording::measure_seconds() {
  return state_->settle(state_->measure_seconds());
}

}  // namespace interlock
