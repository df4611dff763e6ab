// Which bytes a value of a type has in a buffer, as the decorations of its type lay it out.
#pragma once

#include <cstdint>
#include <vector>

#include "capture/spirv/access_plan.h"
#include "capture/spirv/spirv_words.h"

namespace interlock {

enum SpirvDecoration : uint32_t {
  kRowMajorDecoration = 4,
  kArrayStrideDecoration = 6,
  kMatrixStrideDecoration = 7,
  kBindingDecoration = 33,
  kSetDecoration = 34,
  kOffsetDecoration = 35,
};

// What the member of a struct says of the matrices in it.
struct MatrixLayout {
  uint32_t stride = 0;
  bool is_row_major = false;
};

// Where a chain of indices has arrived.
struct LayoutPlace {
  uint32_t type = 0;
  MatrixLayout matrix;
  uint32_t component_stride = 0;  // Of a vector that is a column of a matrix; 0: without gaps.
};

// In bytes; 0 if it is no scalar of a known size.
uint32_t scalar_bytes(const SpirvWords& module, uint32_t type);

// The layout of the matrices in a member.
MatrixLayout matrix_layout_of(const SpirvWords& module, uint32_t type, uint32_t member);

// Adds what a value there has, as pieces relative to it. False if that is not known, or in more
// pieces than are followed.
bool add_pieces(const SpirvWords& module, const LayoutPlace& place, uint64_t offset,
                std::vector<BytePiece>& pieces);

}  // namespace interlock
