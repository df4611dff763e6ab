// The Vulkan backend of a build without Vulkan: it says so.
#include "backends/vulkan/vulkan_backend.h"
#include "encoder/program/check.h"

namespace interlock {
namespace {

constexpr const char* kReason =
    "this build has no Vulkan; it needs glslc, volk and the Vulkan headers.";

}  // namespace

class VulkanBackend::State {};

VulkanBackend::VulkanBackend(VulkanOptions) {}

VulkanBackend::~VulkanBackend() = default;

Availability VulkanBackend::availability() const { return {false, kReason}; }

Result<MemoryImage> VulkanBackend::run(const Program&, const Schedule&, ExecutionMode) {
  return Error{std::string("The Vulkan backend is not available: ") + kReason};
}

Capabilities VulkanBackend::capabilities() const {
  INTERLOCK_CHECK(availability().is_available);
  return {};
}

std::vector<std::string> VulkanBackend::take_messages() { return {}; }

}  // namespace interlock
