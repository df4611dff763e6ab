// CudaDevice: the device, its streams and events, and the memory that runs take turns in. Once it
// is lost it stays so, and nothing of CUDA is called any more: every call would fail or hang.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cuda/cuda_runtime.h"
#include "encoder/program/result.h"

namespace interlock {

class CudaDevice {
 public:
  // Opens the first device. Errors: there is none, or no driver.
  static Result<std::shared_ptr<CudaDevice>> open(CudaRuntime& runtime, double timeout_seconds);
  ~CudaDevice();
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  CudaRuntime& runtime() { return runtime_; }
  const std::string& name() const { return name_; }

  // Returns the error of a failed call as a sentence. `action`: "launching a kernel".
  Result<Success> check(CudaStatus status, std::string_view action);

  // Why the device is lost, if it is.
  const std::optional<Error>& lost() const { return lost_; }

  // The stream (event) of this number. They stay, and whoever runs has them all. Streams of each
  // kind have numbers of their own; of the legacy one there is number 0. Errors: as CUDA's.
  Result<CudaStream> stream(uint32_t index) { return stream(CudaStreamKind::kNonBlocking, index); }
  Result<CudaStream> stream(CudaStreamKind kind, uint32_t index);
  Result<CudaEvent> event(uint32_t index);
  Result<CudaEvent> timed_event(uint32_t index);

  // Records the event on the stream; lets the stream wait for the event. By their numbers.
  Result<Success> record(uint32_t event, uint32_t stream);
  Result<Success> wait_for(uint32_t event, uint32_t stream);

  // Returns when all work on the stream (before the event) is over. Errors: the device does not
  // answer in time; what a launch before did wrong.
  Result<Success> wait(CudaStream stream);
  Result<Success> wait(CudaEvent event);
  Result<Success> wait_for_all();

  // Returns memory of at least so many bytes, which others may have used before; gives it back.
  // Where it is shared, the host reaches it as well.
  Result<uint8_t*> take_memory(uint64_t size_bytes, bool is_shared = false);
  void give_memory_back(uint8_t* memory);

 private:
  struct Allocation {
    uint8_t* memory = nullptr;
    uint64_t size_bytes = 0;
    bool is_shared = false;
    bool is_taken = false;
  };

  CudaDevice(CudaRuntime& runtime, double timeout_seconds)
      : runtime_(runtime), timeout_seconds_(timeout_seconds) {}

  CudaStatus release(const Allocation& allocation);
  Result<CudaEvent> event_of(std::vector<CudaEvent>& events, uint32_t index, bool has_time);
  template <typename Handle>
  Result<Success> poll(Handle handle);

  CudaRuntime& runtime_;
  double timeout_seconds_;
  std::string name_;
  std::optional<Error> lost_;
  std::vector<CudaStream> streams_;  // That do not block.
  std::vector<CudaStream> blocking_streams_;
  bool uses_legacy_stream_ = false;
  std::vector<CudaEvent> events_;
  std::vector<CudaEvent> timed_events_;
  std::vector<Allocation> allocations_;
};

}  // namespace interlock
