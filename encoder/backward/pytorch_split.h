// PyTorch's split backward pass before the fix of #180952, restated: torch.distributed.pipelining,
// stage_backward_input and stage_backward_weight.
#pragma once

#include "encoder/backward/backward_writer.h"

namespace interlock {

// The first half is that of the split pass (split_backward.h), and keeps the cotangent at every
// dispatch that reads a weight. The second half restarts at all dispatches that read a weight with
// these, and walks on through their inputs, as autograd does: what one of them reads from another
// adds the other's cotangent to it once more. So x w w counts its first product twice. Weights that
// one dispatch reads together are walked together, all others apart.
void write_split_pytorch_180952(BackwardWriter& writer);

}  // namespace interlock
