// The modes of the sample application with atomics.
#include <volk.h>

#include "tests/capture/application/sample_modes.h"

namespace interlock {
namespace {

constexpr uint32_t kAddToEach[] =
#include <add_to_each.comp.inc>
    ;

// Each dispatch adds one to all of c, which is as a is. Another one may store there before.
void run_additions(Sample& sample, bool is_stored_before) {
  for (uint64_t i = 0; i < kSampleBytes / sizeof(uint32_t); ++i) {
    sample.c.words[i] = kSampleResult - 2;
  }
  const VkPipeline add = sample.device.create_pipeline(sample.device.layout(), kAddToEach);
  const VkDescriptorSet set = sample.device.set(sample.a, sample.c);
  const VkCommandBuffer commands = sample.device.begin();
  if (is_stored_before) sample.device.dispatch(commands, set);
  vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, add);
  vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, sample.device.layout(), 0, 1,
                          &set, 0, nullptr);
  const int count = is_stored_before ? 1 : 2;
  for (int i = 0; i < count; ++i) {
    vkCmdDispatch(commands, kSampleBytes / sizeof(uint32_t) / 64, 1, 1);
  }
  sample.device.run(commands);
  vkDestroyPipeline(sample.device.device(), add, nullptr);
}

}  // namespace

void run_atomics(Sample& sample) { run_additions(sample, false); }
void run_atomics_after_a_store(Sample& sample) { run_additions(sample, true); }

}  // namespace interlock
