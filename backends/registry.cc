#include "backends/registry.h"

#include "encoder/program/registry.h"

namespace interlock {

Backend* find_backend(std::string_view name) {
  Backend* const* const found = find_entry(backend_registry(), name, &Backend::name);
  return found == nullptr ? nullptr : *found;
}

}  // namespace interlock
