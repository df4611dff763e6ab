// VulkanInstance: the Vulkan loader, and what the validation layers say.
#pragma once

#include <volk.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/program/result.h"

namespace interlock {

// What a validation layer says, and of which statement of the program: see CommandList.
struct ValidationMessage {
  std::string text;
  uint32_t statement = 0;  // ValidationLog::kNoStatement: of none.
};

// The messages of validation layers: ours if we ask for them, or those of the environment.
class ValidationLog {
 public:
  static constexpr uint32_t kNoStatement = UINT32_MAX;

  // The statement that messages are about from now on.
  void set_statement(uint32_t statement) { statement_.store(statement, std::memory_order_relaxed); }

  void add(std::string_view id, std::string_view message);

  // The messages since the last call that concern our use of Vulkan.
  std::vector<ValidationMessage> take_errors();
  // Likewise, those of synchronization validation.
  std::vector<ValidationMessage> take_hazards();

 private:
  std::atomic<uint32_t> statement_ = kNoStatement;
  std::mutex mutex_;  // Layers call from any host thread.
  std::vector<ValidationMessage> errors_;
  std::vector<ValidationMessage> hazards_;
};

class VulkanInstance {
 public:
  // Loads the Vulkan loader at the first call.
  // Errors: there is no loader, no driver, or (with `validates`) no validation layer.
  // `failed`, where it is given, gets the result of the call of the driver that failed.
  static Result<std::unique_ptr<VulkanInstance>> create(bool validates, VkResult* failed = nullptr);
  ~VulkanInstance();
  VulkanInstance(const VulkanInstance&) = delete;
  VulkanInstance& operator=(const VulkanInstance&) = delete;

  VkInstance handle() const { return handle_; }
  ValidationLog& log() { return log_; }

 private:
  VulkanInstance() = default;

  VkInstance handle_ = VK_NULL_HANDLE;
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
  ValidationLog log_;
};

}  // namespace interlock
