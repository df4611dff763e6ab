// The basic idea is that lowering knows no addresses and issuing knows no program: a recording
// takes its memory once, and every execution uploads what changed, issues, waits and downloads.
#include "backends/cuda/cuda_recording.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "backends/cuda/conflict_graph.h"
#include "backends/cuda/device.h"
#include "backends/cuda/issuing.h"
#include "backends/cuda/lowering.h"
#include "backends/poison.h"
#include "encoder/check.h"
#include "simulator/byte_segments.h"
#include "simulator/happens_before.h"

namespace interlock {

class CudaRecording::State {
 public:
  State(std::shared_ptr<CudaDevice> device, LoweredProgram lowered, Poison poison)
      : device_(std::move(device)), lowered_(std::move(lowered)), poison_(std::move(poison)) {}
  ~State();

  Result<Success> take_memory();
  Result<Success> record(const Program& program, const CudaRecordingOptions& options);

  Result<MemoryImage> execute(const MemoryImage& image);
  Result<MemoryImage> execute_again(const MemoryImage& image, std::span<const MemoryId> replaced);
  Result<double> measure_seconds();

  // Where something failed half way, lets end what has begun: the memory is soon another's.
  template <typename T>
  Result<T> settle(Result<T> result);

 private:
  Issuing issuing() { return {*device_, lowered_, base_, options_.seed, options_.delay_ns}; }
  Result<Success> capture();
  Result<Success> build_graph(const DispatchGraph& order);
  Result<Success> instantiate(CudaGraphSource graph);
  Result<Success> destroy(CudaGraphSource graph, Result<Success> result);

  Result<Success> upload(DeviceRange range);
  Result<Success> clear_digests();
  Result<Success> issue();
  Result<MemoryImage> download();

