// A transfer as pieces that are contiguous at both ends: the kernels of the stage `copy` have no
// rows. Or, where it cannot be cut so, the bytes that bound it.
#pragma once

#include <optional>
#include <vector>

#include "capture/convert/captured_bytes.h"
#include "capture/convert/command_lists.h"

namespace interlock {

struct TransferPiece {
  std::optional<CapturedBytes> from;  // None: the bytes are written with a value.
  CapturedBytes to;
};

// In the order of the texels, the bytes of each end once. None if the ends have different sizes, as
// where the texels are scaled, or where there would be too many pieces.
std::optional<std::vector<TransferPiece>> pieces_of(const TransferRegion& region);

// What may be read, and written.
struct TransferBounds {
  std::vector<CapturedBytes> from;
  std::vector<CapturedBytes> to;
};

TransferBounds bounds_of(const TransferRegion& region);

}  // namespace interlock
