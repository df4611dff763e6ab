// The modes of the sample application with memory of the host, and with memory that two share.
#include <volk.h>

#include <cstdlib>

#include "tests/capture/application/sample_modes.h"

namespace interlock {

namespace {

void run_between(Sample& sample, const SampleBuffer& to, const SampleBuffer& from) {
  const VkCommandBuffer commands = sample.device.begin();
  sample.device.dispatch(commands, sample.device.set(sample.a, to));
  sample.device.dispatch(commands, sample.device.set(from, sample.c));
  sample.device.run(commands);
}

}  // namespace

void run_imports(Sample& sample) {
  // As long as the device, which ends after this.
  static void* const memory = std::aligned_alloc(kSampleImportBytes, kSampleImportBytes);
  const SampleBuffer to = sample.device.buffer_at(memory);
  const SampleBuffer from = sample.device.buffer_at(memory);
  run_between(sample, to, from);
}

void run_shared_file(Sample& sample) {
  const SampleBuffer to = sample.device.shared_buffer(-1);
  const SampleBuffer from = sample.device.shared_buffer(sample.device.file_of(to));
  run_between(sample, to, from);
}

}  // namespace interlock
