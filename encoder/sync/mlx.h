// MLX's Metal encoder, before and after its write-after-read fix.
//
// Restates CommandEncoder::set_input_array, set_output_array and maybeInsertBarrier of
// ml-explore/mlx, mlx/backend/metal/device.cpp: `mlx-2024` as of f1951d6cc (#1561, one barrier per
// dispatch), which stood until #3630; `mlx-2026` as of 269e099df (#3630).
//
// Keys are whole resources and offsets are ignored, so disjoint slices of one memory conflict:
// programs for these models give each buffer a memory of its own. An update and an atomic are bound
// as MLX binds an output (set_output_array looks the buffer up as an input first); atomics of one
// operation therefore conflict. An empty range still binds its memory.
//
// Not modelled, and gaps of the original: ConcurrentContext (inside one, WAR is not tested), fences
// between encoders (they know writers only), set_buffer (declares nothing), manual barriers (they
// leave the sets as they are, so a redundant second barrier can follow) and temporaries.
#pragma once

#include <cstdint>
#include <unordered_set>

#include "encoder/sync/encoder.h"

namespace interlock {

class MlxEncoder : public Encoder {
 public:
  void encode(const EncoderDispatch& dispatch, CommandSink& sink) final;

  // Drops what it knows, as at a barrier of its own, for who measures it from a barrier on. The
  // original has no such: see manual barriers above.
  void forget();

 protected:
  explicit MlxEncoder(bool knows_inputs) : knows_inputs_(knows_inputs) {}

 private:
  void set_input(MemoryId memory);
  void set_output(MemoryId memory);

  const bool knows_inputs_;
  bool needs_barrier_ = false;
  std::unordered_set<uint32_t> prev_inputs_;   // Memory indices, since the last barrier; empty
  std::unordered_set<uint32_t> next_inputs_;   // unless it knows them. Next: of the dispatch being
  std::unordered_set<uint32_t> prev_outputs_;  // encoded.
  std::unordered_set<uint32_t> next_outputs_;
};

// Knows what was written. Gap: no barrier between a read and a later write (WAR). Where the write
// is a donation's, a reader loses its input (#3630: the bias gradient of fast::layer_norm).
class Mlx2024Encoder final : public MlxEncoder {
 public:
  Mlx2024Encoder() : MlxEncoder(false) {}
};

// Knows what was written and what was read. No gap in the class of programs that it can be given.
class Mlx2026Encoder final : public MlxEncoder {
 public:
  Mlx2026Encoder() : MlxEncoder(true) {}
};

}  // namespace interlock
