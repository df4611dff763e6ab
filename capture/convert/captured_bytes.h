// Which bytes of which memory a buffer, a view or a part of an image names.
//
// Where an image keeps which texel, Vulkan does not tell. Here its subresources follow each other,
// aspect by aspect, layer by layer and mip by mip, row by row without gaps, in the memory that it
// is bound to; where they have no room there, in one of their own. So images and buffers that share
// memory share bytes, and what touches all of an image touches what aliases it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "capture/convert/objects.h"
#include "capture/log/command_records.h"
#include "encoder/program/draft.h"
#include "encoder/program/range.h"

namespace interlock {

struct CapturedBytes {
  std::shared_ptr<CapturedMemory> memory;
  ByteRange range;
  std::optional<StrideDraft> rows;  // Of the range.
};

// Part of a buffer; `size_bytes` may be VK_WHOLE_SIZE. What lies past the end of the buffer is left
// out. Empty if no memory is bound.
std::vector<CapturedBytes> bytes_of(const CapturedBuffer& buffer, uint64_t offset_bytes,
                                    uint64_t size_bytes);

// Whole subresources; those of several layers as rows.
std::vector<CapturedBytes> bytes_of(const CapturedImage& image, const SubresourceFields& range);

// Texels of a view of one mip, counted row by row and layer by layer.
struct ViewExtent {
  uint64_t width = 0;
  uint64_t height = 0;
  uint64_t depth = 0;  // Or layers.
};

// The bytes of texels from `begin` to `end` of such a view. None if it has another extent here, or
// blocks, planes or other parts.
std::optional<std::vector<CapturedBytes>> bytes_of_texels(const CapturedImage& image,
                                                          const SubresourceFields& range,
                                                          const ViewExtent& extent, uint64_t begin,
                                                          uint64_t end);

// Without rows: each by itself, or, where there are many, the bytes around all rows of a part. So
// it bounds what may be touched; what is certain, or ordered, it would overstate.
std::vector<CapturedBytes> bounds_of(const std::vector<CapturedBytes>& parts);

// A region of a copy; `other` is the image at the other end, whose texels a buffer holds. None if
// it has too many parts.
std::optional<std::vector<CapturedBytes>> bytes_of(const TransferEndFields& end,
                                                   const CapturedBuffer& buffer,
                                                   const TransferEndFields& other,
                                                   const CapturedImage& image);
std::optional<std::vector<CapturedBytes>> bytes_of(const TransferEndFields& end,
                                                   const CapturedImage& image);

// How many bytes the image has, as above. Extents and layers above 65536 count as 65536, mips above
// 16 as 16.
uint64_t model_size_of(const CapturedImage& image);

}  // namespace interlock
