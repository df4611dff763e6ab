#include "fuzz/cli/captured_environment.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <string_view>

namespace interlock {
namespace {

constexpr std::string_view kLayer = "VK_LAYER_INTERLOCK_capture";
constexpr std::string_view kValidation = "VK_LAYER_KHRONOS_validation";

// What is not about synchronization costs time, and would wrap handles.
constexpr std::string_view kValidationOff =
    "VK_VALIDATION_FEATURE_DISABLE_SHADERS_EXT:VK_VALIDATION_FEATURE_DISABLE_THREAD_SAFETY_EXT:"
    "VK_VALIDATION_FEATURE_DISABLE_API_PARAMETERS_EXT:"
    "VK_VALIDATION_FEATURE_DISABLE_OBJECT_LIFETIMES_EXT:"
    "VK_VALIDATION_FEATURE_DISABLE_CORE_CHECKS_EXT:"
    "VK_VALIDATION_FEATURE_DISABLE_UNIQUE_HANDLES_EXT";
// The second one looks at submissions.
constexpr std::string_view kValidationOn =
    "VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT:"
    "VALIDATION_CHECK_ENABLE_SYNCHRONIZATION_VALIDATION_QUEUE_SUBMIT";

// The two, where there are both.
std::string joined(std::string_view first, std::string_view second) {
  if (first.empty() || second.empty()) return fmt::format("{}{}", first, second);
  return fmt::format("{}:{}", first, second);
}

std::string_view value_of(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

std::string words_of(const CaptureRequest& request) {
  std::string words;
  const auto add = [&](const std::string& word) { words += (words.empty() ? "" : ";") + word; };
  if (request.dropped_barrier) add(fmt::format("drop-barrier={}", *request.dropped_barrier));
  if (request.is_dry) add("dry");
  if (request.with_callers) add("backtrace");
  if (request.is_validated) add("syncval");
  if (!request.pretended.empty()) add("pretend=" + request.pretended);
  return words;
}

void validate(std::map<std::string, std::string, std::less<>>& own) {
  std::string& layers = own["VK_INSTANCE_LAYERS"];
  layers = joined(layers, kValidation);
  own["VK_LAYER_ENABLES"] = joined(value_of("VK_LAYER_ENABLES"), kValidationOn);
  own["VK_LAYER_DISABLES"] = joined(value_of("VK_LAYER_DISABLES"), kValidationOff);
  // Of each kind it would tell ten times.
  own["VK_LAYER_DUPLICATE_MESSAGE_LIMIT"] = "1000000000";
}

}  // namespace

std::vector<std::string> captured_environment(const std::string& layer_folder,
                                              const std::string& folder,
                                              const CaptureRequest& request) {
  std::map<std::string, std::string, std::less<>> own;
  // Where VK_LAYER_PATH is set, loaders ask no other variable.
  const bool has_path = !value_of("VK_LAYER_PATH").empty();
  const char* const path_name = has_path ? "VK_LAYER_PATH" : "VK_ADD_LAYER_PATH";
  // Loaders chain layers in the order in which they find them.
  own[path_name] = request.is_validated ? joined(layer_folder, value_of(path_name))
                                        : joined(value_of(path_name), layer_folder);
  own["VK_INSTANCE_LAYERS"] = joined(value_of("VK_INSTANCE_LAYERS"), kLayer);
  own["INTERLOCK_CAPTURE_DIR"] = folder;
  own["INTERLOCK_CAPTURE"] = "";  // Not as an implicit layer, too.
  own["INTERLOCK_CAPTURE_OPTIONS"] = words_of(request);
  own["INTERLOCK_CAPTURE_EXACT"] = request.is_exact ? "1" : "";
  if (request.is_validated) validate(own);
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (own.find(text.substr(0, text.find('='))) == own.end()) environment.emplace_back(text);
  }
  for (const auto& [name, value] : own) environment.push_back(fmt::format("{}={}", name, value));
  return environment;
}

}  // namespace interlock
