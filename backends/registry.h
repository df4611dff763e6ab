// The registry: the one list of the backends of this build.
#pragma once

#include <span>
#include <string_view>

#include "backends/interface/backend.h"

namespace interlock {

// All backends of this build, `cpu` first, available or not. In all_backends.cc.
std::span<Backend* const> backend_registry();
Backend* find_backend(std::string_view name);  // Null if there is none of this name.

}  // namespace interlock
