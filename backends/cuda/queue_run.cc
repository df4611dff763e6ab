#include "backends/cuda/queue_run.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "backends/cpu/execute.h"
#include "backends/cuda/issuing.h"
#include "backends/cuda/lowering.h"
#include "backends/cuda/queue_streams.h"
#include "backends/interface/issue_order.h"
#include "backends/interface/poison.h"
#include "encoder/program/check.h"
#include "simulator/schedules/choice.h"

namespace interlock {
namespace {

// The host waits for the device after so many launches, before a queue of CUDA is full: a launch
// that finds it full blocks without a time limit.
constexpr uint32_t kLaunchesAheadMax = 256;

class QueueRun {
 public:
  QueueRun(CudaDevice& device, const Program& program, const Poison& poison)
      : device_(device),
        program_(program),
        lowered_(lower_dispatches(program, poison)),
        is_shared_(!program.host_dispatches.empty()),
        host_reads_(program.host_dispatches.size()) {}
  ~QueueRun() {
    if (device_.lost()) return;
    for (const CudaGraphExecutable graph : executables_) {
      device_.runtime().destroy_executable(graph);
    }
    for (const CudaGraphSource graph : sources_) device_.runtime().destroy_graph(graph);
    if (base_ != nullptr) device_.give_memory_back(base_);
  }
  QueueRun(const QueueRun&) = delete;
  QueueRun& operator=(const QueueRun&) = delete;

  Result<MemoryImage> execute(const QueueStreams& plan, const MemoryImage& image) {
    auto done = upload(image);
    for (size_t i = 0; done && i < plan.actions.size(); ++i) done = act(plan, plan.actions[i]);
    // What has begun ends in any case: the memory is soon another's.
    if (!device_.lost()) {
      auto drained = device_.wait_for_all();
      if (done) done = drained;
    }
    if (!done) return done.error();
    return download();
  }

 private:
  Result<Success> upload(const MemoryImage& image) {
    const uint64_t size_bytes = lowered_.layout.size_bytes();
    auto memory = device_.take_memory(size_bytes, is_shared_);
    if (!memory) return memory.error();
    base_ = *memory;
    if (!is_shared_) host_bytes_.resize(size_bytes);
    uint8_t* const bytes = is_shared_ ? base_ : host_bytes_.data();
    lowered_.layout.store(image, bytes);
    std::fill(bytes + lowered_.layout.memories_end_bytes(), bytes + size_bytes, uint8_t{0});
    lowered_.list.store_table(base_, bytes);
    for (size_t m = 0; m < program_.memories.size(); ++m) {
      starts_.push_back(bytes + lowered_.layout.range_of(MemoryId(m)).offset_bytes);
    }
    return is_shared_ ? Success{}
                      : copy(base_, bytes, size_bytes, "copying memories to the device");
  }

  Result<MemoryImage> download() {
    const uint8_t* const bytes = is_shared_ ? base_ : host_bytes_.data();
    if (!is_shared_) {
      auto copied = copy(host_bytes_.data(), base_, lowered_.layout.memories_end_bytes(),
                         "copying memories from the device");
      if (!copied) return copied.error();
    }
    if (const auto stray = lowered_.layout.find_stray_write(bytes)) {
      return Error{
          fmt::format("The device wrote bytes {} memory '{}': a kernel or a driver is wrong.",
                      stray->is_before ? "before" : "past", stray->memory),
          ErrorKind::kFault};
    }
    MemoryImage image = lowered_.layout.load(bytes);
    image.host_reads = std::move(host_reads_);
    return image;
  }

  Result<Success> copy(uint8_t* to, const uint8_t* from, uint64_t size_bytes,
                       std::string_view action) {
    auto stream = device_.stream(0);
    if (!stream) return stream.error();
    auto copied = device_.check(device_.runtime().copy(to, from, size_bytes, *stream), action);
    return copied ? device_.wait(*stream) : copied;
  }

  Result<CudaStream> stream_of(const QueueStreams& plan, uint32_t stream) {
    const CudaStreamKind kind = plan.streams[stream];
    const auto number = std::count(plan.streams.begin(), plan.streams.begin() + stream, kind);
    return device_.stream(kind, static_cast<uint32_t>(number));
  }

