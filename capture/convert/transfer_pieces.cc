#include "capture/convert/transfer_pieces.h"

#include <algorithm>

#include "encoder/program/range.h"

namespace interlock {
namespace {

constexpr size_t kRunsMax = 1u << 14;

std::optional<std::vector<CapturedBytes>> bytes_of_end(const TransferEnd& end,
                                                       const std::optional<TransferEnd>& other) {
  if (end.image != nullptr) return bytes_of(end.fields, *end.image);
  if (end.buffer == nullptr) return std::nullopt;
  if (other && other->image != nullptr) {
    return bytes_of(end.fields, *end.buffer, other->fields, *other->image);
  }
  return bytes_of(*end.buffer, end.fields.offset_bytes, end.fields.size_bytes);
}

// Each row by itself; none if there are too many.
std::optional<std::vector<CapturedBytes>> runs_of(const TransferEnd& end,
                                                  const std::optional<TransferEnd>& other) {
  std::vector<CapturedBytes> runs;
  const auto parts = bytes_of_end(end, other);
  if (!parts) return std::nullopt;
  for (const CapturedBytes& part : *parts) {
    const StrideDraft rows = part.rows.value_or(StrideDraft{1, 0, part.range.size_bytes()});
    if (rows.row_count > kRunsMax || runs.size() > kRunsMax) return std::nullopt;
    for (uint64_t i = 0; i < rows.row_count; ++i) {
      const uint64_t begin = part.range.begin + i * rows.pitch_bytes;
      runs.push_back({part.memory, {begin, begin + rows.width_bytes}, {}});
    }
  }
  return runs;
}

// More ranges than this are bounded by the bytes around them.
constexpr size_t kBoundsMax = 64;

// All that an end of so many parts may have.
std::vector<CapturedBytes> all_bytes_of(const TransferEnd& end) {
  if (end.image != nullptr) return bytes_of(*end.image, end.fields.range);
  if (end.buffer == nullptr) return {};
  return bytes_of(*end.buffer, end.fields.offset_bytes, UINT64_MAX);
}

std::vector<CapturedBytes> bounds_of_end(const std::optional<TransferEnd>& end,
                                         const std::optional<TransferEnd>& other) {
  if (!end) return {};
  const auto parts = bytes_of_end(*end, other);
  std::vector<CapturedBytes> bounds = bounds_of(parts ? *parts : all_bytes_of(*end));
  if (bounds.size() <= kBoundsMax) return bounds;
  CapturedBytes all = bounds.front();  // They are of one memory.
  for (const CapturedBytes& part : bounds) {
    all.range.begin = std::min(all.range.begin, part.range.begin);
    all.range.end = std::max(all.range.end, part.range.end);
  }
  return {all};
}

bool do_overlap(const CapturedBytes& a, const CapturedBytes& b) {
  return a.memory == b.memory && share_a_byte(a.range, b.range);
}

}  // namespace

std::optional<std::vector<TransferPiece>> pieces_of(const TransferRegion& region) {
  std::vector<TransferPiece> pieces;
  if (!region.to) return pieces;
  const auto to = runs_of(*region.to, region.from);
  if (!to) return std::nullopt;
  if (!region.from) {
    for (const CapturedBytes& run : *to) pieces.push_back({std::nullopt, run});
    return pieces;
  }
  auto from = runs_of(*region.from, region.to);
  if (!from) return std::nullopt;
  size_t next = 0;
  for (CapturedBytes rest : *to) {
    while (!rest.range.is_empty()) {
      if (next == from->size()) return std::nullopt;
      CapturedBytes& source = (*from)[next];
      const uint64_t size = std::min(rest.range.size_bytes(), source.range.size_bytes());
      TransferPiece piece{source, rest};
      piece.from->range.end = source.range.begin + size;
      piece.to.range.end = rest.range.begin + size;
      if (do_overlap(*piece.from, piece.to)) return std::nullopt;
      pieces.push_back(std::move(piece));
      source.range.begin += size;
      rest.range.begin += size;
      if (source.range.is_empty()) ++next;
    }
  }
  if (next != from->size()) return std::nullopt;
  return pieces;
}

TransferBounds bounds_of(const TransferRegion& region) {
  return {bounds_of_end(region.from, region.to), bounds_of_end(region.to, region.from)};
}

}  // namespace interlock
