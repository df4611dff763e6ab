// Which extensions of a device the layer follows. Terms: the registry of Vulkan.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace interlock {

// Of the names, which are apart by spaces, those of extensions that may touch memory, or order
// work, without the log saying so.
std::vector<std::string> unknown_extensions(std::string_view names);

// Whether a version of Vulkan, as it packs them, has commands that the layer does not know.
bool is_beyond_what_is_known(uint32_t api_version);

}  // namespace interlock
