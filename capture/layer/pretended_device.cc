#include "capture/layer/pretended_device.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <map>
#include <utility>

#include "capture/layer/pretended_features.h"
#include "capture/layer/run_options.h"

namespace interlock {
namespace {

bool pretends_integrated() {
  static const bool kIs = run_options().pretends("integrated");
  return kIs;
}

// How many families the driver has; known once somebody asked. 0: nobody did.
std::atomic<uint32_t> real_family_count{0};

constexpr VkQueueFlags kMadeUpFamilies[] = {VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT,
                                            VK_QUEUE_TRANSFER_BIT};

void pretend_type(VkPhysicalDeviceProperties& properties) {
  if (pretends_integrated()) properties.deviceType = VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU;
}

VKAPI_ATTR void VKAPI_CALL get_properties(VkPhysicalDevice physical,
                                          VkPhysicalDeviceProperties* properties) {
  next_of<PFN_vkGetPhysicalDeviceProperties>(physical, "vkGetPhysicalDeviceProperties")(physical,
                                                                                        properties);
  pretend_type(*properties);
}

VKAPI_ATTR void VKAPI_CALL get_properties_2(VkPhysicalDevice physical,
                                            VkPhysicalDeviceProperties2* properties) {
  auto next =
      next_of<PFN_vkGetPhysicalDeviceProperties2>(physical, "vkGetPhysicalDeviceProperties2");
  if (next == nullptr) {
    next =
        next_of<PFN_vkGetPhysicalDeviceProperties2>(physical, "vkGetPhysicalDeviceProperties2KHR");
  }
  next(physical, properties);
  pretend_type(properties->properties);
}

std::vector<VkQueueFamilyProperties> families_of(VkPhysicalDevice physical) {
  const auto next = next_of<PFN_vkGetPhysicalDeviceQueueFamilyProperties>(
      physical, "vkGetPhysicalDeviceQueueFamilyProperties");
  uint32_t count = 0;
  next(physical, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  next(physical, &count, families.data());
  families.resize(count);
  if (!pretends_queues() || families.empty()) return families;
  real_family_count = count;
  for (const VkQueueFlags flags : kMadeUpFamilies) {
    VkQueueFamilyProperties family = families.front();
    family.queueFlags = flags;
    family.queueCount = 1;
    families.push_back(family);
  }
  return families;
}

// As the calls have it: how many there are, or as many as there is room for.
template <typename Put>
void put_families(VkPhysicalDevice physical, uint32_t* count, bool has_room, const Put& put) {
  const std::vector<VkQueueFamilyProperties> families = families_of(physical);
  const auto all = static_cast<uint32_t>(families.size());
  if (has_room) {
    *count = std::min(*count, all);
    for (uint32_t i = 0; i < *count; ++i) put(i, families[i]);
  } else {
    *count = all;
  }
}

VKAPI_ATTR void VKAPI_CALL get_families(VkPhysicalDevice physical, uint32_t* count,
                                        VkQueueFamilyProperties* properties) {
  put_families(physical, count, properties != nullptr,
               [&](uint32_t i, const VkQueueFamilyProperties& family) { properties[i] = family; });
}

// What the driver says of its own families beside, the structures that are chained to theirs have;
// a made-up one is the first, as each of its structures says. So the driver is asked once for the
// real ones, and once for each made-up one, with its chain in the place of the first one's.
VKAPI_ATTR void VKAPI_CALL get_families_2(VkPhysicalDevice physical, uint32_t* count,
                                          VkQueueFamilyProperties2* properties) {
  auto next = next_of<PFN_vkGetPhysicalDeviceQueueFamilyProperties2>(
      physical, "vkGetPhysicalDeviceQueueFamilyProperties2");
  if (next == nullptr) {
    next = next_of<PFN_vkGetPhysicalDeviceQueueFamilyProperties2>(
        physical, "vkGetPhysicalDeviceQueueFamilyProperties2KHR");
  }
  put_families(physical, count, properties != nullptr,
               [&](uint32_t i, const VkQueueFamilyProperties& family) {
                 const bool is_real = i < real_family_count;
                 if (next != nullptr && is_real && i == 0) {
                   uint32_t real_count = std::min<uint32_t>(*count, real_family_count);
                   next(physical, &real_count, properties);
                 } else if (next != nullptr && !is_real) {
                   uint32_t one = 1;
                   next(physical, &one, properties + i);
                 }
                 properties[i].queueFamilyProperties = family;
               });
}

VKAPI_ATTR VkResult VKAPI_CALL get_surface_support(VkPhysicalDevice physical, uint32_t family,
                                                   VkSurfaceKHR surface, VkBool32* is_supported) {
  return next_of<PFN_vkGetPhysicalDeviceSurfaceSupportKHR>(
      physical, "vkGetPhysicalDeviceSurfaceSupportKHR")(physical, real_family(family), surface,
                                                        is_supported);
}

}  // namespace

RealDeviceInfo::RealDeviceInfo(VkPhysicalDevice physical, const VkDeviceCreateInfo& info)
    : info_(info) {
  keep_real_features(physical, info);
  if (!pretends_queues()) return;
  if (real_family_count == 0) families_of(physical);
  keep_real_families(info, real_family_count);
}

void RealDeviceInfo::keep_real_families(const VkDeviceCreateInfo& info, uint32_t real_count) {
  bool has_first = false;
  for (const auto& queue : std::span(info.pQueueCreateInfos, info.queueCreateInfoCount)) {
    if (queue.queueFamilyIndex >= real_count) continue;
    has_first = has_first || queue.queueFamilyIndex == 0;
    queues_.push_back(queue);
  }
  if (!has_first && info.queueCreateInfoCount > 0) {
    VkDeviceQueueCreateInfo first = info.pQueueCreateInfos[0];
    first.queueFamilyIndex = 0;
    first.queueCount = 1;
    queues_.push_back(first);
  }
  info_.queueCreateInfoCount = static_cast<uint32_t>(queues_.size());
  info_.pQueueCreateInfos = queues_.data();
}

bool pretends_queues() {
  static const bool kIs = run_options().pretends("queues");
  return kIs;
}

uint32_t real_family(uint32_t family) {
  const bool is_made_up = pretends_queues() && family != VK_QUEUE_FAMILY_IGNORED &&
                          family != VK_QUEUE_FAMILY_EXTERNAL &&
                          family != VK_QUEUE_FAMILY_FOREIGN_EXT && family >= real_family_count;
  return is_made_up ? 0 : family;
}

namespace {

// What stands behind a handle: first of all the word of the loader, as with any.
struct PretendedQueue {
  const void* key;
  VkQueue real;
};

struct PretendedQueues {
  std::mutex mutex;
  std::mutex calls;
  std::map<std::pair<VkQueue, std::pair<uint32_t, uint32_t>>, PretendedQueue*> all;
};

PretendedQueues& pretended_queues() {
  static PretendedQueues& queues = *new PretendedQueues;
  return queues;
}

VKAPI_ATTR VkResult VKAPI_CALL create_pool(VkDevice device, const VkCommandPoolCreateInfo* info,
                                           const VkAllocationCallbacks* allocator,
                                           VkCommandPool* pool) {
  VkCommandPoolCreateInfo real = *info;
  real.queueFamilyIndex = real_family(info->queueFamilyIndex);
  return device_of(device).next.vkCreateCommandPool(device, &real, allocator, pool);
}

}  // namespace

std::span<const Intercepted> pretending_device_calls() {
  if (!pretends_queues()) return {};
  static const std::array kCalls = {
      Intercepted{"vkCreateCommandPool", as_function(create_pool)},
  };
  return kCalls;
}

VkQueue pretended_queue(VkQueue real, uint32_t family, uint32_t index, const void* key) {
  if (!pretends_queues() || real == VK_NULL_HANDLE) return real;
  // The loader sees the other handle alone: the word of this one is for the layers below.
  std::memcpy(static_cast<void*>(real), &key, sizeof(key));
  PretendedQueues& queues = pretended_queues();
  const std::lock_guard lock(queues.mutex);
  PretendedQueue*& made = queues.all[{real, {family, index}}];
  if (made == nullptr) made = new PretendedQueue{key, real};
  made->key = key;
  return reinterpret_cast<VkQueue>(made);
}

VkQueue real_queue(VkQueue queue) {
  if (!pretends_queues() || queue == VK_NULL_HANDLE) return queue;
  return reinterpret_cast<const PretendedQueue*>(queue)->real;
}

std::unique_lock<std::mutex> lock_real_queue() {
  if (!pretends_queues()) return {};
  return std::unique_lock(pretended_queues().calls);
}

std::span<const Intercepted> pretending_instance_calls() {
  static const std::vector<Intercepted>& calls = *[] {
    auto* const list = new std::vector<Intercepted>;
    if (pretends_integrated()) {
      list->push_back({"vkGetPhysicalDeviceProperties", as_function(get_properties)});
      list->push_back({"vkGetPhysicalDeviceProperties2", as_function(get_properties_2)});
      list->push_back({"vkGetPhysicalDeviceProperties2KHR", as_function(get_properties_2)});
    }
    if (pretends_queues()) {
      list->push_back({"vkGetPhysicalDeviceQueueFamilyProperties", as_function(get_families)});
      list->push_back({"vkGetPhysicalDeviceQueueFamilyProperties2", as_function(get_families_2)});
      list->push_back(
          {"vkGetPhysicalDeviceQueueFamilyProperties2KHR", as_function(get_families_2)});
      list->push_back({"vkGetPhysicalDeviceSurfaceSupportKHR", as_function(get_surface_support)});
    }
    for (const Intercepted& call : pretending_feature_calls()) list->push_back(call);
    return list;
  }();
  return calls;
}

}  // namespace interlock
