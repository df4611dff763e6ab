// ggml's Metal encoder: a flat list of the ranges since the last barrier.
//
// Restates ggml_mem_ranges_add and ggml_mem_ranges_check of ggml,
// src/ggml-metal/ggml-metal-common.cpp as of d99724f2 (v0.21.0), and the way in which the Metal
// backend uses them: check all sources and the destination of a node; on a conflict a full barrier
// and an empty list; then add them.
//
// Ranges are the declared ones. An update is a source and a destination, and so is an atomic:
// atomics of one operation conflict. Empty ranges are left out, as the original skips empty nodes.
//
// Gaps, all towards too many barriers: the test `p1 >= p0'` lets a range conflict with one that
// starts where it ends. Not modelled: the original widens views to their root tensor, and resets
// unconditionally after nodes that take several dispatches. Cost: quadratic without barriers.
#pragma once

#include <cstdint>
#include <vector>

#include "encoder/sync/encoder.h"

namespace interlock {

class GgmlMetalEncoder final : public Encoder {
 public:
  void encode(const EncoderDispatch& dispatch, CommandSink& sink) override;
  void wait_for_all(CommandSink& sink) override;

 private:
  struct MemoryRange {
    uint32_t memory = 0;
    uint64_t p0 = 0;
    uint64_t p1 = 0;
    bool is_destination = false;
  };

  bool is_free(const MemoryRange& range) const;

  std::vector<MemoryRange> ranges_;      // Since the last barrier.
  std::vector<MemoryRange> candidates_;  // Of the dispatch being encoded.
};

}  // namespace interlock
