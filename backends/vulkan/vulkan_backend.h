// VulkanBackend: executes programs on a Vulkan device, any one that there is; lavapipe, which runs
// on the CPU, where there is no GPU. The driver is loaded at run time: without one the backend is
// there and says why it is not available. The class is defined in vulkan_backend.cc, and in a build
// without Vulkan in missing_backend.cc.
//
// This folder lowers programs to a CommandList without any device (program_lowering.h), and records
// and submits it (command_recorder.h, queue.h) on devices that it opens (instance.h, device.h,
// session.h). shaders/ is device code.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/interface/backend.h"

struct VolkDeviceTable;

namespace interlock {

// How overlap mode issues a program.
enum class OverlapKind : uint8_t {
  // Dispatches between two barriers go to several queues, which start at the same time; where the
  // device has one queue only, to two devices that share the memory of the program. Every barrier
  // joins the queues, which is more than an execution-only or a scoped barrier says.
  kSeveralQueues,
  // One command buffer on one queue, with the barriers of the program lowered as what they say.
  kOneQueue,
};

struct VulkanOptions {
  uint64_t limit_bytes = kExecutionLimitBytes;  // Of the memories, and apart, of late writes.
  OverlapKind overlap = OverlapKind::kSeveralQueues;
  // Runs under VK_LAYER_KHRONOS_validation with its synchronization checks, see take_messages().
  bool validates = false;
  // Copies memories through a staging buffer even where the host can reach them.
  bool always_stages = false;
  // A device that takes longer for one submission is given up as lost.
  double timeout_seconds = 120;
  // May replace entry points of each device, to test what happens when a call fails.
  std::function<void(VolkDeviceTable&)> on_device_table;
  // Likewise those of each instance, which volk has as global variables, to test what a driver
  // lacks.
  std::function<void()> on_instance;
};

class VulkanBackend final : public Backend {
 public:
  explicit VulkanBackend(VulkanOptions options = {});
  ~VulkanBackend() override;

  std::string_view name() const override { return "vulkan"; }

  // Loads the driver at the first call. The reason names the device, or what is missing. After a
  // run that lost the device: not available, and why, until the next run, which opens it anew.
  Availability availability() const override;
  bool supports(ExecutionMode) const override { return true; }

  // As Backend::run(). Overlap mode executes the program as it stands, in issue order, and not
  // `schedule`. Witness mode is deterministic; within one device so are all numbers.
  // Numbers: mix, copy and fill give the bits of the CPU. Kernels of f32 do as well where the
  // device divides and takes square roots with correct rounding and keeps subnormal numbers (Vulkan
  // asks for neither); else they stay within the bounds of the float64 oracles of the tests.
  // Errors: as there; a message of the validation layers (in overlap mode not those of
  // synchronization, which concern the program); an operand larger than the device binds, or a
  // loop longer than it runs; no memory left; the device was lost, or did not answer in time.
  // Runs of several host threads take turns.
  Result<MemoryImage> run(const Program& program, const Schedule& schedule,
                          ExecutionMode mode) override;

  Capabilities capabilities() const override;

  // The messages of synchronization validation since the last call: hazards that the layer sees in
  // the programs that ran in overlap mode. Empty unless `validates`.
  std::vector<std::string> take_messages();

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace interlock
