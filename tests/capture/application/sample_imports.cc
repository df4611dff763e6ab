// The mode of the sample application with memory of the host.
#include <volk.h>

#include <cstdlib>

#include "tests/capture/application/sample_modes.h"

namespace interlock {

void run_imports(Sample& sample) {
  // As long as the device, which ends after this.
  static void* const memory = std::aligned_alloc(kSampleImportBytes, kSampleImportBytes);
  const SampleBuffer to = sample.device.buffer_at(memory);
  const SampleBuffer from = sample.device.buffer_at(memory);
  const VkCommandBuffer commands = sample.device.begin();
  sample.device.dispatch(commands, sample.device.set(sample.a, to));
  sample.device.dispatch(commands, sample.device.set(from, sample.c));
  sample.device.run(commands);
}

}  // namespace interlock
