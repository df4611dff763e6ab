// PyTorch's graphed callables, before and after the fix of #181723, restated:
// torch.cuda.make_graphed_callables and torch/csrc/autograd/functions/accumulate_grad.h.
//
// The graph of a backward pass writes its gradients to static buffers, and returns detached views
// of them. AccumulateGrad takes the first gradient of a parameter over without a copy, as
// `param.grad`, and adds later ones to it in place. So the next replay overwrites what was taken,
// and the sum of two gradients is twice the second: 2 g2 instead of g1 + g2. The fix returns
// clones.
#pragma once

#include "encoder/replay/replay.h"

namespace interlock {

// The first accumulation becomes `adopt`.
Result<Program> replay_pytorch_181723(const Program& program);

// The first accumulation becomes a copy, into the slot of the parameter.
Result<Program> replay_pytorch(const Program& program);

}  // namespace interlock
