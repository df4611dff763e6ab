// The layer as the loader sees it: how instances and devices are created, and which function a name
// stands for. What the loader asks of a layer: its document "LoaderLayerInterface.md", version 2 of
// the interface.

#include <volk.h>
#include <vulkan/vk_layer.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "capture/layer/devices.h"
#include "capture/layer/exact_device.h"
#include "capture/layer/intercepted.h"
#include "capture/layer/next_functions.h"
#include "capture/layer/pretended_device.h"
#include "capture/layer/validation_watch.h"
#include "capture/log/log_writer.h"
#include "capture/log/object_records.h"

namespace interlock {
namespace {

PFN_vkVoidFunction find_instance_call(std::string_view name);

// The loader's word about the next layer, in the chain of what creates an instance or a device.
template <typename LayerInfo>
LayerInfo* find_link(const void* chain, VkStructureType type) {
  for (auto* item = static_cast<const VkBaseInStructure*>(chain); item != nullptr;
       item = item->pNext) {
    auto* const info = reinterpret_cast<LayerInfo*>(const_cast<VkBaseInStructure*>(item));
    if (item->sType == type && info->function == VK_LAYER_LINK_INFO) return info;
  }
  return nullptr;
}

// Of physical devices: what goes on to the next layer by name.
const std::vector<Intercepted>& instance_calls() {
  static const std::vector<Intercepted>& all = *[] {
    auto* const list = new std::vector<Intercepted>;
    for (const auto calls : {pretending_instance_calls(), image_format_calls()}) {
      list->insert(list->end(), calls.begin(), calls.end());
    }
    return list;
  }();
  return all;
}

VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo* info,
                                               const VkAllocationCallbacks* allocator,
                                               VkInstance* handle) {
  auto* const link = find_link<VkLayerInstanceCreateInfo>(
      info->pNext, VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO);
  if (link == nullptr || link->u.pLayerInfo == nullptr) return VK_ERROR_INITIALIZATION_FAILED;
  const PFN_vkGetInstanceProcAddr next = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
  link->u.pLayerInfo = link->u.pLayerInfo->pNext;
  const auto create =
      reinterpret_cast<PFN_vkCreateInstance>(next(VK_NULL_HANDLE, "vkCreateInstance"));
  if (create == nullptr) return VK_ERROR_INITIALIZATION_FAILED;
  const VkResult result = create(info, allocator, handle);
  if (result != VK_SUCCESS) return result;
  open_log(info->pApplicationInfo);
  auto* const instance = new Instance;
  instance->handle = *handle;
  instance->next_function = next;
  if (info->pApplicationInfo != nullptr && info->pApplicationInfo->apiVersion != 0) {
    instance->api_version = info->pApplicationInfo->apiVersion;
  }
  const auto load = [&]<typename Function>(Function& function, const char* name) {
    function = reinterpret_cast<Function>(next(*handle, name));
  };
  load(instance->destroy, "vkDestroyInstance");
  load(instance->memory_properties, "vkGetPhysicalDeviceMemoryProperties");
  load(instance->properties, "vkGetPhysicalDeviceProperties");
  for (const Intercepted& call : instance_calls()) {
    instance->others[call.name] = next(*handle, call.name);
  }
  instance->others[kToolsCall] = next(*handle, kToolsCall);
  instances().add(*handle, instance);
  watch_validation(*handle, next);
  return result;
}

VKAPI_ATTR void VKAPI_CALL destroy_instance(VkInstance handle,
                                            const VkAllocationCallbacks* allocator) {
  if (handle == VK_NULL_HANDLE) return;
  const std::unique_ptr<Instance> instance(instances().remove(handle));
  instance->destroy(handle, allocator);
}

std::string extensions_of(const VkDeviceCreateInfo& info) {
  std::string names;
  for (uint32_t i = 0; i < info.enabledExtensionCount; ++i) {
    names += names.empty() ? "" : " ";
    names += info.ppEnabledExtensionNames[i];
  }
  return names;
}

VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical,
                                             const VkDeviceCreateInfo* info,
                                             const VkAllocationCallbacks* allocator,
                                             VkDevice* handle) {
  auto* const link =
      find_link<VkLayerDeviceCreateInfo>(info->pNext, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO);
  const Instance* const instance = instances().find(physical);
  if (link == nullptr || link->u.pLayerInfo == nullptr || instance == nullptr) {
    return VK_ERROR_INITIALIZATION_FAILED;
  }
  const VkLayerDeviceLink next = *link->u.pLayerInfo;
  link->u.pLayerInfo = next.pNext;
  const auto create = reinterpret_cast<PFN_vkCreateDevice>(
      next.pfnNextGetInstanceProcAddr(instance->handle, "vkCreateDevice"));
  if (create == nullptr) return VK_ERROR_INITIALIZATION_FAILED;
  const RealDeviceInfo real(physical, *info);
  const VkResult result = create(physical, &real.info(), allocator, handle);
  if (result != VK_SUCCESS) return result;
  auto* const device = new Device;
  device->handle = *handle;
  device->next_function = next.pfnNextGetDeviceProcAddr;
  load_next(*handle, next.pfnNextGetDeviceProcAddr, device->next, device->debug);
  instance->memory_properties(physical, &device->memory);
  devices().add(*handle, device);
  VkPhysicalDeviceProperties properties = {};
  instance->properties(physical, &properties);
  log().append(DeviceRecord{number_of(*handle), properties.deviceName, extensions_of(*info),
                            std::min(instance->api_version, properties.apiVersion)});
  open_exact(*device, properties.limits);
  append_validation(*instance, physical);
  return result;
}

