#include "capture/convert/captured_bytes.h"

#include <vulkan/vulkan_core.h>

#include <algorithm>

#include "capture/convert/format_facts.h"

namespace interlock {
namespace {

// More rows than this are bounded by the bytes around them.
constexpr size_t kRowsMax = 64;

// Regions of more slices than this are left to whoever says so.
constexpr uint64_t kSlicesMax = 4096;

// Sizes are those of a hostile log, too: within these, no layer reaches what 64 bits hold. Many
// layers of volumes, which Vulkan does not have, can: then other bytes are meant, or none, and
// still of the memory alone.
constexpr uint64_t kExtentMax = 1u << 16;
constexpr uint32_t kMipsMax = 16;

constexpr uint32_t kPlanes[] = {VK_IMAGE_ASPECT_PLANE_0_BIT, VK_IMAGE_ASPECT_PLANE_1_BIT,
                                VK_IMAGE_ASPECT_PLANE_2_BIT};

uint64_t divided_up(uint64_t number, uint64_t divisor) { return (number + divisor - 1) / divisor; }

// In blocks.
struct BlockExtent {
  uint64_t width = 1;
  uint64_t height = 1;
  uint64_t depth = 1;

  uint64_t count() const { return width * height * depth; }
};

uint32_t mip_count_of(const CapturedImage& image) {
  return std::clamp(image.info.mip_count, 1u, kMipsMax);
}

uint32_t layer_count_of(const CapturedImage& image) {
  return static_cast<uint32_t>(std::clamp<uint64_t>(image.info.layer_count, 1, kExtentMax));
}

BlockExtent extent_of(const CapturedImage& image, const FormatFacts& facts, uint32_t mip) {
  const auto length = [&](uint64_t full, uint64_t divisor, uint64_t block) {
    const uint64_t texels = std::max<uint64_t>(std::min(full, kExtentMax) >> mip, 1);
    return divided_up(divided_up(texels, divisor), block);
  };
  return {length(image.info.width, facts.width_divisor, facts.block_width),
          length(image.info.height, facts.height_divisor, facts.block_height),
          length(image.info.depth, 1, 1)};
}

std::vector<uint32_t> aspects_of(const CapturedImage& image) {
  const uint32_t planes = plane_count_of(image.info.format);
  if (planes > 1) return {kPlanes, kPlanes + std::min<uint32_t>(planes, 3)};
  if (has_depth_and_stencil(image.info.format)) {
    return {VK_IMAGE_ASPECT_DEPTH_BIT, VK_IMAGE_ASPECT_STENCIL_BIT};
  }
  return {VK_IMAGE_ASPECT_COLOR_BIT};
}

uint64_t layer_bytes(const CapturedImage& image, const FormatFacts& facts, uint32_t mip_end) {
  uint64_t bytes = 0;
  for (uint32_t mip = 0; mip < mip_end; ++mip) {
    bytes += extent_of(image, facts, mip).count() * facts.block_bytes;
  }
  return bytes;
}

// One aspect of an image: where it begins, relative to the image.
struct AspectPlace {
  uint32_t aspect = 0;
  FormatFacts facts;
  uint64_t begin = 0;
  uint64_t layer_bytes = 0;
};

// Those that the mask names. An image without planes, depth or stencil has one, whatever it is
// called.
std::vector<AspectPlace> places_of(const CapturedImage& image, uint32_t mask) {
  const std::vector<uint32_t> aspects = aspects_of(image);
  const bool is_colour = (mask & VK_IMAGE_ASPECT_COLOR_BIT) != 0;
  std::vector<AspectPlace> places;
  uint64_t begin = 0;
  for (const uint32_t aspect : aspects) {
    AspectPlace place{aspect, facts_of(image.info.format, aspect), begin, 0};
    place.layer_bytes = layer_bytes(image, place.facts, mip_count_of(image));
    begin += place.layer_bytes * layer_count_of(image);
    if (aspects.size() == 1 || is_colour || (mask & aspect) != 0) places.push_back(place);
  }
  return places;
}

void add_merged(std::vector<CapturedBytes>& parts, CapturedBytes part) {
  if (part.range.is_empty()) return;
  if (!parts.empty() && !part.rows && !parts.back().rows &&
      parts.back().range.end == part.range.begin) {
    parts.back().range.end = part.range.end;
    return;
  }
  parts.push_back(std::move(part));
}

// Leaves of the part what is within its memory: whole rows, if it has any. False if nothing is.
bool clip(CapturedBytes& part) {
  const uint64_t end = part.memory->size_bytes;
  ByteRange& range = part.range;
  if (range.begin >= end) return false;
  const uint64_t size_bytes = end - range.begin;
  if (part.rows && part.rows->width_bytes <= size_bytes) {
    StrideDraft& rows = *part.rows;
    rows.row_count =
        std::min(rows.row_count, (size_bytes - rows.width_bytes) / rows.pitch_bytes + 1);
    range.end = range.begin + (rows.row_count - 1) * rows.pitch_bytes + rows.width_bytes;
    if (rows.row_count == 1) part.rows.reset();
    return true;
  }
  part.rows.reset();
  range.end = std::min(range.end, end);
  return !range.is_empty();
}

std::vector<CapturedBytes> within_memory(std::vector<CapturedBytes> parts) {
  std::erase_if(parts, [](CapturedBytes& part) { return !clip(part); });
  return parts;
}

// Indices of what is there, of a first one and a count that may be "all that remain".
struct IndexRange {
  uint32_t begin = 0;
  uint32_t end = 0;
};

IndexRange within(uint32_t first, uint32_t count, uint32_t there) {
  const uint32_t begin = std::min(first, there);
  return {begin, begin + std::min(count, there - begin)};
}

// Rows of the same width, the same distance apart, from `begin` on.
CapturedBytes rows_at(const std::shared_ptr<CapturedMemory>& memory, uint64_t begin,
                      const StrideDraft& rows) {
  CapturedBytes bytes{memory, {begin, begin}, {}};
  if (rows.row_count == 0 || rows.width_bytes == 0) return bytes;
  bytes.range.end = begin + (rows.row_count - 1) * rows.pitch_bytes + rows.width_bytes;
  if (rows.row_count > 1 && rows.width_bytes < rows.pitch_bytes) bytes.rows = rows;
  return bytes;
}

// The box of a region, in blocks.
struct BlockBox {
  uint64_t x = 0;
  uint64_t y = 0;
  uint64_t z = 0;
  BlockExtent extent;
};

BlockBox box_of(const TransferEndFields& end, const FormatFacts& facts, const BlockExtent& all) {
  if (end.width == 0) return {0, 0, 0, all};  // All of it.
  const auto start = [](int32_t texel, uint64_t block, uint64_t length) {
    return std::min<uint64_t>(static_cast<uint64_t>(std::max(texel, 0)) / block, length);
  };
  BlockBox box;
  box.x = start(end.x, facts.block_width, all.width);
  box.y = start(end.y, facts.block_height, all.height);
  box.z = start(end.z, 1, all.depth);
  box.extent = {std::min(divided_up(end.width, facts.block_width), all.width - box.x),
                std::min(divided_up(end.height, facts.block_height), all.height - box.y),
                std::min<uint64_t>(end.depth, all.depth - box.z)};
  return box;
}

}  // namespace

std::vector<CapturedBytes> bytes_of(const CapturedBuffer& buffer, uint64_t offset_bytes,
                                    uint64_t size_bytes) {
  if (buffer.memory == nullptr || offset_bytes >= buffer.size_bytes) return {};
  const uint64_t size = std::min(size_bytes, buffer.size_bytes - offset_bytes);
  const uint64_t end = buffer.memory->size_bytes;
  if (buffer.offset_bytes >= end || offset_bytes >= end - buffer.offset_bytes || size == 0)
    return {};
  const uint64_t begin = buffer.offset_bytes + offset_bytes;
  return {{buffer.memory, {begin, begin + std::min(size, end - begin)}, {}}};
}

std::vector<CapturedBytes> bytes_of(const CapturedImage& image, const SubresourceFields& range) {
  if (image.memory == nullptr) return {};
  const IndexRange layers = within(range.first_layer, range.layer_count, layer_count_of(image));
  const IndexRange mips = within(range.first_mip, range.mip_count, mip_count_of(image));
  std::vector<CapturedBytes> parts;
  for (const AspectPlace& place : places_of(image, range.aspects)) {
    const uint64_t first = layer_bytes(image, place.facts, mips.begin);
    const uint64_t last = layer_bytes(image, place.facts, mips.end);
    const uint64_t begin =
        image.offset_bytes + place.begin + layers.begin * place.layer_bytes + first;
    add_merged(parts, rows_at(image.memory, begin,
                              {layers.end - layers.begin, place.layer_bytes, last - first}));
  }
  return within_memory(std::move(parts));
}

std::optional<std::vector<CapturedBytes>> bytes_of_texels(const CapturedImage& image,
                                                          const SubresourceFields& range,
                                                          const ViewExtent& extent, uint64_t begin,
                                                          uint64_t end) {
  const std::vector<AspectPlace> places = places_of(image, range.aspects);
  if (image.memory == nullptr || places.size() != 1 || range.first_mip >= mip_count_of(image)) {
    return std::nullopt;
  }
  const AspectPlace& place = places.front();
  const BlockExtent all = extent_of(image, place.facts, range.first_mip);
  const IndexRange layers = within(range.first_layer, range.layer_count, layer_count_of(image));
  const bool is_volume = image.info.type == VK_IMAGE_TYPE_3D;
  const uint64_t depth = is_volume ? all.depth : layers.end - layers.begin;
  const bool is_same = all.width == extent.width && all.height == extent.height &&
                       depth == extent.depth && place.facts.block_width == 1 &&
                       place.facts.block_height == 1;
  if (!is_same) return std::nullopt;
  const uint64_t slice = all.width * all.height;
  const uint64_t mip_begin = image.offset_bytes + place.begin + layers.begin * place.layer_bytes +
                             layer_bytes(image, place.facts, range.first_mip);
  // The slices of a volume follow each other, and those of layers do not.
  const uint64_t distance = is_volume ? slice * place.facts.block_bytes : place.layer_bytes;
  std::vector<CapturedBytes> parts;
  for (uint64_t at = begin; at < std::min(end, slice * depth);) {
    const uint64_t layer = at / slice;
    const uint64_t part_end = std::min(end, (layer + 1) * slice);
    const uint64_t first = mip_begin + layer * distance + at % slice * place.facts.block_bytes;
    add_merged(parts,
               {image.memory, {first, first + (part_end - at) * place.facts.block_bytes}, {}});
    at = part_end;
  }
  return within_memory(std::move(parts));
}

std::vector<CapturedBytes> bounds_of(const std::vector<CapturedBytes>& parts) {
  std::vector<CapturedBytes> bounds;
  for (const CapturedBytes& part : parts) {
    if (!part.rows || part.rows->row_count > kRowsMax) {
      bounds.push_back({part.memory, part.range, {}});
      continue;
    }
    for (uint64_t i = 0; i < part.rows->row_count; ++i) {
      const uint64_t begin = part.range.begin + i * part.rows->pitch_bytes;
      bounds.push_back({part.memory, {begin, begin + part.rows->width_bytes}, {}});
    }
  }
  return bounds;
}

std::optional<std::vector<CapturedBytes>> bytes_of(const TransferEndFields& end,
                                                   const CapturedImage& image) {
  std::vector<CapturedBytes> parts;
  if (end.width == 0) return bytes_of(image, end.range);
  if (image.memory == nullptr || end.range.first_mip >= mip_count_of(image)) return parts;
  const IndexRange layers =
      within(end.range.first_layer, end.range.layer_count, layer_count_of(image));
  for (const AspectPlace& place : places_of(image, end.range.aspects)) {
    const BlockExtent all = extent_of(image, place.facts, end.range.first_mip);
    const BlockBox box = box_of(end, place.facts, all);
    if ((layers.end - layers.begin) * box.extent.depth > kSlicesMax) return std::nullopt;
    const uint64_t mip_begin =
        image.offset_bytes + place.begin + layer_bytes(image, place.facts, end.range.first_mip);
    for (uint32_t layer = layers.begin; layer < layers.end; ++layer) {
      for (uint64_t z = box.z; z < box.z + box.extent.depth; ++z) {
        const uint64_t row_bytes = all.width * place.facts.block_bytes;
        const uint64_t slice =
            mip_begin + layer * place.layer_bytes + (z * all.height + box.y) * row_bytes;
        add_merged(parts, rows_at(image.memory, slice + box.x * place.facts.block_bytes,
                                  {box.extent.height, row_bytes,
                                   box.extent.width * place.facts.block_bytes}));
      }
    }
  }
  return within_memory(std::move(parts));
}

std::optional<std::vector<CapturedBytes>> bytes_of(const TransferEndFields& end,
                                                   const CapturedBuffer& buffer,
                                                   const TransferEndFields& other,
                                                   const CapturedImage& image) {
  std::vector<CapturedBytes> parts;
  const std::vector<AspectPlace> places = places_of(image, other.range.aspects);
  if (buffer.memory == nullptr || places.empty()) return parts;
  const FormatFacts& facts = places.front().facts;
  const BlockBox box =
      box_of(other, facts, extent_of(image, facts, std::min(other.range.first_mip, kMipsMax)));
  const IndexRange layers =
      within(other.range.first_layer, other.range.layer_count, layer_count_of(image));
  const auto texels = [](uint64_t stated, uint64_t length) {
    return std::min<uint64_t>(stated == 0 ? length : stated, 1u << 20);
  };
  const uint64_t row_texels = texels(end.row_length, other.width);
  const uint64_t column_texels = texels(end.image_height, other.height);
  const uint64_t pitch = divided_up(row_texels, facts.block_width) * facts.block_bytes;
  const uint64_t slice = divided_up(column_texels, facts.block_height) * pitch;
  const uint64_t slice_count = uint64_t{layers.end - layers.begin} * box.extent.depth;
  if (slice_count > kSlicesMax) return std::nullopt;
  for (uint64_t i = 0; i < slice_count; ++i) {
    const CapturedBytes rows =
        rows_at(buffer.memory, end.offset_bytes + i * slice,
                {box.extent.height, pitch, box.extent.width * facts.block_bytes});
    for (CapturedBytes& part :
         bytes_of(buffer, rows.range.begin, rows.range.end - rows.range.begin)) {
      // What reaches past the end of the buffer has no whole rows.
      if (part.range.size_bytes() == rows.range.size_bytes()) part.rows = rows.rows;
      add_merged(parts, std::move(part));
    }
  }
  return within_memory(std::move(parts));
}

uint64_t model_size_of(const CapturedImage& image) {
  uint64_t size = 0;
  for (const AspectPlace& place : places_of(image, ~0u)) {
    size = place.begin + place.layer_bytes * layer_count_of(image);
  }
  return size;
}

}  // namespace interlock
