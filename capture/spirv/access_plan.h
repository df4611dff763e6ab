// AccessPlan: where a module touches which binding, and how its offsets are computed. Places are in
// the order of the module.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "capture/spirv/spirv_words.h"

namespace interlock {

// A variable that descriptors name.
struct PlannedVariable {
  uint32_t id = 0;
  uint32_t set = 0;
  uint32_t binding = 0;
  uint32_t element_count = 1;
  uint32_t granule_shift = 2;  // The least that an access needs; at most words.
  bool is_image = false;
  bool is_sampled = false;
  bool is_arrayed = false;
  uint32_t axis_count = 0;
  std::string reason;  // Why it cannot be measured; empty: it can.
};

// Bytes without gaps, relative to an offset.
struct BytePiece {
  uint64_t offset = 0;
  uint64_t size = 0;
};

enum class PlannedKind : uint8_t { kBytes, kTexel, kSample };

struct PlannedAccess {
  size_t instruction = 0;  // Before which it is noted: into SpirvWords::instructions().
  size_t variable = 0;     // Into AccessPlan::variables.
  PlannedKind kind = PlannedKind::kBytes;
  bool is_load = false;
  bool is_store = false;
  uint32_t element = 0;     // The id of the index into an array of bindings; 0: there is none.
  uint32_t coordinate = 0;  // Its id; of kTexel and kSample.
  uint64_t offset = 0;      // Of kBytes: in bytes. So the next two.
  std::vector<std::pair<uint32_t, uint32_t>> terms;  // Ids of indices, each times a stride.
  std::vector<BytePiece> pieces;
};

struct AccessPlan {
  std::vector<PlannedVariable> variables;
  std::vector<PlannedAccess> accesses;  // Also those of variables that cannot be measured.
};

AccessPlan plan_accesses(const SpirvWords& module);

}  // namespace interlock