VKAPI_ATTR void VKAPI_CALL destroy_device(VkDevice handle, const VkAllocationCallbacks* allocator) {
  if (handle == VK_NULL_HANDLE) return;
  if (Device* const ending = devices().find(handle)) close_exact(*ending);
  log().append(DestroyRecord{VK_OBJECT_TYPE_DEVICE, number_of(handle)});
  const std::unique_ptr<Device> device(devices().remove(handle));
  device->next.vkDestroyDevice(handle, allocator);
}

using CallTable = std::unordered_map<std::string_view, PFN_vkVoidFunction>;

const CallTable& device_calls() {
  static const CallTable& all = *[] {
    auto* const table = new CallTable;
    // What stands first counts.
    for (const auto list : {exact_object_calls, exact_work_calls}) {
      if (!exact_is_asked_for()) break;
      for (const Intercepted& call : list()) table->emplace(call.name, call.function);
    }
    for (const auto list :
         {memory_calls, image_calls, descriptor_calls, pipeline_calls, command_buffer_calls,
          dispatch_calls, render_pass_calls, pass_calls, draw_calls, transfer_calls, barrier_calls,
          queue_calls, host_sync_calls, shared_sync_calls, debug_calls, marker_calls,
          not_understood_calls, pretending_device_calls}) {
      for (const Intercepted& call : list()) table->emplace(call.name, call.function);
    }
    table->emplace("vkDestroyDevice", as_function(destroy_device));
    return table;
  }();
  return all;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_function(VkDevice handle, const char* name) {
  if (std::string_view(name) == "vkGetDeviceProcAddr") return as_function(get_device_function);
  const Device& device = device_of(handle);
  const PFN_vkVoidFunction next = device.next_function(handle, name);
  const auto own = device_calls().find(name);
  // What the device does not have, it does not have through the layer.
  return next == nullptr || own == device_calls().end() ? next : own->second;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_function(VkInstance handle,
                                                               const char* name) {
  if (const PFN_vkVoidFunction own = find_instance_call(name)) return own;
  if (handle == VK_NULL_HANDLE) return nullptr;
  const Instance* const instance = instances().find(handle);
  if (instance == nullptr) return nullptr;
  const PFN_vkVoidFunction next = instance->next_function(handle, name);
  const auto own = device_calls().find(name);
  return next == nullptr || own == device_calls().end() ? next : own->second;
}

PFN_vkVoidFunction find_instance_call(std::string_view name) {
  if (name == "vkGetInstanceProcAddr") return as_function(get_instance_function);
  if (name == "vkGetDeviceProcAddr") return as_function(get_device_function);
  if (name == "vkCreateInstance") return as_function(create_instance);
  if (name == "vkDestroyInstance") return as_function(destroy_instance);
  if (name == "vkCreateDevice") return as_function(create_device);
  for (const Intercepted& call : instance_calls()) {
    if (name == call.name) return call.function;
  }
  return nullptr;
}

}  // namespace
}  // namespace interlock

// The only name that the library exports.
extern "C" __attribute__((visibility("default"))) VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface* negotiation) {
  if (negotiation == nullptr || negotiation->sType != LAYER_NEGOTIATE_INTERFACE_STRUCT ||
      negotiation->loaderLayerInterfaceVersion < 2) {
    return VK_ERROR_INITIALIZATION_FAILED;
  }
  negotiation->loaderLayerInterfaceVersion = 2;
  negotiation->pfnGetInstanceProcAddr = interlock::get_instance_function;
  negotiation->pfnGetDeviceProcAddr = interlock::get_device_function;
  negotiation->pfnGetPhysicalDeviceProcAddr = nullptr;
  return VK_SUCCESS;
}
