// What the layer keeps between calls: the functions of the next layer for each instance and device,
// the log of the process, and of objects only what a later call needs to be understood at all.
#pragma once

#include <volk.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "capture/layer/layer_log.h"
#include "capture/layer/next_functions.h"

namespace interlock {

struct Instance {
  VkInstance handle = VK_NULL_HANDLE;
  PFN_vkGetInstanceProcAddr next_function = nullptr;
  uint32_t api_version = VK_API_VERSION_1_0;  // That the application asked for.
  PFN_vkDestroyInstance destroy = nullptr;
  PFN_vkGetPhysicalDeviceMemoryProperties memory_properties = nullptr;
  PFN_vkGetPhysicalDeviceProperties properties = nullptr;
  // Of the next layer, others that are called, by name. Resolved where the instance is created:
  // later the loader answers with the top of the chain.
  std::map<std::string_view, PFN_vkVoidFunction> others;

  // Null if the next layer has none of this name.
  template <typename Function>
  Function other(std::string_view name) const {
    const auto found = others.find(name);
    return found == others.end() ? nullptr : reinterpret_cast<Function>(found->second);
  }
};

struct UpdateTemplate {
  std::vector<VkDescriptorUpdateTemplateEntry> entries;
  uint32_t bind_point = 0;  // Of templates that push.
};

struct QueryPool {
  uint32_t number_count = 0;  // Of the result of one query, without its availability.
};

struct Swapchain {
  VkSwapchainCreateInfoKHR info = {};
  std::set<uint64_t> images;  // That were asked for.
};

class ExactDevice;

struct Device {
  VkDevice handle = VK_NULL_HANDLE;
  PFN_vkGetDeviceProcAddr next_function = nullptr;
  VolkDeviceTable next = {};
  DebugFunctions debug;
  VkPhysicalDeviceMemoryProperties memory = {};
  // An address of a buffer was asked for: push constants may hold one from then on.
  std::atomic<bool> gave_addresses{false};
  std::atomic<bool> imported_fences{false};
  std::atomic<bool> is_lost{false};  // And the log says so.
  std::mutex mutex;                  // Of the rest.
  // Shared with the calls that read them, which need no lock.
  std::unordered_map<uint64_t, std::shared_ptr<const UpdateTemplate>> templates;
  std::unordered_map<uint64_t, Swapchain> swapchains;
  std::unordered_map<uint64_t, QueryPool> query_pools;
  std::shared_ptr<ExactDevice> exact;  // With --exact, where the device can; it has its own mutex.
};

// By the word that a dispatchable handle begins with: the loader's, and the same for all that comes
// from an instance or from a device. Reads take no lock; there are few entries.
template <typename T>
class ByDispatchKey {
 public:
  T* find(const void* dispatchable) const {
    const void* const key = key_of(dispatchable);
    for (const Entry* entry = first_.load(std::memory_order_acquire); entry != nullptr;
         entry = entry->next) {
      if (entry->key.load(std::memory_order_acquire) == key) return entry->value;
    }
    return nullptr;
  }

  void add(const void* dispatchable, T* value) {
    // Entries stay for readers, and what a device that is gone had can be another's.
    auto* const entry = new Entry{key_of(dispatchable), value, first_.load()};
    while (!first_.compare_exchange_weak(entry->next, entry)) {
    }
  }

  // Returns what was there.
  T* remove(const void* dispatchable) {
    const void* const key = key_of(dispatchable);
    for (Entry* entry = first_.load(); entry != nullptr; entry = entry->next) {
      if (entry->key.load() != key) continue;
      entry->key.store(nullptr);
      return entry->value;
    }
    return nullptr;
  }

 private:
  struct Entry {
    std::atomic<const void*> key;
    T* value;
    Entry* next;
  };

  static const void* key_of(const void* dispatchable) {
    return *static_cast<const void* const*>(dispatchable);
  }

  std::atomic<Entry*> first_{nullptr};
};

ByDispatchKey<Instance>& instances();
ByDispatchKey<Device>& devices();

// Requires: `dispatchable` is a device, a queue or a command buffer.
inline Device& device_of(const void* dispatchable) { return *devices().find(dispatchable); }

// Of this process. Where nobody asked for one, or it could not be opened, it takes nothing.
LayerLog& log();

// Notes that a call failed: what was submitted may not have executed. Not so where a surface is
// another one, which is ordinary; and that a device is lost once, since applications ask in a loop.
void log_failure(const char* call, VkResult result, Device& device, uint64_t queue = 0);

// Opens the log where the environment asks for it; once for a process, the first time.
void open_log(const VkApplicationInfo* application);

}  // namespace interlock
