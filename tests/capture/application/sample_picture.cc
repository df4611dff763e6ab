// Modes of the sample application with an image: its changes of layout, each with what orders it.
#include "tests/capture/application/sample_picture.h"

#include <volk.h>

#include "tests/capture/application/sample_modes.h"

namespace interlock {

void run_picture(Sample& sample) {
  const SamplePicture picture(sample.device);
  const VkCommandBuffer commands = sample.device.begin();
  picture.transition(commands, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 0,
                     VK_ACCESS_TRANSFER_WRITE_BIT);
  picture.clear(commands, kSampleResult);
  picture.transition(commands, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                     VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, VK_ACCESS_TRANSFER_WRITE_BIT,
                     VK_ACCESS_TRANSFER_READ_BIT);
  picture.copy_to(commands, sample.c);
  sample.device.run(commands);
}

}  // namespace interlock