  std::shared_ptr<CudaDevice> device_;
  LoweredProgram lowered_;
  Poison poison_;
  CudaRecordingOptions options_;
  StreamPlan plan_;  // Of several streams; none: the list is issued, or the graph.
  bool has_plan_ = false;
  CudaGraphExecutable executable_ = nullptr;
  uint8_t* base_ = nullptr;
  std::vector<uint8_t> host_bytes_;  // What is uploaded from and downloaded to.
};

CudaRecording::State::~State() {
  if (device_->lost()) return;
  // An error is of no use here, but a loss is noted.
  if (executable_ != nullptr) {
    static_cast<void>(
        device_->check(device_->runtime().destroy_executable(executable_), "destroying a graph"));
  }
  if (base_ != nullptr) device_->give_memory_back(base_);
}

template <typename T>
Result<T> CudaRecording::State::settle(Result<T> result) {
  if (result || device_->lost()) return result;
  auto drained = device_->wait_for_all();
  if (!drained) return drained.error();
  return result;
}

Result<Success> CudaRecording::State::take_memory() {
  auto memory = device_->take_memory(lowered_.layout.size_bytes());
  if (!memory) return memory.error();
  base_ = *memory;
  host_bytes_.resize(lowered_.layout.size_bytes());
  lowered_.list.store_table(base_, host_bytes_.data());
  return Success{};
}

Result<Success> CudaRecording::State::record(const Program& program,
                                             const CudaRecordingOptions& options) {
  options_ = options;
  if (options.lowering == CudaLowering::kOneStream) {
    plan_ = plan_one_stream(program);
    has_plan_ = true;
    return Success{};
  }
  if (options.lowering == CudaLowering::kConflictGraph) {
    auto conflicts = conflict_graph_of(program, ByteSegments(program));
    return conflicts ? build_graph(*conflicts) : conflicts.error();
  }
  const DispatchGraph order = graph_of(program, HappensBefore(program));
  if (options.lowering == CudaLowering::kGraph) return build_graph(order);
  plan_ = plan_streams(order, options.stream_count, options.seed);
  has_plan_ = true;
  return options.lowering == CudaLowering::kCapturedGraph ? capture() : Success{};
}

Result<Success> CudaRecording::State::build_graph(const DispatchGraph& order) {
  CudaGraphSource graph = nullptr;
  auto built = device_->check(device_->runtime().create_graph(graph), "creating a graph");
  if (!built) return built;
  built = add_to_graph(issuing(), order, graph);
  return built ? instantiate(graph) : destroy(graph, std::move(built));
}

Result<Success> CudaRecording::State::capture() {
  // All there before, because not every call may be made during a capture.
  for (uint32_t s = 0; s < plan_.stream_count; ++s) {
    auto created = device_->stream(s);
    if (!created) return created.error();
  }
  auto event = device_->event(plan_.event_count);
  if (!event) return event.error();
  auto stream = device_->stream(0);
  if (!stream) return stream.error();
  auto begun = device_->check(device_->runtime().begin_capture(*stream), "capturing a stream");
  if (!begun) return begun;
  auto issued = issue_streams(issuing(), plan_, true);
  CudaGraphSource graph = nullptr;
  if (device_->lost()) return issued;
  auto ended = device_->check(device_->runtime().end_capture(*stream, graph), "ending a capture");
  if (!issued) return ended ? destroy(graph, std::move(issued)) : issued;
  if (!ended) return ended;
  return instantiate(graph);
}

Result<Success> CudaRecording::State::instantiate(CudaGraphSource graph) {
  return destroy(graph, device_->check(device_->runtime().instantiate(graph, executable_),
                                       "instantiating a graph"));
}

// Returns `result`, unless it is a success and this is none.
Result<Success> CudaRecording::State::destroy(CudaGraphSource graph, Result<Success> result) {
  if (device_->lost()) return result;
  auto destroyed = device_->check(device_->runtime().destroy_graph(graph), "destroying a graph");
  return result ? destroyed : result;
}

Result<Success> CudaRecording::State::upload(DeviceRange range) {
  if (range.size_bytes == 0) return Success{};
  auto stream = device_->stream(0);
  if (!stream) return stream.error();
  return device_->check(
      device_->runtime().copy(base_ + range.offset_bytes, host_bytes_.data() + range.offset_bytes,
                              range.size_bytes, *stream),
      "copying memories to the device");
}

// Uploads what is behind the memories, which executions change as well.
Result<Success> CudaRecording::State::clear_digests() {
  const DeviceLayout& layout = lowered_.layout;
  return upload({layout.memories_end_bytes(), layout.size_bytes() - layout.memories_end_bytes()});
}

Result<Success> CudaRecording::State::issue() {
  if (executable_ != nullptr) {
    auto stream = device_->stream(0);
    if (!stream) return stream.error();
    return device_->check(device_->runtime().launch(executable_, *stream), "launching a graph");
  }
  return has_plan_ ? issue_streams(issuing(), plan_, false) : issue_list(issuing());
}

// Only once all else is over: the copy would block without a time limit.
Result<MemoryImage> CudaRecording::State::download() {
  auto stream = device_->stream(0);
  if (!stream) return stream.error();
  auto done = device_->wait(*stream);
  if (!done) return done.error();
  done = device_->check(device_->runtime().copy(host_bytes_.data(), base_,
                                                lowered_.layout.memories_end_bytes(), *stream),
                        "copying memories from the device");
  if (done) done = device_->wait(*stream);
  if (!done) return done.error();
  auto image = lowered_.layout.load(host_bytes_.data());
  if (image) poison_.fill_at_end(*image);
  return image;
}

Result<MemoryImage> CudaRecording::State::execute(const MemoryImage& image) {
  lowered_.layout.store(image, host_bytes_.data());
  auto done = upload({0, lowered_.layout.size_bytes()});
  if (done) done = issue();
  if (!done) return done.error();
  return download();
}

Result<MemoryImage> CudaRecording::State::execute_again(const MemoryImage& image,
                                                        std::span<const MemoryId> replaced) {
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

Result<double> CudaRecording::State::measure_seconds() {
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

CudaRecording::CudaRecording(std::unique_ptr<State> state) : state_(std::move(state)) {}

CudaRecording::~CudaRecording() = default;

Result<std::unique_ptr<CudaRecording>> CudaRecording::record(std::shared_ptr<CudaDevice> device,
                                                             const Program& program,
                                                             const CudaRecordingOptions& options) {
  const Poison poison(program);
  auto state =
      std::make_unique<State>(std::move(device), lower_dispatches(program, poison), poison);
  auto recorded = state->take_memory();
  if (recorded) recorded = state->record(with_poison_ordered(program, poison), options);
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
