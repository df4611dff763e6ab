#include "tests/capture/application/sample_device.h"

#include <cstddef>
#include <cstdio>
#include <cstdlib>

// Its bodies, too: the application loads the driver at run time.
#define VOLK_IMPLEMENTATION
#include <volk.h>

namespace interlock {
namespace {

constexpr uint32_t kAddOne[] =
#include <add_one.comp.inc>
    ;

uint32_t memory_type(VkPhysicalDevice physical, uint32_t allowed) {
  VkPhysicalDeviceMemoryProperties properties;
  vkGetPhysicalDeviceMemoryProperties(physical, &properties);
  constexpr VkMemoryPropertyFlags kWanted =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  for (uint32_t i = 0; i < properties.memoryTypeCount; ++i) {
    const bool is_wanted = (properties.memoryTypes[i].propertyFlags & kWanted) == kWanted;
    if ((allowed & (1u << i)) != 0 && is_wanted) return i;
  }
  return 0;
}

// Ends the program with status 4 unless there are two, of an integrated GPU.
void require_two_families(VkPhysicalDevice physical) {
  uint32_t count = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, nullptr);
  VkPhysicalDeviceProperties properties;
  vkGetPhysicalDeviceProperties(physical, &properties);
  if (count < 2 || properties.deviceType != VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU) std::exit(4);
}

}  // namespace

void require(VkResult result, const char* call) {
  if (result == VK_SUCCESS) return;
  std::fprintf(stderr, "%s returned %d.\n", call, static_cast<int>(result));
  std::exit(3);
}

