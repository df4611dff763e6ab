// The split backward pass: the cotangents of inputs and activations first, those of weights later,
// as pipeline schedules do it to fill their bubbles; and a model of one.
#pragma once

#include "encoder/backward/backward_writer.h"

namespace interlock {

// First all cotangents but those of weights, from the loss back; then, from the first dispatch on,
// those of weights, from the cotangents that the first half left.
void write_split(BackwardWriter& writer);

// PyTorch's split backward pass before the fix of #180952, restated: torch.distributed.pipelining,
// stage_backward_input and stage_backward_weight.
//
// The first half is that of the split pass, and keeps the cotangent at every
// dispatch that reads a weight. The second half restarts at all dispatches that read a weight with
// these, and walks on through their inputs, as autograd does: what one of them reads from another
// adds the other's cotangent to it once more. So x w w counts its first product twice. Weights that
// one dispatch reads together are walked together, all others apart.
void write_split_pytorch_180952(BackwardWriter& writer);

}  // namespace interlock
