#include "backends/vulkan/instance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "backends/vulkan/driver_error.h"
#include "encoder/program/error_of.h"

// For builds with a leak check: lavapipe and the layers keep what they allocated until the process
// ends, and what is not ours cannot be freed by us. Leaks of our own are still found. Weak: a
// program may have suppressions of its own.
extern "C" [[gnu::weak]] const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libvulkan_lvp.so\nleak:libVkLayer_khronos_validation.so\nleak:libLLVM\n";
}

namespace interlock {
namespace {

constexpr const char* kValidationLayer = "VK_LAYER_KHRONOS_validation";
constexpr const char* kMessengerExtension = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;

// volk fills process-wide tables of functions.
std::mutex loader_mutex;

// A bound: a loop that reports per dispatch must not fill the memory.
constexpr size_t kMessageCountMax = 10'000;

VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                          VkDebugUtilsMessageTypeFlagsEXT,
                                          const VkDebugUtilsMessengerCallbackDataEXT* data,
                                          void* log) {
  const std::string_view id = data->pMessageIdName == nullptr ? "" : data->pMessageIdName;
  static_cast<ValidationLog*>(log)->add(id, data->pMessage == nullptr ? "" : data->pMessage);
  return VK_FALSE;
}

bool has_layer(const char* name) {
  uint32_t count = 0;
  vkEnumerateInstanceLayerProperties(&count, nullptr);
  std::vector<VkLayerProperties> layers(count);
  vkEnumerateInstanceLayerProperties(&count, layers.data());
  return std::any_of(layers.begin(), layers.end(), [&](const VkLayerProperties& layer) {
    return std::strcmp(layer.layerName, name) == 0;
  });
}

bool has_extension(const char* name) {
  uint32_t count = 0;
  vkEnumerateInstanceExtensionProperties(nullptr, &count, nullptr);
  std::vector<VkExtensionProperties> extensions(count);
  vkEnumerateInstanceExtensionProperties(nullptr, &count, extensions.data());
  return std::any_of(extensions.begin(), extensions.end(), [&](const VkExtensionProperties& e) {
    return std::strcmp(e.extensionName, name) == 0;
  });
}

VkDebugUtilsMessengerCreateInfoEXT messenger_info(ValidationLog& log) {
  VkDebugUtilsMessengerCreateInfoEXT info{VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT};
  info.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                         VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  info.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
  info.pfnUserCallback = on_message;
  info.pUserData = &log;
  return info;
}

}  // namespace

void ValidationLog::add(std::string_view id, std::string_view message) {
  const std::lock_guard lock(mutex_);
  std::vector<ValidationMessage>& messages = id.starts_with("SYNC-HAZARD") ? hazards_ : errors_;
  if (messages.size() >= kMessageCountMax) return;
  messages.push_back(
      {fmt::format("{}: {}", id, message), statement_.load(std::memory_order_relaxed)});
}

std::vector<ValidationMessage> ValidationLog::take_errors() {
  const std::lock_guard lock(mutex_);
  return std::exchange(errors_, {});
}

std::vector<ValidationMessage> ValidationLog::take_hazards() {
  const std::lock_guard lock(mutex_);
  return std::exchange(hazards_, {});
}

Result<std::unique_ptr<VulkanInstance>> VulkanInstance::create(bool validates, VkResult* failed) {
  const std::lock_guard lock(loader_mutex);
  // lavapipe runs small work two to six times faster on the thread that submits it. Read once, when
  // the first instance loads the driver; a value of the user stays.
  setenv("LP_NUM_THREADS", "0", 0);
  if (volkInitialize() != VK_SUCCESS) {
    return Error{"there is no Vulkan loader: libvulkan.so.1 cannot be loaded."};
  }
  if (volkGetInstanceVersion() < VK_API_VERSION_1_1) {
    return Error{"the Vulkan loader is older than Vulkan 1.1."};
  }
  if (validates && !has_layer(kValidationLayer)) {
    return error_of("there is no layer {}.", kValidationLayer);
  }
  std::unique_ptr<VulkanInstance> instance(new VulkanInstance);
  const bool has_messenger = has_extension(kMessengerExtension);

  VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
  application.pApplicationName = "interlock";
  application.apiVersion = VK_API_VERSION_1_3;
  VkValidationFeatureEnableEXT checks[] = {
      VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
  VkValidationFeaturesEXT features{VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT};
  features.enabledValidationFeatureCount = 1;
  features.pEnabledValidationFeatures = checks;
  const VkDebugUtilsMessengerCreateInfoEXT messenger = messenger_info(instance->log_);
  VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  info.pApplicationInfo = &application;
  if (has_messenger) {
    info.pNext = &messenger;
    info.enabledExtensionCount = 1;
    info.ppEnabledExtensionNames = &kMessengerExtension;
  }
  if (validates) {
    features.pNext = info.pNext;
    info.pNext = &features;
    info.enabledLayerCount = 1;
    info.ppEnabledLayerNames = &kValidationLayer;
  }
  const VkResult created = vkCreateInstance(&info, nullptr, &instance->handle_);
  if (created == VK_ERROR_INCOMPATIBLE_DRIVER) {
    return Error{"there is no Vulkan driver (VK_ERROR_INCOMPATIBLE_DRIVER)."};
  }
  if (created != VK_SUCCESS) return driver_error(created, "creating an instance", failed);
  volkLoadInstanceOnly(instance->handle_);
  const bool listens =
      has_messenger && vkCreateDebugUtilsMessengerEXT(instance->handle_, &messenger, nullptr,
                                                      &instance->messenger_) == VK_SUCCESS;
  if (!listens) instance->messenger_ = VK_NULL_HANDLE;
  return instance;
}

VulkanInstance::~VulkanInstance() {
  if (messenger_ != VK_NULL_HANDLE) vkDestroyDebugUtilsMessengerEXT(handle_, messenger_, nullptr);
  if (handle_ != VK_NULL_HANDLE) vkDestroyInstance(handle_, nullptr);
}

}  // namespace interlock
