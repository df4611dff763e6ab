#include "encoder/boundary_index.h"

#include <algorithm>

#include "encoder/check.h"

namespace interlock {

size_t BoundaryIndex::chunk_of(uint64_t offset) const {
  const auto after = std::upper_bound(first_begins_.begin(), first_begins_.end(), offset);
  return after == first_begins_.begin() ? 0
                                        : static_cast<size_t>(after - first_begins_.begin()) - 1;
}

uint32_t BoundaryIndex::find(uint64_t offset) const {
  INTERLOCK_CHECK(!chunks_.empty());
  const Chunk& chunk = chunks_[chunk_of(offset)];
  const auto after = std::upper_bound(chunk.begin(), chunk.end(), offset,
                                      [](uint64_t o, const Entry& e) { return o < e.begin; });
  INTERLOCK_CHECK(after != chunk.begin());
  return (after - 1)->segment;
}

void BoundaryIndex::insert(uint64_t begin, uint32_t segment) {
  if (chunks_.empty()) {
    chunks_.push_back({{begin, segment}});
    first_begins_.push_back(begin);
    return;
  }
  size_t position = chunk_of(begin);
  if (chunks_[position].size() >= kChunkEntries) {
    // A full last chunk that is appended to stays full: bump allocation fills chunks to the brim.
    const bool is_append = position + 1 == chunks_.size() && begin > chunks_[position].back().begin;
    const auto middle = chunks_[position].begin() + (is_append ? kChunkEntries : kChunkEntries / 2);
    Chunk upper(middle, chunks_[position].end());
    chunks_[position].erase(middle, chunks_[position].end());
    if (upper.empty()) upper.push_back({begin, segment});
    const uint64_t upper_begin = upper.front().begin;
    chunks_.insert(chunks_.begin() + position + 1, std::move(upper));
    first_begins_.insert(first_begins_.begin() + position + 1, upper_begin);
    if (is_append) return;
    if (begin > upper_begin) ++position;
  }
  Chunk& chunk = chunks_[position];
  const auto place = std::lower_bound(chunk.begin(), chunk.end(), begin,
                                      [](const Entry& e, uint64_t b) { return e.begin < b; });
  INTERLOCK_CHECK(place == chunk.end() || place->begin != begin);
  chunk.insert(place, {begin, segment});
  first_begins_[position] = chunk.front().begin;
}

void BoundaryIndex::erase(uint64_t first, uint64_t last) {
  if (chunks_.empty() || first >= last) return;
  const auto is_before = [](const Entry& e, uint64_t b) { return e.begin < b; };
  const size_t first_chunk = chunk_of(first);
  size_t end_chunk = first_chunk;
  for (; end_chunk < chunks_.size() && first_begins_[end_chunk] < last; ++end_chunk) {
    Chunk& chunk = chunks_[end_chunk];
    const auto from = std::lower_bound(chunk.begin(), chunk.end(), first, is_before);
    const auto to = std::lower_bound(from, chunk.end(), last, is_before);
    chunk.erase(from, to);
  }
  // Only now drop what became empty: positions stay put while chunks are visited.
  size_t kept = first_chunk;
  for (size_t i = first_chunk; i < end_chunk; ++i) {
    if (chunks_[i].empty()) continue;
    first_begins_[kept] = chunks_[i].front().begin;
    if (kept != i) chunks_[kept] = std::move(chunks_[i]);
    ++kept;
  }
  chunks_.erase(chunks_.begin() + kept, chunks_.begin() + end_chunk);
  first_begins_.erase(first_begins_.begin() + kept, first_begins_.begin() + end_chunk);
}

void BoundaryIndex::clear() {
  chunks_.clear();
  first_begins_.clear();
}

}  // namespace interlock
