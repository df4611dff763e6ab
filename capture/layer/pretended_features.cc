#include "capture/layer/pretended_features.h"

#include <array>
#include <cstddef>
#include <cstring>
#include <span>

#include "capture/layer/run_options.h"

namespace interlock {
namespace {

bool pretends_features() {
  static const bool kIs = run_options().pretends("features");
  return kIs;
}

// ---------------------------------------------------------------------------------

// Structures of features are booleans after their head; of these it is known how many.
struct FeatureList {
  VkStructureType type;
  size_t offset_bytes;
  size_t count;
};

template <typename Structure>
constexpr FeatureList list_of(VkStructureType type) {
  constexpr size_t kHead = sizeof(VkBaseOutStructure);
  return {type, kHead, (sizeof(Structure) - kHead) / sizeof(VkBool32)};
}

constexpr FeatureList kFeatureLists[] = {
    list_of<VkPhysicalDeviceFeatures2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2),
    list_of<VkPhysicalDeviceVulkan11Features>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES),
    list_of<VkPhysicalDeviceVulkan12Features>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES),
    list_of<VkPhysicalDeviceVulkan13Features>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES),
    list_of<VkPhysicalDeviceShaderFloat16Int8Features>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES),
    list_of<VkPhysicalDevice16BitStorageFeatures>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES),
    list_of<VkPhysicalDevice8BitStorageFeatures>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES),
    list_of<VkPhysicalDeviceSubgroupSizeControlFeatures>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES),
};

// The booleans of a structure; none of one that is not known.
std::span<VkBool32> features_in(VkBaseOutStructure& structure) {
  for (const FeatureList& list : kFeatureLists) {
    if (list.type != structure.sType) continue;
    auto* const begin = reinterpret_cast<std::byte*>(&structure) + list.offset_bytes;
    return {reinterpret_cast<VkBool32*>(begin), list.count};
  }
  return {};
}

void claim_features(void* chain) {
  for (auto* item = static_cast<VkBaseOutStructure*>(chain); item != nullptr; item = item->pNext) {
    for (VkBool32& feature : features_in(*item)) feature = VK_TRUE;
  }
}

PFN_vkGetPhysicalDeviceFeatures2 next_features_2(VkPhysicalDevice physical) {
  const auto next =
      next_of<PFN_vkGetPhysicalDeviceFeatures2>(physical, "vkGetPhysicalDeviceFeatures2");
  if (next != nullptr) return next;
  return next_of<PFN_vkGetPhysicalDeviceFeatures2>(physical, "vkGetPhysicalDeviceFeatures2KHR");
}

VKAPI_ATTR void VKAPI_CALL get_features(VkPhysicalDevice physical,
                                        VkPhysicalDeviceFeatures* features) {
  next_of<PFN_vkGetPhysicalDeviceFeatures>(physical, "vkGetPhysicalDeviceFeatures")(physical,
                                                                                    features);
  if (!pretends_features()) return;
  for (size_t i = 0; i < sizeof(*features) / sizeof(VkBool32); ++i) {
    reinterpret_cast<VkBool32*>(features)[i] = VK_TRUE;
  }
}

VKAPI_ATTR void VKAPI_CALL get_features_2(VkPhysicalDevice physical,
                                          VkPhysicalDeviceFeatures2* features) {
  next_features_2(physical)(physical, features);
  if (pretends_features()) claim_features(features);
}

// Takes out what the driver does not have. The application's own structures are changed: it may
// read them again, and finds there what it really got.
void keep_real_chain(VkPhysicalDevice physical, const void* chain) {
  for (auto* item = static_cast<VkBaseOutStructure*>(const_cast<void*>(chain)); item != nullptr;
       item = item->pNext) {
    const std::span<VkBool32> wanted = features_in(*item);
    if (wanted.empty()) continue;
    // Room for the largest of them.
    alignas(VkBaseOutStructure) std::array<std::byte, sizeof(VkPhysicalDeviceFeatures2)> bytes = {};
    auto& real = *reinterpret_cast<VkBaseOutStructure*>(bytes.data());
    real.sType = item->sType;
    VkPhysicalDeviceFeatures2 head = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
    const bool is_head = item->sType == head.sType;
    if (!is_head) head.pNext = &real;
    next_features_2(physical)(physical, &head);
    if (is_head) std::memcpy(bytes.data(), &head, sizeof(head));
    const std::span<VkBool32> has = features_in(real);
    for (size_t i = 0; i < wanted.size(); ++i) wanted[i] = wanted[i] & has[i];
  }
}

}  // namespace

void keep_real_features(VkPhysicalDevice physical, const VkDeviceCreateInfo& info) {
  if (!pretends_features()) return;
  keep_real_chain(physical, info.pNext);
  if (info.pEnabledFeatures == nullptr) return;
  VkPhysicalDeviceFeatures real;
  next_of<PFN_vkGetPhysicalDeviceFeatures>(physical, "vkGetPhysicalDeviceFeatures")(physical,
                                                                                    &real);
  auto* const wanted =
      reinterpret_cast<VkBool32*>(const_cast<VkPhysicalDeviceFeatures*>(info.pEnabledFeatures));
  for (size_t i = 0; i < sizeof(real) / sizeof(VkBool32); ++i) {
    wanted[i] = wanted[i] & reinterpret_cast<const VkBool32*>(&real)[i];
  }
}

std::span<const Intercepted> pretending_feature_calls() {
  if (!pretends_features()) return {};
  static const std::array kCalls = {
      Intercepted{"vkGetPhysicalDeviceFeatures", as_function(get_features)},
      Intercepted{"vkGetPhysicalDeviceFeatures2", as_function(get_features_2)},
      Intercepted{"vkGetPhysicalDeviceFeatures2KHR", as_function(get_features_2)},
  };
  return kCalls;
}

}  // namespace interlock