  Result<Success> act(const QueueStreams& plan, const QueueAction& action) {
    if (action.kind == QueueAction::Kind::kHostDispatch) {
      execute_host_statement(program_, DispatchId(size_t{action.index}), starts_, host_reads_);
      return Success{};
    }
    if (action.kind == QueueAction::Kind::kHostWait) {
      auto event = device_.event(action.index);
      return event ? device_.wait(*event) : event.error();
    }
    auto stream = stream_of(plan, action.stream);
    if (!stream) return stream.error();
    switch (action.kind) {
      case QueueAction::Kind::kDispatch:
        return launch(DispatchId(size_t{action.index}), *stream);
      case QueueAction::Kind::kGraph:
        return launch(plan.graphs[action.index], *stream);
      case QueueAction::Kind::kRecord: {
        auto event = device_.event(action.index);
        if (!event) return event.error();
        return device_.check(device_.runtime().record(*event, *stream), "recording an event");
      }
      case QueueAction::Kind::kWait: {
        auto event = device_.event(action.index);
        if (!event) return event.error();
        return device_.check(device_.runtime().wait(*stream, *event), "ordering streams");
      }
      default:
        break;
    }
    return Success{};
  }

  Result<Success> launch(DispatchId id, CudaStream stream) {
    const CommandSpan span = lowered_.dispatches[id.index];
    for (size_t i = span.begin; i < span.end; ++i) {
      const CudaCommand& command = lowered_.list.commands()[i];
      INTERLOCK_CHECK(command.kind == CudaCommand::Kind::kLaunch);
      auto launched =
          device_.check(device_.runtime().launch(lowered_.list.resolved(command, base_), stream),
                        "launching a kernel");
      if (launched) launched = count_launch();
      if (!launched) return launched;
    }
    return Success{};
  }

  Result<Success> launch(const DispatchGraph& graph, CudaStream stream) {
    CudaRuntime& runtime = device_.runtime();
    auto made = device_.check(runtime.create_graph(sources_.emplace_back()), "creating a graph");
    if (!made) {
      sources_.pop_back();
      return made;
    }
    const Issuing issuing{.device = device_, .lowered = lowered_, .base = base_};
    auto nodes = add_to_graph(issuing, graph, sources_.back());
    if (!nodes) return nodes.error();
    made = device_.check(runtime.instantiate(sources_.back(), executables_.emplace_back()),
                         "instantiating a graph");
    if (!made) {
      executables_.pop_back();
      return made;
    }
    auto launched = device_.check(runtime.launch(executables_.back(), stream), "launching a graph");
    return launched ? count_launch() : launched;
  }

  Result<Success> count_launch() {
    return ++launch_count_ % kLaunchesAheadMax == 0 ? device_.wait_for_all() : Success{};
  }

  CudaDevice& device_;
  const Program& program_;
  const LoweredProgram lowered_;
  const bool is_shared_;
  std::vector<std::vector<uint8_t>> host_reads_;
  uint8_t* base_ = nullptr;
  std::vector<uint8_t> host_bytes_;  // What is uploaded from and downloaded to, if not shared.
  std::vector<uint8_t*> starts_;     // Of the memories, for the host.
  std::vector<CudaGraphSource> sources_;
  std::vector<CudaGraphExecutable> executables_;
  uint32_t launch_count_ = 0;
};

}  // namespace

Result<MemoryImage> run_on_queue_streams(CudaDevice& device, const Program& program,
                                         const MemoryImage& image, uint32_t lane_count,
                                         uint64_t seed) {
  const Poison poison(program);
  SeededChoice choice(seed);
  const std::vector<StatementId> order = issue_order_of(
      program, statements_with_poison(program, poison), seed == 0 ? nullptr : &choice);
  const QueueStreams plan = plan_queue_streams(program, order, poison, lane_count, seed);
  QueueRun run(device, program, poison);
  Result<MemoryImage> left = run.execute(plan, image);
  if (left) poison.fill_at_end(*left);
  return left;
}

}  // namespace interlock
