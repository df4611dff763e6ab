// Oracle check: is what a device made of one dispatch right? Judged by the bytes before and after
// alone, whatever the device: float32 values by the float64 oracles, each within its own bound; the
// exact kernels byte for byte; and every byte that the dispatch does not declare to write must be
// what it was.
//
// Which operands may share bytes is asked here again, although find_alias_violations
// (simulator/hazards/alias_contracts.h) knows it: that one makes findings of all dispatches of a
// program, with the bytes, and must list none that is not one, so that it does not count what
// `actual` only repeats. Here one dispatch is judged, and the answer only says whether its values
// can be compared. So it is a few lines, and takes a repeated operand for another one: what is then
// not judged is left out, and never wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "backends/float64/arithmetic.h"
#include "backends/interface/backend.h"
#include "encoder/program/program.h"
#include "encoder/program/range.h"
#include "encoder/program/result.h"

namespace interlock {

// One wrong element of an output, or one byte that changed and should not have.
struct OracleMismatch {
  std::optional<uint32_t> operand;  // Access position; none: outside of all declared writes.
  uint64_t element = 0;             // Of the operand: f32 values, for exact kernels bytes. Else 0.
  MemoryId memory;
  ByteRange bytes;      // Of the element, in `memory`.
  double bound = 0;     // Of the error that is allowed; 0 for bytes.
  std::string message;  // Complete sentences.
};

struct OracleCheck {
  // False: operands share bytes against the alias contract of the kernel (alias_contracts.h). Then
  // the result depends on the order of the slices, and only the bytes outside are compared.
  bool is_judged = true;
  std::optional<OracleMismatch> mismatch;  // The first one, in operand order.
  uint64_t element_count = 0;              // Of all outputs.
  uint64_t exact_count = 0;                // Of these, have an error bound of 0.
  uint64_t special_count = 0;              // Of these, must be an infinity or a NaN.
  uint64_t unbounded_count = 0;            // Of these, may be anything: see Rounded.
  double ratio_max = 0;                    // Largest error / bound of a right element.
};

// Judges an execution of the whole dispatch `id`, and of nothing else, that found `before` and left
// `after`. Operands may lie in place: inputs are taken from `before`. A NaN is right only as the
// canonical one, 0x7fc00000; `mix` is compared with the cpu backend.
// Requires: both images have the memories of `program`.
// Errors: they do not.
// Cost: linear in the memories; for float32 kernels a small multiple of the dispatch on the CPU.
Result<OracleCheck> check_against_oracle(const Program& program, DispatchId id,
                                         const MemoryImage& before, const MemoryImage& after,
                                         const Arithmetic& arithmetic = kVulkanArithmetic);

}  // namespace interlock
