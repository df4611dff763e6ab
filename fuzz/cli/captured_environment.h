// The environment of an application that is captured.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace interlock {

// What the layer does beside logging (docs/capture.md).
struct CaptureRequest {
  std::optional<uint64_t> dropped_barrier;
  bool is_dry = false;
  bool is_exact = false;  // Shaders note what they touch.
  bool with_callers = false;
  bool is_validated = false;  // By Khronos's synchronization validation, below the layer.
  std::string pretended;      // Words apart by commas.
};

// That of this process, with the layer in it, and logs in `folder`. The layer stands after those of
// the application, and before the one that validates: what is logged is what reaches it.
std::vector<std::string> captured_environment(const std::string& layer_folder,
                                              const std::string& folder,
                                              const CaptureRequest& request);

}  // namespace interlock