SampleDevice::SampleDevice(SampleWishes wishes) {
  require(volkInitialize(), "volkInitialize");
  VkApplicationInfo application = {VK_STRUCTURE_TYPE_APPLICATION_INFO};
  application.pApplicationName = "sample";
  application.apiVersion = VK_API_VERSION_1_3;
  VkInstanceCreateInfo info = {VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  info.pApplicationInfo = &application;
  const char* const labels = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
  info.enabledExtensionCount = wishes.is_unnamed ? 0 : 1;
  info.ppEnabledExtensionNames = &labels;
  require(vkCreateInstance(&info, nullptr, &instance_), "vkCreateInstance");
  volkLoadInstance(instance_);
  uint32_t count = 1;
  if (vkEnumeratePhysicalDevices(instance_, &count, &physical_) < 0 || count == 0) {
    require(VK_ERROR_INITIALIZATION_FAILED, "vkEnumeratePhysicalDevices");
  }
  has_addresses_ = wishes.has_addresses;
  create_device(wishes);
  create_objects();
}

void SampleDevice::create_device(SampleWishes wishes) {
  if (wishes.has_two_families) require_two_families(physical_);
  const float priority = 1;
  VkDeviceQueueCreateInfo queue = {VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
  queue.queueFamilyIndex = family_;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  VkPhysicalDeviceVulkan13Features features_13 = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};
  features_13.synchronization2 = VK_TRUE;
  VkPhysicalDeviceVulkan12Features features_12 = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
  features_12.pNext = &features_13;
  features_12.timelineSemaphore = VK_TRUE;
  features_12.bufferDeviceAddress = wishes.has_addresses ? VK_TRUE : VK_FALSE;
  VkPhysicalDeviceVulkan11Features features_11 = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES};
  VkPhysicalDeviceFeatures2 features = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
  if (wishes.has_all_features) {
    features.pNext = &features_11;
    features_11.pNext = &features_12;
    vkGetPhysicalDeviceFeatures2(physical_, &features);
    const bool has_all = features.features.wideLines != 0 && features.features.alphaToOne != 0 &&
                         features_11.protectedMemory != 0 && features_13.maintenance4 != 0 &&
                         features_12.bufferDeviceAddressMultiDevice != 0;
    if (!has_all) std::exit(4);
  }
  VkDeviceQueueCreateInfo queues[] = {queue, queue};
  queues[1].queueFamilyIndex = 1;
  VkDeviceCreateInfo info = {VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  info.pNext = wishes.has_all_features ? static_cast<const void*>(&features) : &features_12;
  info.queueCreateInfoCount = wishes.has_two_families ? 2 : 1;
  info.pQueueCreateInfos = queues;
  VkPhysicalDeviceFeatures enabled = {};
  enabled.shaderStorageBufferArrayDynamicIndexing = VK_TRUE;
  enabled.robustBufferAccess = VK_TRUE;
  if (!wishes.has_all_features) info.pEnabledFeatures = &enabled;
  const char* const extensions[] = {VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME,
                                    wishes.has_files ? VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME
                                                     : VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME};
  const bool has_more = wishes.has_imports || wishes.has_files;
  info.enabledExtensionCount = has_more ? 2 : 1;
  info.ppEnabledExtensionNames = extensions;
  const VkResult result = vkCreateDevice(physical_, &info, nullptr, &device_);
  if (has_more && result == VK_ERROR_EXTENSION_NOT_PRESENT) std::exit(4);
  require(result, "vkCreateDevice");
  volkLoadDevice(device_);
  vkGetDeviceQueue(device_, family_, 0, &queue_);
  if (wishes.has_two_families) vkGetDeviceQueue(device_, 1, 0, &other_queue_);
  VkCommandPoolCreateInfo pool = {VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
  require(vkCreateCommandPool(device_, &pool, nullptr, &commands_), "vkCreateCommandPool");
  VkFenceCreateInfo fence = {VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  require(vkCreateFence(device_, &fence, nullptr, &fence_), "vkCreateFence");
}

uint32_t SampleDevice::storage_buffer_count_max() const {
  VkPhysicalDeviceProperties properties = {};
  vkGetPhysicalDeviceProperties(physical_, &properties);
  return properties.limits.maxPerStageDescriptorStorageBuffers;
}

void SampleDevice::create_objects() {
  const VkDescriptorSetLayoutBinding bindings[] = {
      {0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr},
      {1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr}};
  VkDescriptorSetLayoutCreateInfo set = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
  set.bindingCount = 2;
  set.pBindings = bindings;
  require(vkCreateDescriptorSetLayout(device_, &set, nullptr, &set_layout_), "a set layout");
  VkPipelineLayoutCreateInfo layout = {VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  layout.setLayoutCount = 1;
  layout.pSetLayouts = &set_layout_;
  require(vkCreatePipelineLayout(device_, &layout, nullptr, &layout_), "a pipeline layout");
  pipeline_ = create_pipeline(layout_, kAddOne);
  const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 64};
  VkDescriptorPoolCreateInfo pool = {VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
  pool.maxSets = 32;
  pool.poolSizeCount = 1;
  pool.pPoolSizes = &size;
  require(vkCreateDescriptorPool(device_, &pool, nullptr, &pool_), "vkCreateDescriptorPool");
}

std::span<const uint32_t> SampleDevice::add_one() { return kAddOne; }

VkPipeline SampleDevice::create_pipeline(VkPipelineLayout layout,
                                         std::span<const uint32_t> code) const {
  VkShaderModuleCreateInfo info = {VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  info.codeSize = code.size_bytes();
  info.pCode = code.data();
  VkShaderModule module = VK_NULL_HANDLE;
  require(vkCreateShaderModule(device_, &info, nullptr, &module), "vkCreateShaderModule");
  VkComputePipelineCreateInfo pipeline = {VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  pipeline.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO};
  pipeline.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  pipeline.stage.module = module;
  pipeline.stage.pName = "main";
  pipeline.layout = layout;
  VkPipeline made = VK_NULL_HANDLE;
  require(vkCreateComputePipelines(device_, VK_NULL_HANDLE, 1, &pipeline, nullptr, &made),
          "vkCreateComputePipelines");
  // Its accesses are known from here on.
  vkDestroyShaderModule(device_, module, nullptr);
  return made;
}

SampleDevice::~SampleDevice() {
  vkDeviceWaitIdle(device_);
  for (const SampleBuffer& made : buffers_) {
    vkDestroyBuffer(device_, made.buffer, nullptr);
    vkFreeMemory(device_, made.memory, nullptr);
  }
  vkDestroyFence(device_, fence_, nullptr);
  vkDestroyCommandPool(device_, commands_, nullptr);
  vkDestroyDescriptorPool(device_, pool_, nullptr);
  vkDestroyPipeline(device_, pipeline_, nullptr);
  vkDestroyPipelineLayout(device_, layout_, nullptr);
  vkDestroyDescriptorSetLayout(device_, set_layout_, nullptr);
  vkDestroyDevice(device_, nullptr);
  vkDestroyInstance(instance_, nullptr);
}

SampleBuffer SampleDevice::buffer() {
  SampleBuffer made;
  VkBufferCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = kSampleBytes;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
               VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT;
  if (has_addresses_) info.usage |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
  require(vkCreateBuffer(device_, &info, nullptr, &made.buffer), "vkCreateBuffer");
  VkMemoryRequirements needs;
  vkGetBufferMemoryRequirements(device_, made.buffer, &needs);
  VkMemoryAllocateInfo memory = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  VkMemoryAllocateFlagsInfo flags = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO};
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  if (has_addresses_) memory.pNext = &flags;
  memory.allocationSize = needs.size;
  memory.memoryTypeIndex = memory_type(physical_, needs.memoryTypeBits);
  require(vkAllocateMemory(device_, &memory, nullptr, &made.memory), "vkAllocateMemory");
  require(vkBindBufferMemory(device_, made.buffer, made.memory, 0), "vkBindBufferMemory");
  void* data = nullptr;
  require(vkMapMemory(device_, made.memory, 0, VK_WHOLE_SIZE, 0, &data), "vkMapMemory");
  made.words = static_cast<uint32_t*>(data);
  buffers_.push_back(made);
  return made;
}

SampleBuffer SampleDevice::buffer_at(void* pointer) {
  constexpr auto kHandle = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
  SampleBuffer made;
  VkExternalMemoryBufferCreateInfo external = {
      VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO};
  external.handleTypes = kHandle;
  VkBufferCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.pNext = &external;
  info.size = kSampleBytes;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
  require(vkCreateBuffer(device_, &info, nullptr, &made.buffer), "vkCreateBuffer");
  VkMemoryHostPointerPropertiesEXT types = {VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
  require(vkGetMemoryHostPointerPropertiesEXT(device_, kHandle, pointer, &types),
          "vkGetMemoryHostPointerPropertiesEXT");
  VkImportMemoryHostPointerInfoEXT import = {VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT};
  import.handleType = kHandle;
  import.pHostPointer = pointer;
  VkMemoryAllocateInfo memory = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  memory.pNext = &import;
  memory.allocationSize = kSampleImportBytes;
  memory.memoryTypeIndex = memory_type(physical_, types.memoryTypeBits);
  require(vkAllocateMemory(device_, &memory, nullptr, &made.memory), "vkAllocateMemory");
  require(vkBindBufferMemory(device_, made.buffer, made.memory, 0), "vkBindBufferMemory");
  made.words = static_cast<uint32_t*>(pointer);
  buffers_.push_back(made);
  return made;
}

SampleBuffer SampleDevice::shared_buffer(int file) {
  constexpr auto kHandle = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
  SampleBuffer made;
  VkExternalMemoryBufferCreateInfo external = {
      VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO};
  external.handleTypes = kHandle;
  VkBufferCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.pNext = &external;
  info.size = kSampleBytes;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
  require(vkCreateBuffer(device_, &info, nullptr, &made.buffer), "vkCreateBuffer");
  VkMemoryRequirements needs;
  vkGetBufferMemoryRequirements(device_, made.buffer, &needs);
  VkImportMemoryFdInfoKHR import = {VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR};
  import.handleType = kHandle;
  import.fd = file;
  VkExportMemoryAllocateInfo exported = {VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO};
  exported.handleTypes = kHandle;
  VkMemoryAllocateInfo memory = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  memory.pNext = file < 0 ? static_cast<const void*>(&exported) : &import;
  memory.allocationSize = needs.size;
  memory.memoryTypeIndex = memory_type(physical_, needs.memoryTypeBits);
  require(vkAllocateMemory(device_, &memory, nullptr, &made.memory), "vkAllocateMemory");
  require(vkBindBufferMemory(device_, made.buffer, made.memory, 0), "vkBindBufferMemory");
  buffers_.push_back(made);
  return made;
}

int SampleDevice::file_of(const SampleBuffer& buffer) const {
  VkMemoryGetFdInfoKHR info = {VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR};
  info.memory = buffer.memory;
  info.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
  int file = -1;
  require(vkGetMemoryFdKHR(device_, &info, &file), "vkGetMemoryFdKHR");
  return file;
}

VkDescriptorSet SampleDevice::allocate_set() {
  VkDescriptorSetAllocateInfo info = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
  info.descriptorPool = pool_;
  info.descriptorSetCount = 1;
  info.pSetLayouts = &set_layout_;
  VkDescriptorSet made = VK_NULL_HANDLE;
  require(vkAllocateDescriptorSets(device_, &info, &made), "vkAllocateDescriptorSets");
  return made;
}

VkDescriptorSet SampleDevice::set_by_template(const SampleBuffer& from, const SampleBuffer& to) {
  // The entries stand in the data in the other order, and with a gap.
  struct Data {
    VkDescriptorBufferInfo to;
    uint64_t gap;
    VkDescriptorBufferInfo from;
  };
  const VkDescriptorUpdateTemplateEntry entries[] = {
      {0, 0, 1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, offsetof(Data, from), 0},
      {1, 0, 1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, offsetof(Data, to), 0}};
  VkDescriptorUpdateTemplateCreateInfo info = {
      VK_STRUCTURE_TYPE_DESCRIPTOR_UPDATE_TEMPLATE_CREATE_INFO};
  info.descriptorUpdateEntryCount = 2;
  info.pDescriptorUpdateEntries = entries;
  info.templateType = VK_DESCRIPTOR_UPDATE_TEMPLATE_TYPE_DESCRIPTOR_SET;
  info.descriptorSetLayout = set_layout_;
  VkDescriptorUpdateTemplate update = VK_NULL_HANDLE;
  require(vkCreateDescriptorUpdateTemplate(device_, &info, nullptr, &update), "a template");
  const Data data = {{to.buffer, 0, VK_WHOLE_SIZE}, 0, {from.buffer, 0, VK_WHOLE_SIZE}};
  const VkDescriptorSet made = allocate_set();
  vkUpdateDescriptorSetWithTemplate(device_, made, update, &data);
  vkDestroyDescriptorUpdateTemplate(device_, update, nullptr);
  return made;
}

VkDescriptorSet SampleDevice::set(const SampleBuffer& from, const SampleBuffer& to) {
  const VkDescriptorSet made = allocate_set();
  // Both at once: what does not fit into a binding goes on in the next.
  const VkDescriptorBufferInfo buffers[] = {{from.buffer, 0, VK_WHOLE_SIZE},
                                            {to.buffer, 0, VK_WHOLE_SIZE}};
  VkWriteDescriptorSet write = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
  write.dstSet = made;
  write.descriptorCount = 2;
  write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
  write.pBufferInfo = buffers;
  vkUpdateDescriptorSets(device_, 1, &write, 0, nullptr);
  return made;
}

VkCommandBuffer SampleDevice::begin(VkCommandBufferLevel level) {
  VkCommandBufferAllocateInfo info = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  info.commandPool = commands_;
  info.level = level;
  info.commandBufferCount = 1;
  VkCommandBuffer made = VK_NULL_HANDLE;
  require(vkAllocateCommandBuffers(device_, &info, &made), "vkAllocateCommandBuffers");
  VkCommandBufferInheritanceInfo inherited = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO};
  VkCommandBufferBeginInfo begin = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  begin.pInheritanceInfo = &inherited;
  require(vkBeginCommandBuffer(made, &begin), "vkBeginCommandBuffer");
  return made;
}

void SampleDevice::dispatch(VkCommandBuffer commands, VkDescriptorSet set) const {
  vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline_);
  vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout_, 0, 1, &set, 0,
                          nullptr);
  vkCmdDispatch(commands, kSampleBytes / sizeof(uint32_t) / 64, 1, 1);
}

void SampleDevice::run(VkCommandBuffer commands) {
  require(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
  VkSubmitInfo submit = {VK_STRUCTURE_TYPE_SUBMIT_INFO};
  submit.commandBufferCount = 1;
  submit.pCommandBuffers = &commands;
  require(vkQueueSubmit(queue_, 1, &submit, fence_), "vkQueueSubmit");
  require(vkWaitForFences(device_, 1, &fence_, VK_TRUE, UINT64_MAX), "vkWaitForFences");
  require(vkResetFences(device_, 1, &fence_), "vkResetFences");
}

void SampleDevice::submit_to(VkQueue queue, VkCommandBuffer commands,
                             const VkTimelineSemaphoreSubmitInfo* timeline, VkSemaphore wait,
                             VkSemaphore signal) const {
  require(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
  const VkPipelineStageFlags stages = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
  VkSubmitInfo submit = {VK_STRUCTURE_TYPE_SUBMIT_INFO};
  submit.pNext = timeline;
  submit.commandBufferCount = 1;
  submit.pCommandBuffers = &commands;
  submit.waitSemaphoreCount = wait == VK_NULL_HANDLE ? 0 : 1;
  submit.pWaitSemaphores = &wait;
  submit.pWaitDstStageMask = &stages;
  submit.signalSemaphoreCount = signal == VK_NULL_HANDLE ? 0 : 1;
  submit.pSignalSemaphores = &signal;
  require(vkQueueSubmit(queue, 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit");
}

}  // namespace interlock
