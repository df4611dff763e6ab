// What a format of images says about bytes; Khronos's table knows.
#pragma once

#include <cstdint>

namespace interlock {

// Of one aspect of a format: VkImageAspectFlagBits.
struct FormatFacts {
  uint32_t block_bytes = 0;  // Of one block of texels, as copies to buffers have it.
  uint32_t block_width = 1;  // In texels.
  uint32_t block_height = 1;
  uint32_t width_divisor = 1;  // Of planes with fewer texels.
  uint32_t height_divisor = 1;
};

// How many planes an image of this format has; 1 where it is of none.
// False of formats that are newer than this, and of those of external memory: of their texels
// nothing is known.
bool is_known_format(uint32_t format);

uint32_t plane_count_of(uint32_t format);

// Of an unknown format: one byte a texel.
FormatFacts facts_of(uint32_t format, uint32_t aspect);

bool has_depth_and_stencil(uint32_t format);

}  // namespace interlock
