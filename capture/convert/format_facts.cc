#include "capture/convert/format_facts.h"

#include <algorithm>
#include <cstdint>

// Of a format that it does not know the table says 0; logs may name any.
#define VULKAN_HPP_ASSERT(condition) static_cast<void>(0)
#include <vulkan/vulkan_format_traits.hpp>

namespace interlock {
namespace {

uint32_t plane_of(uint32_t aspect) {
  if (aspect == VK_IMAGE_ASPECT_PLANE_1_BIT) return 1;
  if (aspect == VK_IMAGE_ASPECT_PLANE_2_BIT) return 2;
  return 0;
}

uint32_t depth_bytes(vk::Format format) {
  return format == vk::Format::eD16Unorm || format == vk::Format::eD16UnormS8Uint ? 2 : 4;
}

}  // namespace

bool is_known_format(uint32_t format) {
  const auto known = static_cast<vk::Format>(format);
  return vk::blockSize(known) > 0 || vk::planeCount(known) > 1;
}

uint32_t plane_count_of(uint32_t format) {
  return std::max<uint32_t>(vk::planeCount(static_cast<vk::Format>(format)), 1);
}

bool has_depth_and_stencil(uint32_t format) {
  const auto known = static_cast<vk::Format>(format);
  return known == vk::Format::eD16UnormS8Uint || known == vk::Format::eD24UnormS8Uint ||
         known == vk::Format::eD32SfloatS8Uint;
}

FormatFacts facts_of(uint32_t format, uint32_t aspect) {
  auto known = static_cast<vk::Format>(format);
  FormatFacts facts;
  if (vk::planeCount(known) > 1) {
    const auto plane =
        static_cast<uint8_t>(std::min<uint32_t>(plane_of(aspect), vk::planeCount(known) - 1u));
    facts.width_divisor = std::max<uint32_t>(vk::planeWidthDivisor(known, plane), 1);
    facts.height_divisor = std::max<uint32_t>(vk::planeHeightDivisor(known, plane), 1);
    known = vk::planeCompatibleFormat(known, plane);
  }
  const auto extent = vk::blockExtent(known);
  facts.block_width = std::max<uint32_t>(extent[0], 1);
  facts.block_height = std::max<uint32_t>(extent[1], 1);
  facts.block_bytes = std::max<uint32_t>(vk::blockSize(known), 1);
  if (aspect == VK_IMAGE_ASPECT_STENCIL_BIT) facts.block_bytes = 1;
  if (aspect == VK_IMAGE_ASPECT_DEPTH_BIT) facts.block_bytes = depth_bytes(known);
  return facts;
}

}  // namespace interlock
