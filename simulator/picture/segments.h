// Segments: which memories a picture shows, and where it cuts them.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "encoder/program/program.h"
#include "encoder/program/range.h"
#include "simulator/picture/picture.h"
#include "simulator/report/finding.h"

namespace interlock {

// Sets memories and more_memories of `picture`, which has its rows: the memory of the finding, then
// those of its dispatches, then those that most rows outside folds touch. The cuts are where the
// bytes of the finding end, then the accesses of its dispatches, then those of the other rows, as
// many as there may be. Cost: the accesses of the rows, times the logarithm of their number.
void cut_memories(const Program& program, const Finding* finding, const PictureLimits& limits,
                  Picture& picture);

// The first segment that shares a byte with `bytes`, and how many do.
std::pair<uint32_t, uint32_t> segments_of(std::span<const uint64_t> boundaries, ByteRange bytes);

}  // namespace interlock
