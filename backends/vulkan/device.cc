// The idea: look at each physical device once, note what it lacks, and open the best that lacks
// nothing.
#include "backends/vulkan/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "backends/vulkan/driver_error.h"
#include "backends/vulkan/shaders.h"

namespace interlock {
namespace {

constexpr uint32_t kPushBytesMax = 128;  // shaders/mix.comp; every device has as many.
constexpr uint32_t kLaneCount = 64;      // Of a GPU; shaders/mix.comp has no more.
constexpr uint32_t kLaneCountOfCpu = 8;  // lavapipe runs eight invocations in one vector.

struct Candidate {
  VkPhysicalDevice handle = VK_NULL_HANDLE;
  VkPhysicalDeviceProperties properties{};
  VkPhysicalDeviceDriverProperties driver{};
  VkPhysicalDeviceExternalMemoryHostPropertiesEXT import{};
  bool has_push_descriptors = false;
  bool has_import = false;
  bool has_byte_access = false;
  bool has_synchronization2 = false;
  uint32_t push_descriptor_count_max = 0;
  std::optional<uint32_t> queue_family;
  uint32_t queue_count = 0;
};

bool lists(const std::vector<VkExtensionProperties>& extensions, const char* name) {
  return std::any_of(extensions.begin(), extensions.end(), [&](const VkExtensionProperties& e) {
    return std::strcmp(e.extensionName, name) == 0;
  });
}

void read_extensions(Candidate& candidate) {
  uint32_t count = 0;
  vkEnumerateDeviceExtensionProperties(candidate.handle, nullptr, &count, nullptr);
  std::vector<VkExtensionProperties> extensions(count);
  vkEnumerateDeviceExtensionProperties(candidate.handle, nullptr, &count, extensions.data());
  candidate.has_push_descriptors = lists(extensions, VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME);
  candidate.has_import = lists(extensions, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
}

// Requires: the device knows Vulkan 1.3.
void read_properties(Candidate& candidate) {
  VkPhysicalDevicePushDescriptorPropertiesKHR push{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PUSH_DESCRIPTOR_PROPERTIES_KHR};
  candidate.import = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT};
  candidate.driver = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
  VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
  properties.pNext = &candidate.driver;
  void** next = &candidate.driver.pNext;
  if (candidate.has_push_descriptors) {
    *next = &push;
    next = &push.pNext;
  }
  if (candidate.has_import) *next = &candidate.import;
  vkGetPhysicalDeviceProperties2(candidate.handle, &properties);
  candidate.driver.pNext = nullptr;
  candidate.push_descriptor_count_max = push.maxPushDescriptors;

  VkPhysicalDeviceVulkan13Features features13{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};
  VkPhysicalDeviceVulkan12Features features12{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
  features12.pNext = &features13;
  VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
  features.pNext = &features12;
  vkGetPhysicalDeviceFeatures2(candidate.handle, &features);
  candidate.has_synchronization2 = features13.synchronization2 == VK_TRUE;
  candidate.has_byte_access = features12.storageBuffer8BitAccess == VK_TRUE;
}

// The family with compute that has the most queues.
void read_queues(Candidate& candidate) {
  uint32_t count = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(candidate.handle, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vkGetPhysicalDeviceQueueFamilyProperties(candidate.handle, &count, families.data());
  for (uint32_t i = 0; i < count; ++i) {
    const bool has_compute = (families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) != 0;
    if (!has_compute || families[i].queueCount <= candidate.queue_count) continue;
    candidate.queue_family = i;
    candidate.queue_count = families[i].queueCount;
  }
}

Candidate candidate_of(VkPhysicalDevice handle) {
  Candidate candidate;
  candidate.handle = handle;
  vkGetPhysicalDeviceProperties(handle, &candidate.properties);
  if (candidate.properties.apiVersion < VK_API_VERSION_1_3) return candidate;
  read_extensions(candidate);
  read_properties(candidate);
  read_queues(candidate);
  return candidate;
}

// What the device lacks; empty if it fits.
std::string missing_of(const Candidate& candidate) {
  const uint32_t version = candidate.properties.apiVersion;
  if (version < VK_API_VERSION_1_3) {
    return fmt::format("its driver knows Vulkan {}.{}, and 1.3 is needed",
                       VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version));
  }
  if (!candidate.has_synchronization2) return "its driver lacks synchronization2";
  if (!candidate.has_push_descriptors) return "its driver lacks VK_KHR_push_descriptor";
  if (candidate.push_descriptor_count_max < kBindingCountMax) {
    return fmt::format("it takes {} push descriptors, and {} are needed",
                       candidate.push_descriptor_count_max, kBindingCountMax);
  }
  if (candidate.properties.limits.maxPushConstantsSize < kPushBytesMax) {
    return fmt::format("it takes {} bytes of push constants, and {} are needed",
                       candidate.properties.limits.maxPushConstantsSize, kPushBytesMax);
  }
  if (!candidate.queue_family) return "it has no queue for compute";
  return "";
}

int rank_of(const Candidate& candidate) {
  constexpr VkPhysicalDeviceType kSlowestFirst[] = {VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU,
                                                    VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU,
                                                    VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU};
  const auto found = std::ranges::find(kSlowestFirst, candidate.properties.deviceType);
  return found == std::end(kSlowestFirst) ? 0 : static_cast<int>(found - kSlowestFirst) + 1;
}

Result<Candidate> best_candidate(VkInstance instance, VkResult* failed) {
  uint32_t count = 0;
  VkResult listed = vkEnumeratePhysicalDevices(instance, &count, nullptr);
  std::vector<VkPhysicalDevice> handles(count);
  if (listed == VK_SUCCESS) listed = vkEnumeratePhysicalDevices(instance, &count, handles.data());
  if (listed != VK_SUCCESS) return driver_error(listed, "looking for devices", failed);
  if (count == 0) return Error{"no Vulkan driver finds a device."};
  std::optional<Candidate> best;
  std::string complaints;
  for (const VkPhysicalDevice handle : handles) {
    Candidate candidate = candidate_of(handle);
    const std::string missing = missing_of(candidate);
    if (!missing.empty()) {
      complaints += fmt::format("{}'{}' does not fit: {}", complaints.empty() ? "" : "; ",
                                candidate.properties.deviceName, missing);
    } else if (!best || rank_of(candidate) > rank_of(*best)) {
      best = candidate;
    }
  }
  if (!best) return Error{complaints + "."};
  return *best;
}

DeviceLimits limits_of(const Candidate& candidate) {
  const VkPhysicalDeviceLimits& device = candidate.properties.limits;
  DeviceLimits limits;
  limits.storage_alignment = std::max<uint64_t>(4, device.minStorageBufferOffsetAlignment);
  limits.uniform_alignment = std::max<uint64_t>(4, device.minUniformBufferOffsetAlignment);
  limits.storage_bytes_max = device.maxStorageBufferRange;
  limits.group_count_max =
      std::min(device.maxComputeWorkGroupCount[0], device.maxComputeWorkGroupCount[1]);
  const bool is_cpu = candidate.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
  limits.lane_count =
      std::min({is_cpu ? kLaneCountOfCpu : kLaneCount, device.maxComputeWorkGroupSize[0],
                device.maxComputeWorkGroupInvocations});
  limits.has_byte_access = candidate.has_byte_access;
  return limits;
}

VkResult open_device(const Candidate& candidate, uint32_t queue_count, VkDevice& device) {
  const std::vector<float> priorities(queue_count, 1.0f);
  VkDeviceQueueCreateInfo queues{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
  queues.queueFamilyIndex = *candidate.queue_family;
  queues.queueCount = queue_count;
  queues.pQueuePriorities = priorities.data();
  VkPhysicalDeviceVulkan13Features features13{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};
  features13.synchronization2 = VK_TRUE;
  VkPhysicalDeviceVulkan12Features features12{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
  features12.storageBuffer8BitAccess = candidate.has_byte_access ? VK_TRUE : VK_FALSE;
  features12.timelineSemaphore = VK_TRUE;  // Every device with Vulkan 1.2 has it.
  features12.pNext = &features13;
  std::vector<const char*> extensions = {VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME};
  if (candidate.has_import) extensions.push_back(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
  VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  info.pNext = &features12;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queues;
  info.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
  info.ppEnabledExtensionNames = extensions.data();
  return vkCreateDevice(candidate.handle, &info, nullptr, &device);
}

}  // namespace

Result<std::unique_ptr<VulkanDevice>> VulkanDevice::create(
    VulkanInstance& instance, const std::function<void(VolkDeviceTable&)>& on_table,
    VkResult* failed) {
  auto best = best_candidate(instance.handle(), failed);
  if (!best) return best.error();
  std::unique_ptr<VulkanDevice> device(new VulkanDevice);
  const uint32_t queue_count = std::min(best->queue_count, kQueueCountMax);
  const VkResult opened = open_device(*best, queue_count, device->handle_);
  if (opened != VK_SUCCESS) return driver_error(opened, "opening a device", failed);
  volkLoadDeviceTable(&device->table_, device->handle_);
  if (on_table) on_table(device->table_);
  device->queue_family_ = *best->queue_family;
  for (uint32_t i = 0; i < queue_count; ++i) {
    VkQueue queue = VK_NULL_HANDLE;
    device->table_.vkGetDeviceQueue(device->handle_, device->queue_family_, i, &queue);
    device->queues_.push_back(queue);
  }
  vkGetPhysicalDeviceMemoryProperties(best->handle, &device->memory_);
  device->limits_ = limits_of(*best);
  device->description_ = fmt::format("{}, {} {}", best->properties.deviceName,
                                     best->driver.driverName, best->driver.driverInfo);
  if (best->has_import) {
    device->import_alignment_bytes_ = best->import.minImportedHostPointerAlignment;
  }
  return device;
}

VulkanDevice::~VulkanDevice() {
  if (handle_ != VK_NULL_HANDLE) table_.vkDestroyDevice(handle_, nullptr);
}

Result<uint32_t> VulkanDevice::memory_type(uint32_t types, VkMemoryPropertyFlags wanted) const {
  for (uint32_t i = 0; i < memory_.memoryTypeCount; ++i) {
    const bool has_all = (memory_.memoryTypes[i].propertyFlags & wanted) == wanted;
    if ((types & (1u << i)) != 0 && has_all) return i;
  }
  return Error{"The Vulkan device has no memory of the kind that is needed."};
}

}  // namespace interlock
