// What the backend says when the driver fails: entry points are replaced by ones that do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <volk.h>

#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include "tests/backends/kernels/kernel_case.h"
#include "tests/backends/vulkan/vulkan_device.h"
#include "tests/program_count.h"

namespace interlock::vulkan_failures_test {
namespace {

using testing::HasSubstr;
using VulkanFailures = OnVulkan;

const char* const kProgram = "interlock 1\nmemory a 64\ndispatch K reads a writes a\n";

// The error of a run whose device has these entry points.
std::string error_with(VulkanBackend& backend) {
  const Program program = parsed(kProgram);
  const auto image =
      backend.run(program, reference_order_schedule(program), ExecutionMode::kWitness);
  return image ? "" : image.error().message;
}

std::string error_with(std::function<void(VolkDeviceTable&)> on_device_table) {
  VulkanBackend backend({.on_device_table = std::move(on_device_table)});
  return error_with(backend);
}

VKAPI_ATTR VkResult VKAPI_CALL lose_device(VkQueue, uint32_t, const VkSubmitInfo2*, VkFence) {
  return VK_ERROR_DEVICE_LOST;
}

TEST_F(VulkanFailures, ALostDeviceIsNamedAndOpenedAnew) {
  int open_count = 0;
  VulkanBackend backend({.on_device_table = [&](VolkDeviceTable& table) {
    if (open_count++ < 2) table.vkQueueSubmit2 = lose_device;  // Both devices of the first time.
  }});
  EXPECT_TRUE(backend.availability().is_available);
  EXPECT_EQ(error_with(backend),
            "The Vulkan device was lost while submitting commands (VK_ERROR_DEVICE_LOST).");
  EXPECT_FALSE(backend.availability().is_available);
  EXPECT_THAT(backend.availability().reason, HasSubstr("was lost"));
  if (open_count < 2) return;  // One device only, whose second opening fails as well.
  EXPECT_EQ(error_with(backend), "");
  EXPECT_TRUE(backend.availability().is_available);
}

VKAPI_ATTR VkResult VKAPI_CALL hang(VkDevice, uint32_t, const VkFence*, VkBool32, uint64_t) {
  return VK_TIMEOUT;
}

TEST_F(VulkanFailures, ADeviceThatHangsIsGivenUp) {
  EXPECT_EQ(error_with([](VolkDeviceTable& table) { table.vkWaitForFences = hang; }),
            "The Vulkan device does not answer while waiting for its queue (VK_TIMEOUT).");
}

VKAPI_ATTR VkResult VKAPI_CALL have_no_memory(VkDevice, const VkMemoryAllocateInfo*,
                                              const VkAllocationCallbacks*, VkDeviceMemory*) {
  return VK_ERROR_OUT_OF_DEVICE_MEMORY;
}

TEST_F(VulkanFailures, WithoutMemoryTheErrorHasTheSize) {
  EXPECT_EQ(
      error_with([](VolkDeviceTable& table) { table.vkAllocateMemory = have_no_memory; }),
      "The Vulkan device does not have enough memory while allocating 65536 bytes (VK_ERROR_OUT_OF_DEVICE_MEMORY).");
}

VKAPI_ATTR VkResult VKAPI_CALL have_no_buffer(VkDevice, const VkBufferCreateInfo*,
                                              const VkAllocationCallbacks*, VkBuffer*) {
  return VK_ERROR_OUT_OF_HOST_MEMORY;
}

TEST_F(VulkanFailures, WithoutMemoryForABufferTheErrorHasTheSizeAndTheNextRunTriesAgain) {
  static bool has_memory = false;
  static PFN_vkCreateBuffer real_create = nullptr;
  VulkanBackend backend({.on_device_table = [](VolkDeviceTable& table) {
    real_create = table.vkCreateBuffer;
    table.vkCreateBuffer = [](VkDevice device, const VkBufferCreateInfo* info,
                              const VkAllocationCallbacks* callbacks, VkBuffer* buffer) {
      return (has_memory ? real_create : have_no_buffer)(device, info, callbacks, buffer);
    };
  }});
  EXPECT_EQ(
      error_with(backend),
      "The Vulkan driver does not have enough host memory while making a buffer of 65536 bytes (VK_ERROR_OUT_OF_HOST_MEMORY).");
  EXPECT_TRUE(backend.availability().is_available);
  has_memory = true;
  EXPECT_EQ(error_with(backend), "");
}

// --- Each call in turn fails once
// -------------------------------------------------------------------

// Fails the call number `fails_at` from the last arm() on, of any of the entry points below.
int calls_until_failure = 0;
VolkDeviceTable real_table;

bool fails_now() { return calls_until_failure > 0 && --calls_until_failure == 0; }

// An entry point that fails when its turn has come.
template <auto kMember, class Function>
struct Failing;
template <auto kMember, class... Args>
struct Failing<kMember, VkResult(VKAPI_PTR*)(Args...)> {
  static VKAPI_ATTR VkResult VKAPI_CALL call(Args... args) {
    return fails_now() ? VK_ERROR_OUT_OF_DEVICE_MEMORY : (real_table.*kMember)(args...);
  }
};

template <auto kMember>
void may_fail(VolkDeviceTable& table) {
  using Function = std::remove_reference_t<decltype(table.*kMember)>;
  table.*kMember = Failing<kMember, Function>::call;
}

void let_calls_fail(VolkDeviceTable& table) {
  real_table = table;
  may_fail<&VolkDeviceTable::vkAllocateMemory>(table);
  may_fail<&VolkDeviceTable::vkBeginCommandBuffer>(table);
  may_fail<&VolkDeviceTable::vkBindBufferMemory>(table);
  may_fail<&VolkDeviceTable::vkCreateBuffer>(table);
  may_fail<&VolkDeviceTable::vkCreateComputePipelines>(table);
  may_fail<&VolkDeviceTable::vkCreateDescriptorSetLayout>(table);
  may_fail<&VolkDeviceTable::vkCreatePipelineLayout>(table);
  may_fail<&VolkDeviceTable::vkCreateShaderModule>(table);
  may_fail<&VolkDeviceTable::vkEndCommandBuffer>(table);
  may_fail<&VolkDeviceTable::vkMapMemory>(table);
  may_fail<&VolkDeviceTable::vkQueueSubmit2>(table);
  may_fail<&VolkDeviceTable::vkResetCommandPool>(table);
  may_fail<&VolkDeviceTable::vkResetFences>(table);
  may_fail<&VolkDeviceTable::vkWaitForFences>(table);
}

// Validation complains where a call reuses what is in use, and at the end of what was not freed.
void expect_that_runs_recover(VulkanOptions options, ExecutionMode mode) {
  const Program program = parsed(R"(interlock 1
memory a 64
memory b 64
dispatch K reads a writes a
dispatch L reads b writes b
barrier
dispatch M reads a b writes b
)");
  const Schedule schedule = reference_order_schedule(program);
  const MemoryImage expected = image_after(program, schedule);
  options.validates = true;
  options.on_device_table = let_calls_fail;
  bool has_failed = true;
  int error_count = 0;
  // Each call under ./dev prove.
  const int stride = is_slow_build() ? 10 : proof_count(1, 3);
  for (int call = 1; has_failed && call < 100; call += stride) {
    VulkanBackend backend(options);
    EXPECT_TRUE(backend.availability().is_available);
    calls_until_failure = call;
    const auto failed = backend.run(program, schedule, mode);
    has_failed = calls_until_failure == 0;
    calls_until_failure = 0;
    if (failed) {  // Where one kind of memory is short, there is another.
      EXPECT_TRUE(*failed == expected) << call;
    } else {
      EXPECT_THAT(failed.error().message, HasSubstr("not have enough memory")) << call;
      ++error_count;
    }
    for (int again = 0; again < 2; ++again) {
      const auto image = backend.run(program, schedule, mode);
      ASSERT_TRUE(image.has_value()) << call << ": " << image.error().message;
      EXPECT_TRUE(*image == expected) << call;
    }
    EXPECT_TRUE(backend.availability().is_available) << call;
  }
  EXPECT_FALSE(has_failed);
  EXPECT_GE(error_count, 10 / stride);
}

TEST_F(VulkanFailures, AfterAnyCallOfAWitnessRunFailedTheNextRunWorks) {
  expect_that_runs_recover({}, ExecutionMode::kWitness);
}

TEST_F(VulkanFailures, AfterAnyCallOfAStagedRunFailedTheNextRunWorks) {
  expect_that_runs_recover({.always_stages = true}, ExecutionMode::kWitness);
}

TEST_F(VulkanFailures, AfterAnyCallOnSeveralQueuesFailedTheNextRunWorks) {
  expect_that_runs_recover({}, ExecutionMode::kOverlap);
}

PFN_vkQueueSubmit2 submit_of_driver = nullptr;
int submit_count = 0;

VKAPI_ATTR VkResult VKAPI_CALL submit_the_first_only(VkQueue queue, uint32_t count,
                                                     const VkSubmitInfo2* infos, VkFence fence) {
  return ++submit_count == 2 ? VK_ERROR_OUT_OF_DEVICE_MEMORY
                             : submit_of_driver(queue, count, infos, fence);
}

TEST_F(VulkanFailures, ADeviceThatMayStillRunIsGivenUp) {
  submit_count = 0;
  VulkanBackend backend({.validates = true, .on_device_table = [](VolkDeviceTable& table) {
                           submit_of_driver = table.vkQueueSubmit2;
                           table.vkQueueSubmit2 = submit_the_first_only;
                         }});
  const Program program =
      parsed("interlock 1\nmemory a 64\nmemory b 64\ndispatch K updates a\ndispatch L updates b\n");
  const Schedule schedule = reference_order_schedule(program);
  const auto failed = backend.run(program, schedule, ExecutionMode::kOverlap);
  ASSERT_FALSE(failed.has_value());
  EXPECT_THAT(failed.error().message, HasSubstr("while submitting commands"));
  EXPECT_FALSE(backend.availability().is_available);
  EXPECT_TRUE(backend.run(program, schedule, ExecutionMode::kOverlap).has_value());
  EXPECT_TRUE(backend.availability().is_available);
}

// Why a backend is not available whose driver has these entry points.
std::string reason_with(std::function<void()> on_instance) {
  const VulkanBackend backend({.on_instance = std::move(on_instance)});
  const Availability availability = backend.availability();
  return availability.is_available ? "" : availability.reason;
}

PFN_vkGetPhysicalDeviceProperties real_properties = nullptr;
PFN_vkGetPhysicalDeviceFeatures2 real_features = nullptr;

VKAPI_ATTR void VKAPI_CALL have_an_old_version(VkPhysicalDevice device,
                                               VkPhysicalDeviceProperties* properties) {
  real_properties(device, properties);
  properties->apiVersion = VK_API_VERSION_1_2;
}

TEST_F(VulkanFailures, ADriverOlderThanVulkan13IsNamedWithItsVersion) {
  EXPECT_THAT(reason_with([] {
                real_properties = vkGetPhysicalDeviceProperties;
                vkGetPhysicalDeviceProperties = have_an_old_version;
              }),
              HasSubstr("does not fit: its driver knows Vulkan 1.2, and 1.3 is needed"));
}

VKAPI_ATTR void VKAPI_CALL have_no_synchronization2(VkPhysicalDevice device,
                                                    VkPhysicalDeviceFeatures2* features) {
  real_features(device, features);
  auto* next = static_cast<VkBaseOutStructure*>(features->pNext);
  while (next != nullptr && next->sType != VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES) {
    next = next->pNext;
  }
  reinterpret_cast<VkPhysicalDeviceVulkan13Features*>(next)->synchronization2 = VK_FALSE;
}

TEST_F(VulkanFailures, ADriverWithoutSynchronization2IsNamed) {
  EXPECT_THAT(reason_with([] {
                real_features = vkGetPhysicalDeviceFeatures2;
                vkGetPhysicalDeviceFeatures2 = have_no_synchronization2;
              }),
              HasSubstr("does not fit: its driver lacks synchronization2"));
}

VKAPI_ATTR VkResult VKAPI_CALL have_no_extensions(VkPhysicalDevice, const char*, uint32_t* count,
                                                  VkExtensionProperties*) {
  *count = 0;
  return VK_SUCCESS;
}

TEST_F(VulkanFailures, ADriverWithoutPushDescriptorsIsNamed) {
  EXPECT_THAT(reason_with([] { vkEnumerateDeviceExtensionProperties = have_no_extensions; }),
              HasSubstr("does not fit: its driver lacks VK_KHR_push_descriptor"));
}

VKAPI_ATTR VkResult VKAPI_CALL have_no_device(VkInstance, uint32_t* count, VkPhysicalDevice*) {
  *count = 0;
  return VK_SUCCESS;
}

TEST_F(VulkanFailures, ADriverWithoutADeviceIsNoDriver) {
  EXPECT_EQ(reason_with([] { vkEnumeratePhysicalDevices = have_no_device; }),
            "no Vulkan driver finds a device.");
}

VKAPI_ATTR VkResult VKAPI_CALL refuse_to_open(VkPhysicalDevice, const VkDeviceCreateInfo*,
                                              const VkAllocationCallbacks*, VkDevice*) {
  return VK_ERROR_INITIALIZATION_FAILED;
}

TEST_F(VulkanFailures, ADeviceThatDoesNotOpenIsAnError) {
  EXPECT_EQ(reason_with([] { vkCreateDevice = refuse_to_open; }),
            "The Vulkan driver failed while opening a device (VK_ERROR_INITIALIZATION_FAILED).");
}

VKAPI_ATTR VkResult VKAPI_CALL have_no_memory_to_open(VkPhysicalDevice, const VkDeviceCreateInfo*,
                                                      const VkAllocationCallbacks*, VkDevice*) {
  return VK_ERROR_OUT_OF_HOST_MEMORY;
}

TEST_F(VulkanFailures, ADeviceThatCouldNotOpenIsTriedAgain) {
  int open_count = 0;
  VulkanBackend backend({.overlap = OverlapKind::kOneQueue, .on_instance = [&] {
                           if (++open_count == 1) vkCreateDevice = have_no_memory_to_open;
                         }});
  EXPECT_THAT(backend.availability().reason,
              HasSubstr("not have enough host memory while opening"));
  EXPECT_TRUE(backend.availability().is_available);
  EXPECT_EQ(error_with(backend), "");
  EXPECT_EQ(open_count, 2);
}

TEST_F(VulkanFailures, ADriverThatLacksSomethingIsNotAskedAgain) {
  int open_count = 0;
  VulkanBackend backend({.on_instance = [&] {
    ++open_count;
    vkEnumerateDeviceExtensionProperties = have_no_extensions;
  }});
  EXPECT_FALSE(backend.availability().is_available);
  EXPECT_FALSE(backend.availability().is_available);
  EXPECT_THAT(error_with(backend), HasSubstr("VK_KHR_push_descriptor"));
  EXPECT_EQ(open_count, 1);
}

PFN_vkCmdDispatch real_dispatch = nullptr;
PFN_vkCmdPushDescriptorSetKHR real_push = nullptr;
PFN_vkCmdFillBuffer real_fill = nullptr;
VkBuffer bound_arena = VK_NULL_HANDLE;

VKAPI_ATTR void VKAPI_CALL dispatch_too_much(VkCommandBuffer commands, uint32_t, uint32_t y,
                                             uint32_t z) {
  real_dispatch(commands, 1u << 31, y, z);
}
VKAPI_ATTR VkResult VKAPI_CALL submit_nothing(VkQueue, uint32_t, const VkSubmitInfo2*, VkFence) {
  return VK_SUCCESS;
}
VKAPI_ATTR VkResult VKAPI_CALL wait_for_nothing(VkDevice, uint32_t, const VkFence*, VkBool32,
                                                uint64_t) {
  return VK_SUCCESS;
}

TEST_F(VulkanFailures, AComplaintOfTheValidationLayersIsAnError) {
  VulkanBackend backend({.validates = true, .on_device_table = [](VolkDeviceTable& table) {
                           real_dispatch = table.vkCmdDispatch;
                           table.vkCmdDispatch = dispatch_too_much;
                           table.vkQueueSubmit2 = submit_nothing;
                           table.vkWaitForFences = wait_for_nothing;
                         }});
  EXPECT_THAT(error_with(backend), HasSubstr("The Vulkan validation layers have 1 complaint. "
                                             "The first is: VUID-vkCmdDispatch-groupCountX"));
}

VKAPI_ATTR void VKAPI_CALL push_and_note(VkCommandBuffer commands, VkPipelineBindPoint point,
                                         VkPipelineLayout layout, uint32_t set, uint32_t count,
                                         const VkWriteDescriptorSet* writes) {
  bound_arena = writes[0].pBufferInfo->buffer;
  real_push(commands, point, layout, set, count, writes);
}
VKAPI_ATTR void VKAPI_CALL dispatch_and_stray(VkCommandBuffer commands, uint32_t x, uint32_t y,
                                              uint32_t z) {
  real_dispatch(commands, x, y, z);
  real_fill(commands, bound_arena, 0, 4, 0);
}

TEST_F(VulkanFailures, AWriteOutsideOfMemoriesIsAnError) {
  EXPECT_EQ(error_with([](VolkDeviceTable& table) {
              real_dispatch = table.vkCmdDispatch;
              real_push = table.vkCmdPushDescriptorSetKHR;
              real_fill = table.vkCmdFillBuffer;
              table.vkCmdDispatch = dispatch_and_stray;
              table.vkCmdPushDescriptorSetKHR = push_and_note;
            }),
            "The device wrote bytes before memory 'a'.");
}

}  // namespace
}  // namespace interlock::vulkan_failures_test
