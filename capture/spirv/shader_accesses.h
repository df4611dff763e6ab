// What a shader can do to each of its bindings: load, store, or both at once. The basic idea is
// that a pointer or an image handle has bases, the variables that it may come from, and that an
// instruction does to all of them what it does. It bounds what happens from above: control flow,
// indices and specialization constants are not looked at.
//
// SPIRV-Tools reads the module. Terms: SPIR-V 1.6 specification.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/spirv/address_origins.h"
#include "encoder/program/result.h"

namespace interlock {

struct BindingUse {
  uint32_t set = 0;
  uint32_t binding = 0;
  bool is_loaded = false;
  bool is_stored = false;

  bool operator==(const BindingUse&) const = default;
};

struct ShaderAccesses {
  std::vector<BindingUse> bindings;  // Those that are loaded or stored, by set and binding.
  // Through pointers to memory that no binding names (PhysicalStorageBuffer).
  std::vector<AddressUse> addresses;
  // It uses a buffer or an image that has no set and binding.
  bool has_unbound = false;
};

inline constexpr uint64_t kPointerStepsMax = 5'000'000;

inline constexpr uint32_t kComputeModel = 5;  // GLCompute of SPIR-V's ExecutionModel.

// Of the functions that the entry point of this ExecutionModel reaches.
// Errors: the module is none, has no such entry point, or its pointers may come
// from so many variables that it would take more than kPointerStepsMax to follow them. Cost: linear
// in the module, times the depth of what pointers are made of.
Result<ShaderAccesses> shader_accesses_of(std::span<const uint32_t> module, std::string_view entry,
                                          uint32_t model = kComputeModel);

}  // namespace interlock
