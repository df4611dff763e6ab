// The models behind the workloads.
#pragma once

#include "fuzz/workloads/workload.h"

namespace interlock {

// mlp: residual layers that share one weight, used twice in each: as it is and transposed. Its
// gradient has two contributions of every layer (PyTorch #180952).
// Defined in mlp.cc.
Result<ProgramDraft> make_mlp(const WorkloadOptions& options);

// transformer: blocks of attention and a gated feed-forward layer between an embedding and the
// cross-entropy of its transpose. Only low-rank factors beside two of the projections are trained
// (LoRA), as in the run of ggml #1501.
// Defined in transformer.cc.
Result<ProgramDraft> make_transformer(const WorkloadOptions& options);

}  // namespace interlock
