// VkFFT there and back again, in as many dimensions as the argument says; the numbers must be what
// they were. Of one dimension there are so many that they go through memory more than once.

#define VKFFT_BACKEND 0
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vkFFT.h>
#include <vulkan/vulkan.h>

static void require(int is_right, const char* what) {
  if (is_right) return;
  fprintf(stderr, "%s failed.\n", what);
  exit(3);
}

struct Context {
  VkPhysicalDevice physical;
  VkDevice device;
  VkQueue queue;
  VkCommandPool pool;
  VkFence fence;
};

static struct Context create_context(void) {
  struct Context made = {0};
  const VkApplicationInfo name = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                  .pApplicationName = "vkfft_step",
                                  .apiVersion = VK_API_VERSION_1_1};
  const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                     .pApplicationInfo = &name};
  VkInstance instance;
  require(vkCreateInstance(&info, NULL, &instance) == VK_SUCCESS, "vkCreateInstance");
  uint32_t count = 1;
  require(vkEnumeratePhysicalDevices(instance, &count, &made.physical) >= 0 && count == 1,
          "vkEnumeratePhysicalDevices");
  const float priority = 1;
  const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                         .queueCount = 1,
                                         .pQueuePriorities = &priority};
  const VkDeviceCreateInfo device = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue};
  require(vkCreateDevice(made.physical, &device, NULL, &made.device) == VK_SUCCESS,
          "vkCreateDevice");
  vkGetDeviceQueue(made.device, 0, 0, &made.queue);
  const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  require(vkCreateCommandPool(made.device, &pool, NULL, &made.pool) == VK_SUCCESS,
          "vkCreateCommandPool");
  const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  require(vkCreateFence(made.device, &fence, NULL, &made.fence) == VK_SUCCESS, "vkCreateFence");
  return made;
}

// Mapped, as a driver on the CPU has it.
static float* create_numbers(const struct Context* context, uint64_t size_bytes, VkBuffer* buffer) {
  const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                   .size = size_bytes,
                                   .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
  require(vkCreateBuffer(context->device, &info, NULL, buffer) == VK_SUCCESS, "vkCreateBuffer");
  VkMemoryRequirements needs;
  vkGetBufferMemoryRequirements(context->device, *buffer, &needs);
  const VkMemoryAllocateInfo all = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                    .allocationSize = needs.size};
  VkDeviceMemory memory;
  require(vkAllocateMemory(context->device, &all, NULL, &memory) == VK_SUCCESS,
          "vkAllocateMemory");
  require(vkBindBufferMemory(context->device, *buffer, memory, 0) == VK_SUCCESS,
          "vkBindBufferMemory");
  void* mapped;
  require(vkMapMemory(context->device, memory, 0, VK_WHOLE_SIZE, 0, &mapped) == VK_SUCCESS,
          "vkMapMemory");
  return (float*)mapped;
}

int main(int argc, char** argv) {
  const int dimensions = argc == 2 ? atoi(argv[1]) : 0;
  if (dimensions < 1 || dimensions > 3) return 2;
  struct Context context = create_context();
  const uint64_t sizes[] = {16384, 64, 16};
  VkFFTConfiguration plan = {0};
  plan.FFTdim = (uint64_t)dimensions;
  uint64_t count = 1;
  for (int i = 0; i < dimensions; ++i) {
    plan.size[i] = sizes[dimensions - 1];
    count *= plan.size[i];
  }
  uint64_t size_bytes = count * 2 * sizeof(float);
  VkBuffer buffer;
  float* const numbers = create_numbers(&context, size_bytes, &buffer);
  for (uint64_t i = 0; i < 2 * count; ++i) numbers[i] = (float)(i % 13) - 6;
  plan.physicalDevice = &context.physical;
  plan.device = &context.device;
  plan.queue = &context.queue;
  plan.commandPool = &context.pool;
  plan.fence = &context.fence;
  plan.buffer = &buffer;
  plan.bufferSize = &size_bytes;
  plan.normalize = 1;
  VkFFTApplication fft = {0};
  require(initializeVkFFT(&fft, plan) == VKFFT_SUCCESS, "initializeVkFFT");

  const VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                            .commandPool = context.pool,
                                            .commandBufferCount = 1};
  VkCommandBuffer commands;
  require(vkAllocateCommandBuffers(context.device, &info, &commands) == VK_SUCCESS,
          "vkAllocateCommandBuffers");
  const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  require(vkBeginCommandBuffer(commands, &begin) == VK_SUCCESS, "vkBeginCommandBuffer");
  VkFFTLaunchParams launch = {0};
  launch.commandBuffer = &commands;
  require(VkFFTAppend(&fft, -1, &launch) == VKFFT_SUCCESS, "VkFFTAppend, forward");
  require(VkFFTAppend(&fft, 1, &launch) == VKFFT_SUCCESS, "VkFFTAppend, backward");
  require(vkEndCommandBuffer(commands) == VK_SUCCESS, "vkEndCommandBuffer");
  const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &commands};
  require(vkQueueSubmit(context.queue, 1, &submit, context.fence) == VK_SUCCESS, "vkQueueSubmit");
  require(vkWaitForFences(context.device, 1, &context.fence, VK_TRUE, UINT64_MAX) == VK_SUCCESS,
          "vkWaitForFences");
  for (uint64_t i = 0; i < 2 * count; ++i) {
    if (fabsf(numbers[i] - ((float)(i % 13) - 6)) < 1e-3f) continue;
    fprintf(stderr, "number %llu is %f.\n", (unsigned long long)i, numbers[i]);
    return 1;
  }
  deleteVkFFT(&fft);
  vkDeviceWaitIdle(context.device);
  return 0;
}
