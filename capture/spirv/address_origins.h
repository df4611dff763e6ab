// Where the addresses come from through which a shader touches memory that no binding names
// (PhysicalStorageBuffer). The basic idea is that each value has origins, the push constants that
// it was loaded from or made of, and that what is loaded from elsewhere may be any address.
// Terms: SPIR-V 1.6 specification.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "capture/spirv/spirv_words.h"
#include "encoder/program/result.h"

namespace interlock {

// A push constant that an address comes from.
struct AddressOrigin {
  uint32_t offset_bytes = 0;  // Among the push constants.
  // The address is reckoned of it, and perhaps of others: by more than the indices of
  // OpAccessChain, which go onward.
  bool is_computed = false;

  auto operator<=>(const AddressOrigin&) const = default;
};

// What is done through addresses of the same origins.
struct AddressUse {
  std::vector<AddressOrigin> origins;  // Empty: they are not known.
  bool is_loaded = false;
  bool is_stored = false;

  bool operator==(const AddressUse&) const = default;
};

// Of the functions that the one with the id `entry` reaches, of an entry point of this
// ExecutionModel. Errors: it would take more than kPointerStepsMax (shader_accesses.h) to follow
// them. Cost: linear in the module, times the depth of what addresses are made of.
Result<std::vector<AddressUse>> address_uses_of(const SpirvWords& module, uint32_t entry,
                                                uint32_t model);

}  // namespace interlock
