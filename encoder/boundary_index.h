// BoundaryIndex: finds the segment of one memory that holds a byte. An ordered map from where
// segments begin to their ids, as sorted chunks: a lookup is two binary searches, and an insertion
// moves half a chunk, which at these sizes beats any tree of single nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace interlock {

class BoundaryIndex {
 public:
  // Returns the segment with the greatest begin <= offset.
  // Requires: there is one. Cost: O(log n).
  uint32_t find(uint64_t offset) const;

  // Requires: no segment begins at `begin`. Cost: O(log n), and O(n / chunk size) once per chunk.
  void insert(uint64_t begin, uint32_t segment);

  // Removes all segments that begin in [first, last). Cost: O(log n) and the removed ones.
  void erase(uint64_t first, uint64_t last);

  void clear();

 private:
  static constexpr size_t kChunkEntries = 64;

  struct Entry {
    uint64_t begin = 0;
    uint32_t segment = 0;
  };
  using Chunk = std::vector<Entry>;  // Sorted by begin; never empty.

  // The last chunk whose first begin is <= offset, or the first chunk.
  size_t chunk_of(uint64_t offset) const;

  std::vector<uint64_t> first_begins_;  // chunks_[i][0].begin, apart, so that a
                                        // search stays small.
  std::vector<Chunk> chunks_;
};

}  // namespace interlock
