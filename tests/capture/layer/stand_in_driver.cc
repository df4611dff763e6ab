#include "tests/capture/layer/stand_in_driver.h"

#include <dlfcn.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <vulkan/vk_layer.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <type_traits>

namespace interlock {
namespace {

// A dispatchable handle begins with a word of the loader's, the same for all of one instance, and
// for all of one device.
struct Dispatchable {
  const void* key;
};
const int instance_key = 0;
const int device_key = 0;
Dispatchable instance_object{&instance_key};
Dispatchable physical_object{&instance_key};
Dispatchable device_object{&device_key};
Dispatchable queue_object{&device_key};
Dispatchable commands_object{&device_key};

template <typename Handle>
Handle handle_of(Dispatchable& object) {
  return reinterpret_cast<Handle>(&object);
}

std::map<std::string, VkResult>& results() {
  static std::map<std::string, VkResult> all;
  return all;
}

VkResult result_of(const char* name) {
  const auto found = results().find(name);
  return found == results().end() ? VK_SUCCESS : found->second;
}

// Whatever it is asked.
VkResult succeed(...) { return VK_SUCCESS; }

VkResult create_instance(const VkInstanceCreateInfo*, const VkAllocationCallbacks*,
                         VkInstance* instance) {
  *instance = handle_of<VkInstance>(instance_object);
  return VK_SUCCESS;
}

VkResult create_device(VkPhysicalDevice, const VkDeviceCreateInfo*, const VkAllocationCallbacks*,
                       VkDevice* device) {
  *device = handle_of<VkDevice>(device_object);
  return VK_SUCCESS;
}

void get_properties(VkPhysicalDevice, VkPhysicalDeviceProperties* properties) {
  *properties = {};
  std::snprintf(properties->deviceName, sizeof(properties->deviceName), "stand-in");
  properties->apiVersion = VK_API_VERSION_1_3;
}

void get_memory_properties(VkPhysicalDevice, VkPhysicalDeviceMemoryProperties* properties) {
  *properties = {};
}

void get_queue(VkDevice, uint32_t, uint32_t, VkQueue* queue) {
  *queue = handle_of<VkQueue>(queue_object);
}

VkResult allocate_commands(VkDevice, const VkCommandBufferAllocateInfo*,
                           VkCommandBuffer* commands) {
  *commands = handle_of<VkCommandBuffer>(commands_object);
  return VK_SUCCESS;
}

template <typename Info, typename Handle, uint64_t kFirst>
VkResult create(VkDevice, const Info*, const VkAllocationCallbacks*, Handle* handle) {
  static uint64_t next = kFirst;
  *handle = reinterpret_cast<Handle>(next++);
  return VK_SUCCESS;
}

VkResult get_images(VkDevice, VkSwapchainKHR, uint32_t* count, VkImage* images) {
  *count = 1;
  if (images != nullptr) *images = reinterpret_cast<VkImage>(uint64_t{900});
  return VK_SUCCESS;
}

VkResult acquire(VkDevice, VkSwapchainKHR, uint64_t, VkSemaphore, VkFence, uint32_t* index) {
  *index = 0;
  return result_of("vkAcquireNextImageKHR");
}

VkResult acquire_2(VkDevice, const VkAcquireNextImageInfoKHR*, uint32_t* index) {
  *index = 0;
  return result_of("vkAcquireNextImage2KHR");
}

VkResult present(VkQueue, const VkPresentInfoKHR*) { return result_of("vkQueuePresentKHR"); }

// A file of its own each.
template <typename Info>
VkResult get_file(VkDevice, const Info*, int* file) {
  const bool is_fence = std::is_same_v<Info, VkFenceGetFdInfoKHR>;
  const VkResult result = result_of(is_fence ? "vkGetFenceFdKHR" : "vkGetSemaphoreFdKHR");
  if (result == VK_SUCCESS) *file = eventfd(0, 0);
  return result;
}

// It takes the descriptor.
template <typename Info>
VkResult import_file(VkDevice, const Info* info) {
  const bool is_fence = std::is_same_v<Info, VkImportFenceFdInfoKHR>;
  const VkResult result = result_of(is_fence ? "vkImportFenceFdKHR" : "vkImportSemaphoreFdKHR");
  if (result == VK_SUCCESS) close(info->fd);
  return result;
}

VkResult get_event_status(VkDevice, VkEvent) {
  return result_of("vkGetEventStatus") == VK_EVENT_SET ? VK_EVENT_SET : VK_EVENT_RESET;
}

template <typename Function>
PFN_vkVoidFunction as_function(Function function) {
  return reinterpret_cast<PFN_vkVoidFunction>(function);
}

const std::map<std::string_view, PFN_vkVoidFunction>& functions() {
  static const std::map<std::string_view, PFN_vkVoidFunction> all = {
      {"vkCreateInstance", as_function(create_instance)},
      {"vkCreateDevice", as_function(create_device)},
      {"vkGetPhysicalDeviceProperties", as_function(get_properties)},
      {"vkGetPhysicalDeviceMemoryProperties", as_function(get_memory_properties)},
      {"vkGetDeviceQueue", as_function(get_queue)},
      {"vkAllocateCommandBuffers", as_function(allocate_commands)},
      {"vkCreateSemaphore", as_function(create<VkSemaphoreCreateInfo, VkSemaphore, 500>)},
      {"vkCreateFence", as_function(create<VkFenceCreateInfo, VkFence, 600>)},
      {"vkCreateSwapchainKHR", as_function(create<VkSwapchainCreateInfoKHR, VkSwapchainKHR, 700>)},
      {"vkGetSwapchainImagesKHR", as_function(get_images)},
      {"vkAcquireNextImageKHR", as_function(acquire)},
      {"vkAcquireNextImage2KHR", as_function(acquire_2)},
      {"vkQueuePresentKHR", as_function(present)},
      {"vkCreateBuffer", as_function(create<VkBufferCreateInfo, VkBuffer, 800>)},
      {"vkAllocateMemory", as_function(create<VkMemoryAllocateInfo, VkDeviceMemory, 1000>)},
      {"vkGetSemaphoreFdKHR", as_function(get_file<VkSemaphoreGetFdInfoKHR>)},
      {"vkImportSemaphoreFdKHR", as_function(import_file<VkImportSemaphoreFdInfoKHR>)},
      {"vkGetFenceFdKHR", as_function(get_file<VkFenceGetFdInfoKHR>)},
      {"vkImportFenceFdKHR", as_function(import_file<VkImportFenceFdInfoKHR>)},
      {"vkGetEventStatus", as_function(get_event_status)},
  };
  return all;
}

PFN_vkVoidFunction find(std::string_view name) {
  const auto found = functions().find(name);
  return found == functions().end() ? as_function(succeed) : found->second;
}

PFN_vkVoidFunction stand_in_of_instance(VkInstance, const char* name) { return find(name); }
PFN_vkVoidFunction stand_in_of_device(VkDevice, const char* name) { return find(name); }

}  // namespace

void StandInDriver::set_result(const std::string& name, VkResult result) {
  results()[name] = result;
}

StandInDriver::StandInDriver() {
  void* const layer = dlopen(LAYER_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (layer == nullptr) std::abort();
  const auto negotiate = reinterpret_cast<PFN_vkNegotiateLoaderLayerInterfaceVersion>(
      dlsym(layer, "vkNegotiateLoaderLayerInterfaceVersion"));
  VkNegotiateLayerInterface interface = {};
  interface.sType = LAYER_NEGOTIATE_INTERFACE_STRUCT;
  interface.loaderLayerInterfaceVersion = 2;
  if (negotiate == nullptr || negotiate(&interface) != VK_SUCCESS) std::abort();
  get_device_function_ = interface.pfnGetDeviceProcAddr;

  VkLayerInstanceLink instance_link = {nullptr, stand_in_of_instance, nullptr};
  VkLayerInstanceCreateInfo instance_layer = {};
  instance_layer.sType = VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO;
  instance_layer.function = VK_LAYER_LINK_INFO;
  instance_layer.u.pLayerInfo = &instance_link;
  VkInstanceCreateInfo instance_info = {};
  instance_info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  instance_info.pNext = &instance_layer;
  VkInstance instance = VK_NULL_HANDLE;
  reinterpret_cast<PFN_vkCreateInstance>(interface.pfnGetInstanceProcAddr(
      VK_NULL_HANDLE, "vkCreateInstance"))(&instance_info, nullptr, &instance);

  VkLayerDeviceLink device_link = {nullptr, stand_in_of_instance, stand_in_of_device};
  VkLayerDeviceCreateInfo device_layer = {};
  device_layer.sType = VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO;
  device_layer.function = VK_LAYER_LINK_INFO;
  device_layer.u.pLayerInfo = &device_link;
  VkDeviceCreateInfo device_info = {};
  device_info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  device_info.pNext = &device_layer;
  reinterpret_cast<PFN_vkCreateDevice>(
      interface.pfnGetInstanceProcAddr(instance, "vkCreateDevice"))(
      handle_of<VkPhysicalDevice>(physical_object), &device_info, nullptr, &device_);
  call<PFN_vkGetDeviceQueue>("vkGetDeviceQueue")(device_, 0, 0, &queue_);
  VkCommandBufferAllocateInfo commands_info = {};
  commands_info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
  commands_info.commandBufferCount = 1;
  call<PFN_vkAllocateCommandBuffers>("vkAllocateCommandBuffers")(device_, &commands_info,
                                                                 &commands_);
}

}  // namespace interlock
